/** The end of a run: totals, report, fix-file, archive (`docs/rules.md`, "Accounting"; `docs/contract.md`, `import --json`). */
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '#src/ledger/audits.ts';
import { createLogger } from '#src/log.ts';
import { finishRun, tidyFinished } from '#src/runs/finish-run.ts';
import { problemLines, readReport } from '#src/runs/report.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import { deadRow } from '../contracts/support/build.ts';
import { csv, expectCounts, fillers, openRunsBench, type RunsBench } from './support/runs-bench.ts';

/** `import --json` (`docs/contract.md`). */
const documentKeys = [
  'run',
  'feed',
  'file',
  'service',
  'state',
  'rows',
  'created',
  'updated',
  'unchanged',
  'skipped',
  'dead',
  'pending',
  'adopted',
  'heldFields',
  'removedValues',
  'deadNew',
  'warnings',
  'requests',
  'seconds',
  'fixFile',
  'report',
  'exitCode',
  'problems',
];

const header = 'externalId,firstName,role,phone';
const broken = (count: number) => Array.from({ length: count }, (_, index) => `bad-${index},Ann,A,call me`);

describe('a finished run', () => {
  it('is done, with a report that holds every key of import --json', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A']));
    expect(run.state).toBe('done');
    const report = await bench.report(run);
    expect(Object.keys(report)).toEqual(expect.arrayContaining(documentKeys));
    expect(report).toMatchObject({
      run: run.id,
      feed: 'main',
      file: 'a.csv',
      service: 'sandbox',
      state: 'done',
      rows: 2,
      created: 2,
      pending: 0,
      fixFile: null,
      report: join(bench.folder, 'reports', `${run.id}.json`),
      exitCode: 0,
      problems: [],
    });
    expect(report.requests).toEqual({ get: 1, post: 2, patch: 0, delete: 0, retried: 0, rateLimited: 0 });
    expect(report.seconds).toBeGreaterThanOrEqual(0);
  });

  it('tells the mapping, the guards, the options and the file in its report', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A']), { options: { acceptReason: 'a new branch' } });
    expect(await bench.report(run)).toMatchObject({
      reason: null,
      notes: [],
      mapping: 'generic',
      guards: bench.parts.feeds.rulesOf('main').guards,
      options: { acceptReason: 'a new branch' },
      sha256: run.sha256,
      bytes: run.bytes,
      startedAt: new Date(run.startedAtMs ?? 0).toISOString(),
    });
  });

  it('is done with dead rows where there are some, and exits 3', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A,', ...broken(1)], header));
    expect(run.state).toBe('doneWithDead');
    const report = await bench.report(run);
    expect(report).toMatchObject({ exitCode: 3, dead: 1, deadNew: 1 });
    expect(report.problems).toEqual([
      {
        line: 3,
        code: 'phoneLetters',
        field: 'phone',
        value: 'call me',
        hint: 'Write it in digits, or leave the cell blank.',
        key: 'bad-0',
      },
    ]);
  });

  it('has ten lines beside its file also where its name is of two', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a\nstate done.csv', csv(['c-1,Ann,A,'], header));
    const [note] = (await bench.names('import', '_done')).filter((name) => name.endsWith('.txt'));
    const text = await readFile(join(bench.folder, 'import', '_done', note ?? ''), 'utf8');
    expect(text.split('\n').slice(0, 2)).toEqual([
      'file      a; state done.csv',
      `run       ${run.id} (feed main), into sandbox`,
    ]);
  });

  it('lists its warnings beside its file, in its report and no twice, those about the whole file too', async () => {
    const bench = await openRunsBench();
    const text = csv(['c-1,N/A,A,+14155550101 x123', 'c-2,Ann,A,'], header);
    const run = await bench.import('a.csv', `Report of today\r\n${text}`);
    expect(run.counts).toMatchObject({ created: 2, warnings: 3 });
    const report = await bench.report(run);
    expect(report.outcomes).toMatchObject([
      { kind: 'warning', line: 3, key: 'c-1', field: 'firstName', value: 'N/A', code: 'placeholderText' },
      { kind: 'warning', line: 3, key: 'c-1', field: 'phone', value: '+14155550101 x123' },
      { kind: 'warning', line: 1, key: null, field: null, value: 'Report of today', code: 'preambleLine' },
    ]);
    const note = await readFile(join(bench.folder, 'import', '_done', `${run.id}__a.csv.txt`), 'utf8');
    expect(note.split('\n').slice(10, -1)).toEqual([
      'warnings  3',
      expect.stringMatching(/^ {10}line 3, firstName "N\/A": what the cell holds stands for "nothing"/),
      expect.stringMatching(/^ {10}line 3, phone "\+14155550101 x123": the extension was dropped/),
      expect.stringMatching(/^ {10}line 1 "Report of today": line 1 is left out/),
    ]);
  });

  it('lists fifty warnings beside its file, and says how many more there are', async () => {
    const bench = await openRunsBench();
    const rows = Array.from({ length: 60 }, (_, index) => `c-${index},Ann,A,+14155550${100 + index} x123`);
    const run = await bench.import('a.csv', csv(rows, header));
    const note = await readFile(join(bench.folder, 'import', '_done', `${run.id}__a.csv.txt`), 'utf8');
    expect(note.match(/line \d+, phone/g)).toHaveLength(50);
    expect(note).toContain('… and 10 more in the report');
  });

  it('has its file in _done, and ten lines beside it that say what became of it', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A,', ...broken(1)], header));
    expect(await bench.names('import', '_done')).toEqual([`${run.id}__a.csv`, `${run.id}__a.csv.txt`]);
    const note = await readFile(join(bench.folder, 'import', '_done', `${run.id}__a.csv.txt`), 'utf8');
    const { path } = await bench.fixFile(run);
    expect(note.split('\n').slice(0, -1)).toEqual([
      'file      a.csv',
      `run       ${run.id} (feed main), into sandbox`,
      'state     doneWithDead',
      'rows      2',
      'created   1',
      'updated   0 (0 values removed, 0 fields held)',
      'unchanged 0, skipped 0',
      `rejected  1: fix ${path} and drop it in again`,
      'notes     none',
      `report    ${join(bench.folder, 'reports', `${run.id}.json`)}`,
    ]);
  });

  it('leaves files that only their owner may read', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(broken(1), header));
    const { path } = await bench.fixFile(run);
    const done = join(bench.folder, 'import', '_done');
    const files = [
      path,
      join(bench.folder, 'reports', `${run.id}.json`),
      ...(await readdir(done)).map((name) => join(done, name)),
    ];
    for (const file of files) expect((await stat(file)).mode & 0o077, file).toBe(0);
  });

  it('reports more than 500 problems and more than 500 outcomes, page by page, each once', async () => {
    const bench = await openRunsBench();
    const twice = fillers(1_100).flatMap((row) => [`${row},`, `${row},`]);
    const staged = await bench.stage(await bench.submit('a.csv', csv([...twice, ...broken(1_001)], header)));
    expectCounts(staged, { rows: 3_201, pending: 1_100, skipped: 1_100, dead: 1_001 });
    await bench.ledger.runs.skipPending(staged.id, 'cancelled', 1);
    const run = await bench.finish(staged);
    const { problems, outcomes } = await bench.report(run);
    expect(problems).toHaveLength(1_001);
    expect(new Set(problems.map(({ line }: { line: number }) => line)).size).toBe(1_001);
    expect(outcomes).toHaveLength(1_101);
    expect(new Set(outcomes.map(({ line }: { line: number }) => line)).size).toBe(1_101);
    expect((await bench.fixFile(run)).text.trimEnd().split('\r\n')).toHaveLength(1_002);
  });

  it('forgets its staged rows: counts, dead letters and the report stay', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A,', ...broken(1)], header));
    expect(await bench.deadRows(run)).toEqual([]);
    expect(await bench.letters()).toHaveLength(1);
    expect(await readReport(bench.parts.folders.reports, run.id)).toMatchObject({ rows: 2 });
  });
});

describe('the totals', () => {
  it('are asserted: a tampered count makes the run fail loudly', async () => {
    const bench = await openRunsBench();
    const logged: string[] = [];
    const applied = await bench.apply(await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A']))));
    await bench.ledger.runs.record(applied.id, { counts: { created: -1, updated: 1 } });
    const log = createLogger({ level: 'error', stream: { write: (line: string) => void logged.push(line) } });
    expect(await finishRun({ ...bench.parts, log }, applied.id)).toBe(true);
    const run = await bench.again(applied);
    expect(run).toMatchObject({
      state: 'failed',
      reason: { code: 'accountingBroken', facts: { rows: 2, created: 1, updated: 1, recordsCreated: 2 } },
    });
    expect(logged.join('')).toContain('run does not add up');
    expect(await bench.report(run)).toMatchObject({
      state: 'failed',
      exitCode: 3,
      reason: { code: 'accountingBroken' },
    });
    expect(await bench.names('import', '_failed')).toEqual([`${run.id}__a.csv`, `${run.id}__a.csv.reason.txt`]);
  });

  it.each(['rows', 'unchanged', 'skipped', 'dead'] as const)('are asserted for %s', async (name) => {
    const bench = await openRunsBench();
    const applied = await bench.apply(await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A']))));
    await bench.ledger.runs.record(applied.id, { counts: { [name]: 1 } });
    expect(await bench.finish(applied)).toMatchObject({ state: 'failed', reason: { code: 'accountingBroken' } });
  });

  it.each(['created', 'updated'] as const)('are compared with the records: one %s too many', async (name) => {
    const bench = await openRunsBench();
    const applied = await bench.apply(await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A']))));
    // The rows add up all the same.
    await bench.ledger.runs.record(applied.id, { counts: { rows: 1, [name]: 1 } });
    expect(await bench.finish(applied)).toMatchObject({ state: 'failed', reason: { code: 'accountingBroken' } });
  });
});

describe('finishing', () => {
  it('does nothing while rows are pending', async () => {
    const bench = await openRunsBench();
    const staged = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A'])));
    expect(await finishRun(bench.parts, staged.id)).toBe(false);
    expect((await bench.again(staged)).state).toBe('applying');
    expect(await bench.names('reports')).toEqual([]);
  });

  it('twice changes nothing', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A']));
    expect(await finishRun(bench.parts, run.id)).toBe(false);
    expect(await bench.again(run)).toEqual(run);
  });

  it('again after a crash between archive and state ends the same', async () => {
    const bench = await openRunsBench();
    const applied = await bench.apply(
      await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A,', ...broken(2)], header))),
    );
    const { runs } = bench.ledger;
    const dies = { ...runs, move: () => Promise.reject(new Error('killed')) };
    const dying = { ...bench.parts, ledger: { ...bench.ledger, runs: dies } };
    await expect(finishRun(dying, applied.id)).rejects.toThrow('killed');
    const seen = async () => ({
      done: await bench.names('import', '_done'),
      fix: await bench.names('import', '_fix'),
      reports: await bench.names('reports'),
      fixText: (await bench.fixFile(applied)).text,
      problems: (await bench.report(applied)).problems,
      letters: await bench.letters(),
    });
    const before = await seen();
    expect((await bench.again(applied)).state).toBe('applying');
    const run = await bench.finish(applied);
    expect(run.state).toBe('doneWithDead');
    expectCounts(run, { rows: 3, created: 1, dead: 2 });
    expect(await seen()).toEqual(before);
  });

  it('marks nothing done before the report is on disk: the disk is in trouble', async () => {
    const bench = await openRunsBench();
    const applied = await bench.apply(await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A']))));
    await writeFile(bench.parts.folders.reports, 'a file, not a folder');
    await expect(finishRun(bench.parts, applied.id)).rejects.toMatchObject({ code: 'folderUnusable' });
    expect((await bench.again(applied)).state).toBe('applying');
    expect(await bench.names('import', '_done')).toEqual([]);
    await rm(bench.parts.folders.reports);
    expect((await bench.finish(applied)).state).toBe('done');
  });

  it('leaves no half-written file behind where it fails', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.ndjson', '{"externalId":"c-1","phones":["call me"]}\n');
    const applied = await bench.apply(await bench.stage(run));
    const report = join(bench.parts.folders.reports, `${applied.id}.json`);
    const fix = join(bench.folder, 'import', '_fix', `${applied.id}__a.ndjson`);
    await mkdir(join(fix, 'in the way'), { recursive: true });
    await expect(finishRun(bench.parts, applied.id)).rejects.toThrow();
    expect(await bench.names('import', '_fix')).toEqual([`${applied.id}__a.ndjson`]);
    await rm(fix, { recursive: true });
    await mkdir(join(report, 'in the way'), { recursive: true });
    await expect(finishRun(bench.parts, applied.id)).rejects.toThrow();
    expect(await bench.names('reports')).toEqual([`${applied.id}.json`]);
    await rm(report, { recursive: true });
    expect((await bench.finish(applied)).state).toBe('doneWithDead');
  });
});

describe('a cancelled run', () => {
  it('keeps what was written, skips the rest as cancelled, and is archived', async () => {
    const bench = await openRunsBench({ rowsPerBatch: 1 });
    const staged = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A', 'c-1,Ann,A'])));
    const [first] = await bench.ledger.runs.nextBatches(bench.world.clock.nowMs(), 1);
    expect(first?.batch).toBe(1);
    await bench.world.workOnce(staged);
    await bench.ledger.runs.move(staged.id, ['applying'], 'cancelling', {
      atMs: 1,
      reason: { code: 'cancelled', message: 'cancelled by a person', hint: null, facts: {} },
    });
    const run = await bench.finish(staged);
    expect(run.state).toBe('cancelled');
    const { created, skipped, rows } = run.counts;
    expect(created + skipped).toBe(rows);
    expect(await bench.report(run)).toMatchObject({ state: 'cancelled', exitCode: 5, pending: 0 });
    const note = await readFile(join(bench.folder, 'import', '_done', `${run.id}__a.csv.txt`), 'utf8');
    expect(note).toContain('state     cancelled: cancelled by a person');
  });

  it('says how many of its writes may have landed, and the run that finds them counts them and has them to take back', async () => {
    const bench = await openRunsBench();
    await bench.world.faults('create:dropAfter');
    const rows = csv(['c-1,Ann,A', 'c-2,Bob,A', 'c-3,Cy,A']);
    const staged = await bench.stage(await bench.submit('a.csv', rows));
    const [batch] = await bench.ledger.runs.nextBatches(bench.world.clock.nowMs(), 1);
    await processBatch(bench.world.parts, batch as NonNullable<typeof batch>, new AbortController().signal, {
      recordsMax: 2,
    });
    await bench.world.faults();
    await bench.ledger.runs.move(staged.id, ['applying'], 'cancelling', {
      atMs: 1,
      reason: { code: 'cancelled', message: 'cancelled by a person', hint: null, facts: {} },
    });
    const run = await bench.finish(staged);
    expectCounts(run, { rows: 3, created: 0, skipped: 3 });
    const reason = { message: 'cancelled by a person; 2 writes had no answer by then and may have landed' };
    expect(run.reason).toMatchObject({ ...reason, facts: { inDoubt: 2 }, hint: expect.stringContaining(run.id) });
    const report = await bench.report(run);
    expect(report).toMatchObject({ reason });
    const told = (report.outcomes as { code: string; line: number; key: string | null }[]).filter(
      ({ code, key }) => code === 'cancelled' && key !== null,
    );
    expect(told.map(({ line, key }) => [line, key])).toEqual([
      [2, 'c-1'],
      [3, 'c-2'],
    ]);

    const next = await bench.import('b.csv', rows);
    expectCounts(next, { rows: 3, created: 3 });
    const writesOf = async (runId: string) =>
      (await bench.ledger.contacts.journal({ runId, limit: 9 })).map(({ key, kind }) => [key, kind]);
    expect(await writesOf(run.id)).toEqual([]);
    expect((await writesOf(next.id)).toSorted()).toEqual(['c-1', 'c-2', 'c-3'].map((key) => [key, 'create']));
  });

  it('that never began has a report too', async () => {
    const bench = await openRunsBench();
    const queued = await bench.submit('a.csv', csv(['c-1,Ann,A']));
    await bench.ledger.runs.move(queued.id, ['queued'], 'cancelling', { atMs: 1 });
    const run = await bench.finish(queued);
    expect(run.state).toBe('cancelled');
    expect(await bench.report(run)).toMatchObject({ state: 'cancelled', rows: 0 });
    expect(await bench.names('handed-over')).toEqual([]);
  });
});

describe('the problems of a dead row', () => {
  it('are one line each', () => {
    const problem = { code: 'a', line: 7, field: 'phone', value: 'x', message: 'wrong', hint: 'Mend it.' };
    const dead = {
      ...deadRow('c-1', { line: 7, problems: [problem, { ...problem, code: 'b' }] }),
      ordinal: 1,
      letterId: 'd1',
    };
    expect(problemLines(dead).map(({ line, code }) => [line, code])).toEqual([
      [7, 'a'],
      [7, 'b'],
    ]);
  });

  it('tell the code of a row that has none', () => {
    const dead = { ...deadRow('c-1', { line: 7, code: 'doubt', problems: [] }), ordinal: 1, letterId: 'd1' };
    expect(problemLines(dead)).toEqual([{ line: 7, code: 'doubt', field: null, value: null, hint: '' }]);
  });
});

describe('after a crash behind the end of a run', () => {
  it('the next engine forgets what was staged', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,Engineer'])));
    const { ledger } = bench.parts;
    await ledger.runs.skipPending(run.id, 'cancelled', 1);
    await ledger.runs.move(run.id, ['applying'], 'done', { atMs: 1 });
    expect(await ledger.runs.countEnds(run.id)).toMatchObject({ skipped: 1 });
    await tidyFinished(bench.parts);
    expect(await ledger.runs.countEnds(run.id)).toMatchObject({ skipped: 0 });
  });
});

/** What a run touched is entered for audits before the run is final (`docs/rules.md`, "One contact per key", step 7). */
async function audited(bench: RunsBench, runId: string): Promise<readonly AuditRecord[]> {
  return bench.ledger.audits.ofRun(runId);
}

async function keysOf(bench: RunsBench, audit: AuditRecord | undefined): Promise<readonly string[]> {
  return (await bench.ledger.audits.keysAfter(audit?.id ?? '', 0, 100)).map((one) => one.key);
}

describe('the end of a run', () => {
  it('enters an audit of the keys it touched, due when what was sent last has landed and is seen', async () => {
    const bench = await openRunsBench({ auditAfterMs: 40_000 });
    const run = await bench.import('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A']));
    const [first, ...others] = await audited(bench, run.id);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ kind: 'first', state: 'waiting', keyCount: 2 });
    const waitMs = (first?.dueAtMs ?? 0) - (run.finishedAtMs ?? 0);
    expect(waitMs).toBeGreaterThanOrEqual(39_990);
    expect(waitMs).toBeLessThan(50_000);
    expect(await keysOf(bench, first)).toEqual(['c-1', 'c-2']);
  });

  it('has nothing to audit where every row is unchanged, and of a changed file only what changed', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A']));
    const same = await bench.import('b.csv', csv(['c-2,Bob,A', 'c-1,Ann,A']));
    expect(await audited(bench, same.id)).toMatchObject([{ kind: 'first', state: 'done', keyCount: 0 }]);
    const changed = await bench.import('c.csv', csv(['c-1,Ann,A', 'c-2,Bob,B']));
    expect(await keysOf(bench, (await audited(bench, changed.id))[0])).toEqual(['c-2']);
  });

  it('enters a second one, ten minutes later, of the keys that were in doubt', async () => {
    const bench = await openRunsBench();
    await bench.world.faults('create:dropAfter');
    const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A'])));
    await bench.world.workOnce(run);
    await bench.world.faults();
    const done = await bench.finish(await bench.apply(run));
    expect(done.counts).toMatchObject({ created: 1, dead: 0 });
    const [first, second] = await audited(bench, run.id);
    expect(second).toMatchObject({ kind: 'second', keyCount: 1 });
    expect((second?.dueAtMs ?? 0) - (first?.dueAtMs ?? 0)).toBe(600_000);
    expect(await keysOf(bench, second)).toEqual(['c-1']);
  });

  it('enters them once, also where a crash lies between that and the end', async () => {
    const bench = await openRunsBench();
    const run = await bench.apply(await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A']))));
    const { runs } = bench.ledger;
    const crash = async (): Promise<never> => {
      throw new Error('the process ends here');
    };
    const broken = { ...bench.parts, ledger: { ...bench.ledger, runs: { ...runs, move: crash } } };
    await expect(finishRun(broken, run.id)).rejects.toThrow('the process ends here');
    const before = await audited(bench, run.id);
    expect(before).toHaveLength(1);
    expect(await bench.ledger.audits.nextDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);

    expect((await bench.finish(run)).state).toBe('done');
    await tidyFinished(bench.parts);
    expect(await audited(bench, run.id)).toEqual(before);
    expect(await keysOf(bench, before[0])).toEqual(['c-1']);
  });

  it('of a cancelled run audits what was written', async () => {
    const bench = await openRunsBench({ rowsPerBatch: 1 });
    const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A'])));
    await bench.world.workOnce(run);
    const other = await bench.stage(await bench.submit('b.csv', csv(['c-3,Cat,A'])));
    for (const { id } of [run, other]) await bench.ledger.runs.move(id, ['applying'], 'cancelling', { atMs: 1 });
    const written = await bench.finish(run);
    expect(written.state).toBe('cancelled');
    expect(await keysOf(bench, (await audited(bench, run.id))[0])).toEqual(['c-1', 'c-2']);
    await bench.finish(other);
    expect(await audited(bench, other.id)).toMatchObject([{ state: 'done', keyCount: 0 }]);
  });

  it('of a file that cannot be read there is nothing to audit', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', 'nothing,that,is,a,key\n1,2,3,4,5\n');
    expect(run.state).toBe('failed');
    expect(await audited(bench, run.id)).toMatchObject([{ state: 'done', keyCount: 0 }]);
  });
});
