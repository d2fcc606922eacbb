/** What a run takes over from people without writing it (`--adopt`), and an undo gives back (`docs/plans.md`, "Undo"). */
import { describe, expect, it } from 'vitest';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '../runs/support/runs-bench.ts';
import { enterUndo, stageEntered, undoRun } from './support/undo-runs.ts';

const number = '+14155550101';
const header = 'externalId,firstName,role,phone,custom.seats';
const row = (role: string, phone = number, seats = '5') => csv([`c-1,Ann,${role},${phone},${seats}`], header);
const adopting = { options: { adopt: true } };
const clearing = { options: { onBlank: 'clear' } } as const;

/** People have made the contact, with the number and the seats of the file. */
async function openMade(role = 'X'): Promise<RunsBench> {
  const bench = await openRunsBench();
  await bench.world.byHand('POST', '/v1/contacts', {
    externalId: 'c-1',
    defaultFields: { firstName: 'Ann', lastName: 'Ash', role, phoneNumbers: [{ name: 'phone', value: number }] },
    customFields: [{ key: 'seats', value: 5 }],
  });
  return bench;
}

async function heldBy({ world }: RunsBench) {
  const { defaultFields, customFields } = await world.contactOf('c-1');
  return {
    phones: defaultFields.phoneNumbers.map(({ value }) => value),
    seats: customFields.find(({ key }) => key === 'seats')?.value ?? null,
  };
}

const peoples = { phones: [number], seats: 5 };
const gone = { phones: [], seats: null };
const dropped = row('X', '', '#CLEAR');

describe('what a run took over from people without writing it', () => {
  it('leaves the contact once the file drops it', async () => {
    const bench = await openMade();
    await bench.import('a.csv', row('X'), adopting);
    await bench.import('b.csv', dropped, clearing);
    expect(await heldBy(bench)).toEqual(gone);
  });

  it.each([
    ['by a run that wrote nothing', 'X', { unchanged: 1 }],
    ['by a run that wrote another field', 'Y', { updated: 1 }],
  ])('is people’s again after the undo, taken over %s', async (_case, role, counts) => {
    const bench = await openMade(role);
    const run = await bench.import('a.csv', row('X'), adopting);
    expectCounts(run, { rows: 1, updated: 1 });
    const undone = await undoRun(bench, run);
    expectCounts(undone, { rows: 1, ...counts });
    expect(undone.notes).toContain(
      `values of 1 contact that run ${run.id} took over without writing them belong to whom they belonged before`,
    );
    await bench.import('b.csv', dropped, clearing);
    expect(await heldBy(bench)).toEqual(peoples);
    await bench.world.expectSound();
  });

  it('stays people’s where an undo is repeated: it finds nothing to give back, and leaves nothing to undo', async () => {
    const bench = await openMade();
    const run = await bench.import('a.csv', row('X'), adopting);
    await undoRun(bench, run);
    const again = await undoRun(bench, run);
    await expect(undoRun(bench, again)).rejects.toMatchObject({ code: 'nothingToUndo' });
    await bench.import('b.csv', dropped, clearing);
    expect(await heldBy(bench)).toEqual(peoples);
  });

  it('is in the journal beside what was written, and is no update where nothing was', async () => {
    const bench = await openMade();
    const owners = [
      { field: `phone.${number}`, from: number, to: number, why: 'adopted' },
      { field: 'custom.seats', from: 5, to: 5, why: 'adopted' },
    ];
    const changesOf = async ({ id }: { id: string }) =>
      (await bench.ledger.contacts.journal({ runId: id, limit: 9 })).map(({ kind, changes }) => ({ kind, changes }));
    const first = await bench.import('a.csv', row('X'));
    // The contact has the last name already: the row is planned, and nothing is written.
    const named = csv([`c-1,Ann,Ash,X,${number},5`], 'externalId,firstName,lastName,role,phone,custom.seats');
    const adopted = await bench.import('b.csv', named, adopting);
    expectCounts(adopted, { rows: 1, unchanged: 1 });
    expect(await changesOf(adopted)).toEqual([{ kind: 'adopt', changes: owners }]);
    await undoRun(bench, adopted);
    const beside = await bench.import('c.csv', row('Y'), adopting);
    expectCounts(beside, { rows: 1, updated: 1 });
    expect(await changesOf(beside)).toEqual([
      { kind: 'patch', changes: [expect.objectContaining({ field: 'role', why: 'changed' }), ...owners] },
    ]);
    expect(await changesOf(first)).toEqual([]);
  });

  it('is the feed’s again where the undo is undone', async () => {
    const bench = await openMade();
    const undone = await undoRun(bench, await bench.import('a.csv', row('X'), adopting));
    expect(await bench.ledger.contacts.journal({ runId: undone.id, limit: 9 })).toMatchObject([
      { kind: 'adopt', changes: [{ why: 'givenBack' }, { why: 'givenBack' }] },
    ]);
    await undoRun(bench, undone);
    await bench.import('b.csv', dropped, clearing);
    expect(await heldBy(bench)).toEqual(gone);
  });

  it('is given back also where the answer to the write beside it was lost', async () => {
    const bench = await openMade('Y');
    const staged = await bench.stage(await bench.submit('a.csv', row('X'), adopting));
    await bench.world.faults('update:dropAfter');
    await bench.world.workOnce(staged);
    await bench.world.faults();
    const run = await bench.finish(await bench.apply(staged));
    expectCounts(run, { rows: 1, updated: 1 });
    await undoRun(bench, run);
    await bench.import('b.csv', dropped, clearing);
    expect(await heldBy(bench)).toEqual(peoples);
  });

  it('counts for no guard of the undo', async () => {
    const bench = await openMade();
    const run = await bench.import('a.csv', row('X'), adopting);
    const strict = { updatesMax: 0, updatesFloor: 0, clearsMax: 0, clearsFloor: 0 };
    const rulesOf: typeof bench.parts.feeds.rulesOf = (name) => {
      const rules = feeds.rulesOf(name);
      return { ...rules, guards: { ...rules.guards, ...strict } };
    };
    const { feeds } = bench.parts;
    Object.assign(bench.parts, { feeds: { ...feeds, rulesOf } });
    expect(await stageEntered(bench, await enterUndo(bench, run))).toMatchObject({ state: 'applying' });
  });
});

describe('by a mapping that lets the file win', () => {
  it('a value that people had is theirs again after the undo', async () => {
    const wins = mapping({
      fields: { firstName: 'firstName', role: 'role' },
      phones: [{ column: 'phone', label: 'phone' }],
      customFields: [{ column: 'custom.seats', key: 'seats', policy: 'source' }],
      items: 'owned',
    });
    const bench = await openMade();
    const run = await bench.import('a.csv', row('X'), { mapping: wins });
    expect(await bench.ledger.contacts.journal({ runId: run.id, limit: 9 })).toMatchObject([
      { kind: 'adopt', changes: [{ field: 'custom.seats', why: 'adopted' }] },
    ]);
    await undoRun(bench, run);
    expect((await bench.ledger.contacts.get(['c-1'])).get('c-1')?.owned.customFields).toEqual([]);
  });
});
