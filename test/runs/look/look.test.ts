/** Looking at the workspace before contacts are made (`docs/rules.md`, "Contacts without an externalId"). */
import { describe, expect, test } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { approveRun } from '#src/operations/run-acts.ts';
import { undoRun } from '#test/plans/support/undo-runs.ts';
import { expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { phone } from '#test/upsert/support/build.ts';

const header = 'externalId,firstName,lastName,role,phone';
const file = (...rows: readonly string[]) => [header, ...rows].map((row) => `${row}\r\n`).join('');
const ann = `g-1,Ann,Fir,Buyer,${phone(1)}`;
const bea = `g-2,Bea,Elm,Buyer,${phone(2)}`;
const cyd = `g-3,Cyd,Ash,Buyer,${phone(3)}`;

const byHand = async ({ world }: RunsBench, firstName: string, number: string): Promise<string> => {
  const items = { phoneNumbers: [{ name: 'home', value: number }] };
  return (await world.byHand('POST', '/v1/contacts', { defaultFields: { firstName, role: 'Owner', ...items } })).id;
};
const keys = async ({ world }: RunsBench) => (await world.contacts()).map(({ externalId }) => externalId).toSorted();
const goOn = async (bench: RunsBench, run: RunRecord) => bench.finish(await bench.apply(await bench.again(run)));
const approve = (bench: RunsBench, run: RunRecord, choice: 'adopt' | 'createAnyway' | null) =>
  approveRun(bench.parts, run, null, choice);
const lists = (run: RunRecord) => run.look?.pages ?? 0;

describe('a run whose contacts are there already, without an externalId', () => {
  test('stops before the first write, and says what both ways do', async () => {
    const bench = await openRunsBench();
    const id = await byHand(bench, 'Ann', phone(1));
    const run = await bench.import('people.csv', file(ann, bea));
    expect(run.state).toBe('stopped');
    expect(run.reason?.code).toBe('guardUnlinked');
    expect(run.reason?.message).toContain('1 of the 2 contacts to be created is in the workspace already');
    expect(run.reason?.hint).toContain(`patchbay runs approve --sandbox ${run.id} --adopt\n`);
    expect(run.reason?.hint).toContain(`patchbay runs approve --sandbox ${run.id} --create-anyway\n`);
    expect(bench.world.service.counts().create).toBe(1);
    expect(await bench.events(run)).toMatchObject([
      { kind: 'match', code: 'matchFound', line: 2, key: 'g-1', field: `phone.${phone(1)}`, contact: id, app: 'Ann' },
    ]);
    expect((await bench.report(run)).look).toMatchObject({
      contacts: 1,
      unkeyed: 1,
      matched: 1,
      unclear: 0,
      end: 'whole',
    });
    expect(run.requests.get).toBeGreaterThan(0);
  });

  test('is linked by an approval that says so, and the next file finds nothing to do', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    const run = await bench.import('people.csv', file(ann, bea));
    await approve(bench, run, 'adopt');
    const done = await goOn(bench, run);
    expectCounts(done, { rows: 2, created: 1, updated: 1 });
    expect(done.counts).toMatchObject({ linked: 1, adopted: 1, heldFields: 1 });
    expect(await keys(bench)).toEqual(['g-1', 'g-2']);
    expect((await bench.world.contactOf('g-1')).defaultFields).toMatchObject({ lastName: 'Fir', role: 'Owner' });
    expectCounts(await bench.import('people.csv', file(ann, bea)), { rows: 2, unchanged: 2 });
    const { notes } = await undoRun(bench, done);
    expect(notes).toEqual([`1 contact that run ${run.id} linked keeps its externalId`]);
  });

  test('is doubled by an approval that says so', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    const run = await bench.import('people.csv', file(ann));
    await approve(bench, run, 'createAnyway');
    expectCounts(await goOn(bench, run), { rows: 1, created: 1 });
    expect(await keys(bench)).toEqual(['g-1', null]);
  });

  test('is not approved without a choice', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    const run = await bench.import('people.csv', file(ann));
    const refusal = await approve(bench, run, null).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PatchbayError);
    expect(refusal).toMatchObject({ kind: 'usage', code: 'choiceMissing', hint: run.reason?.hint });
    expect((await bench.again(run)).state).toBe('stopped');
  });

  test.each([
    ['--adopt', { options: { adopt: true } }, { updated: 1 }],
    ['--create-anyway', { options: { createAnyway: true } }, { created: 1 }],
  ])('%s on the import decides at once', async (_flag, given, counts) => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    expectCounts(await bench.import('people.csv', file(ann), given), { rows: 1, ...counts });
  });

  test('--accept does not: it says nothing about them', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    expect((await bench.import('people.csv', file(ann), { options: { accept: true } })).state).toBe('stopped');
  });

  test('adopt: true of the feed links without asking', async () => {
    const bench = await openRunsBench({ configured: { crm: { adopt: true } } });
    await byHand(bench, 'Ann', phone(1));
    const run = await bench.import('people.csv', file(ann), { feed: 'crm' });
    expect(run.counts).toMatchObject({ updated: 1, linked: 1, heldFields: 1 });
  });

  test('a delta is looked at like a full file', async () => {
    const bench = await openRunsBench({ configured: { crm: { kind: 'delta' } } });
    await byHand(bench, 'Ann', phone(1));
    expect((await bench.import('people.csv', file(ann), { feed: 'crm' })).state).toBe('stopped');
  });

  test('more than one page of contacts is compared', async () => {
    const bench = await openRunsBench();
    for (let number = 10; number < 65; number += 1) await byHand(bench, 'Zoe', phone(number));
    await byHand(bench, 'Ann', phone(1));
    const run = await bench.import('people.csv', file(ann));
    expect(run.look).toMatchObject({ contacts: 56, pages: 2, matched: 1 });
  });
});

describe('rows that cannot be told apart', () => {
  const shared = [`g-4,Dan,Oak,Buyer,${phone(4)}`, `g-5,Eve,Yew,Buyer,${phone(4)}`];

  test('are rejected where the others are linked, and never made by a later file', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    await byHand(bench, 'Switchboard', phone(4));
    const run = await bench.import('people.csv', file(ann, ...shared), { options: { adopt: true } });
    expectCounts(run, { rows: 3, updated: 1, dead: 2 });
    const again = await bench.import('people.csv', file(ann, ...shared, bea));
    expectCounts(again, { rows: 4, unchanged: 1, created: 1, dead: 2 });
    expect((await bench.letters()).map(({ code, seenCount }) => [code, seenCount])).toEqual([
      ['linkUnclear', 2],
      ['linkUnclear', 2],
    ]);
  });

  test('are linked by a later file once they can be told apart', async () => {
    const bench = await openRunsBench();
    const id = await byHand(bench, 'Switchboard', phone(4));
    await bench.import('people.csv', file(...shared), { options: { adopt: true } });
    const run = await bench.import('people.csv', file(`g-4,Dan,Oak,Buyer,${phone(4)}`));
    expect(run.counts).toMatchObject({ updated: 1, linked: 1 });
    expect((await bench.world.contactOf('g-4')).id).toBe(id);
  });

  test('stop a retry, which may make them', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Switchboard', phone(4));
    await bench.import('people.csv', file(...shared), { options: { adopt: true } });
    const { redrive } = await import('#src/dead-letters/redrive.ts');
    const [entered] = await redrive(bench.parts, { remap: false });
    if (entered === undefined) throw new Error('the letters are open');
    const run = await bench.carryOut(entered);
    expect(run.state).toBe('stopped');
    await approve(bench, run, 'createAnyway');
    expectCounts(await goOn(bench, run), { rows: 2, created: 2 });
  });

  test('a row whose contact is gone when it is linked is not made by the next file', async () => {
    const bench = await openRunsBench();
    const id = await byHand(bench, 'Ann', phone(1));
    const run = await bench.import('people.csv', file(ann));
    await bench.world.byHand('DELETE', `/v1/contacts/${id}`);
    await approve(bench, run, 'adopt');
    expectCounts(await goOn(bench, run), { rows: 1, dead: 1 });
    expectCounts(await bench.import('people.csv', file(ann)), { rows: 1, dead: 1 });
    expect(await keys(bench)).toEqual([]);
  });
});

describe('when the workspace is listed', () => {
  test('not where no row has a phone number or an e-mail address, and not where nothing is made', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    expect((await bench.import('names.csv', 'externalId,firstName\r\ng-1,Ann\r\n')).look).toBeNull();
    expect((await bench.import('names.csv', 'externalId,firstName\r\ng-1,Anna\r\n')).look).toBeNull();
  });

  test('once for a feed, and again where it costs no more requests than the contacts that are made', async () => {
    const bench = await openRunsBench();
    for (let number = 10; number < 65; number += 1) await byHand(bench, 'Zoe', phone(number));
    expect(lists(await bench.import('one.csv', file(ann)))).toBe(2);
    expect(lists(await bench.import('two.csv', file(ann, bea)))).toBe(0);
    await byHand(bench, 'Cyd', phone(3));
    const run = await bench.import('three.csv', file(ann, bea, cyd, `g-4,Dan,Oak,Buyer,${phone(4)}`));
    expect(run.reason?.code).toBe('guardUnlinked');
  });

  test('again where the run that looked was cancelled', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    const run = await bench.import('people.csv', file(ann));
    await bench.ledger.runs.move(run.id, ['stopped'], 'cancelling', { atMs: 1 });
    await bench.finish(run);
    expect((await bench.import('people.csv', file(ann))).state).toBe('stopped');
  });

  test('an interruption leaves nothing behind: the run is staged anew, and lists again', async () => {
    const bench = await openRunsBench();
    await byHand(bench, 'Ann', phone(1));
    const run = await bench.submit('people.csv', file(ann));
    const interrupted = new Error('interrupted');
    const workspace = {
      ...bench.parts.workspace,
      async *listContactPages() {
        yield [];
        throw interrupted;
      },
    };
    await expect(bench.stage(run, { parts: { ...bench.parts, workspace } })).rejects.toBe(interrupted);
    expect((await bench.again(run)).state).toBe('staging');
    const staged = await bench.stage(await bench.again(run));
    expect(staged.state).toBe('stopped');
    expect(staged.look).toMatchObject({ contacts: 1, matched: 1, end: 'whole' });
    expect((await bench.events(staged)).length).toBe(1);
  });

  test.each([
    ['refuses the list', new PatchbayError('rejected', 'requestRefused', 'no'), 'refused'],
    ['has more contacts than are read', new PatchbayError('unreachable', 'tooManyPages', 'no'), 'cut'],
  ])('a service that %s is named in a note, and the run goes on', async (_name, error, end) => {
    const bench = await openRunsBench();
    const run = await bench.submit('people.csv', file(ann));
    const workspace = {
      ...bench.parts.workspace,
      // biome-ignore lint/correctness/useYield: it fails before its first page
      async *listContactPages() {
        throw error;
      },
    };
    const staged = await bench.stage(run, { parts: { ...bench.parts, workspace } });
    expect(staged).toMatchObject({ state: 'applying', look: { end } });
    expect(staged.notes.join()).toMatch(/contacts/);
  });
});

describe('keys in another form', () => {
  const person = (key: string) => `${key},Ann,Fir,Buyer,${phone(1)}`;

  test('of Salesforce stop the run and say which form is known', async () => {
    const bench = await openRunsBench();
    await bench.import('long.csv', file(person('003A0000015dGOzIAM')));
    const run = await bench.import('short.csv', file(person('003A0000015dGOz'), bea));
    expect(run.reason?.code).toBe('guardKeyForms');
    expect(run.reason?.message).toContain(
      '1 of the 2 new keys is the 15-character form of ids that this workspace knows with 18 characters',
    );
    expect(run.reason?.hint).toContain('patchbay runs approve');
    expect(await bench.events(run)).toMatchObject([{ kind: 'match', code: 'matchKey', contact: '003A0000015dGOzIAM' }]);
  });

  test('of another prefix and of another case stop it, too, in another feed as well', async () => {
    const bench = await openRunsBench();
    const fields = { fields: { firstName: 'firstName', lastName: 'lastName' }, phones: ['phone'] };
    const hubspot = mapping({ ...fields, keyPrefix: 'hubspot-', phones: [{ column: 'phone' }] });
    await bench.import('hubspot.csv', file(person('251')), { mapping: hubspot });
    const run = await bench.import('plain.csv', file(person('251')), { feed: 'crm' });
    expect(run.reason?.message).toContain('known with another prefix');
    const cased = await bench.import('cased.csv', file(person('HubSpot-251')), { feed: 'shop' });
    expect(cased.reason?.message).toContain('upper and lower case');
  });

  test('without the zeros in front that a spreadsheet took away stop it, and so do those that are there again', async () => {
    const bench = await openRunsBench();
    await bench.import('list.csv', file(person('04000')));
    const run = await bench.import('from-a-spreadsheet.csv', file(person('4000'), bea));
    expect(run.reason?.message).toContain('1 of the 2 new keys is known with more or fewer zeros in front');
    expect(run.reason?.hint).toContain('A spreadsheet takes the zeros in front of numbers away');
    expect(await bench.events(run)).toMatchObject([{ code: 'matchKey', key: '4000', contact: '04000' }]);
    await bench.import('short.csv', file(`7,Cid,Roe,Buyer,${phone(3)}`), { feed: 'crm' });
    const fields = { firstName: 'firstName', lastName: 'lastName' };
    const prefixed = mapping({ fields, keyPrefix: 'hub-', phones: [{ column: 'phone' }] });
    const hub = { feed: 'hub', mapping: prefixed };
    await bench.import('hub.csv', file(`0990,Dee,Poe,Buyer,${phone(4)}`), hub);
    await bench.import('as-long.csv', file(`00000001,Eve,Ray,Buyer,${phone(5)}`));
    const short = await bench.import('hub-again.csv', file(`990,Dee,Poe,Buyer,${phone(4)}`), hub);
    expect(short.reason?.code, 'where a key of another feed is as long').toBe('guardKeyForms');
    const again = await bench.import('whole.csv', file(`0007,Cid,Roe,Buyer,${phone(3)}`), { feed: 'crm' });
    expect(again.reason?.code).toBe('guardKeyForms');
  });

  test('of which a spreadsheet has made dates stop it, too, among others of any number', async () => {
    const bench = await openRunsBench();
    await bench.import('list.csv', file(person('12-1')));
    const days = Array.from({ length: 40 }, (_, day) => `20${10 + day}-01-02,Zoe,Roe,Buyer,${phone(day + 10)}`);
    const run = await bench.import('saved.csv', file(...days, person('2026-12-01')));
    expect(run.reason?.code).toBe('guardKeyForms');
    expect(run.reason?.message).toContain(
      '1 of the 41 new keys is known as written before a spreadsheet took it for a date',
    );
    expect(run.reason?.hint).toContain('give their column the format of text there');
  });

  test('that the file has in both forms are two people who share a number, unless they are called alike', async () => {
    const bench = await openRunsBench();
    await bench.import('list.csv', file(person('DEC-5'), `7,Dee,Poe,Buyer,${phone(4)}`));
    const both = file(
      person('DEC-5'),
      `DEC-05,Cid,Roe,Buyer,${phone(1)}`,
      `007,Eve,Ray,Buyer,${phone(4)}`,
      `7,Dee,Poe,Boss,${phone(4)}`,
    );
    const run = await bench.import('both.csv', both);
    expectCounts(run, { rows: 4, created: 2, unchanged: 1, updated: 1 });
    const twice = await bench.import('twice.csv', file(person('DEC-5'), person('dec-5')));
    expect(twice.reason?.code).toBe('guardKeyForms');
    const alone = await bench.import(
      'alone.csv',
      file(`007,Eve,Ray,Buyer,${phone(4)}`, `07,Fay,Roe,Buyer,${phone(4)}`),
    );
    expect(alone.reason?.code, 'where the file lacks one that is known').toBe('guardKeyForms');
  });

  test.each([
    ['--accept', { accept: true }],
    ['--create-anyway', { createAnyway: true }],
  ])('%s makes them', async (_flag, options) => {
    const bench = await openRunsBench();
    await bench.import('one.csv', file(person('ada')));
    expectCounts(await bench.import('two.csv', file(person('Ada')), { options }), { rows: 1, created: 1 });
  });

  test('a plain approval makes them', async () => {
    const bench = await openRunsBench();
    await bench.import('one.csv', file(person('ada')));
    const run = await bench.import('two.csv', file(person('Ada')));
    await approve(bench, run, null);
    expectCounts(await goOn(bench, run), { rows: 1, created: 1 });
  });
});
