/** Rows whose key was another person's before (`docs/rules.md`, "Two people under one key"). */
import { expect, test } from 'vitest';
import { areCalledOtherwise, isAnother } from '#src/contacts/called.ts';
import { approveRun } from '#src/operations/run-acts.ts';
import { expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { phone } from '#test/upsert/support/build.ts';

const book = mapping({
  key: { firstOf: ['Id', { column: 'Mail', transform: ['lowerCase'] }, { column: 'Phone', transform: ['digits'] }] },
  keyPrefix: 'book-',
  fields: { firstName: 'First', lastName: 'Last', company: 'Company' },
  emails: [{ column: 'Mail' }],
  phones: [{ column: 'Phone' }],
});
const load = (bench: RunsBench, ...rows: readonly string[]) =>
  bench.import('book.csv', ['Id,First,Last,Company,Mail,Phone', ...rows].map((row) => `${row}\r\n`).join(''), {
    mapping: book,
  });
const anna = `,Anna,Amsel,Kran,,${phone(1)}`;
const ben = `,Ben,Bussard,Kran,,${phone(1)}`;

test('two people have no word of their names in common', () => {
  const called = (firstName: string | null, lastName: string | null) => ({ firstName, lastName });
  expect(isAnother(called('Anna', 'Amsel'), called('Ben', 'Bussard'))).toBe(true);
  expect(isAnother(called('Anna', 'Amsel'), called('Anna', 'Bussard')), 'who marries').toBe(false);
  expect(isAnother(called('Amsel', 'Anna'), called('Anna', 'Amsel')), 'swapped').toBe(false);
  expect(isAnother(called('Zoé', 'Noël'), called('ZOE M.', 'Noel')), 'accents and case').toBe(false);
  expect(isAnother(called('Anna-Maria', 'Amsel'), called('Maria', 'Bussard'))).toBe(false);
  expect(isAnother(called('Anna', null), called('Ben', 'Bussard')), 'a name that is not whole').toBe(false);
  expect(isAnother(called(null, null), called('Ben', 'Bussard')), 'a company').toBe(false);
  const differ = (one: ReturnType<typeof called>, other: ReturnType<typeof called>) =>
    areCalledOtherwise({ scalars: one }, { scalars: other });
  expect(differ(called('Anna', 'Amsel'), called('Ben', 'Amsel')), 'in one file, one number').toBe(true);
  expect(differ(called('Anna', 'Amsel'), called('amsel', 'ANNA'))).toBe(false);
  expect(differ(called('Anna', 'Amsel'), called('Anna', 'Bussard')), 'an earlier last name').toBe(false);
  expect(differ(called(null, null), called('Ben', 'Bussard'))).toBe(false);
});

test('a row with the number of another person stops the run, and names both', async () => {
  const bench = await openRunsBench();
  await load(bench, anna);
  const run = await load(bench, `,Anna,Amsel,Kran,anna@example.com,${phone(1)}`, ben);
  expect([run.state, run.reason?.code]).toEqual(['stopped', 'guardTakenOver']);
  expect(run.reason?.message).toContain(
    "1 of the 1 changed contact whose key is an e-mail address or phone number would become another person's",
  );
  expect(run.reason?.hint).toContain('Where the export can have an id (in a vCard, a line UID:), give one to each');
  expect(run.reason?.hint).toContain('patchbay runs approve');
  expect((await bench.events(run)).filter(({ kind }) => kind === 'match')).toMatchObject([
    { code: 'matchOther', line: 3, file: 'Ben Bussard', app: 'Anna Amsel' },
  ]);
  await approveRun(bench.parts, run, null, null);
  expectCounts(await bench.finish(await bench.apply(await bench.again(run))), { rows: 2, created: 1, updated: 1 });
});

test('it is written with --accept', async () => {
  const bench = await openRunsBench();
  await load(bench, anna);
  const rows = ['Id,First,Last,Company,Mail,Phone', ben].map((row) => `${row}\r\n`).join('');
  const run = await bench.import('book.csv', rows, { mapping: book, options: { accept: true } });
  expectCounts(run, { rows: 1, updated: 1 });
});

test('with an id for each of the two the contact stays whose it was', async () => {
  const bench = await openRunsBench();
  await load(bench, anna);
  const run = await load(bench, `${phone(1).slice(1)}${anna}`, `2${ben}`);
  expectCounts(run, { rows: 2, unchanged: 1, created: 1 });
});

test('a row whose key is an id is believed', async () => {
  const bench = await openRunsBench();
  await load(bench, `7${anna}`);
  expectCounts(await load(bench, `7${ben}`), { rows: 1, updated: 1 });
});

test('a person who has another last name stays the same', async () => {
  const bench = await openRunsBench();
  await load(bench, anna);
  expectCounts(await load(bench, `,Anna,Bussard,Kran,,${phone(1)}`), { rows: 1, updated: 1 });
});
