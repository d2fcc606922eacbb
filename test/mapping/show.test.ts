/** What `map` shows of a mapping: fixtures that pass or differ, a row entry by entry, the first contacts. */
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { columnUses, explainRow } from '#src/mapping/show/explain-row.ts';
import { previewRows, runFixtures } from '#src/mapping/show/preview.ts';
import { cellsRow, mapping, noContext, objectRow } from './support.ts';

const by = mapping({
  fields: { firstName: { column: 'Name', transform: ['givenNames'] }, company: { firstOf: ['Org', 'Firm'] } },
  emails: [{ column: 'Mail', label: 'work' }],
  phones: [{ column: 'Phone {n} - Value', label: { column: 'Phone {n} - Label', default: 'phone' } }],
  customFields: [{ column: 'Tier', key: 'tier' }],
  skipRows: [{ column: 'Gone', equals: 'yes' }],
});

describe('fixtures', () => {
  const row = { id: 'a', Name: 'Ada Lovelace', Org: '', Firm: 'ACME', Mail: 'ada@example.com', Tier: 'gold' };
  const contact = {
    ...{ externalId: 'a', firstName: 'Ada', company: 'ACME' },
    ...{ emails: [{ name: 'work', value: 'ada@example.com' }], customFields: { tier: 'gold' } },
  };
  const differences = (fixture: object) =>
    runFixtures(mapping({ ...by, fixtures: [fixture] }))[0]?.differences.map(({ what }) => what);

  test('pass where the row becomes what they say', () => {
    expect(differences({ row, contact })).toEqual([]);
    expect(differences({ row: { ...row, id: '' }, problems: ['keyMissing'] })).toEqual([]);
    expect(differences({ row: { ...row, Gone: 'yes' }, skipped: true })).toEqual([]);
    expect(differences({ row, contact: { ...contact, emails: [{ value: 'ada@example.com' }] } })).toEqual([]);
    expect(differences({ row, contact, warnings: [] })).toEqual([]);
  });

  test.each([
    ['another value', { row, contact: { ...contact, company: 'Other' } }, ['company']],
    ['a value that is not there', { row, contact: { ...contact, role: 'Owner' } }, ['role']],
    ['a value that they do not name', { row: { ...row, 'Phone 1 - Value': '+14155550101' }, contact }, ['phones']],
    [
      'another label',
      { row, contact: { ...contact, emails: [{ name: 'home', value: 'ada@example.com' }] } },
      ['emails'],
    ],
    ['a row that is rejected', { row: { ...row, Mail: 'x' }, contact }, ['row']],
    ['a row that is not', { row, problems: ['keyMissing'] }, ['problems']],
    ['other problems', { row: { ...row, Mail: 'x' }, problems: ['keyMissing'] }, ['problems']],
    ['a row that is left out', { row: { ...row, Gone: 'yes' }, contact }, ['row']],
    ['a row that is kept', { row, skipped: true }, ['row']],
    ['other warnings', { row, contact, warnings: ['phoneUnassigned'] }, ['warnings']],
  ])('fail for %s', (_, fixture, expected) => {
    expect(differences(fixture)).toEqual(expected);
  });
});

test('a pattern reads no column that another entry has', () => {
  const patterns = mapping({
    phones: [
      { column: 'Phone - Work', label: 'office' },
      { column: 'Phone - Fax - {label}' },
      { column: 'Phone - {label}' },
    ],
  });
  const columns = ['id', 'Phone - Work', 'Phone - Fax - Home', 'Phone - Car'];
  expect(columnUses(patterns, columns)).toEqual([['key'], ['phone (office)'], ['phone (home)'], ['phone (car)']]);
  const row = cellsRow(columns, ['a', '+14155550101', '+14155550102', '+14155550103'], 2);
  expect(explainRow(patterns, { type: 'row', row }, noContext).entries.map(({ result }) => result)).toEqual([
    'a',
    '+14155550101 (office)',
    expect.anything(),
    '+14155550103 (car)',
  ]);
});

describe('a row', () => {
  const columns = ['id', 'Name', 'Org', 'Firm', 'Mail', 'Phone 1 - Label', 'Phone 1 - Value', 'Tier', 'Notes', 'Gone'];
  const cells = ['a', 'Ada Lovelace', '', 'ACME', 'ada@example.com', 'Mobile', '030', 'gold', 'n', ''];

  test('is explained entry by entry, with the columns that nothing reads', () => {
    const explained = explainRow(by, { type: 'row', row: cellsRow(columns, cells, 7) }, noContext);
    expect(explained).toMatchObject({ line: 7, contact: null, problems: [{ field: 'Phone 1 - Value' }] });
    expect(explained.entries.map(({ target, result, problems }) => [target, result, problems.length])).toEqual([
      ['key', 'a', 0],
      ['firstName', 'Ada', 0],
      ['company', 'ACME', 0],
      ['email (work)', 'ada@example.com (work)', 0],
      ['phone', null, 1],
      ['custom.tier', 'gold', 0],
      ['which rows are read', 'read', 0],
    ]);
    expect(explained.entries[1]).toMatchObject({
      cells: [{ column: 'Name', raw: 'Ada Lovelace' }],
      steps: [{ step: 'givenNames', result: 'Ada' }],
    });
    expect(explained.entries[2]?.cells.map(({ column }) => column)).toEqual(['Org', 'Firm']);
    expect(explained.unused).toEqual([{ column: 'Notes', raw: 'n' }]);
  });

  test('that the mapping leaves out says why, and nothing else of it is right or wrong', () => {
    const left = cellsRow(columns, [...cells.slice(0, -1), 'yes'], 7);
    expect(explainRow(by, { type: 'row', row: left }, noContext)).toEqual({
      ...{ line: 7, unused: [], contact: null, problems: [], warnings: [], skipped: 'Gone is "yes"' },
      entries: [
        {
          ...{ target: 'which rows are read', cells: [{ column: 'Gone', raw: 'yes' }] },
          ...{ steps: [], result: 'left out', problems: [], warnings: [] },
        },
      ],
    });
  });

  test('in the generic layout, column by column', () => {
    const row = cellsRow(['externalId', 'Name', 'Mobile', 'Notes'], ['a', 'Ada van Dyke', '+14155550101', 'n']);
    const { entries, unused, contact } = explainRow(null, { type: 'row', row }, noContext);
    expect(entries.map(({ target, result }) => [target, result])).toEqual([
      ['key', 'a'],
      ['firstName', 'Ada'],
      ['lastName', 'van Dyke'],
      ['phone (mobile)', '+14155550101 (mobile)'],
    ]);
    expect([unused, contact?.lastName]).toEqual([[{ column: 'Notes', raw: 'n' }], 'van Dyke']);
  });

  test('says of what is cleared that it is removed: of e-mail addresses and phone numbers, too', () => {
    const columns = ['externalId', 'role', 'email work', 'email home', 'phone mobile', 'phone home'];
    const cells = ['a', '#CLEAR', '#CLEAR', '', '#CLEAR', '+14155550101'];
    const row = cellsRow(columns, cells);
    const results = (by: Mapping | null) =>
      explainRow(by, { type: 'row', row }, noContext).entries.map(({ result }) => result);
    const said = ['a', 'removed', 'removed', null, 'removed', '+14155550101 (home)'];
    expect(results(null)).toEqual(said);
    const item = (column: string) => ({ column, label: column.split(' ')[1] });
    const named = mapping({
      key: 'externalId',
      fields: { role: 'role' },
      emails: ['email work', 'email home'].map(item),
      phones: ['phone mobile', 'phone home'].map(item),
    });
    expect(results(named)).toEqual(said);
    const list = objectRow({ externalId: 'a', emails: [] });
    expect(explainRow(null, { type: 'row', row: list }, noContext).entries[1]).toMatchObject({ result: 'removed' });
    const each = mapping({ phones: [{ column: 'tel[].nr', label: { column: 'tel[].kind' } }] });
    const numbers = objectRow({
      id: 'a',
      tel: [
        { kind: 'fax', nr: '+14155550101' },
        { kind: 'work', nr: '+14155550102' },
      ],
    });
    const { entries: ofEach, unused: others } = explainRow(each, { type: 'row', row: numbers }, noContext);
    expect(ofEach[1]).toMatchObject({
      cells: [{ column: 'tel[].nr', raw: '["+14155550101","+14155550102"]' }],
      result: '+14155550102 (work)',
    });
    expect(others).toEqual([]);
  });

  test('of JSON, by paths', () => {
    const paths = mapping({ fields: { firstName: 'p.first' }, emails: [{ column: 'mails' }] });
    const row = objectRow({ id: 'a', p: { first: 'Ada', x: 1 }, mails: ['a@example.com', 'b@example.com'] });
    const { entries, unused } = explainRow(paths, { type: 'row', row }, noContext);
    expect(entries.map(({ result }) => result)).toEqual(['a', 'Ada', 'a@example.com (email), b@example.com (email)']);
    expect(unused).toEqual([{ column: 'p.x', raw: '1' }]);
  });
});

test('the use of each column is known, of patterns, labels and countries too', () => {
  expect(columnUses(by, ['Phone 2 - Value', 'Phone 2 - Label', 'Firm', 'Notes'])).toEqual([
    ...[['phone (label in Phone 2 - Label)'], ['label'], ['company']],
    [],
  ]);
});

test('so is the label that stands in the name of a column', () => {
  const named = mapping({ phones: [{ column: 'Phone - {label}' }, { column: 'Fon', label: 'work' }] });
  expect(columnUses(named, ['Phone - Mobile', 'Fon'])).toEqual([['phone (mobile)'], ['phone (work)']]);
});

test('the preview shows three contacts, and counts why rows would be rejected', () => {
  const plain = mapping({ fields: { firstName: 'Name' }, phones: [{ column: 'Tel' }] });
  const columns = ['id', 'Name', 'Tel'];
  const rows = ['+14155550101', '030 1234567', '+14155550103', 'x', '030 1234568'].map((tel, index) =>
    cellsRow(columns, [`k${index}`, 'Ada', tel], index + 2),
  );
  const preview = previewRows(
    compileMapping(plain, { columns }, noContext),
    rows.map((row) => ({ type: 'row', row })),
  );
  expect(preview.contacts.map(({ line, contact }) => [line, contact?.externalId ?? null])).toEqual([
    [2, 'k0'],
    [3, null],
    [4, 'k2'],
  ]);
  expect(preview).toMatchObject({ rows: 5, rejected: 3 });
  expect(preview.problems.map(({ count, first }) => [first.code, first.line, count])).toEqual([
    ['phoneCountryMissing', 3, 2],
    ['phoneLetters', 5, 1],
  ]);
});

describe('the preview rejects rows of one key', () => {
  const columns = ['id', 'Name', 'Tel'];
  const previewOf = (cells: readonly (readonly string[])[], others: Partial<Mapping> = {}) => {
    const by = mapping({ fields: { firstName: 'Name' }, phones: [{ column: 'Tel' }], ...others });
    const rows = cells.map((each, index) => cellsRow(columns, [...each], index + 2));
    return previewRows(
      compileMapping(by, { columns }, noContext),
      rows.map((row) => ({ type: 'row', row })),
    );
  };
  const [ada, ida, eva] = [
    ['a', 'Ada', ''],
    ['a', 'Ida', ''],
    ['e', 'Eva', ''],
  ] as const;

  test('that differ, as an import does, and none that say the same', () => {
    expect(previewOf([ada, eva, ada])).toMatchObject({ rejected: 0, problems: [] });
    const { rejected, problems, contacts } = previewOf([ada, eva, ida]);
    expect(rejected).toBe(2);
    expect(problems.map(({ count, first: { code, line, message } }) => [count, code, line, message])).toEqual([
      [2, 'duplicateKey', 2, 'lines 2 and 4 have the same key and differ'],
    ]);
    expect(contacts.map(({ contact }) => contact?.externalId ?? null)).toEqual([null, 'e', null]);
    // The second one is the first one's duplicate; both others differ.
    expect(previewOf([ada, ada, ida])).toMatchObject({ rejected: 2 });
    expect(previewOf([ada, ida, ida])).toMatchObject({ rejected: 3 });
  });

  test('beside one that is rejected itself, and for no other reason where the mapping says which one wins', () => {
    const broken = ['a', 'Ada', 'x'];
    expect(previewOf([broken, ada]).problems.map(({ count, first }) => [first.code, count])).toEqual([
      ['phoneLetters', 1],
      ['duplicateKey', 1],
    ]);
    expect(previewOf([ada, ida], { duplicateKeys: 'lastWins' })).toMatchObject({ rejected: 0, problems: [] });
  });
});
