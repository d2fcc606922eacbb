/** The key of a proposal, the country of its phone numbers, and its name. */
import { describe, expect, test } from 'vitest';
import { slugOf } from '#src/mapping/propose/propose.ts';
import { type Cells, first, last, propose, six, tableFacts } from './support/proposals.ts';

describe('the key', () => {
  const key = (header: Cells, rows: readonly Cells[], given = {}) => propose(tableFacts(header, rows), given);

  test('is an id that is unique and filled; the id of another thing is none', () => {
    const { mapping } = key(
      ['Account ID', 'Owner ID', 'Record ID', 'Email'],
      six((n) => ['7', `o${n}`, `${n + 40}`, `${n}@example.com`]),
    );
    expect(mapping.key).toBe('Record ID');
  });

  test('that some rows lack is likely, and the draft says how many', () => {
    const rows = Array.from({ length: 40 }, (_, n) => [n === 3 ? '' : `x${n}`, `+1415555${1000 + n}`]);
    const { draft } = key(['ID', 'Phone'], rows);
    expect(draft.columns[0]).toMatchObject({ target: 'key', confidence: 'likely' });
    expect(draft.remarks).toEqual(['1 of 40 rows have no "ID", the key: they will be rejected']);
  });

  test('that occurs twice is none: the e-mail address takes its place, in lower case', () => {
    const { draft, mapping } = key(
      ['ID', 'Email'],
      six((n) => [n < 2 ? 'a' : `b${n}`, `${n}@Example.com`]),
    );
    expect(mapping.key).toMatchObject({ column: 'Email', transform: ['emailAddress', 'lowerCase'] });
    expect(mapping.emails).toHaveLength(1);
    expect(draft.remarks.join()).toContain('"ID" is not the key, since a value of it occurs twice');
    expect(draft.columns[1]).toMatchObject({ target: 'key and email', confidence: 'guess' });
  });

  test('is derived where no column is unique and filled', () => {
    const { mapping, draft } = key(
      ['First Name', 'Last Name', 'Email', 'Phone'],
      six((n) => [first(n), last(n), n < 3 ? '' : `${n}@example.com`, `+1 415 555 010${n % 2}`]),
    );
    expect(mapping.key).toMatchObject({
      firstOf: [
        { column: 'Email', transform: ['emailAddress', 'lowerCase'] },
        { template: '{First Name}|{Last Name}|{Phone}', transform: ['lowerCase'] },
      ],
      hashLong: true,
    });
    expect(draft.remarks.join()).toContain('the key is derived');
  });

  test('is no running number', () => {
    const { mapping } = key(
      ['Nr', 'Email'],
      six((n) => [`${n + 1}`, `${n}@example.com`]),
    );
    expect(mapping.key).toMatchObject({ column: 'Email' });
  });

  test('has the feed as prefix, so that the ids of two systems stay apart', () => {
    const { mapping } = key(
      ['ID', 'Email'],
      six((n) => [`${n + 4}`, '']),
      { feed: 'crm' },
    );
    expect(mapping).toMatchObject({ name: 'crm', keyPrefix: 'crm-' });
  });
});

describe('the country of phone numbers', () => {
  const rows = six((n) => [`a${n}`, `030 90182${n}0`, n % 2 === 0 ? 'Germany' : 'Österreich']);
  test('is asked for where numbers need one', () => {
    const { draft, text, mapping } = propose(
      tableFacts(
        ['ID', 'Telefon'],
        rows.map((row) => row.slice(0, 2)),
      ),
    );
    expect(draft.columns[1]).toMatchObject({ target: 'phone', confidence: 'certain' });
    expect(draft.remarks).toEqual([expect.stringContaining('numbers in "Telefon" have no country code')]);
    expect(text).toContain('# defaultCountry: DE');
    expect(mapping.defaultCountry).toBeUndefined();
  });

  test('is the one that was given, or that of a column', () => {
    const given = propose(
      tableFacts(
        ['ID', 'Telefon'],
        rows.map((row) => row.slice(0, 2)),
      ),
      { country: 'DE' },
    );
    expect([given.mapping.defaultCountry, given.draft.remarks]).toEqual(['DE', []]);
    const column = propose(tableFacts(['ID', 'Telefon', 'Land'], rows), { country: 'AT' });
    expect(column.mapping.defaultCountry).toMatchObject({ column: 'Land', default: 'AT' });
    expect(column.draft.columns[2]).toMatchObject({ target: 'country of phone numbers', confidence: 'likely' });
  });
});

test('the name of a mapping is made from that of the file', () => {
  expect(['Kontakte 2026 (neu)', 'générales', '電話', 'generic', 'x'.repeat(80)].map(slugOf)).toEqual([
    ...['kontakte-2026-neu', 'generales', 'contacts', 'contacts'],
    'x'.repeat(60),
  ]);
});
