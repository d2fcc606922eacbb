/** `/healthz`, `/readyz` and `/metrics`. */
import { describe, expect, it, vi } from 'vitest';
import { readinessOf } from '#src/dashboard/readiness.ts';
import { stoppedTrouble } from '#src/engine/led-work.ts';
import { createServiceWatch } from '#src/engine/service-watch.ts';
import { PatchbayError } from '#src/errors.ts';
import { readOpenJobFailures } from '#src/operations/job-failures.ts';
import { startSchedules } from '#src/schedules/start-schedules.ts';
import { reply } from '#test/workspace/support/scripted-server.ts';
import { openTestWorkspace } from '#test/workspace/support/test-workspace.ts';
import { dashboardBench, deadRow, enterRun, finishedRun, stageRun, startMs } from './dashboard-bench.ts';

describe('/healthz', () => {
  it('is 200 while the process lives, also when the ledger is gone', async () => {
    const bench = await dashboardBench();
    await bench.ledger.close();
    const { status, body } = await bench.page('/healthz');
    expect([status, body]).toEqual([200, { status: 'ok' }]);
    expect((await bench.page('/')).status).toBe(500);
  });
});

describe('/readyz', () => {
  it('is 200 when files are taken', async () => {
    const { status, body } = await (await dashboardBench()).page('/readyz');
    expect([status, body]).toEqual([200, { ready: true, degraded: false, reasons: [] }]);
  });

  it('is 200 and degraded while the queue is paused', async () => {
    const answer = { ready: true, degraded: true, reasons: ['the service does not answer'] };
    const readiness = async () => ({ ...answer, troubles: [] });
    const { status, body } = await (await dashboardBench({ readiness })).page('/readyz');
    expect([status, body]).toEqual([200, answer]);
  });

  it('is 503 with the reasons when this process cannot take files', async () => {
    const answer = { ready: false, degraded: false, reasons: ['the import folder cannot be read'] };
    const readiness = async () => ({ ...answer, troubles: answer.reasons });
    const { status, body } = await (await dashboardBench({ readiness })).page('/readyz');
    expect([status, body]).toEqual([503, answer]);
  });

  it('is 503 when nobody can say', async () => {
    const readiness = async () => {
      throw new PatchbayError('unreachable', 'queueDied', 'the queue stopped working');
    };
    const { status, body } = await (await dashboardBench({ readiness })).page('/readyz');
    expect(status).toBe(503);
    expect(body.reasons).toHaveLength(1);
  });

  it('is 503 when the answer does not come in time', async () => {
    const bench = await dashboardBench();
    const clock = { ...bench.parts.clock, sleep: async () => undefined };
    const hanging = await dashboardBench({ clock, readiness: () => new Promise(() => undefined) });
    expect((await hanging.page('/readyz')).status).toBe(503);
  });
});

describe('without a token', () => {
  const told = /CANARYSVC|anna@|4155559999/;
  const body = '{"code":"0801400","message":"CANARYSVC of anna@example.com +14155559999"}';

  it.each([
    [401, 'unreachable', /refuses the API key \(401\)/],
    [403, 'unreachable', /refuses the API key \(403\)/],
    [422, 'unreachable', /refuses to look up contacts \(422\)/],
    [503, 'auth', /failed to look up contacts \(status 503\)/],
  ] as const)(
    '/readyz says status %i of a service, and not its words, which the page has',
    async (status, code, plain) => {
      const { server, workspace } = await openTestWorkspace();
      const bench = await dashboardBench({
        readiness: async () => {
          const pause = await bench.ledger.pause();
          return readinessOf({ folders: [], troubles: [], failures: { whole: [], plain: [] }, pause });
        },
      });
      const { ledger, parts } = bench;
      const { clock, log } = parts;
      const breakers = { totals: () => ({ answers: 0, failures: 0 }) };
      const watch = createServiceWatch({ ledger, workspace, breakers, clock, log, recheck: async () => undefined });
      await ledger.setPause({ code, message: 'before', sinceMs: startMs });
      server.always(reply(status, body));
      expect(await watch.probe()).toBe(false);
      const { text } = await bench.page('/readyz');
      expect(text).toMatch(plain);
      expect(text).not.toMatch(told);
      expect((await bench.page('/')).text).toMatch(told);
    },
  );

  it('/readyz says which job ends with a defect, and not what the error says', async () => {
    const bench = await dashboardBench({
      readiness: async () => {
        const failures = await readOpenJobFailures(bench.parts);
        return readinessOf({ folders: [], troubles: [], failures, pause: null });
      },
    });
    const failure = { job: 'upsert-batch', runId: null, code: 'unexpected', message: 'no CANARYSVC', atMs: startMs };
    for (let time = 0; time < 3; time += 1) await bench.ledger.noteJobFailure(failure);
    const { text, body } = await bench.page('/readyz');
    expect(body.reasons).toEqual([
      expect.stringMatching(/^The job upsert-batch has ended with an error inside Patchbay/),
    ]);
    expect(text).not.toMatch(told);
    expect((await bench.page('/')).text).toMatch(told);
  });

  it.each([
    ['requestRefused', 'The service refuses a request (requestRefused)'],
    ['columnMissing', 'Work ends early again and again (columnMissing)'],
  ])('/readyz says that a run waits, and not what the error %s quotes', async (code, said) => {
    const bench = await dashboardBench({
      readiness: async () => {
        const failures = await readOpenJobFailures(bench.parts);
        return readinessOf({ folders: [], troubles: [], failures, pause: null });
      },
    });
    const message = 'The service at https://x refuses to look up contacts (400): CANARYSVC.';
    await bench.ledger.noteJobFailure({ job: 'import-file', runId: null, code, message, atMs: startMs });
    const { text, body } = await bench.page('/readyz');
    expect(body.reasons).toEqual([`${said}; import-file waits. Nothing is lost: work goes on once that is repaired.`]);
    expect(text).not.toMatch(told);
    expect((await bench.page('/')).text).toMatch(told);
  });

  it('/readyz says which schedule has stopped, and not what the error says that stops it', async () => {
    const bench = await dashboardBench({
      readiness: async () => {
        const troubles = schedules.stoppedSchedules().map(stoppedTrouble);
        return readinessOf({ folders: [], troubles, failures: { whole: [], plain: [] }, pause: null });
      },
    });
    const { ledger, parts } = bench;
    let nowMs = startMs;
    const clock = { ...parts.clock, nowMs: () => nowMs };
    const rule = { kind: 'every', everyMs: 60_000 } as const;
    const schedules = await startSchedules(
      {
        ledger,
        clock,
        log: parts.log,
        hostsAway: async () => [],
        queue: { schedule: async () => true },
        wake: () => undefined,
      },
      [{ name: 'crm', work: 'take', rule, expectEveryMs: null }],
    );
    vi.spyOn(ledger.schedules, 'advance').mockRejectedValue(new RangeError('CANARYSVC'));
    nowMs += 600_000;
    await schedules.tickDue();
    const { text, body } = await bench.page('/readyz');
    expect(body.reasons).toEqual([
      'the schedule crm has stopped: it was due more than five minutes ago, and cannot be checked (an error inside Patchbay)',
    ]);
    expect(text).not.toMatch(told);
    expect((await bench.page('/')).text).toMatch(told);
  });

  it('/readyz says of a pause that an older version entered what kind it is', async () => {
    const pause = { code: 'auth', message: 'CANARYSVC', errorCode: 'keyRefused', sinceMs: startMs } as const;
    const { reasons } = readinessOf({ folders: [], troubles: [], failures: { whole: [], plain: [] }, pause });
    expect(reasons).toEqual(['Work is paused: the service does not accept the API key (keyRefused).']);
  });
});

describe('/metrics', () => {
  it('tells runs by state, pending rows, open dead letters and the pause in the text format of Prometheus', async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow()]);
    const run = await enterRun(bench, { id: '20261121T140100Z-00000b' });
    await stageRun(bench, run, { rows: 10, created: 4 });
    await bench.ledger.setPause({ code: 'auth', message: 'the key is refused', sinceMs: startMs });
    const { status, headers, text } = await bench.page('/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const lines = text.split('\n');
    expect(lines).toContain('patchbay_runs{state="staging"} 1');
    expect(lines).toContain('patchbay_runs{state="queued"} 0');
    expect(lines).toContain('patchbay_rows_pending 6');
    expect(lines).toContain('patchbay_dead_letters_open 1');
    expect(lines).toContain('patchbay_paused 1');
    expect(lines).toContain('patchbay_ready 1');
    expect(lines).toContain(`patchbay_last_run_finished_timestamp_seconds ${(startMs + 2_500) / 1_000}`);
    for (const line of lines.filter((one) => one !== '')) {
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? (-?[0-9.e+-]+|Nan))$/);
    }
  });

  it('counts all runs, however many wait', async () => {
    const bench = await dashboardBench();
    for (let number = 1; number <= 1_003; number += 1) await enterRun(bench, { id: `run-${number}`, feed: 'crm' });
    expect((await bench.page('/metrics')).text).toContain('patchbay_runs{state="queued"} 1003\n');
  });

  it('tells what it still can when the ledger is gone', async () => {
    const bench = await dashboardBench();
    await bench.ledger.close();
    const { status, text } = await bench.page('/metrics');
    expect(status).toBe(200);
    expect(text).toContain('patchbay_ready 1');
    expect(text).toContain('patchbay_build_info{version="0.1.0"} 1');
    expect(text).not.toContain('patchbay_dead_letters_open');
  });

  it('holds no personal data', async () => {
    const bench = await dashboardBench();
    await finishedRun(bench, [deadRow({ cell: '+1 415 555 0142 after five' })]);
    const { text } = await bench.page('/metrics');
    const ours = text.split('\n').filter((line) => line.includes('patchbay_'));
    for (const word of ['415', 'Ada', 'c-1', 'crm.csv']) expect(ours.join('\n')).not.toContain(word);
  });
});
