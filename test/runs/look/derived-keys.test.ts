/** People whose key is made of an e-mail address or a number that changes (`docs/rules.md`, "One person under two keys"). */
import { describe, expect, test } from 'vitest';
import { hasKeyOfValue } from '#src/contacts/called.ts';
import { keysMadeOf, mayBeDerived } from '#src/runs/look/derived-keys.ts';
import { expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { phone, wanted } from '#test/upsert/support/build.ts';

const book = mapping({
  key: {
    firstOf: [
      'Id',
      { column: 'Mail', transform: ['emailAddress', 'lowerCase'] },
      { column: 'Phone', transform: ['digits'] },
    ],
  },
  keyPrefix: 'book-',
  fields: { firstName: 'First', lastName: 'Last', company: 'Company' },
  emails: ['Mail', 'Mail 2'].map((column) => ({ column })),
  phones: ['Phone', 'Phone 2'].map((column) => ({ column })),
});
const header = 'Id,First,Last,Company,Mail,Mail 2,Phone,Phone 2';
const file = (...rows: readonly string[]) => [header, ...rows].map((row) => `${row}\r\n`).join('');
const load = (bench: RunsBench, rows: readonly string[], feed = 'book') =>
  bench.import('book.csv', file(...rows), { feed, mapping: book });
const ann = (mail: string, mail2: string, number: string, number2: string, id = '') =>
  `${id},Ann,Fir,,${mail},${mail2},${number},${number2}`;
/** The row for three people, with other values for each. */
const three = (row: string): readonly string[] =>
  ['Ann', 'Bea', 'Cid'].map((name, index) =>
    row
      .replace('Ann', name)
      .replaceAll(/\+1415555\d+/g, (number) => `+${Number(number) + index * 10}`)
      .replaceAll('@example', `${index}@example`)
      .replace('0815', `0815${index}`),
  );
const others = Array.from({ length: 4 }, (_, index) => `,Zoe,Roe${index},,zoe${index}@example.com,,,`);

test('keys may be derived where one of several alternatives is an e-mail address or a phone number', () => {
  expect(mayBeDerived(book)).toBe(true);
  expect(mayBeDerived(mapping({ key: { firstOf: ['Id', 'E-mail'] } }))).toBe(true);
  expect(mayBeDerived(mapping({ key: 'E-mail' })), 'which the mapping names as the id of its rows').toBe(false);
  expect(mayBeDerived(mapping({ key: { firstOf: ['Record Id', 'Contact Id'] } }))).toBe(false);
  expect(mayBeDerived(null)).toBe(false);
  const desired = wanted('k', { emails: { work: ['Ann@example.com'] }, phones: { work: [phone(1)] } });
  expect(keysMadeOf(desired, 'Book-')).toEqual(
    expect.arrayContaining(['book-ann@example.com', `book-${phone(1).slice(1)}`]),
  );
});

test('a key is made of a value of its row where it is the e-mail address, or ends like the number', () => {
  const desired = wanted('k', { emails: { work: ['Ann@example.com'] }, phones: { work: ['+491712345670'] } });
  const isMade = (body: string) => hasKeyOfValue({ ...desired, key: `book-${body}` });
  expect(['ann@example.com', '491712345670', '01712345670', '4901712345670'].map(isMade)).toEqual(Array(4).fill(true));
  expect(['ben@example.com', '0815', '491712345671', 'ann|fir'].map(isMade)).toEqual(Array(4).fill(false));
});

describe('a new key of a known person stops the run', () => {
  test.each([
    ['two numbers in the other order', ann('', '', phone(1), phone(2)), ann('', '', phone(2), phone(1))],
    ['a first e-mail address', ann('', '', phone(1), ''), ann('ann@example.com', '', phone(1), '')],
    [
      'two e-mail addresses in the other order',
      ann('a@example.com', 'b@example.com', '', ''),
      ann('b@example.com', 'a@example.com', '', ''),
    ],
    ['another first number beside the second one', ann('', '', phone(1), phone(2)), ann('', '', phone(3), phone(2))],
    ['an id where there was none', ann('a@example.com', '', '', ''), ann('a@example.com', '', '', '', '0815')],
    [
      'another e-mail address beside the number',
      ann('a@example.com', '', phone(1), ''),
      ann('c@example.com', '', phone(1), ''),
    ],
  ])('%s', async (_, before, after) => {
    for (const feed of ['book', 'main']) {
      const bench = await openRunsBench();
      expectCounts(await load(bench, [...three(before), ...others], feed), { rows: 7, created: 7 });
      const run = await load(bench, [...three(after), ...others], feed);
      expect([run.state, run.reason?.code]).toEqual(['stopped', 'guardKeyForms']);
      expect(run.reason?.message).toContain(
        '3 of the 3 new keys are of people whom this workspace knows under another key, with the same name and the same e-mail address or phone number',
      );
      expect(run.reason?.hint).toContain('An approval makes a second contact of each');
      expect(run.reason?.hint).toContain('patchbay runs approve');
      const matches = (await bench.events(run)).filter(({ kind }) => kind === 'match');
      expect(matches).toHaveLength(3);
      expect(matches[0]).toMatchObject({
        ...{ code: 'matchKey', file: 'Ann Fir', app: 'Ann Fir', contact: expect.stringMatching(/^book-/) },
      });
    }
  });

  test('in a delta, too', async () => {
    const bench = await openRunsBench({ configured: { book: { kind: 'delta' } } });
    await load(bench, [...three(ann('', '', phone(1), phone(2))), ...others]);
    const run = await load(bench, three(ann('', '', phone(2), phone(1))));
    expect(run.reason?.code).toBe('guardKeyForms');
  });
});

describe('a new key makes a contact', () => {
  test('of one or two people who are known, with a note that names what to do', async () => {
    const bench = await openRunsBench();
    await load(bench, [ann('a@example.com', '', phone(1), ''), ...others]);
    const run = await load(bench, [ann('b@example.com', '', phone(1), ''), ...others]);
    expectCounts(run, { rows: 5, created: 1, unchanged: 4 });
    expect(run.notes).toContain(
      '1 new contact seems to be of a person whom this workspace knows under another key, with the same name and e-mail address or phone number (runs show lists both): delete the earlier contact in the app, or undo this run and give the row the earlier key',
    );
    const { outcomes } = await bench.report(run);
    expect(outcomes).toContainEqual(
      expect.objectContaining({ code: 'matchKey', key: 'book-b@example.com', contact: 'book-a@example.com' }),
    );
  });

  test('of a person of the same name with another number, and of another one with the same number', async () => {
    const bench = await openRunsBench();
    await load(bench, [ann('', '', phone(1), '')]);
    const run = await load(bench, [ann('', '', phone(2), ''), `,Ben,Elm,,ben@example.com,,${phone(1)},`]);
    expectCounts(run, { rows: 2, created: 2 });
  });

  test('where the file has the known key, too: two people of one name at one switchboard', async () => {
    const bench = await openRunsBench();
    await load(bench, [ann('a@example.com', '', phone(1), '')]);
    const run = await load(bench, [ann('a@example.com', '', phone(1), ''), ann('b@example.com', '', phone(1), '')]);
    expectCounts(run, { rows: 2, created: 1, unchanged: 1 });
  });

  test('where the mapping takes keys from one column alone, which it names as the id', async () => {
    const bench = await openRunsBench();
    const byId = mapping({ ...book, key: 'Id' });
    const given = { feed: 'book', mapping: byId };
    await bench.import('one.csv', file(ann('a@example.com', '', '', '', '1')), given);
    const run = await bench.import('two.csv', file(ann('a@example.com', '', '', '', '2')), given);
    expectCounts(run, { rows: 1, created: 1 });
  });
});

test('the card of a person whose key has changed keeps the contact with the earlier key as its id', async () => {
  const bench = await openRunsBench();
  await load(bench, [ann('', '', phone(1), '')]);
  const before = phone(1).slice(1);
  expectCounts(await load(bench, [ann('a@example.com', '', phone(1), '', before)]), { rows: 1, updated: 1 });
});

test('a note says how many new keys are made of e-mail addresses and numbers, where rows may have an id', async () => {
  const bench = await openRunsBench();
  const run = await load(bench, [ann('a@example.com', '', '', ''), '7,Ben,Elm,,,,,', `,Cid,Ray,,,,${phone(1)},`]);
  expect(run.notes).toContain(
    '2 of the 3 new keys are made of an e-mail address or phone number, since their rows have no id: a person for whom the first of these changes gets another key',
  );
  const ids = await bench.import('ids.csv', file('8,Dee,Poe,,,,,'), { feed: 'ids', mapping: book });
  expect(ids.notes.join()).not.toContain('new key');
});

test('two ids are believed where the file need not hold all people, and compared where it does', async () => {
  for (const [kind, state] of [
    ['delta', 'done'],
    ['full', 'stopped'],
  ] as const) {
    const bench = await openRunsBench({ configured: { book: { kind } } });
    await load(bench, [...three(ann('', '', phone(1), '', '0815')), ...others]);
    const run = await load(bench, [...three(ann('', '', phone(1), '', '0815')).map((row) => `1${row}`), ...others]);
    expect([kind, run.state]).toEqual([kind, state]);
  }
});
