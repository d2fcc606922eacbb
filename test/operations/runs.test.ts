/** The document of a run, from report and ledger. */
import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Home } from '#src/app.ts';
import { createOutput } from '#src/cli/output.ts';
import { presentRun } from '#src/cli/present-run.ts';
import type { FollowEnd, Standstill } from '#src/ledger/follow.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { detachedDocument, interruptedDocument, runDocument, wholeRunDocument } from '#src/operations/run-document.ts';
import { findRun, listRuns, readRun, readRunEnd, viewRun } from '#src/operations/runs.ts';
import { submitFile } from '#src/runs/enter-run.ts';
import { guardReason } from '#src/runs/guard-reason.ts';
import { csv, fillers, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { defaultGuards } from '#test/runs/support/tallies.ts';

/** The part of a home that presenting a run looks at. */
function homeOf({ parts }: RunsBench): Home {
  const home: Pick<Home, 'ledger' | 'runFolders' | 'serviceName' | 'clock'> = {
    ledger: parts.ledger,
    runFolders: parts.folders,
    serviceName: parts.serviceName,
    clock: parts.clock,
  };
  return home as Home;
}

const header = 'externalId,firstName,role,phone';

describe('the document of a run', () => {
  it('of a finished run is what its report holds, but for the keys of rejected rows', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A,', 'c-2,Ann,A,call me'], header));
    const document = runDocument(await readRunEnd(homeOf(bench), { kind: 'rest', run }), true);
    const report = await bench.report(run);
    const problems = document.problems.map((problem) => ({ ...problem, key: 'c-2' }));
    expect({ ...document, problems }).toEqual(
      Object.fromEntries(Object.keys(document).map((key) => [key, report[key]])),
    );
    expect(document.fixFile).toBe((await bench.fixFile(run)).path);
  });

  it('whose fix-file is gone names none, and advises to write its open rows anew', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A,', 'c-2,Ann,A,call me'], header));
    const { path } = await bench.fixFile(run);
    expect(await readRun(homeOf(bench), run)).toMatchObject({ summary: { fixFile: path }, isFixFileGone: false });
    await rm(path);
    expect(await readRun(homeOf(bench), run)).toMatchObject({ summary: { fixFile: null }, isFixFileGone: true });
    await bench.import('b.csv', csv(['c-1,Ann,A,', 'c-2,Ann,A,'], header));
    expect(await readRun(homeOf(bench), run), 'no row is open').toMatchObject({ isFixFileGone: false });
  });

  it('shown whole, lists what was warned of, skipped and changed: at work from the ledger, then from the report', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,'], header));
    const rows = ['c-1,Ann,B,', 'c-2,N/A,A,', 'c-2,N/A,A,'];
    const staged = await bench.stage(await bench.submit('b.csv', csv(rows, header)));
    const outcomesOf = async (run: typeof staged): Promise<unknown> =>
      wholeRunDocument(await readRun(homeOf(bench), run), true);
    const read = [
      { kind: 'warning', line: 3, key: 'c-2', field: 'firstName', value: 'N/A' },
      { kind: 'warning', line: 4, key: 'c-2', field: 'firstName', value: 'N/A' },
      { kind: 'skipped', line: 4, key: 'c-2', code: 'duplicate' },
    ];
    expect(await outcomesOf(staged)).toMatchObject({ outcomes: read });
    const done = await bench.finish(await bench.apply(staged));
    const changed = { kind: 'changed', line: 2, key: 'c-1', code: 'updated', fields: ['role'] };
    expect(await outcomesOf(done)).toMatchObject({ outcomes: [...read, changed] });
    expect((await bench.report(done)).outcomes).toMatchObject([...read, changed]);
  });

  it('with more problems than its document lists is printed with the number of all', async () => {
    const bench = await openRunsBench();
    const rows = Array.from({ length: 1_020 }, (_, at) => `c-${at},Ann,A,call me`);
    const staged = await bench.stage(await bench.submit('a.csv', csv(rows, header)));
    const output = createOutput({ color: false });
    const printed = async (run: typeof staged): Promise<string> =>
      presentRun(output, await readRun(homeOf(bench), run));
    // What is read from the ledger are the first rows, and there is no report.
    expect(await printed(staged)).toMatch(/\n {2}… and at least 1010 more\n/);
    const done = await bench.finish(await bench.apply(staged));
    expect(await printed(done)).toMatch(/\n {2}… and 1010 more in the report\n/);
    expect(runDocument(await readRun(homeOf(bench), done), true).problems).toHaveLength(1_000);
  });

  it('of a stopped run names no fix-file, also where every row is dead: there is none yet', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    const rows = Array.from({ length: 20 }, (_, index) => `c-${index},Ann,A,call me`);
    const run = await bench.import('a.csv', csv(rows, header));
    expect(run.state).toBe('stopped');
    const { summary, reason } = await readRunEnd(homeOf(bench), { kind: 'rest', run });
    expect(summary).toMatchObject({ state: 'stopped', exitCode: 5, dead: 20, pending: 0, fixFile: null });
    expect(reason).toMatchObject({ code: 'guardDead' });
    expect(await bench.names('import', '_fix')).toEqual([]);
  });

  it('of a stopped run offers no reading anew once its file is gone', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    const rows = Array.from({ length: 20 }, (_, index) => `c-${index},Ann,A,call me`);
    const stopped = await bench.import('a.csv', csv(rows, header));
    const { id, claimedPath } = stopped;
    const reason = guardReason([], { ...stopped, options: { ...noOptions, origin: 'folder' } }, 'sandbox');
    const { hint } = reason;
    await bench.ledger.runs.move(id, ['stopped'], 'stopped', { atMs: 1, reason });
    const hintsSeen = async (): Promise<readonly unknown[]> => {
      const [listed] = await listRuns(homeOf(bench), { limit: 1 });
      const run = await findRun(homeOf(bench), id);
      return [listed?.record.reason?.hint, (await readRun(homeOf(bench), run)).reason?.hint];
    };
    expect(await hintsSeen()).toEqual([hint, hint]);
    await rm(claimedPath);
    const others = hint
      ?.split('\n')
      .filter((line) => !line.includes('restage'))
      .join('\n');
    expect(others).not.toBe(hint);
    expect(await hintsSeen()).toEqual([others, others]);
  });

  it('of a run that waits for a working key is stopped with exit code 4, and says how to go on', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv(fillers(3))));
    const pause = { code: 'auth', message: 'the key was refused (401)', sinceMs: 1 } as const;
    const end: FollowEnd = { kind: 'auth', run, pause };
    const presentation = await readRunEnd(homeOf(bench), end);
    expect(presentation.summary).toMatchObject({ state: 'stopped', exitCode: 4, pending: 3 });
    expect(presentation.reason).toMatchObject({ code: 'keyRefused', message: pause.message });
    expect(presentation.reason?.hint).toContain('it continues where it stopped');
    expect(runDocument(presentation, true)).toMatchObject({ error: { code: 'keyRefused' } });
  });

  it('of a run that a signal cut off has a problem of no line, which says how to go on', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv(fillers(3))));
    const document = interruptedDocument(viewRun(homeOf(bench), run).summary, 143);
    const hint = 'Nothing is lost. Run the same command again: it continues where it stopped.';
    expect(document).toMatchObject({ state: 'stopped', exitCode: 143, pending: 3 });
    expect(document.problems).toEqual([{ line: 0, code: 'interrupted', field: null, value: null, hint }]);
    expect(document.error).toEqual({ code: 'interrupted', message: 'interrupted with 3 rows to go', hint });
  });

  it('of a run that a signal cut off while its file was read has no figure of what is left', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.csv', csv(fillers(3)));
    await bench.ledger.runs.beginStaging(run.id, 1);
    await bench.ledger.runs.record(run.id, { counts: { rows: 2 } });
    const { summary } = viewRun(homeOf(bench), await bench.again(run));
    expect(summary).toMatchObject({ state: 'staging', rows: 2, pending: 2, exitCode: null });
    const message = 'interrupted before its file was read to the end';
    expect(interruptedDocument(summary, 129)).toMatchObject({ state: 'stopped', exitCode: 129, error: { message } });
  });

  it('of a run that is left to the running engine names the service', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv(fillers(3)), { feed: 'crm' }));
    const named = { run: run.id, feed: 'crm', file: 'a.csv', service: 'sandbox' };
    expect(detachedDocument(homeOf(bench), run)).toEqual({ ...named, state: 'applying', exitCode: 0 });
  });

  const paused = { code: 'unreachable', message: 'refused', sinceMs: 1 } as const;
  const failure = { code: 'serviceFailing', message: 'the last update at x failed: status 500', atMs: 1 };
  const full = { code: 'diskFull', message: 'the disk of /data is full' };
  const queueAway = { code: 'queueAway', message: 'the queue cannot be reached' };
  const closed = {
    ...{ job: 'finish-run', runId: 'r-0', code: 'folderUnusable', count: 1, sinceMs: 1, atMs: 1 },
    message: 'no file can be stored in /data/reports: permission denied (EACCES)',
  };
  const waited = 'no progress for 4s';
  it.each<[string, Partial<Standstill>, string, string]>([
    ['the pause', { pause: paused, failure, trouble: queueAway }, 'serviceUnreachable', 'refused'],
    ['the disk, before all else', { pause: paused, failure, trouble: full }, 'diskFull', `${waited}: ${full.message}`],
    ['the queue', { failure, trouble: queueAway }, 'queueAway', `${waited}: ${queueAway.message}`],
    ['the last failure, without a pause', { failure }, 'serviceFailing', `${waited}: ${failure.message}`],
    ['a folder that takes no file', { failure, jobFailure: closed }, 'folderUnusable', `${waited}: ${closed.message}`],
    [
      'a run of its feed that waits for one, where nothing else is known',
      { failureAhead: closed },
      'folderUnusable',
      `${waited}: the run r-0 waits, since ${closed.message}`,
    ],
    ['how long was waited, else', {}, 'noProgress', `${waited}, and no request failed in that time`],
  ])('of a run whose patience is over has exit code 6 and names %s', async (_name, known, code, message) => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv(fillers(3))));
    const end = {
      kind: 'unreachable',
      run,
      pause: null,
      failure: null,
      jobFailure: null,
      failureAhead: null,
      waitedMs: 4_690,
      ...known,
    } as const;
    const detail = await readRunEnd(homeOf(bench), end);
    expect(detail.summary).toMatchObject({ state: 'stopped', exitCode: 6 });
    expect(detail.reason).toMatchObject({ code, message, hint: expect.stringMatching(/same command/) });
    expect(detail).toMatchObject({ hasReport: false, isInterrupted: true });
  });

  const since = '2026-11-21 14:00:00Z';
  it.each<[string, boolean, string]>([
    [
      'was stopped, and is to write its results',
      true,
      `stopped since ${since}: every row has its outcome, and its report and archive are to be written there`,
    ],
    ['is silent, and has its file', false, `silent since ${since}: its file is there, unread`],
  ])('of a run that only one host can go on with names the host, which %s', async (_name, hasLeft, what) => {
    const bench = await openRunsBench();
    const parts = { ...bench.parts, host: 'h2' };
    const run = await submitFile(parts, await bench.write('a.csv', csv(fillers(3))), noOptions, {
      feed: await parts.feeds.get('main'),
    });
    if (hasLeft) await bench.apply(await bench.stage(run.run));
    const seenAtMs = Date.parse(since);
    await bench.ledger.hosts.enter(
      {
        ...{ id: 'h2', name: 'berlin:/srv', session: 's', engine: null, queue: 'redis', isSandbox: false },
        ...{ runsSchedules: false, leads: false, feeds: [], startedAtMs: seenAtMs, seenAtMs, hasLeft },
      },
      'q',
      () => false,
    );
    const end = {
      kind: 'unreachable',
      run: run.run,
      pause: null,
      failure: null,
      jobFailure: null,
      failureAhead: null,
      waitedMs: 4_690,
    } as const;
    const { summary, reason } = await readRunEnd(homeOf(bench), end);
    expect(summary.exitCode).toBe(6);
    expect(reason).toEqual({
      code: 'hostAway',
      message: `the run waits for the host berlin:/srv, which has been ${what}`,
      hint: expect.stringMatching(/Start that host again.* patchbay hosts forget h2$/),
    });
  });
});
