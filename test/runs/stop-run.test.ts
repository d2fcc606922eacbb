/** Runs that guards stop, and their approval: it passes what was shown, and nothing else (`docs/rules.md`, "Guards"). */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { approveRun } from '#src/operations/run-acts.ts';
import { expireFiles } from '#src/runs/expire-files.ts';
import { stopForGuard } from '#src/runs/stop-run.ts';
import { type BenchOptions, csv, expectCounts, fillers, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const open = (options: BenchOptions = {}): Promise<RunsBench> => openRunsBench({ guards: defaultGuards, ...options });
const broken = (count: number): string[] => Array.from({ length: count }, () => ',nobody,A');

/** Fifty rows of which twenty are broken: a guard stops it at its staging. */
async function stoppedByDeadRows(bench: RunsBench, rows = fillers(30)): Promise<RunRecord> {
  const run = await bench.import('a.csv', csv([...rows, ...broken(25)]));
  expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardDead' } });
  return run;
}

/** Works on the run as a job does, until a guard stops it. */
async function workUntilStopped(bench: RunsBench, run: RunRecord): Promise<RunRecord> {
  const error = await bench.apply(run).catch((thrown: unknown) => thrown);
  expect(await stopForGuard(bench.parts, run.id, error)).toBe(true);
  return bench.again(run);
}

async function enterByHand(bench: RunsBench, count: number): Promise<void> {
  for (let index = 1; index <= count; index += 1) {
    const defaultFields = { firstName: 'Ann', role: 'set by people' };
    await bench.world.byHand('POST', '/v1/contacts', { externalId: `f-${index}`, defaultFields });
  }
}

describe('an approval', () => {
  it('passes the guard that stopped the run, and stands in the report with its reason', async () => {
    const bench = await open();
    const stopped = await stoppedByDeadRows(bench);
    await approveRun(bench.parts, stopped, 'the old branch');
    const run = await bench.finish(await bench.apply(stopped));
    expectCounts(run, { rows: 55, created: 30, dead: 25 });
    expect((await bench.report(run)).approvals).toMatchObject([
      { figures: [{ guard: 'dead', count: 25, base: 55, limit: 0.05 }], reason: 'the old branch' },
    ]);
  });

  it('links nothing where the run was not stopped for that: it is refused, and the run stays stopped', async () => {
    const bench = await open();
    const stopped = await stoppedByDeadRows(bench);
    await expect(approveRun(bench.parts, stopped, null, 'adopt')).rejects.toMatchObject({ code: 'nothingToLink' });
    expect(await bench.again(stopped)).toMatchObject({ state: 'stopped', approvals: [] });
  });

  it('passes no guard that fires later: unknown contacts stop the run, and none of them was written', async () => {
    const bench = await open();
    await enterByHand(bench, 30);
    const stopped = await stoppedByDeadRows(bench);
    await approveRun(bench.parts, stopped, null);
    const again = await workUntilStopped(bench, stopped);
    // What differs is held: those contacts are taken over without a write.
    const counts = { updated: 20, heldFields: 20 };
    expect(again).toMatchObject({
      state: 'stopped',
      reason: { code: 'guardAdoptions' },
      counts,
      requests: { patch: 0 },
    });
    expect(again.reason?.message).toContain('20 of 20 keys looked up');
    expect(again.reason?.message).toContain('(100%; the limit guards.adoptionsMax is 30%)');
    expect(again.reason?.hint).toContain(`To write no more of it: patchbay runs cancel --sandbox ${stopped.id}\n`);
    expect(again.reason?.hint).toMatch(new RegExp(`: patchbay runs approve --sandbox ${stopped.id}$`));
    expect((await bench.world.contactOf('f-1')).defaultFields.role).toBe('set by people');
    await approveRun(bench.parts, again, null);
    expectCounts(await bench.finish(await bench.apply(again)), { rows: 55, updated: 30, dead: 25 });
  });

  it('is none where a newer file has taken the run’s place, or somebody cancelled it', async () => {
    const bench = await open();
    const stopped = await stoppedByDeadRows(bench);
    const reason = { code: 'replaced', message: 'run x read a newer file', hint: null, facts: { by: 'x' } };
    await bench.ledger.runs.move(stopped.id, ['stopped'], 'cancelling', { atMs: 1, reason });
    await expect(approveRun(bench.parts, stopped, null)).rejects.toMatchObject({
      kind: 'guard',
      code: 'notApproved',
      message: `run ${stopped.id} was not approved: it is now cancelling: run x read a newer file`,
    });
    expect(await bench.again(stopped)).toMatchObject({ state: 'cancelling', approvals: [] });
  });

  it('is none where something else has stopped the run since it was shown', async () => {
    const bench = await open();
    await enterByHand(bench, 30);
    const shown = await stoppedByDeadRows(bench);
    await approveRun(bench.parts, shown, null);
    await workUntilStopped(bench, shown);
    await expect(approveRun(bench.parts, shown, null)).rejects.toMatchObject({ code: 'notApproved' });
    expect((await bench.again(shown)).state).toBe('stopped');
  });

  it('is refused for a run that no guard has stopped', async () => {
    const bench = await open();
    const run = await bench.import('a.csv', csv(fillers(2)));
    await expect(approveRun(bench.parts, run, null)).rejects.toMatchObject({ kind: 'usage', code: 'notStopped' });
  });
});

it('--accept passes the guards on the staged file, and none while it is applied', async () => {
  const bench = await open();
  await enterByHand(bench, 30);
  const rows = csv([...fillers(30), ...broken(25)]);
  const run = await bench.stage(await bench.submit('a.csv', rows, { options: { accept: true } }));
  expect(run.state).toBe('applying');
  expect(await workUntilStopped(bench, run)).toMatchObject({ state: 'stopped', reason: { code: 'guardAdoptions' } });
});

describe('two batches that a guard stops at once', () => {
  it('leave the run stopped, with the report and the note of the first', async () => {
    const bench = await open();
    await enterByHand(bench, 30);
    const run = await bench.stage(await bench.submit('a.csv', csv(fillers(30))));
    const error = await bench.apply(run).catch((thrown: unknown) => thrown);
    await Promise.all([stopForGuard(bench.parts, run.id, error), stopForGuard(bench.parts, run.id, error)]);
    expect((await bench.again(run)).state).toBe('stopped');
    expect(await bench.report(run)).toMatchObject({ state: 'stopped', reason: { code: 'guardAdoptions' } });
    expect(await bench.names('import', '_stopped')).toHaveLength(1);
  });
});

describe('the note of a file whose run waits for an approval', () => {
  const notes = (bench: RunsBench): Promise<string[]> => bench.names('import', '_stopped');

  it('stands in _stopped, says why and what to type, and is for its owner alone', async () => {
    const bench = await open();
    const run = await stoppedByDeadRows(bench);
    expect(await notes(bench)).toEqual([`${run.id}__a.csv.txt`]);
    const path = join(bench.folder, 'import', '_stopped', `${run.id}__a.csv.txt`);
    const text = await readFile(path, 'utf8');
    expect(text).toContain('state     stopped: stopped before the first write: 25 of 55 rows are rejected');
    expect(text).toContain(`To refuse the file: patchbay runs cancel --sandbox ${run.id};`);
    expect(text).toContain(`approve the run: patchbay runs approve --sandbox ${run.id}\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('opens the data folder that its engine was started with', async () => {
    const bench = await open({ folderFlags: { data: '/srv/my data' } });
    const run = await stoppedByDeadRows(bench);
    const text = await readFile(join(bench.folder, 'import', '_stopped', `${run.id}__a.csv.txt`), 'utf8');
    expect(text).toContain(`patchbay --data '/srv/my data' runs approve --sandbox ${run.id}\n`);
  });

  it('keeps the run from its stop while it cannot be written: the file is not called unreadable', async () => {
    const bench = await open();
    const folder = join(bench.folder, 'import', '_stopped');
    await mkdir(dirname(folder), { recursive: true });
    await writeFile(folder, 'a file');
    const error = { code: 'folderUnusable', facts: expect.objectContaining({ folder }) };
    await expect(stoppedByDeadRows(bench)).rejects.toMatchObject(error);
    const [waiting] = await bench.ledger.runs.list({ limit: 1 });
    expect(waiting?.state).toBe('staging');
    await rm(folder);
    expect((await bench.stage(waiting as RunRecord)).state).toBe('stopped');
    expect(await notes(bench)).toHaveLength(1);
  });

  it('goes away when the run is approved; a guard that stops it later writes it again', async () => {
    const bench = await open();
    await enterByHand(bench, 30);
    const stopped = await stoppedByDeadRows(bench);
    await approveRun(bench.parts, stopped, null);
    expect(await notes(bench)).toEqual([]);
    const again = await workUntilStopped(bench, stopped);
    expect(await notes(bench)).toHaveLength(1);
    // The person who approves may be killed before the note is gone.
    await bench.ledger.runs.move(again.id, ['stopped'], 'applying', { atMs: 1 });
    await bench.ledger.runs.skipPending(again.id, 'cancelled', 1);
    expect((await bench.finish(again)).state).toBe('doneWithDead');
    expect(await notes(bench)).toEqual([]);
  });

  it('goes away when the run is cancelled, and does not grow too old before', async () => {
    const bench = await open();
    const run = await stoppedByDeadRows(bench);
    bench.world.clock.advance(90 * 86_400_000);
    const { clock, log, folders } = bench.parts;
    const expire = () => expireFiles({ clock, log, ...bench.ledger }, folders, 30 * 86_400_000);
    expect(await expire(), 'its report stays, too').toBe(0);
    expect(await notes(bench)).toHaveLength(1);
    await bench.ledger.runs.move(run.id, ['stopped'], 'cancelling', { atMs: 1 });
    await bench.finish(run);
    expect(await notes(bench)).toEqual([]);
    expect(await expire(), 'its end is young').toBe(0);
    bench.world.clock.advance(31 * 86_400_000);
    expect(await expire(), 'long after its end: report, archive with its note, and fix-file').toBe(4);
  });
});
