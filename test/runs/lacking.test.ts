/** What a whole file lacks, and rows that would make a contact with nothing but a key. */
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import { csv, expectCounts, mapping, openRunsBench } from './support/runs-bench.ts';

const record = (id: string, more: object = {}) => ({
  externalId: id,
  firstname: 'Ada',
  email: `${id}@example.com`,
  ...more,
});
const crm = (more: object = {}) =>
  mapping({ key: 'externalId', fields: { firstName: 'firstname' }, emails: [{ column: 'email' }], ...more });
const jsonOf = (...records: readonly object[]): string => JSON.stringify(records);

describe('a member of JSON that the mapping names and no record has', () => {
  it('fails the file with a suggestion, as a column does; nothing is sent', async () => {
    const bench = await openRunsBench();
    const by = crm({ fields: { firstName: 'first name', lastName: 'lastnam' } });
    const run = await bench.import('a.json', jsonOf(record('1', { lastname: 'L' }), record('2')), { mapping: by });
    expect(run).toMatchObject({
      state: 'failed',
      reason: {
        code: 'columnMissing',
        message:
          'mapping "test": no record has the member "lastnam"; found: "externalId", "firstname", "email", "lastname"',
        hint: expect.stringContaining('did you mean "lastname"?'),
      },
    });
    expect(await bench.world.contacts()).toEqual([]);
  });

  it('may be inside another member, and is suggested there, too', async () => {
    const bench = await openRunsBench();
    const content = jsonOf({ id: '251', properties: { firstname: 'Ada' } });
    const by = (path: string) => ({ mapping: mapping({ key: 'id', fields: { firstName: path } }) });
    expect(await bench.import('a.json', content, by('properties.fristname'))).toMatchObject({
      state: 'failed',
      reason: {
        code: 'columnMissing',
        message: 'mapping "test": no record has the member "properties.fristname"; found: "id", "properties.firstname"',
        hint: expect.stringContaining('did you mean "properties.firstname"?'),
      },
    });
    expectCounts(await bench.import('b.json', content, by('properties.firstname')), { rows: 1, created: 1 });
  });

  it('is fine where one record has it, be it known and not mapped again, or where it is optional', async () => {
    const bench = await openRunsBench();
    const by = crm({ fields: { firstName: 'firstname', lastName: 'lastname' } });
    const both = [record('1', { lastname: 'L' }), record('2')];
    expect((await bench.import('a.json', jsonOf(...both), { mapping: by })).state).toBe('done');
    const next = await bench.import('b.json', jsonOf(...both.slice(0, 1), record('3')), { mapping: by });
    expectCounts(next, { rows: 2, unchanged: 1, created: 1 });
    const lenient = crm({ fields: { firstName: 'firstname', lastName: { column: 'lastname', optional: true } } });
    expect((await bench.import('c.json', jsonOf(record('4')), { mapping: lenient })).state).toBe('done');
    expect(
      (await bench.import('d.csv', csv(['5,Ada,e@example.com'], 'externalId,firstname,email'), { mapping: lenient }))
        .state,
    ).toBe('done');
  });
});

describe('a file with nothing but keys', () => {
  it.each([
    ['a.csv', 'externalId,Fone\n1,x\n', null],
    ['a.csv', 'externalId,source\n1,shop\n', null],
    ['a.csv', 'externalId,firstName\n1,Ada\n', mapping({ fields: {} })],
    ['a.json', jsonOf({ externalId: '1', properties: { firstname: 'Ada' } }), null],
    ['a.json', jsonOf(record('1')), mapping({ fields: {} })],
  ])('fails as a whole: %s %s', async (name, content, by) => {
    const bench = await openRunsBench();
    const run = await bench.import(name, content, { mapping: by });
    expect(run).toMatchObject({
      state: 'failed',
      reason: {
        code: 'nothingMapped',
        message: expect.stringContaining('nothing of this file but the key'),
        hint: expect.stringContaining('mapping'),
      },
    });
    expect(await bench.world.contacts()).toEqual([]);
  });
});

describe('a row with nothing but its key', () => {
  const header = 'externalId,firstName,phone';

  it('is dead where a contact would be made of it, with what to do', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,', 'c-2,,', 'c-3,#CLEAR,', 'c-4,N/A,'], header));
    expectCounts(run, { rows: 4, created: 1, dead: 3 });
    expect((await bench.letters()).map(({ line, key, code }) => [line, key, code])).toEqual([
      [3, 'c-2', 'contactEmpty'],
      [4, 'c-3', 'contactEmpty'],
      [5, 'c-4', 'contactEmpty'],
    ]);
    expect((await bench.world.contacts()).map(({ externalId }) => externalId)).toEqual(['c-1']);
  });

  it('is fine for a contact that is there: it keeps, or clears, whichever feed made it', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,', 'c-2,Bob,', 'c-3,Cy,'], header));
    expectCounts(await bench.import('b.csv', csv(['c-1,,', 'c-2,#CLEAR,'], header)), {
      rows: 2,
      updated: 1,
      unchanged: 1,
    });
    const shop = await bench.import('c.csv', csv(['c-3,,', 'c-9,,'], header), { feed: 'shop' });
    expect(shop.counts).toMatchObject({ rows: 2, dead: 1, created: 0 });
  });

  it('is dead again when its dead letter is tried again, and passes once it was filled in', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,', 'c-2,,'], header));
    const { text } = await bench.fixFile(run);
    await redrive(bench.parts, { remap: false });
    const [again] = await bench.ledger.runs.list({ states: ['queued'], limit: 1 });
    if (again === undefined) throw new Error('no run waits');
    expectCounts(await bench.carryOut(again), { rows: 1, dead: 1 });
    expectCounts(await bench.import('fixed.csv', text.replace('c-2,,', 'c-2,Bob,')), { rows: 1, created: 1 });
  });
});
