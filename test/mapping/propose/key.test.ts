/** The key of a proposal, the country of its phone numbers, and its name. */
import { describe, expect, test } from 'vitest';
import { slugOf } from '#src/mapping/propose/propose.ts';
import { type Cells, first, last, proposal, propose, six, tableFacts } from './support/proposals.ts';

describe('the key', () => {
  const key = (header: Cells, rows: readonly Cells[], given = {}) => propose(tableFacts(header, rows), given);

  test('is an id that is unique and filled; the id of another thing is none', () => {
    const { mapping } = key(
      ['Account ID', 'Owner ID', 'Record ID', 'Email'],
      six((n) => ['7', `o${n}`, `${n + 40}`, `${n}@example.com`]),
    );
    expect(mapping.key).toBe('Record ID');
  });

  test.each(['Phone ID', 'PhotoId', 'E-Mail-ID', 'Order ID', 'Company ID', 'Owner ID', 'Tax ID'])(
    'is a plain number of records rather than the id of something else: %s',
    (name) => {
      const rows = six((n) => [`k${n + 40}`, `${n * 7 + 1001}`, last(n)]);
      expect(key([name, 'Nr', 'Last Name'], rows).mapping.key).toBe('Nr');
    },
  );

  test('is the id of a phone where nothing else is fit', () => {
    const rows = six((n) => [`k${n + 40}`, last(n)]);
    expect(key(['Phone ID', 'Last Name'], rows).mapping.key).toBe('Phone ID');
  });

  test('that some rows lack is likely, and the draft says how many', () => {
    const rows = Array.from({ length: 40 }, (_, n) => [n === 3 ? '' : `x${n}`, `+1415555${1000 + n}`]);
    const { draft } = key(['ID', 'Phone'], rows);
    expect(draft.columns[0]).toMatchObject({ target: 'key', confidence: 'likely' });
    expect(draft.remarks).toEqual(['1 of 40 rows has no "ID", the key: it will be rejected']);
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

  test.each(['Mitgl.-Nr.', 'Code', 'Mitgliedsnummer'])(
    'that would be %s, but for one value that occurs twice, is said to',
    (name) => {
      const header = [name, 'E-Mail', 'Nachname'];
      const rows = (repeated: string, email = '@example.com') =>
        six((n) => [n === 5 ? repeated : `000${17 + n}`, `${n}${email}`, last(n)]);
      expect(key(header, rows('00022')).mapping.key).toBe(name);
      const { draft } = key(header, rows('00017'));
      expect(draft.remarks).toEqual([
        `"${name}" is not the key, since a value of it occurs twice`,
        `the key is the e-mail address: a person whose address changes becomes a new contact. If you can, give each row a value of its own in "${name}", and map the file again`,
      ]);
      expect(draft.columns[1]?.reason).toBe('an e-mail address, unique and filled in all 6 rows');
      const derived = key(
        [name, 'Nachname'],
        rows('00017').map(([id = '', , family = '']) => [id, family]),
      );
      expect(derived.draft.remarks.join()).toMatch(/derived from name: .* new contact\. If you can, give each row/);
    },
  );

  test('is not said to be a column of groups that is called a number', () => {
    const { draft } = key(
      ['Gruppen-Nr.', 'E-Mail'],
      six((n) => [`0${17 + (n % 2)}`, `${n}@example.com`]),
    );
    expect(draft.remarks.join()).toMatch(/^the key is the e-mail address: .*Export a column with an id if you can$/);
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
    expect(draft.remarks.join()).toContain(
      'no column is fit to be the key, so it is derived from e-mail address, or name and phone number',
    );
  });

  test('is no running number', () => {
    const { mapping } = key(
      ['Nr', 'Email'],
      six((n) => [`${n + 1}`, `${n}@example.com`]),
    );
    expect(mapping.key).toMatchObject({ column: 'Email' });
  });

  const mail = (n: number) => `${first(n)}@example.com`;

  test.each([
    ['Balance', (n: number) => `${20 + 17 * n}.${n}5`],
    ['Konto', (n: number) => `1.234,${n}0`],
    ['Amount', (n: number) => `${100 + 7 * n}`],
    ['Geburtstag', (n: number) => `1979030${n + 1}`],
    ['Joined', (n: number) => `${n + 1}-Mar-24`],
    ['Slot', (n: number) => `0${n}:30`],
    ['PLZ', (n: number) => `0400${n}`],
    ['Company ID', (n: number) => `c${n}x`],
    ['Umsatz', (n: number) => `${n}20.00EUR`],
    ['名', (n: number) => `花子${n}`],
  ])('is no amount, date or number of another thing: %s', (name, value) => {
    const rows = six((n) => [first(n), last(n), `+1 415 555 010${n}`, value(n)]);
    expect(key(['First Name', 'Last Name', 'Phone', name], rows).mapping.key).toMatchObject({
      firstOf: [{ template: '{First Name}|{Last Name}|{Phone}' }],
    });
  });

  test('is an e-mail address before numbers that may be ids, and after codes that are', () => {
    const by = (value: (n: number) => string) =>
      key(
        ['Email', 'x'],
        six((n) => [mail(n), value(n)]),
      ).mapping.key;
    expect(by((n) => `${5301 + 7 * n}`)).toMatchObject({ column: 'Email' });
    expect(by((n) => `R${n}x9`)).toBe('x');
    const { mapping } = key(
      ['First Name', 'x'],
      six((n) => [first(n), `${5301 + 7 * n}`]),
    );
    expect(mapping.key).toBe('x');
  });

  test('is no phone number, also where no column is an e-mail address', () => {
    for (const value of [
      (n: number) => `020-123451${n}`,
      (n: number) => `03-1234-567${n}`,
      (n: number) => `020123451${n}`,
    ]) {
      const { draft } = key(
        ['Telefoon', 'Achternaam'],
        six((n) => [value(n), last(n)]),
      );
      expect(draft.columns[0]).toMatchObject({ target: 'phone', confidence: 'guess' });
      expect(draft.key).toEqual({ kind: 'derived', email: null, template: '{Telefoon}' });
      expect(draft.remarks.join()).toMatch(/derived from phone number: .*"Telefoon" have no country code/);
    }
    const one = proposal(tableFacts(['会社電話', '名'], [['03-1234-5670', '花子']]));
    expect(one.draft.columns[0]).toMatchObject({
      target: null,
      reason: 'it has too few values to be sure what they are',
    });
    expect(one.draft.key).toEqual({ kind: 'none', column: 1 });
    expect(one.text).toContain('key: 1  # guess: no column is fit to be the key');
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

test('a key that is too long with its prefix becomes a hash', () => {
  const facts = (length: number) =>
    tableFacts(
      ['ID', 'E-Mail'],
      six((n) => [`${n}${'x'.repeat(length - 1)}`, `${n}@example.com`]),
    );
  expect(propose(facts(75)).mapping.key).toBe('ID');
  expect(propose(facts(76)).mapping.key).toEqual({ column: 'ID', hashLong: true });
  expect(propose(facts(71), { feed: 'crm' }).mapping.key).toBe('ID');
  expect(propose(facts(72), { feed: 'crm' }).mapping.key).toEqual({ column: 'ID', hashLong: true });
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
