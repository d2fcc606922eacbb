/** The tag of people who left, beside what people and other feeds say, and when they are back (`docs/rules.md`, "People who left"). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identifyProcess } from '#src/ledger/process-identity.ts';
import { retryLetters } from '#src/operations/dead-letters.ts';
import { listHeld, takeHeld } from '#src/operations/held-fields.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const openBench = (onMissing = 'tag role=Left') => openRunsBench({ configured: { desk: { onMissing }, crm: {} } });

const names = { t1: 'Tom', t2: 'Tim', t3: 'Ted' };
const rowOf = (key: keyof typeof names, ...cells: readonly string[]) => [key, names[key], ...cells].join(',');

/** A file of the feed `desk`, which has no column for the role. */
const desk = (bench: RunsBench, name: string, ...rows: readonly string[]) =>
  bench.import(name, csv(rows, 'externalId,firstName'), { feed: 'desk', options: { accept: true } });
const crm = (bench: RunsBench, name: string, ...rows: readonly string[]) =>
  bench.import(name, csv(rows), { feed: 'crm' });

const fieldsOf = async (bench: RunsBench, key = 't1') => (await bench.world.contactOf(key)).defaultFields;
const managerOf = async (bench: RunsBench) =>
  (await bench.world.contactOf('t1')).customFields.find(({ key }) => key === 'account_manager')?.value ?? null;

async function edit(bench: RunsBench, body: object): Promise<void> {
  const { id } = await bench.world.contactOf('t1');
  await bench.world.byHand('PATCH', `/v1/contacts/${id}`, body);
}

async function take(bench: RunsBench, side: 'file' | 'app'): Promise<void> {
  const identity = identifyProcess(bench.parts.clock.bootId);
  const shown = await listHeld(bench.parts, { feed: 'desk' });
  const home = { submit: bench.parts, actor: bench.parts.actor, identity, config: { upsert: bench.parts } };
  const { runs } = await takeHeld(home, side, shown);
  for (const run of runs) await bench.finish(await bench.apply(run));
}

const heldIn = async (bench: RunsBench) => (await listHeld(bench.parts, {})).map(({ key, field }) => `${key} ${field}`);

/** What the feed `desk` says of the contact. */
const saidBy = async (bench: RunsBench) => {
  const { saids = [] } = (await bench.ledger.contacts.get(['t1'])).get('t1') ?? {};
  return saids.find(({ feed }) => feed === 'desk')?.said.scalars;
};

describe('the tag of people who left', () => {
  it('leaves a field alone that another feed names', async () => {
    const bench = await openBench();
    await crm(bench, 'a.csv', rowOf('t1', 'Boss'));
    await desk(bench, 'b.csv', rowOf('t1'), rowOf('t2'));
    expectCounts(await desk(bench, 'c.csv', rowOf('t2')), { rows: 1, unchanged: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Boss' });
    await desk(bench, 'd.csv', rowOf('t2'), rowOf('t1'));
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Boss' });
  });

  it('is put on a field that a feed names which is gone', async () => {
    const bench = await openBench();
    await bench.import('a.csv', csv([rowOf('t1', 'Boss')]), { feed: 'hr' });
    await desk(bench, 'b.csv', rowOf('t1'), rowOf('t2'));
    expectCounts(await desk(bench, 'c.csv', rowOf('t2')), { rows: 1, unchanged: 1 });
    await rm(join(bench.folder, 'import', 'hr'), { recursive: true });
    await desk(bench, 'd.csv', rowOf('t2'), rowOf('t3'));
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Left' });
    await desk(bench, 'e.csv', rowOf('t2'), rowOf('t3'), rowOf('t1'));
    expect(await fieldsOf(bench)).toMatchObject({ role: null });
  });

  it('is put on once the other feed names the field no longer, and is not taken off what that feed has written over it', async () => {
    const bench = await openBench();
    await desk(bench, 'b.csv', rowOf('t1'), rowOf('t2'));
    await desk(bench, 'c.csv', rowOf('t2'));
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Left' });
    await crm(bench, 'a.csv', rowOf('t1', 'Boss'));
    await desk(bench, 'd.csv', rowOf('t2'), rowOf('t1'));
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Boss' });
    expect(await saidBy(bench)).toEqual({ firstName: 'Tom' });
    await crm(bench, 'e.csv', rowOf('t1', '#CLEAR'));
    expectCounts(await desk(bench, 'f.csv', rowOf('t2')), { rows: 2, updated: 1, unchanged: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Left' });
  });

  it('makes way for what another feed says, where it had been put over that', async () => {
    const bench = await openBench();
    await desk(bench, 'b.csv', rowOf('t1'), rowOf('t2'));
    // The other feed's row is older, and waits: it does not write over the tag, and its file says the value once it is settled.
    const older = await bench.stage(await bench.submit('a.csv', csv([rowOf('t1', 'Boss')]), { feed: 'crm' }));
    await desk(bench, 'c.csv', rowOf('t2'));
    await bench.finish(await bench.apply(older));
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Left' });
    await desk(bench, 'd.csv', rowOf('t2'), rowOf('t1'));
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Boss' });
  });

  it('ends with its hold when they are back: the row says nothing of the field', async () => {
    const bench = await openBench();
    await desk(bench, 'a.csv', rowOf('t1'), rowOf('t2'));
    await edit(bench, { defaultFields: { ...(await fieldsOf(bench)), role: 'Chief' } });
    expect((await desk(bench, 'b.csv', rowOf('t2'))).counts.heldFields).toBe(1);
    expect(await heldIn(bench)).toEqual(['t1 role']);
    const back = await desk(bench, 'c.csv', rowOf('t2'), rowOf('t1'));
    expectCounts(back, { rows: 2, unchanged: 2 });
    expect(back.counts.heldFields).toBe(0);
    expect(await heldIn(bench)).toEqual([]);
    expect((await desk(bench, 'd.csv', rowOf('t1'), rowOf('t2'))).counts.heldFields).toBe(0);
    // Who leaves once more is tagged as before.
    expect((await desk(bench, 'e.csv', rowOf('t2'))).counts.heldFields).toBe(1);
    await desk(bench, 'f.csv', 't1,Thomas', rowOf('t2'));
    expect(await heldIn(bench)).toEqual([]);
    expect(await fieldsOf(bench)).toMatchObject({ firstName: 'Thomas', role: 'Chief' });
  });

  it('ends with its hold for a custom field, too', async () => {
    const bench = await openBench('tag custom.account_manager=Gone');
    await desk(bench, 'a.csv', rowOf('t1'), rowOf('t2'));
    await edit(bench, { customFields: [{ key: 'account_manager', value: 'Bea' }] });
    await desk(bench, 'b.csv', rowOf('t2'));
    expect(await heldIn(bench)).toEqual(['t1 custom.account_manager']);
    await desk(bench, 'c.csv', rowOf('t2'), rowOf('t1'));
    expect(await heldIn(bench)).toEqual([]);
    expect(await managerOf(bench)).toBe('Bea');
  });

  it('is not looked for where a person has decided for the value of the app', async () => {
    const bench = await openBench();
    await desk(bench, 'a.csv', rowOf('t1'), rowOf('t2'));
    await edit(bench, { defaultFields: { ...(await fieldsOf(bench)), role: 'Chief' } });
    await desk(bench, 'b.csv', rowOf('t2'));
    await take(bench, 'app');
    const back = await desk(bench, 'c.csv', rowOf('t2'), rowOf('t1'));
    expect(back.counts.heldFields).toBe(0);
    expect(await heldIn(bench)).toEqual([]);
    expect(await saidBy(bench)).toEqual({ firstName: 'Tom' });
  });

  it('goes where a person has decided for it, and is no drift afterwards, whatever people put there', async () => {
    const bench = await openBench();
    await desk(bench, 'a.csv', rowOf('t1'), rowOf('t2'));
    await edit(bench, { defaultFields: { ...(await fieldsOf(bench)), role: 'Chief' } });
    await desk(bench, 'b.csv', rowOf('t2'));
    await take(bench, 'file');
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Left' });
    await desk(bench, 'c.csv', rowOf('t2'), rowOf('t1'));
    expect(await fieldsOf(bench)).toMatchObject({ role: null });
    await edit(bench, { defaultFields: { ...(await fieldsOf(bench)), role: 'Owner' } });
    const verified = await bench.import('d.csv', csv([rowOf('t1'), rowOf('t2')], 'externalId,firstName'), {
      feed: 'desk',
      options: { repair: true },
    });
    expect(verified.shape?.drift).toMatchObject({ changed: 0 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Owner' });
  });

  it('stays with people who changed it', async () => {
    const bench = await openBench();
    await desk(bench, 'a.csv', rowOf('t1'), rowOf('t2'));
    await desk(bench, 'b.csv', rowOf('t2'));
    await edit(bench, { defaultFields: { ...(await fieldsOf(bench)), role: 'Pensioner' } });
    const back = await desk(bench, 'c.csv', rowOf('t2'), rowOf('t1'));
    expect(back.counts.heldFields).toBe(0);
    expect(await heldIn(bench)).toEqual([]);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Pensioner' });
  });

  it('goes with the retry of a row that was rejected when they were back', async () => {
    const bench = await openBench();
    const header = 'externalId,firstName,phone';
    const inDesk = { feed: 'desk' };
    await bench.import('a.csv', csv(['t1,Tom,', 't2,Tim,'], header), inDesk);
    await bench.import('b.csv', csv(['t2,Tim,'], header), inDesk);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Left' });
    const back = await bench.import('c.csv', csv(['t2,Tim,', 't1,Tom,030 901820'], header), inDesk);
    expectCounts(back, { rows: 2, unchanged: 1, dead: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Left' });
    const parts = { ...bench.parts, defaultCountry: 'DE' as const };
    const runs = await retryLetters({ submit: parts, actor: parts.actor }, { ids: [], all: true, remap: true });
    for (const run of runs) await bench.finish(await bench.apply(await bench.stage(run, { parts })));
    expect(await fieldsOf(bench)).toMatchObject({ role: null });
  });
});
