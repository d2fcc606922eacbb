/** Lists that hold companies and the people who work there, as Odoo exports them. */
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { viewContact } from '#src/mapping/show/preview.ts';
import { cellsRow, desiredOf, noContext } from '../support.ts';
import { type Cells, lines, propose, tableFacts } from './support/proposals.ts';

/** `Pieter | van den Berg | Tulp B.V. | Inkoper`, for each row. */
function contactsOf(header: Cells, rows: readonly Cells[]): readonly string[] {
  const { mapping } = propose(tableFacts(header, rows));
  const compiled = compileMapping(mapping, { columns: header }, noContext);
  return rows.map((cells, index) => {
    const desired = desiredOf(compiled.mapRow(cellsRow(header, cells, index + 2)));
    const { firstName, lastName, company, role } = viewContact(desired);
    return [firstName, lastName, company, role].map((one) => one ?? '–').join(' | ');
  });
}

describe('a list of companies and people with the company of each person beside', () => {
  const rows: readonly Cells[] = [
    ['c1', 'Tulp B.V.', '', ''],
    ['c2', 'Huber AG', '', ''],
    ['p1', 'Pieter van den Berg', 'Tulp B.V.', 'Inkoper'],
    ['p2', 'Ann Eins', 'Huber AG', 'Leiterin'],
    ['p3', 'Ute Klein', '', ''],
  ];
  const contacts = [
    '– | – | Tulp B.V. | –',
    '– | – | Huber AG | –',
    'Pieter | van den Berg | Tulp B.V. | Inkoper',
    'Ann | Eins | Huber AG | Leiterin',
    'Ute | Klein | – | –',
  ];
  test.each([
    [['id', 'name', 'parent_id/name', 'function']],
    [['Externe ID', 'Name', 'Zugehöriges Unternehmen', 'Arbeitsposition']],
    [['ID', 'Complete Name', 'Related Company', 'Job Position']],
  ])('under %j', (header) => {
    expect(contactsOf(header, rows)).toEqual(contacts);
  });

  test('has a company column even where a few names are companies', () => {
    const people = Array.from(
      { length: 9 },
      (_, n): Cells => [`p${n}`, `Ann Eins${'abcdefghi'[n]}`, 'Tulp B.V.', 'Chef'],
    );
    const all = [['c1', 'Tulp B.V.', '', ''], ...people];
    expect(contactsOf(['id', 'name', 'parent_id/name', 'function'], all)[0]).toBe('– | – | Tulp B.V. | –');
  });

  test('says how each column is read', () => {
    expect(lines(tableFacts(['id', 'name', 'parent_id/name', 'function'], rows))).toEqual([
      'id → key (certain)',
      'name → firstName, lastName and company (likely)',
      'parent_id/name → company (certain)',
      'function → role (certain)',
    ]);
  });
});

test('the id of a company is not its name, and a function of numbers no job', () => {
  const header = ['id', 'name', 'parent_id/id', 'parent_id', 'function'];
  const rows = [0, 1, 2].map((n): Cells => [`p${n}`, 'Ann Eins', `__export__.c${n}`, `${n}7`, `${n}`]);
  expect(lines(tableFacts(header, rows)).slice(2)).toEqual(['parent_id/id → –', 'parent_id → –', 'function → –']);
});

describe('a company, a comma and a name in one column', () => {
  const header = ['ID', 'Complete Name'];
  const rows: readonly Cells[] = [
    ['1', 'Tulp B.V., Pieter van den Berg'],
    ['2', 'Müller GmbH, Jörg Müller'],
    ['3', 'Tulp B.V.'],
    ['4', 'Ute Klein'],
  ];

  test('are taken apart', () => {
    expect(contactsOf(header, rows)).toEqual([
      'Pieter | van den Berg | Tulp B.V. | –',
      'Jörg | Müller | Müller GmbH | –',
      '– | – | Tulp B.V. | –',
      'Ute | Klein | – | –',
    ]);
  });

  test('go beside a column for the company, which is asked first', () => {
    const { mapping } = propose(
      tableFacts(
        [...header, 'Company'],
        rows.map((cells) => [...cells, '']),
      ),
    );
    expect(mapping.fields.company).toEqual({
      firstOf: ['Company', { column: 'Complete Name', transform: ['companyOfName'] }],
    });
  });

  test('are no reason to read "Last, First" in another way', () => {
    const people = [0, 1, 2, 3].map((n): Cells => [`${n}`, `Lovelace, Ada${'abcd'[n]}`]);
    expect(lines(tableFacts(header, people))[1]).toBe('Complete Name → firstName and lastName (guess)');
    expect(lines(tableFacts(header, [...people, ['9', 'Tulp B.V., Ann Eins']]))[1]).toBe(
      'Complete Name → firstName and lastName (guess)',
    );
  });
});

test('names of companies alone are companies', () => {
  const rows = [0, 1, 2].map((n): Cells => [`c${n}`, `Muster${n} GmbH`]);
  expect(lines(tableFacts(['ID', 'Name'], rows))[1]).toBe('Name → company (guess)');
});
