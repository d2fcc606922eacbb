/** Keys made of phone numbers as they are spelt (`docs/rules.md`, "One person under two keys"). */
import { expect, test } from 'vitest';
import { mayBeDigits, otherSpellings } from '#src/runs/look/number-spellings.ts';
import { expectCounts, mapping, openRunsBench } from '#test/runs/support/runs-bench.ts';
import { phone, wanted } from '#test/upsert/support/build.ts';

const book = mapping({
  key: {
    firstOf: [
      { column: 'Mail', transform: ['lowerCase'] },
      { column: 'Phone', transform: ['digits'] },
    ],
  },
  keyPrefix: 'book-',
  fields: { firstName: 'First', lastName: 'Last' },
  phones: [{ column: 'Phone' }],
});
const file = (...rows: readonly string[]) => ['First,Last,Mail,Phone', ...rows].map((row) => `${row}\r\n`).join('');

test('the spellings of a number are those with and without its country code, and the zeros in front', () => {
  const german = wanted('k', { phones: { work: [phone(1), '+491712345670'] } });
  expect(otherSpellings('01712345670', german)).toEqual(
    expect.arrayContaining(['491712345670', '00491712345670', '1712345670', '4901712345670']),
  );
  expect(otherSpellings('491712345670', german)).toContain('01712345670');
  expect(otherSpellings('491712345670', german)).not.toContain('491712345670');
  expect(otherSpellings('251', german)).toEqual([]);
  expect(mayBeDigits(book)).toBe(true);
  expect(mayBeDigits(mapping({ key: 'Phone' }))).toBe(false);
});

test('a key whose number is known in another spelling stops the run, if the contact has the same name', async () => {
  const bench = await openRunsBench({ defaultCountry: 'DE' });
  const load = (...rows: readonly string[]) => bench.import('book.csv', file(...rows), { feed: 'book', mapping: book });
  expectCounts(await load('Cem,Drei,,0171 2345670'), { rows: 1, created: 1 });
  const run = await load('Cem,Drei,,+49 171 2345670');
  expect([run.state, run.reason?.code]).toEqual(['stopped', 'guardKeyForms']);
  expect(run.reason?.message).toContain(
    '1 of the 1 new key is made of a phone number that is known in another spelling, for contacts with the same name',
  );
  expect(run.reason?.hint).toContain('spell the numbers in the address book as they were before');
  expect(await bench.events(run)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ code: 'matchKey', key: 'book-491712345670', contact: 'book-01712345670' }),
    ]),
  );
  // A number that two people share.
  expectCounts(await load('Cem,Drei,,0171 2345670', 'Eva,Drei,,+49 171 2345670'), {
    ...{ rows: 2, unchanged: 1, created: 1 },
  });
});
