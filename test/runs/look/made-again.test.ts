/**
 * Contacts that are made again (`docs/rules.md`, "Contacts without an externalId"): where people deleted one and made it again by hand,
 * without an externalId, the run stops and asks, as for a new row.
 */
import { describe, expect, test } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { approveRun } from '#src/operations/run-acts.ts';
import { openPlanBench } from '#test/plans/support/plan-bench.ts';
import { enterUndo, stageEntered, undoRun } from '#test/plans/support/undo-runs.ts';
import { expectCounts, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { phone } from '#test/upsert/support/build.ts';

const header = 'externalId,firstName,lastName,role,phone';
const file = (...rows: readonly string[]) => [header, ...rows].map((row) => `${row}\r\n`).join('');
const ann = (role: string) => `g-1,Ann,Fir,${role},${phone(1)}`;
const bea = (role: string) => `g-2,Bea,Elm,${role},${phone(2)}`;

const recreate = { limits: { onGoneOf: () => 'recreate' as const } };
const goOn = async (bench: RunsBench, run: RunRecord) => bench.finish(await bench.apply(await bench.again(run)));
const keys = async ({ world }: RunsBench) => (await world.contacts()).map(({ externalId }) => externalId).toSorted();
const byHand = async ({ world }: RunsBench, fields: Readonly<Record<string, unknown>>): Promise<string> =>
  (await world.byHand('POST', '/v1/contacts', { defaultFields: { firstName: 'Ann', role: null, ...fields } })).id;
const typedIn = { role: 'Owner', phoneNumbers: [{ name: 'home', value: phone(1) }] };
const erase = async ({ world }: RunsBench, key: string) =>
  world.byHand('DELETE', `/v1/contacts/${(await world.contactOf(key)).id}`);

/** Ann and Bea were imported, by a second feed too, and people deleted Ann. */
async function openDeleted(given: Parameters<typeof openRunsBench>[0] = recreate): Promise<RunsBench> {
  const bench = await openRunsBench({ configured: { shop: {} }, ...given });
  await bench.import('a.csv', file(ann('Buyer'), bea('Buyer')));
  await bench.import('shop.csv', 'externalId,company\r\ng-1,Pier\r\n', { feed: 'shop' });
  await erase(bench, 'g-1');
  return bench;
}

describe('a contact that people deleted and made again by hand', () => {
  test('stops the run before it is made again, and says what both ways do', async () => {
    const bench = await openDeleted();
    const id = await byHand(bench, typedIn);
    const run = await bench.import('b.csv', file(ann('Chief'), bea('Chief')));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardUnlinked' } });
    expect(run.reason?.message).toContain('1 of the 1 contact to be created is in the workspace already');
    expect(run.reason?.hint).toContain(`patchbay runs approve --sandbox ${run.id} --adopt\n`);
    expect(await bench.events(run)).toMatchObject([{ kind: 'match', code: 'matchFound', key: 'g-1', contact: id }]);
    expect(await keys(bench)).toEqual(['g-2', null]);
  });

  test('is linked by an approval that says so: empty fields are filled, others held, and each feed writes again', async () => {
    const bench = await openDeleted();
    const id = await byHand(bench, typedIn);
    const run = await bench.import('b.csv', file(ann('Chief'), bea('Buyer')));
    await approveRun(bench.parts, run, null, 'adopt');
    const done = await goOn(bench, run);
    expect(done.counts).toMatchObject({ rows: 2, updated: 1, unchanged: 1, linked: 1, adopted: 1, heldFields: 1 });
    expect(await keys(bench)).toEqual(['g-1', 'g-2']);
    expect(await bench.world.contactOf('g-1')).toMatchObject({
      id,
      defaultFields: { lastName: 'Fir', role: 'Owner', company: null },
    });
    await bench.import('shop.csv', 'externalId,company\r\ng-1,Pier\r\n', { feed: 'shop' });
    expect((await bench.world.contactOf('g-1')).defaultFields).toMatchObject({ company: 'Pier', role: 'Owner' });
    expectCounts(await bench.import('b.csv', file(ann('Chief'), bea('Buyer'))), { rows: 2, unchanged: 2 });
    await bench.world.expectSound();
  });

  test.each(['update:dropAfter', 'update:dropBefore'])(
    'is linked once where the answer is lost (%s)',
    async (fault) => {
      const bench = await openDeleted();
      const id = await byHand(bench, typedIn);
      const run = await bench.import('b.csv', file(ann('Chief'), bea('Buyer')));
      await approveRun(bench.parts, run, null, 'adopt');
      await bench.world.faults(fault);
      await bench.world.workOnce(await bench.again(run));
      await bench.world.faults();
      expect((await goOn(bench, run)).counts).toMatchObject({ updated: 1, created: 0, dead: 0, heldFields: 1 });
      expect((await bench.world.contactOf('g-1')).id).toBe(id);
      expect(await keys(bench)).toEqual(['g-1', 'g-2']);
      await bench.world.expectSound();
    },
  );

  test('is made a second time by an approval that says so, and by --create-anyway', async () => {
    const bench = await openDeleted();
    await byHand(bench, typedIn);
    const run = await bench.import('b.csv', file(ann('Chief'), bea('Buyer')));
    await approveRun(bench.parts, run, null, 'createAnyway');
    expectCounts(await goOn(bench, run), { rows: 2, created: 1, unchanged: 1 });
    expect(await keys(bench)).toEqual(['g-1', 'g-2', null]);
    await erase(bench, 'g-1');
    const again = await bench.import('c.csv', file(ann('Boss'), bea('Buyer')), { options: { createAnyway: true } });
    expectCounts(again, { rows: 2, created: 1, unchanged: 1 });
  });

  test('is linked without a stop where the feed adopts', async () => {
    const bench = await openDeleted({ ...recreate, configured: { shop: {}, crm: { adopt: true } } });
    await bench.import('crm.csv', file(bea('Buyer')), { feed: 'crm' });
    await erase(bench, 'g-2');
    await byHand(bench, { firstName: 'Bea', phoneNumbers: [{ name: 'home', value: phone(2) }] });
    const run = await bench.import('crm.csv', file(bea('Chief')), { feed: 'crm' });
    expect(run.counts).toMatchObject({ updated: 1, linked: 1, heldFields: 0 });
    expect((await bench.world.contactOf('g-2')).defaultFields).toMatchObject({ role: 'Chief', lastName: 'Elm' });
  });

  test('is rejected where it is unclear who it is, and a person wants such rows linked', async () => {
    const bench = await openDeleted();
    await byHand(bench, typedIn);
    await byHand(bench, typedIn);
    const run = await bench.import('b.csv', file(ann('Chief'), bea('Buyer')));
    await approveRun(bench.parts, run, null, 'adopt');
    expect((await goOn(bench, run)).counts).toMatchObject({ dead: 1, created: 0 });
    expect(await bench.letters()).toMatchObject([{ key: 'g-1', code: 'linkUnclear' }]);
  });
});

describe('a contact that people deleted and did not make again', () => {
  test('is made again without a stop; the workspace is listed once, and not at all where none is gone', async () => {
    const bench = await openDeleted();
    const run = await bench.import('b.csv', file(ann('Chief'), bea('Chief')));
    expectCounts(run, { rows: 2, created: 1, updated: 1 });
    expect(run.look).toMatchObject({ pages: 1, matched: 0 });
    const next = await bench.import('c.csv', file(ann('Boss'), bea('Boss')));
    expectCounts(next, { rows: 2, updated: 2 });
    expect(next.look).toBeNull();
    // One look-up for both before the guards, and one when they are written.
    expect(next.requests.get).toBe(2);
  });

  test('is left alone, and looked up by no one, where the feed does not say recreate', async () => {
    const bench = await openDeleted({});
    const run = await bench.import('b.csv', file(ann('Chief'), bea('Buyer')));
    expectCounts(run, { rows: 2, skipped: 1, unchanged: 1 });
    expect(run.look).toBeNull();
  });

  test('where it is deleted after the run was staged it is skipped, and the same file makes it again', async () => {
    const bench = await openRunsBench(recreate);
    await bench.import('a.csv', file(ann('Buyer')));
    const staged = await bench.stage(await bench.submit('b.csv', file(ann('Chief'))));
    await erase(bench, 'g-1');
    expectCounts(await goOn(bench, staged), { rows: 1, skipped: 1 });
    expectCounts(await bench.import('b.csv', file(ann('Chief'))), { rows: 1, created: 1 });
  });

  test('is shown as to be made again by a plan, which also tells where the import would stop', async () => {
    const bench = await openDeleted();
    const planned = await openPlanBench(bench);
    expect(await planned.plan('b.csv', file(ann('Chief'), bea('Buyer')))).toMatchObject({
      plan: { totals: { rows: { created: 1, unchanged: 1 } }, stop: null },
    });
    await byHand(bench, typedIn);
    expect(await planned.plan('b.csv', file(ann('Chief'), bea('Buyer')))).toMatchObject({
      plan: { stop: { code: 'guardUnlinked' } },
    });
  });
});

describe('a contact that an undo deleted, and people made again by hand', () => {
  /** The undo of the undo, as it stopped. */
  async function openStopped(): Promise<{ readonly bench: RunsBench; readonly id: string; readonly run: RunRecord }> {
    const bench = await openRunsBench({ configured: { shop: {} } });
    const made = await bench.import('a.csv', file(ann('Buyer'), bea('Buyer')));
    const deleted = await undoRun(bench, made, { deleteCreated: true });
    expect(await keys(bench)).toEqual([]);
    const id = await byHand(bench, typedIn);
    const run = await stageEntered(bench, await enterUndo(bench, deleted));
    return { bench, id, run };
  }

  test('stops the undo of that undo before its first write, and --accept does not pass it', async () => {
    const { bench, run, id } = await openStopped();
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardUnlinked' } });
    expect(run.reason?.message).toContain('1 of the 2 contacts to be created is in the workspace already');
    expect(await bench.events(run)).toMatchObject([{ kind: 'match', code: 'matchFound', key: 'g-1', contact: id }]);
    const [undone] = (await bench.ledger.runs.list({ limit: 10 })).filter(({ id: one }) => one === run.options.undoes);
    if (undone === undefined) throw new Error('the undo is there');
    expect(await enterUndo(bench, undone, { accept: true })).toMatchObject({ id: run.id, state: 'stopped' });
  });

  test('is linked by an approval that says so, and the files go on from what they said', async () => {
    const { bench, run, id } = await openStopped();
    await approveRun(bench.parts, run, null, 'adopt');
    const done = await goOn(bench, run);
    expect(done.counts).toMatchObject({ rows: 2, created: 1, updated: 1, linked: 1 });
    expect(await bench.world.contactOf('g-1')).toMatchObject({ id, defaultFields: { lastName: 'Fir', role: 'Owner' } });
    expectCounts(await bench.import('a.csv', file(ann('Buyer'), bea('Buyer'))), { rows: 2, unchanged: 2 });
    const next = await bench.import('b.csv', file(ann('Chief'), bea('Buyer')));
    expect(next.counts).toMatchObject({ unchanged: 2, heldFields: 1 });
    expect((await bench.world.contactOf('g-1')).defaultFields).toMatchObject({ role: 'Owner' });
    await bench.world.expectSound();
  });

  test('is made a second time by an approval that says so', async () => {
    const { bench, run } = await openStopped();
    await approveRun(bench.parts, run, null, 'createAnyway');
    expectCounts(await goOn(bench, run), { rows: 2, created: 2 });
    expect(await keys(bench)).toEqual(['g-1', 'g-2', null]);
  });
});
