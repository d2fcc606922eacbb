/**
 * An undo takes back what one feed's run wrote, and not what another feed's file names: an e-mail, phone or custom field stays while one of them
 * names it, and of a field that both change the change that arrived last stands (`docs/operations.md`, "Feeds"; `docs/plans.md`, "Undo").
 */
import { describe, expect, it } from 'vitest';
import { noOptions } from '#src/ledger/runs.ts';
import { contactDocument } from '#src/operations/plan.ts';
import { planUndoOf } from '#src/operations/undo.ts';
import { planView } from '#src/plans/show/plan-view.ts';
import { csv, expectCounts } from '../runs/support/runs-bench.ts';
import { openPlanBench, type PlanBench } from './support/plan-bench.ts';
import { readWhole } from './support/read-plan.ts';
import { undoRun } from './support/undo-runs.ts';

const crm = { feed: 'crm' };
const shop = { feed: 'shop' };
const configured = { crm: {}, shop: {} };
const phone = '+14155550101';

const fieldsOf = async ({ bench: { world } }: PlanBench) => (await world.contactOf('c-1')).defaultFields;
const valuesOf = (items: readonly { readonly value: string | null }[]) => items.map(({ value }) => value).sort();

async function open() {
  const planned = await openPlanBench({ configured });
  const { bench } = planned;
  const field = (await bench.parts.workspace.listCustomFields())?.find(({ type }) => type === 'string')?.key ?? '';
  const header = `externalId,firstName,role,email work,phone mobile,custom.${field}`;
  return { planned, bench, field, of: (...cells: readonly string[]) => csv([['c-1', ...cells].join(',')], header) };
}

/** What the undo would leave alone, as the plan's document and its pages have it. */
async function plannedHeld({ bench, service }: PlanBench, run: Parameters<typeof planUndoOf>[2]) {
  const looking = { signal: new AbortController().signal, onProgress: () => undefined };
  const made = await planUndoOf(service, bench.parts, run, { deleteCreated: true }, looking);
  const { groups } = planView(made, { limit: 9, values: true });
  const shown = [];
  for await (const { changes } of groups.find(({ kind }) => kind === 'held')?.contacts ?? []) shown.push(...changes);
  const documents = (await readWhole(made)).contacts.map((one) => contactDocument(one, true));
  return { shown: shown.map(({ field }) => field), documents };
}

describe('a value that a run wrote and another feed’s file names since', () => {
  it('stays where the run is undone, and is listed with that feed in the plan and in the report', async () => {
    const { planned, bench, field, of } = await open();
    await bench.import('x1.csv', of('Ann', 'R', 'a@example.com', '', ''), crm);
    const run = await bench.import('x2.csv', of('Ann', 'T', 'b@example.com', phone, 'gold'), crm);
    const named = of('Ann', 'T', 'b@example.com', phone, 'gold');
    expectCounts(await bench.import('s1.csv', named, shop), { rows: 1, unchanged: 1 });

    const { shown, documents } = await plannedHeld(planned, run);
    const fields = ['role', 'email.b@example.com', `phone.${phone}`, `custom.${field}`];
    const why = ' (the file of feed shop names it, too)';
    expect(shown.toSorted()).toEqual(fields.map((one) => `${one}${why}`).toSorted());
    expect(documents).toMatchObject([
      { do: 'update', held: fields.toSorted().map(() => ({ namedBy: 'shop' })), changes: [{ why: 'added' }] },
    ]);
    const undone = await undoRun(bench, run);
    expect(undone.counts).toMatchObject({ rows: 1, updated: 1, heldFields: 4 });
    const events: { kind: string; field: string }[] = (await bench.report(undone)).outcomes;
    const held = events.filter(({ kind }) => kind === 'held');
    expect(held.map((one) => one.field).toSorted()).toEqual(fields.toSorted());
    expect(held).toContainEqual(
      expect.objectContaining({ code: 'otherFeedNames', message: 'the file of feed shop names it, too' }),
    );
    const after = await fieldsOf(planned);
    expect(after.role).toBe('T');
    // What the run had removed is put back: nothing speaks against it.
    expect(valuesOf(after.emails)).toEqual(['a@example.com', 'b@example.com']);
    expect(valuesOf(after.phoneNumbers)).toEqual([phone]);
    const looked = await bench.import('s1.csv', named, { ...shop, options: { ...noOptions, verify: true } });
    expect(looked.shape?.drift).toEqual({ looked: 1, changed: 0, gone: 0, doubled: 0 });
    await bench.world.expectSound();
  });

  it('leaves when the last feed that names it drops it', async () => {
    const { planned, bench, of } = await open();
    await bench.import('x1.csv', of('Ann', '', '', '', ''), crm);
    const run = await bench.import('x2.csv', of('Ann', '', '', phone, ''), crm);
    await bench.import('s1.csv', of('Ann', '', '', phone, ''), shop);
    await undoRun(bench, run);
    await bench.import('x3.csv', of('Ann', '', '', '#CLEAR', ''), crm);
    expect(valuesOf((await fieldsOf(planned)).phoneNumbers)).toEqual([phone]);
    await bench.import('s2.csv', of('Ann', '', '', '#CLEAR', ''), shop);
    expect((await fieldsOf(planned)).phoneNumbers).toEqual([]);
  });

  it('is taken back where the other feed’s change is older than the run’s, or the feed is no longer there', async () => {
    const { planned, bench, of } = await open();
    await bench.import('s1.csv', of('Ann', 'T', '', '', ''), shop);
    await bench.import('x1.csv', of('Ann', 'R', '', '', ''), crm);
    expectCounts(await bench.import('x1.csv', of('Ann', 'R2', '', '', ''), crm), { rows: 1, updated: 1 });
    const run = await bench.import('x2.csv', of('Ann', 'T', '', '', ''), crm);
    expectCounts(await undoRun(bench, run), { rows: 1, updated: 1 });
    expect((await fieldsOf(planned)).role).toBe('R2');

    const gone = await openPlanBench({ configured, limits: { ownsItems: (feed) => feed !== 'shop' } });
    const rows = (number: string) => csv([`c-1,Ann,${number}`], 'externalId,firstName,phone mobile');
    await gone.bench.import('x1.csv', rows(''), crm);
    const added = await gone.bench.import('x2.csv', rows(phone), crm);
    await gone.bench.import('s1.csv', rows(phone), shop);
    await undoRun(gone.bench, added);
    expect((await fieldsOf(gone)).phoneNumbers).toEqual([]);
  });
});

describe('a contact that a run made and another feed’s file names since', () => {
  it.each([
    ['the same values', ['Ann', 'R', '', phone, ''], ['firstName', 'role', `phone.${phone}`]],
    ['one of its values', ['Ann', '', '', '', ''], ['firstName']],
  ])('is not deleted: %s', async (_, cells, fields) => {
    const { planned, bench, of } = await open();
    const run = await bench.import('x1.csv', of('Ann', 'R', 'a@example.com', phone, ''), crm);
    await bench.import('s1.csv', of(...cells), shop);
    const { shown } = await plannedHeld(planned, run);
    expect(shown.toSorted()).toEqual(fields.map((one) => `${one} (the file of feed shop names it, too)`).toSorted());
    const undone = await undoRun(bench, run, { deleteCreated: true });
    expect(undone.counts).toMatchObject({ rows: 1, unchanged: 1, deleted: 0, heldFields: fields.length });
    expect(await bench.world.contacts()).toHaveLength(1);
  });

  it('is not deleted where that file belongs to main either', async () => {
    const { bench, of } = await open();
    const run = await bench.import('x1.csv', of('Ann', 'R', '', '', ''), crm);
    await bench.import('m1.csv', of('Ann', 'R', '', '', ''));
    expect((await undoRun(bench, run, { deleteCreated: true })).counts).toMatchObject({ unchanged: 1, deleted: 0 });
  });
});

describe('a write of a cancelled run that had no answer', () => {
  const header = 'externalId,firstName,role';
  const cancelledInDoubt = async () => {
    const { planned, bench } = await open();
    await bench.import('a.csv', csv(['c-1,Ann,Right'], header), crm);
    const staged = await bench.stage(await bench.submit('b.csv', csv(['c-1,Ann,Wrong'], header), crm));
    await bench.world.faults('update:dropAfter');
    await bench.world.workOnce(staged);
    await bench.world.faults();
    const reason = { code: 'cancelled', message: 'cancelled by a person', hint: null, facts: {} } as const;
    await bench.ledger.runs.move(staged.id, ['applying'], 'cancelling', { atMs: 1, reason });
    const run = await bench.finish(staged);
    expect(run.reason?.hint).toContain(
      'Of a run of feed crm, such as an import of the same file, the undo takes it back',
    );
    expect(run.reason?.hint).toContain("of another feed's run it holds what the file of crm says");
    return { planned, bench };
  };

  it('is taken back with the import of the same file that finds it', async () => {
    const { planned, bench } = await cancelledInDoubt();
    await undoRun(bench, await bench.import('b2.csv', csv(['c-1,Ann,Wrong'], header), crm));
    expect(await fieldsOf(planned)).toMatchObject({ role: 'Right' });
  });

  it('is held where a run of another feed finds it, and goes with another value in the file', async () => {
    const { planned, bench } = await cancelledInDoubt();
    const undo = await undoRun(bench, await bench.import('s.csv', csv(['c-1,Ann'], 'externalId,firstName'), shop));
    expect(undo.counts).toMatchObject({ updated: 0, heldFields: 1 });
    expect(await fieldsOf(planned)).toMatchObject({ role: 'Wrong' });
    expect((await bench.import('c.csv', csv(['c-1,Ann,Right'], header), crm)).counts).toMatchObject({ updated: 1 });
    expect(await fieldsOf(planned)).toMatchObject({ role: 'Right' });
  });
});
