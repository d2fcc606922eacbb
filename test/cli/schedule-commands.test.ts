/** `patchbay schedule ls|run|pause|resume`, without a running engine. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pause, resume, runSchedule, scheduleLines, schedules } from '#src/cli/commands/schedule.ts';
import { createOutput } from '#src/cli/output.ts';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { ScheduleRecord, TickRecord } from '#src/ledger/schedules.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { type ScheduleView, scheduleDocument } from '#src/operations/schedules.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

const twoFeeds = `
feeds:
  crm:
    take: exports/*.csv
    at: "30 2 * * *"
    zone: Europe/Berlin
    expectEvery: 26h
  erp:
    take: exports/erp.csv
    every: 15m
  folder: {}
`;

function dataFolder(config = twoFeeds) {
  const folder = tempFolder();
  const data = join(folder, 'data');
  mkdirSync(join(data, 'sandbox'), { recursive: true });
  writeFileSync(join(folder, 'patchbay.yaml'), config);
  const options = { data, config: join(folder, 'patchbay.yaml'), sandbox: true, color: false };
  const withLedger = async <Answer>(look: (ledger: Ledger) => Promise<Answer>): Promise<Answer> => {
    const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
    try {
      return await look(ledger);
    } finally {
      await ledger.close();
    }
  };
  return { options, withLedger };
}

async function documentsOf(work: () => Promise<unknown>) {
  const captured = captureOutput();
  const before = captured.stdout().length;
  await work();
  const text = captured.stdout().slice(before).trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
}

describe('schedule ls', () => {
  it('shows what stands in the configuration before any engine has met it', async () => {
    const { options } = dataFolder();
    const documents = await documentsOf(() => schedules({ ...options, json: true }));
    expect(documents).toMatchObject([
      {
        name: 'crm',
        work: 'take',
        when: 'daily at 02:30 (Europe/Berlin)',
        state: 'new',
        expectEvery: '26h',
        last: null,
      },
      { name: 'erp', when: 'every 15 minutes', state: 'new', expectEvery: null },
    ]);
    expect(documents[0].next).toHaveLength(3);
  });

  it('shows how often a schedule was skipped since its last outcome', async () => {
    const { options, withLedger } = dataFolder();
    await withLedger(async ({ schedules }) => {
      const rule = { kind: 'every', everyMs: 10_000 } as const;
      await schedules.put({ name: 'erp', work: 'take', rule, dueAtMs: 10, createdAtMs: 0 });
      for (const [id, dueAtMs] of Object.entries({ t1: 10, t2: 20, t3: 30 })) {
        const tick = { id, schedule: 'erp', trigger: 'due', user: null, dueAtMs } as const;
        const end = { outcome: 'skipped', code: 'overlap', message: `${id} is skipped` } as const;
        await schedules.advance('erp', dueAtMs, dueAtMs + 10, tick, id === 't1' ? null : { atMs: dueAtMs, end });
      }
    });
    const [, erp] = await documentsOf(() => schedules({ ...options, json: true }));
    expect(erp).toMatchObject({ last: null, skipped: { count: 2, message: 't3 is skipped' }, working: { tick: 't1' } });
  });

  it('says that nothing becomes due where no engine runs', async () => {
    const { options, withLedger } = dataFolder();
    const captured = captureOutput();
    await schedules(options);
    expect(captured.stderr()).toContain(
      `so nothing becomes due. Start one with: patchbay --config ${options.config} --data ${options.data} start`,
    );
    const lock = takeEngineLock(join(options.data, 'sandbox', 'engine.lock'));
    onTestFinished(() => lock?.release());
    const before = captured.stderr();
    await schedules(options);
    expect(captured.stderr()).toBe(before);
    expect(await withLedger((ledger) => ledger.schedules.list())).toEqual([]);
  });

  it('says which zone the engine goes by where none is configured and that of the shell is another', async () => {
    const { options, withLedger } = dataFolder(twoFeeds.replace('    zone: Europe/Berlin\n', ''));
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const enter = (zone: string) =>
      withLedger(({ schedules }) =>
        schedules.put({
          ...{ name: 'crm', work: 'take', dueAtMs: 10, createdAtMs: 0 },
          rule: { kind: 'at', at: '30 2 * * *', zone },
        }),
      );
    const captured = captureOutput();
    await enter(timeZone);
    await schedules(options);
    expect(captured.stderr()).not.toContain('goes by');
    await enter('Asia/Tokyo');
    await schedules(options);
    const shown = 'Asia/Tokyo, and "at" is shown in it;';
    expect(captured.stderr()).toContain(`The last engine went by ${shown} a start in this shell goes by ${timeZone}.`);
    const lock = takeEngineLock(join(options.data, 'sandbox', 'engine.lock'));
    onTestFinished(() => lock?.release());
    await schedules(options);
    expect(captured.stderr()).toContain(
      `The running engine goes by ${shown} this shell, and every other time, by ${timeZone}.`,
    );
  });

  it('says how to configure one where there is none', async () => {
    const { options } = dataFolder('{}\n');
    const captured = captureOutput();
    expect(await schedules(options)).toBe(0);
    expect(captured.stdout()).toBe('');
    expect(captured.stderr()).toContain('There is no schedule. Add one to patchbay.yaml');
  });
});

describe('schedule pause and resume', () => {
  it('are seen by every engine that comes, with the reason', async () => {
    const { options, withLedger } = dataFolder();
    const [paused] = await documentsOf(() => pause({ ...options, json: true, reason: 'the export is broken' }, 'crm'));
    expect(paused).toMatchObject({ name: 'crm', state: 'paused', reason: 'the export is broken', next: [] });
    expect(await withLedger((ledger) => ledger.schedules.get('crm'))).toMatchObject({
      pauseReason: 'the export is broken',
    });
    const [resumed] = await documentsOf(() => resume({ ...options, json: true }, 'crm'));
    expect(resumed).toMatchObject({ name: 'crm', state: 'waiting', pausedAt: null, reason: null });
    expect(Date.parse(resumed.dueAt)).toBeGreaterThan(Date.now());
  });

  it('say that what was missed meanwhile is not made up for, and how to do it now', async () => {
    const { options, withLedger } = dataFolder();
    const rule = { kind: 'every', everyMs: 3_600_000 } as const;
    for (const [dueAtMs, isSaid] of [
      [Date.now() + 3_600_000, false],
      [10, true],
    ] as const) {
      await withLedger(({ schedules }) => schedules.put({ name: 'crm', work: 'take', rule, dueAtMs, createdAtMs: 0 }));
      await withLedger(({ schedules }) => schedules.setPaused('crm', Date.now(), dueAtMs));
      const captured = captureOutput();
      await resume(options, 'crm');
      const note = 'What became due while it was paused is not made up for. To do it now: patchbay ';
      expect(captured.stderr().includes(note)).toBe(isSaid);
      expect(captured.stderr()).toMatch(isSaid ? /schedule run .*crm\n/ : /^No engine is running/);
    }
  });
});

describe('schedule run', () => {
  it('--detach leaves a tick in the ledger, which is the same one when asked for twice', async () => {
    const { options, withLedger } = dataFolder();
    const run = () => runSchedule({ ...options, json: true, detach: true }, 'erp');
    const [first] = await documentsOf(run);
    const [second] = await documentsOf(run);
    expect(first).toMatchObject({ schedule: 'erp', state: 'waiting', engine: 'not running', exitCode: 0 });
    expect(second).toEqual(first);
    expect(await withLedger((ledger) => ledger.schedules.ticks('erp', 10))).toMatchObject([
      { id: first.tick, trigger: 'request', state: 'waiting' },
    ]);
  });

  it('of a feed that was taken out of the configuration says so, and asks nothing of the feed', async () => {
    const { options, withLedger } = dataFolder();
    captureOutput();
    await runSchedule({ ...options, detach: true }, 'erp');
    await withLedger(async ({ schedules }) => {
      for (const { id } of await schedules.ticks('erp', 10)) {
        await schedules.begin(id, Date.now());
        await schedules.end(id, Date.now(), { outcome: 'nothingNew', code: 'sameContent', message: 'as before' });
      }
    });
    writeFileSync(options.config, 'feeds: {crm: {take: exports/*.csv, every: 1h}}\n');
    const hint = 'List the schedules with: patchbay schedule ls';
    const message = 'the feed erp has no schedule in the configuration any more';
    for (const detach of [true, false]) {
      await expect(runSchedule({ ...options, detach }, 'erp')).rejects.toMatchObject({
        ...{ kind: 'usage', code: 'noSuchSchedule', message, hint },
      });
    }
    expect(await withLedger(({ schedules }) => schedules.openTicks())).toEqual([]);
    expect(await withLedger(({ schedules }) => schedules.ticks('erp', 10))).toHaveLength(1);
  });

  it.each([
    ['crn', 'Did you mean crm? List the schedules with: patchbay schedule ls'],
    ['phone_numbers', 'Did you mean phone-numbers? List the schedules with: patchbay schedule ls'],
    ['nobody-knows', 'List the schedules with: patchbay schedule ls'],
    [
      'folder',
      'The files of feed folder come through the import folder. To give it a schedule, set feeds.folder.take.',
    ],
  ])('of the unknown %s says what may be meant', async (name, hint) => {
    const { options } = dataFolder();
    captureOutput();
    const error = { kind: 'usage', code: 'noSuchSchedule', message: `there is no schedule ${name}`, hint };
    await expect(runSchedule(options, name)).rejects.toMatchObject(error);
    await expect(pause(options, name)).rejects.toMatchObject(error);
  });
});

describe('what a person reads of a schedule', () => {
  const nowMs = Date.parse('2026-11-22T12:00:00Z');
  const record: ScheduleRecord = {
    name: 'crm',
    work: 'take',
    rule: { kind: 'at', at: '30 2 * * *', zone: 'Europe/Berlin' },
    dueAtMs: Date.parse('2026-11-23T01:30:00Z'),
    pausedAtMs: null,
    pauseReason: null,
    resumedAtMs: null,
    createdAtMs: 0,
  };
  const last: TickRecord = {
    id: 't1',
    schedule: 'crm',
    work: 'take',
    trigger: 'due',
    state: 'ended',
    user: null,
    dueAtMs: nowMs,
    startedAtMs: nowMs,
    endedAtMs: nowMs - 10 * 3_600_000,
    attempts: 1,
    outcome: 'failed',
    kind: 'unreachable',
    hint: null,
    runIds: [],
    takenAtMs: null,
    code: 'urlRefused',
    message: 'the URL answered 404',
  };
  const view = {
    record,
    expectEveryMs: 26 * 3_600_000,
    lastFileAtMs: nowMs - 5 * 3_600_000,
    configured: record,
    isEntered: true,
    last,
    lastRunStates: [],
    skipped: null,
    open: null,
  };
  const lines = (change: Partial<ScheduleView>) =>
    scheduleLines(createOutput({ color: false }), { ...view, configured: change.record ?? record, ...change }, nowMs, {
      engineRuns: true,
      atWork: [],
    });

  it('is when in plain words, the next times with their offset, the last outcome', () => {
    expect(lines({})).toEqual([
      'crm  daily at 02:30 (Europe/Berlin)',
      '  next: Mon 23 Nov 02:30 +01:00 (in 14 h), Tue 24 Nov 02:30 +01:00 (in 38 h), Wed 25 Nov 02:30 +01:00 (in 3 days)',
      '  last: failed [urlRefused]: the URL answered 404, 10 h ago',
      '  a file is expected every 26h; the last one arrived 5 h ago',
    ]);
  });

  it('is what to do about a failure, with a command that names the schedule', () => {
    const hint = 'A login page is the usual cause.\nCheck the credentials.';
    expect(lines({ last: { ...last, hint } }).slice(2, 5)).toEqual([
      '  last: failed [urlRefused]: the URL answered 404, 10 h ago',
      '    A login page is the usual cause.',
      '    Check the credentials.',
    ]);
    const away: TickRecord = { ...last, code: 'serviceUnreachable' };
    expect(lines({ last: away })[3]).toContain('Nothing is lost; run patchbay schedule run crm again.');
    expect(scheduleDocument({ ...view, last: { ...last, hint } }, nowMs)).toMatchObject({ last: { hint } });
    const run: TickRecord = { ...last, outcome: 'run', runIds: ['r1'], code: null, message: null };
    expect(scheduleDocument({ ...view, last: run }, nowMs)).toMatchObject({ last: { hint: null } });
  });

  it('is since when it is paused and why, and no next time', () => {
    const paused = { ...record, pausedAtMs: nowMs, pauseReason: 'broken' };
    const run: TickRecord = { ...last, outcome: 'run', runIds: ['r1', 'r2'], code: null, message: null };
    expect(lines({ record: paused, last: run, expectEveryMs: 0 }).slice(0, 3)).toEqual([
      'crm  daily at 02:30 (Europe/Berlin)',
      '  paused since Sun 22 Nov 13:00 +01:00: broken',
      '  last: run r1, r2, 10 h ago',
    ]);
    expect(lines({ record: paused }).at(-1)).toBe(
      '  a file is expected every 26h, and not while it is paused; the last one arrived 5 h ago',
    );
  });

  it('tells seconds where it comes more often than minutes tell', () => {
    const often = { ...record, rule: { kind: 'every', everyMs: 10_000 } as const, dueAtMs: nowMs + 5_000 };
    expect(lines({ record: often })[1]).toMatch(/next: .*:05 [+-]..:.. \(in 5 s\), .*:15 /);
  });

  it('tells a missed time once, and then only times to come', () => {
    const often = { ...record, rule: { kind: 'every', everyMs: 10_000 } as const, dueAtMs: nowMs - 22_000 };
    expect(lines({ record: often })[1]).toMatch(/next: .* \(22 s ago\), .* \(in 8 s\), .* \(in 18 s\)$/);
    const daily = { ...record, dueAtMs: nowMs - 5 * 86_400_000 };
    expect(lines({ record: daily }).slice(1, 3)).toEqual([
      '  overdue: Tue 17 Nov 13:00 +01:00 (5 days ago)',
      '  next: Mon 23 Nov 02:30 +01:00 (in 14 h), Tue 24 Nov 02:30 +01:00 (in 38 h)',
    ]);
  });

  it('tells the year of a time that is far away', () => {
    const leapDay = { ...record, rule: { kind: 'at', at: '0 0 29 2 *', zone: 'UTC' } as const };
    const at = Date.UTC(2028, 1, 29);
    expect(lines({ record: { ...leapDay, dueAtMs: at } })[1]).toContain('Tue 29 Feb 2028 00:00 +00:00');
  });

  it('tells what was skipped since, how often and why, and what made up for what was missed', () => {
    const message = 'the one before, t0, is still running';
    const newest: TickRecord = { ...last, outcome: 'skipped', code: 'overlap', message, endedAtMs: nowMs - 4_000 };
    const caughtUp: TickRecord = { ...last, trigger: 'catchUp', outcome: 'snapshot', code: null, message: null };
    expect(lines({ last: caughtUp, skipped: { count: 3, newest } }).slice(2, 4)).toEqual([
      '  last: snapshot (catching up), 10 h ago',
      '  skipped 3 times, the last 4 s ago: the one before, t0, is still running',
    ]);
  });
});
