/**
 * What a run found unchanged counts once the run goes on: not while it is stopped, nor where it was cancelled before
 * (`docs/rules.md`, "Workspace, feed, key" and "Dead letters").
 */
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { approveRun, cancelRun } from '#src/operations/run-acts.ts';
import { csv, expectCounts, fillers, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const people = fillers(20);
const withRole = (from: number, to: number, role: string) =>
  csv(people.map((row, index) => (index >= from && index < to ? row.replace('Engineer', role) : row)));

/** A file of twenty people, then two that are stopped: the first changes the first ten of them, the second one the others. */
async function twoStopped() {
  const bench = await openRunsBench({ guards: defaultGuards });
  await bench.import('a.csv', csv(people));
  const older = await bench.import('b.csv', withRole(0, 10, 'Pilot'));
  const newer = await bench.import('c.csv', withRole(10, 20, 'Captain'));
  expect([older.state, newer.state]).toEqual(['stopped', 'stopped']);
  return { bench, older, newer };
}

async function cancelled(bench: RunsBench, run: RunRecord): Promise<RunRecord> {
  await cancelRun(bench.parts, await bench.again(run));
  return bench.finish(run);
}

async function approved(bench: RunsBench, run: RunRecord): Promise<RunRecord> {
  await approveRun(bench.parts, await bench.again(run), null);
  return bench.finish(await bench.apply(await bench.again(run)));
}

const rolesOf = async ({ world }: RunsBench) =>
  Promise.all(['f-1', 'f-20'].map(async (key) => (await world.contactOf(key)).defaultFields.role));

describe('a stopped run that is approved after a newer one of its feed was stopped', () => {
  it('is written where that one is cancelled, which has settled nothing', async () => {
    const { bench, older, newer } = await twoStopped();
    expect((await cancelled(bench, newer)).state).toBe('cancelled');
    expectCounts(await approved(bench, older), { rows: 20, unchanged: 10, updated: 10 });
    expect(await rolesOf(bench)).toEqual(['Pilot', 'Engineer']);
  });

  it('is written while that one is stopped; that one is read anew then, and gives back what it says', async () => {
    const { bench, older, newer } = await twoStopped();
    expectCounts(await approved(bench, older), { rows: 20, unchanged: 10, updated: 10 });
    await expect(approveRun(bench.parts, await bench.again(newer), null)).rejects.toMatchObject({
      code: 'notApproved',
      message: `run ${newer.id} was not approved: 10 contacts that it found unchanged were written by an older file of its feed since`,
      hint: `Read its file anew: patchbay runs restage ${newer.id}`,
    });
    await bench.ledger.runs.move(newer.id, ['stopped'], 'queued', { atMs: 1, reason: null });
    expect((await bench.stage(await bench.again(newer))).state).toBe('stopped');
    expectCounts(await approved(bench, newer), { rows: 20, updated: 20 });
    expect(await rolesOf(bench)).toEqual(['Engineer', 'Captain']);
  });

  it('holds the newer one up while it is being written: its rows may be on the wire', async () => {
    const { bench, older, newer } = await twoStopped();
    await approveRun(bench.parts, await bench.again(older), null);
    await expect(approveRun(bench.parts, await bench.again(newer), null)).rejects.toMatchObject({
      code: 'notApproved',
      message: `run ${newer.id} was not approved: run ${older.id}, of an older file of its feed, is being written`,
    });
    expect((await bench.finish(await bench.apply(await bench.again(older)))).state).toBe('done');
    await expect(approveRun(bench.parts, await bench.again(newer), null)).rejects.toMatchObject({
      hint: `Read its file anew: patchbay runs restage ${newer.id}`,
    });
  });

  it('is skipped where that one went on, also where it was cancelled then', async () => {
    const { bench, older, newer } = await twoStopped();
    await approveRun(bench.parts, newer, null);
    expect((await cancelled(bench, newer)).state).toBe('cancelled');
    expectCounts(await approved(bench, older), { rows: 20, unchanged: 10, skipped: 10 });
    expect(await rolesOf(bench)).toEqual(['Engineer', 'Engineer']);
  });
});

describe('an open dead letter whose key a stopped run found unchanged', () => {
  const withPhone = (rows: readonly string[]) => csv(rows, 'externalId,firstName,role,phone');
  const everyone = people.map((row) => `${row},`);

  async function withLetter() {
    const bench = await openRunsBench({ guards: defaultGuards });
    await bench.import('a.csv', withPhone(everyone));
    const rejected = everyone.with(0, 'f-1,Ann,Pilot,1-800-FLOWERS');
    await bench.import('b.csv', withPhone(rejected));
    const stopped = await bench.import(
      'c.csv',
      withPhone(everyone.map((row, index) => (index < 10 ? row : row.replace('Engineer', 'Captain')))),
    );
    const states = async () => (await bench.letters()).filter(({ key }) => key === 'f-1').map(({ state }) => state);
    return { bench, stopped, states };
  }

  it('stays open while it is stopped, and when it is cancelled', async () => {
    const { bench, stopped, states } = await withLetter();
    expect([stopped.state, await states()]).toEqual(['stopped', ['open']]);
    await cancelled(bench, stopped);
    expect(await states()).toEqual(['open']);
  });

  it('is closed with the end of the run that goes on', async () => {
    const { bench, stopped, states } = await withLetter();
    await approved(bench, stopped);
    expect(await states()).toEqual(['closed']);
  });
});
