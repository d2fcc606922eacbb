/** `--on-gone recreate`: contacts that are gone are made again by one import (`docs/rules.md`, "Workspace, feed, key" and "Drift"). */
import { describe, expect, test } from 'vitest';
import type { RunOptions, RunRecord } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { checkImportOptions } from '#src/operations/import.ts';
import { planUndoOf } from '#src/operations/undo.ts';
import { openPlanBench } from '#test/plans/support/plan-bench.ts';
import { undoRun } from '#test/plans/support/undo-runs.ts';
import { phone } from '#test/upsert/support/build.ts';
import { expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const header = 'externalId,firstName,role,phone,source';
const row = (index: number, role = 'Buyer') => `c-${index},Ann ${index},${role},${phone(index)},Fair`;
const file = (rows: readonly string[]) => [header, ...rows, ''].join('\r\n');
const rows = (count: number) => Array.from({ length: count }, (_, index) => row(index + 1));
const inFeed = (options: Partial<RunOptions> = {}) => ({ feed: 'crm', options });
const again = { onGone: 'recreate', repair: true } as const;

async function erase({ world }: RunsBench, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await world.byHand('DELETE', `/v1/contacts/${(await world.contactOf(key)).id}`);
}

/** Five people of a feed, of whom people deleted two. */
async function openErased(given: Parameters<typeof openRunsBench>[0] = {}): Promise<RunsBench> {
  const bench = await openRunsBench({ configured: { crm: {}, shop: {} }, ...given });
  await bench.import('a.csv', file(rows(5)), inFeed());
  await erase(bench, 'c-2', 'c-3');
  return bench;
}

const keysOf = async ({ world }: RunsBench) => (await world.contacts()).map(({ externalId }) => externalId).toSorted();

const outcomesOf = async (bench: RunsBench, run: RunRecord): Promise<readonly RunEvent[]> =>
  (await bench.report(run)).outcomes;
const notesOf = ({ notes }: RunRecord) => notes.join('\n');
const changed = file([row(1), row(2, 'Chief'), row(3), row(4), row(5)]);

describe('an import with --on-gone recreate', () => {
  test('makes the contact of a changed row again, and no other', async () => {
    const bench = await openErased();
    const skipped = await bench.import('b.csv', changed, inFeed());
    expectCounts(skipped, { rows: 5, unchanged: 4, skipped: 1 });
    expect(notesOf(skipped)).toBe(
      `1 contact stays deleted; to make it again: patchbay import --feed crm --on-gone recreate ${bench.folder}/b.csv`,
    );
    const run = await bench.import('b.csv', changed, inFeed({ onGone: 'recreate' }));
    expectCounts(run, { rows: 5, unchanged: 4, created: 1 });
    expect(await keysOf(bench)).toEqual(['c-1', 'c-2', 'c-4', 'c-5']);
  });

  test('says how many stay gone at least, where the run has no room to list more', async () => {
    const bench = await openErased();
    const staged = await bench.stage(
      await bench.submit('b.csv', file([1, 2, 3, 4, 5].map((one) => row(one, 'Chief'))), inFeed()),
    );
    const events = Array.from({ length: eventsPerRunMax - 1 }, (): RunEvent => {
      return { kind: 'warning', line: 2, key: 'c-1', code: 'long', field: null, message: 'long' };
    });
    const slice = { runId: staged.id, feed: 'crm', rowsPerBatch: 100, records: [], dead: [], counts: {} };
    await bench.ledger.runs.stage({ ...slice, events, atMs: bench.parts.clock.nowMs() });
    const run = await bench.finish(await bench.apply(staged));
    expectCounts(run, { rows: 5, updated: 3, skipped: 2 });
    expect(notesOf(run)).toContain('at least 1 contact stays deleted; to make them again: ');
  });

  test('makes with --repair also those of unchanged rows again, of all that the rows say; the same file then finds nothing to do', async () => {
    const bench = await openErased();
    const run = await bench.import('b.csv', changed, inFeed(again));
    expectCounts(run, { rows: 5, unchanged: 3, created: 2 });
    expect(await bench.world.contactOf('c-3')).toMatchObject({
      source: 'Fair',
      defaultFields: { firstName: 'Ann 3', role: 'Buyer', phoneNumbers: [{ value: phone(3) }] },
    });
    expect((await outcomesOf(bench, run)).map(({ key, line, code }) => [key, line, code])).toEqual([
      ['c-2', 0, 'driftGone'],
      ['c-3', 0, 'driftGone'],
    ]);
    expect(notesOf(run)).toContain('1 contact that is gone is made again');
    expectCounts(await bench.import('b.csv', changed, inFeed(again)), { rows: 5, unchanged: 5 });
    await bench.world.expectSound();
  });

  test('holds nothing of a contact that it makes again, and still counts what waits in others', async () => {
    const bench = await openErased();
    for (const key of ['c-4', 'c-5']) {
      const { id, defaultFields } = await bench.world.contactOf(key);
      await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Owner' } });
    }
    const both = file([row(1), row(2), row(3), row(4, 'Chief'), row(5, 'Chief')]);
    expect((await bench.import('b.csv', both, inFeed())).counts).toMatchObject({ heldFields: 2 });
    await erase(bench, 'c-4');
    const planned = await openPlanBench(bench);
    const made = await planned.plan('b.csv', both, inFeed(again));
    const run = await bench.import('b.csv', both, inFeed(again));
    expectCounts(run, { rows: 5, unchanged: 2, created: 3 });
    expect((await bench.world.contactOf('c-4')).defaultFields.role).toBe('Chief');
    expect(run.counts.heldFields).toBe(1);
    expect(made.plan.totals.heldFields).toBe(1);
    expect(made.groupCounts).toMatchObject({ create: 3, held: 1 });
    expect(await bench.ledger.contacts.heldCount({ feed: 'crm' })).toBe(1);
  });

  test('says of how many --limit lets it make, and does so for the guard', async () => {
    const bench = await openErased({ guards: { ...defaultGuards, createsFloor: 2 } });
    const run = await bench.import('a.csv', file(rows(5)), inFeed({ ...again, limit: 1 }));
    expectCounts(run, { rows: 5, unchanged: 3, created: 1, skipped: 1 });
    expect(notesOf(run)).toContain('1 contact that is gone is made again');
  });

  test('is planned as it is carried out', async () => {
    const bench = await openErased();
    const planned = await openPlanBench(bench);
    const made = await planned.plan('b.csv', changed, inFeed(again));
    expect(made.plan.totals.rows).toMatchObject({ created: 2, unchanged: 3 });
    expectCounts(await planned.carryOut(made), { rows: 5, unchanged: 3, created: 2 });
  });

  test('does not make with --only what was not chosen, nor with --create-only what the ledger knows', async () => {
    const bench = await openErased();
    const onlyOne = await bench.import('a.csv', file(rows(5)), inFeed({ ...again, only: ['c-3'] }));
    expect(onlyOne.counts).toMatchObject({ created: 1, unchanged: 4 });
    const creating = await bench.import('a.csv', file(rows(5)), inFeed({ ...again, createOnly: true }));
    expectCounts(creating, { rows: 5, unchanged: 5 });
    expect(notesOf(creating)).toContain(
      `1 contact stays deleted; to make it again: patchbay import --feed crm --on-gone recreate --repair ${bench.folder}/a.csv`,
    );
  });

  test('stops where people made such a contact again by hand, as where new ones are made', async () => {
    const bench = await openErased();
    const phoneNumbers = [{ name: 'home', value: phone(3) }];
    await bench.world.byHand('POST', '/v1/contacts', { defaultFields: { firstName: 'Ann', phoneNumbers } });
    const run = await bench.import('a.csv', file(rows(5)), inFeed(again));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardUnlinked' } });
    expect(run.reason?.hint).toContain('--adopt');
  });

  test('counts as creates for the guard, and passes it as they do', async () => {
    const bench = await openErased({ guards: { ...defaultGuards, createsFloor: 5 } });
    const run = await bench.import('a.csv', file(rows(5)), inFeed(again));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardCreates' } });
    expect(run.reason?.message).toContain('the run makes 2 contacts, 2 of them again, and the feed knows 5 (40%');
    expect(await keysOf(bench)).toEqual(['c-1', 'c-4', 'c-5']);
    const raised = await bench.import('a.csv', file(rows(5)), inFeed({ ...again, maxChange: 0.5 }));
    expect(raised.counts).toMatchObject({ created: 2, unchanged: 3 });
  });

  test('is no answer to --update-only', () => {
    expect(() => checkImportOptions({ onGone: 'recreate', updateOnly: true })).toThrow(
      '--update-only makes no contact',
    );
    expect(checkImportOptions({ onGone: 'skip', updateOnly: true }).onGone).toBe('skip');
  });
});

describe('a feed that says onGone: recreate', () => {
  const recreate = { limits: { onGoneOf: () => 'recreate' as const } };
  const recreating = { configured: { crm: { onGone: 'recreate' as const } }, ...recreate };

  test('has contacts of unchanged rows made again by --repair', async () => {
    const bench = await openErased(recreating);
    expectCounts(await bench.import('a.csv', file(rows(5)), inFeed()), { rows: 5, unchanged: 5 });
    expectCounts(await bench.import('a.csv', file(rows(5)), inFeed({ repair: true })), {
      ...{ rows: 5, unchanged: 3, created: 2 },
    });
  });

  test('leaves them gone for one import that says --on-gone skip', async () => {
    const bench = await openErased(recreating);
    const run = await bench.import('b.csv', changed, inFeed({ onGone: 'skip', repair: true }));
    expectCounts(run, { rows: 5, unchanged: 4, skipped: 1 });
    expect(await keysOf(bench)).toEqual(['c-1', 'c-4', 'c-5']);
  });
});

describe('contacts that an undo deleted', () => {
  /** A wrong file went in, and was undone. */
  async function openUndone() {
    const bench = await openRunsBench({ configured: { crm: {}, shop: {} } });
    const wrong = await bench.import('a.csv', file(rows(3)), inFeed());
    const undo = await undoRun(bench, wrong, { deleteCreated: true, accept: true });
    return { bench, undo };
  }
  const corrected = file([row(1, 'Chief'), row(2, 'Chief'), row(3)]);

  test('are said to stay gone by the undo and its plan, with the command that makes them again', async () => {
    const { undo } = await openUndone();
    expect(undo.counts).toMatchObject({ rows: 3, deleted: 3 });
    expect(notesOf(undo)).toBe(
      'this undo deletes 3 contacts, and later files leave them gone; to make them again with a file: patchbay import --feed crm --on-gone recreate --repair FILE',
    );
  });

  test('are made again by that command with the default country that the undone file was read with', async () => {
    const bench = await openRunsBench({ configured: { crm: {}, shop: {} } });
    const wrong = await bench.import('a.csv', file(rows(3)), { feed: 'crm', options: { defaultCountry: 'DE' } });
    const undo = await undoRun(bench, wrong, { deleteCreated: true, accept: true });
    expect(notesOf(undo)).toMatch(/patchbay import (?=.*--default-country DE)(?=.*--on-gone recreate).* FILE$/);
  });

  test('are counted without those that people had changed, by the undo and its plan alike', async () => {
    const bench = await openRunsBench({ configured: { crm: {}, shop: {} } });
    const wrong = await bench.import('a.csv', file(rows(3)), inFeed());
    const { id } = await bench.world.contactOf('c-2');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { company: 'Oak' } });
    const { service } = await openPlanBench(bench);
    const looking = { signal: new AbortController().signal, onProgress: () => undefined };
    await using made = await planUndoOf(service, bench.parts, wrong, { deleteCreated: true }, looking);
    const undo = await undoRun(bench, wrong, { deleteCreated: true, accept: true });
    expect(undo.counts).toMatchObject({ rows: 3, deleted: 2 });
    expect(notesOf(undo)).toContain('this undo deletes 2 contacts, and later files leave them gone;');
    expect(made.notes).toEqual([...undo.notes]);
  });

  test('are skipped with that undo as the reason, in a plan, too; and so is their drift', async () => {
    const { bench, undo } = await openUndone();
    const message = `deleted by the undo ${undo.id}, and not created again by this run`;
    const made = await (await openPlanBench(bench)).plan('b.csv', corrected, inFeed());
    expect(made.outcomes).toMatchObject([
      { code: 'gone', message },
      { code: 'gone', message },
    ]);
    const run = await bench.import('b.csv', corrected, inFeed());
    expectCounts(run, { rows: 3, skipped: 2, unchanged: 1 });
    expect(await outcomesOf(bench, run)).toMatchObject([
      { code: 'gone', message },
      { code: 'gone', message },
    ]);
    expect([...run.notes]).toEqual(made.notes);
    expect(notesOf(run)).toContain('2 contacts stay deleted; to make them again: ');
    const looked = await bench.import('b.csv', corrected, inFeed({ repair: true }));
    const told = (await outcomesOf(bench, looked)).filter(({ code }) => code === 'driftGone');
    expect(new Set(told.map((event) => event.message))).toEqual(
      new Set([`the contact was deleted by the undo ${undo.id}`]),
    );
  });

  test('are made again by the command, also in the right feed where they went into a wrong one', async () => {
    const { bench } = await openUndone();
    expectCounts(await bench.import('b.csv', corrected, inFeed(again)), { rows: 3, created: 3 });
    expect(await keysOf(bench)).toEqual(['c-1', 'c-2', 'c-3']);
    const other = await openUndone();
    const run = await other.bench.import('b.csv', corrected, { feed: 'shop', options: { onGone: 'recreate' } });
    expectCounts(run, { rows: 3, created: 3 });
  });

  test('and made again by people are theirs when people delete them again', async () => {
    const { bench } = await openUndone();
    await bench.world.byHand('POST', '/v1/contacts', { externalId: 'c-1', defaultFields: { firstName: 'Ann' } });
    await bench.import('b.csv', corrected, inFeed());
    await erase(bench, 'c-1');
    const run = await bench.import('c.csv', file([row(1, 'Boss'), row(2), row(3)]), inFeed());
    expect(await outcomesOf(bench, run)).toMatchObject([
      { code: 'gone', message: expect.stringContaining('deleted in the workspace') },
    ]);
  });
});
