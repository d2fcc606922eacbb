/**
 * Whose value an undo puts back (`docs/rules.md`, "Three pictures, one plan"): what people had put there is theirs again, what file and app had
 * agreed on is agreed again, an item of Patchbay's is Patchbay's again; and what was taken back is no drift.
 */
import { describe, expect, it } from 'vitest';
import { identifyProcess } from '#src/ledger/process-identity.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import { listHeld, takeHeld } from '#src/operations/held-fields.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from '../runs/support/runs-bench.ts';
import { enterUndo, stageEntered, undoRun } from './support/undo-runs.ts';

const header = 'externalId,firstName,role,company';
const row = (role: string, company = 'Pier') => csv([`c-1,Ann,${role},${company}`], header);

const fieldsOf = async ({ world }: RunsBench) => (await world.contactOf('c-1')).defaultFields;
const phonesOf = async (bench: RunsBench) => (await fieldsOf(bench)).phoneNumbers.map(({ value }) => value).sort();

async function edit({ world }: RunsBench, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { id, defaultFields, customFields } = await world.contactOf('c-1');
  await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, ...fields }, customFields });
}

/** A person lets the file win, and the run that writes its value is carried out. */
async function takeFile(bench: RunsBench): Promise<RunRecord> {
  const home = {
    ...{ submit: bench.parts, actor: bench.parts.actor, config: { upsert: bench.parts } },
    identity: identifyProcess(bench.parts.clock.bootId),
  };
  const [run] = (await takeHeld(home, 'file', await listHeld(bench.parts, {}))).runs;
  if (run === undefined) throw new Error('nothing was held');
  return bench.finish(await bench.apply(run));
}

/** People made the role X a Y, the file says Z, and a person lets the file win. */
async function openTaken(): Promise<{ readonly bench: RunsBench; readonly run: RunRecord }> {
  const bench = await openRunsBench({ configured: { shop: {} } });
  await bench.import('a.csv', row('X'));
  await edit(bench, { role: 'Y' });
  expect((await bench.import('b.csv', row('Z'))).counts.heldFields).toBe(1);
  const run = await takeFile(bench);
  expect(await fieldsOf(bench)).toMatchObject({ role: 'Z' });
  return { bench, run };
}

describe('a value of people that a run wrote over and an undo puts back', () => {
  it('is people’s again: the same file writes nothing, and what a file says next is held', async () => {
    const { bench, run } = await openTaken();
    expectCounts(await undoRun(bench, run), { rows: 1, updated: 1 });
    expectCounts(await bench.import('b.csv', row('Z', 'Quay')), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Y', company: 'Quay' });
    const adopting = { options: { adopt: true } };
    expect((await bench.import('c.csv', row('W', 'Quay'), adopting)).counts).toMatchObject({ heldFields: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Y' });
    expect(await listHeld(bench.parts, {})).toMatchObject([{ field: 'role', ours: 'W', theirs: 'Y' }]);
    await bench.world.expectSound();
  });

  it('is people’s also where the answer to the undo was lost', async () => {
    const { bench, run } = await openTaken();
    const staged = await stageEntered(bench, await enterUndo(bench, run));
    await bench.world.faults('update:dropAfter');
    await bench.world.workOnce(staged);
    await bench.world.faults();
    await bench.finish(await bench.apply(staged));
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Y' });
    expect((await bench.import('c.csv', row('W'))).counts).toMatchObject({ heldFields: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Y' });
  });

  it('stays people’s where the undo is undone, and that is undone again', async () => {
    const { bench, run } = await openTaken();
    const undone = await undoRun(bench, run);
    const redone = await undoRun(bench, undone);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Z' });
    await undoRun(bench, redone);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Y' });
    expect((await bench.import('c.csv', row('W'))).counts).toMatchObject({ heldFields: 1 });
  });

  it('is the file’s to write again where the undo was undone', async () => {
    const { bench, run } = await openTaken();
    await undoRun(bench, await undoRun(bench, run));
    expectCounts(await bench.import('c.csv', row('W')), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'W' });
  });

  it.each([
    ['the policy lets the file win', { role: { column: 'role', policy: 'source' } }, {}],
    ['drift was repaired', { role: 'role' }, { repair: true }],
  ])('is held where %s, and the mapping is an ordinary one by then', async (_, fields, options) => {
    const of = (role: unknown): Mapping =>
      mappingSchema.parse({
        name: 'crm',
        key: 'externalId',
        fields: { firstName: 'firstName', company: 'company', role },
      });
    const bench = await openRunsBench();
    await bench.import('a.csv', row('X'), { mapping: of('role') });
    await edit(bench, { role: 'Y' });
    const run = await bench.import('b.csv', row('X', 'Quay'), { mapping: of(fields.role), options });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'X' });
    await undoRun(bench, run);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Y', company: 'Pier' });
    const next = await bench.import('c.csv', row('W', 'Dock'), { mapping: of('role') });
    expect(next.counts).toMatchObject({ updated: 1, heldFields: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Y', company: 'Dock' });
  });

  it('is written over by the feed whose file had said it, and held for every other', async () => {
    const bench = await openRunsBench({ configured: { shop: {} } });
    await bench.import('a.csv', csv(['c-1,Ann'], 'externalId,firstName'));
    await edit(bench, { role: 'Y' });
    await bench.import('b.csv', row('Y'));
    const run = await bench.import('c.csv', row('Z'));
    await undoRun(bench, run);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Y' });
    const shop = csv(['c-1,V'], 'externalId,role');
    expect((await bench.import('shop.csv', shop, { feed: 'shop' })).counts).toMatchObject({ heldFields: 1 });
    expect((await bench.import('d.csv', row('W'))).counts).toMatchObject({ updated: 1, heldFields: 0 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'W' });
  });
});

describe('a field that was empty, or that Patchbay had written', () => {
  it('is written as ever by a file that says something new', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,X'], 'externalId,firstName,role'));
    const run = await bench.import('b.csv', row('Z', 'Pier'));
    await undoRun(bench, run);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'X', company: null });
    expect((await bench.import('c.csv', row('W', 'Quay'))).counts).toMatchObject({ updated: 1, heldFields: 0 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'W', company: 'Quay' });
  });
});

it('a field of policy fill that an undo has cleared stays empty while the file repeats itself', async () => {
  const mapping = mappingSchema.parse({
    name: 'crm',
    key: 'externalId',
    fields: { firstName: 'firstName', company: 'company', role: { column: 'role', policy: 'fill' } },
  });
  const bench = await openRunsBench();
  await bench.import('a.csv', csv(['c-1,Ann'], 'externalId,firstName'));
  await undoRun(bench, await bench.import('b.csv', row('Wrong'), { mapping }));
  expect(await fieldsOf(bench)).toMatchObject({ role: null });
  expect((await bench.import('c.csv', row('Wrong', 'Quay'), { mapping })).counts).toMatchObject({ updated: 1 });
  expect(await fieldsOf(bench)).toMatchObject({ role: null, company: 'Quay' });
  await bench.import('d.csv', row('Right', 'Quay'), { mapping });
  expect(await fieldsOf(bench)).toMatchObject({ role: 'Right' });
});

const [one, two, three] = ['+14155550101', '+14155550102', '+14155550103'] as const;
const phones = (mobile: string, work = '') =>
  csv([`c-1,Ann,${mobile},${work}`], 'externalId,firstName,phone mobile,phone work');

describe('an item that an undo puts back', () => {
  it('is not removed by a file that does not name it, and is the feed’s again once one names it', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', phones(one));
    await undoRun(bench, await bench.import('b.csv', phones(two)));
    expect(await phonesOf(bench)).toEqual([one]);
    await bench.import('c.csv', phones(three));
    expect(await phonesOf(bench)).toEqual([one, three]);
    await bench.import('d.csv', phones(three, one));
    await bench.import('e.csv', phones(three, '#CLEAR'));
    expect(await phonesOf(bench)).toEqual([three]);
  });

  it('stays people’s where people had put it there, though a file names it and drops it', async () => {
    const of = (items: 'all' | 'owned'): Mapping =>
      mappingSchema.parse({
        ...{ name: 'crm', key: 'externalId', fields: { firstName: 'firstName' } },
        ...{ items: { phones: items }, phones: [{ column: 'phone mobile' }, { column: 'phone work' }] },
      });
    const bench = await openRunsBench();
    await bench.import('a.csv', phones(one), { mapping: of('owned') });
    await edit(bench, { phoneNumbers: [...(await fieldsOf(bench)).phoneNumbers, { name: 'home', value: two }] });
    const run = await bench.import('b.csv', phones(three), { mapping: of('all') });
    expect(await phonesOf(bench)).toEqual([three]);
    await undoRun(bench, run);
    expect(await phonesOf(bench)).toEqual([one, two]);
    await bench.import('c.csv', phones(three, two), { mapping: of('owned') });
    await bench.import('d.csv', phones(three, '#CLEAR'), { mapping: of('owned') });
    expect(await phonesOf(bench)).toContain(two);
  });
});

describe('what an undo took back', () => {
  const verify = { options: { verify: true } };
  const repair = { options: { repair: true } };

  it('is no drift, and is not repaired: neither a value of people, nor an item that the file still names', async () => {
    const { bench, run } = await openTaken();
    await undoRun(bench, run);
    const named = csv([`c-1,Ann,Z,Pier,${one},${two}`], `${header},phone mobile,phone work`);
    await undoRun(bench, await bench.import('c.csv', named));
    const before = await fieldsOf(bench);
    expect(before).toMatchObject({ role: 'Y', phoneNumbers: [] });
    const looked = await bench.import('c.csv', named, verify);
    expect(looked.shape?.drift).toEqual({ looked: 1, changed: 0, gone: 0, doubled: 0 });
    // What people change elsewhere is drift as ever, and its repair leaves the rest alone.
    await edit(bench, { company: 'Dock' });
    expect((await bench.import('c.csv', named, verify)).shape?.drift).toMatchObject({ changed: 1 });
    await bench.import('c.csv', named, repair);
    expect(await fieldsOf(bench)).toMatchObject({ ...before, company: 'Pier' });
  });

  it('is the file’s to repair again where the contact has held it since', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', phones(one));
    await undoRun(bench, await bench.import('b.csv', phones(one, two)));
    await edit(bench, { phoneNumbers: [...(await fieldsOf(bench)).phoneNumbers, { name: 'work', value: two }] });
    await bench.import('c.csv', csv([`c-1,Anne,${one},${two}`], 'externalId,firstName,phone mobile,phone work'));
    await edit(bench, {
      phoneNumbers: (await fieldsOf(bench)).phoneNumbers.map((item) => ({
        ...item,
        value: item.value === two ? null : item.value,
      })),
    });
    expect(await phonesOf(bench)).toEqual([one]);
    const again = csv([`c-1,Anne,${one},${two}`], 'externalId,firstName,phone mobile,phone work');
    expect((await bench.import('c.csv', again, verify)).shape?.drift).toMatchObject({ changed: 1 });
    await bench.import('c.csv', again, repair);
    expect(await phonesOf(bench)).toEqual([one, two]);
  });
});
