/** Cells of a dead letter's row are given other values (`docs/operations.md`, "Rejected rows"). */
import { describe, expect, it } from 'vitest';
import { editRow, parseEdit } from '#src/dead-letters/edit-row.ts';
import type { JsonValue, Row } from '#src/sources/row.ts';

const row = (columns: readonly string[], ...cells: readonly string[]): Row => ({
  ...{ kind: 'cells', line: 2, record: 1, columns, cells },
});
const record = (object: { readonly [name: string]: JsonValue }): Row => ({
  kind: 'object',
  line: 1,
  record: 1,
  object,
});

const edited = (given: Row, ...sets: readonly string[]): unknown => {
  const after = editRow(
    given,
    sets.map((text) => parseEdit(text, given)),
  );
  return after.kind === 'cells' ? after.cells : after.object;
};

describe('a row of a table', () => {
  const people = row(['externalId', 'First Name', 'phone work', 'phone work'], 'c-1', 'Ann', 'x', 'y');

  it.each([
    ['by its column', 'First Name=Bea', ['c-1', 'Bea', 'x', 'y']],
    ['without regard to case, spaces, _ and -', 'first_name=Bea', ['c-1', 'Bea', 'x', 'y']],
    ['by its position', '#3=+14155550100', ['c-1', 'Ann', '+14155550100', 'y']],
    ['to nothing', 'First Name=', ['c-1', '', 'x', 'y']],
    ['to a text with =', 'First Name=a=b', ['c-1', 'a=b', 'x', 'y']],
  ])('gets a cell set %s', (_how, set, cells) => {
    expect(edited(people, set)).toEqual(cells);
  });

  it('takes as much of the text as a column is called', () => {
    expect(edited(row(['a', 'a=b'], '1', '2'), 'a=b=c')).toEqual(['1', 'c']);
  });

  it('with more cells than columns is in shape when those beyond are empty; with fewer it is filled up', () => {
    expect(
      edited(row(['id', 'last', 'company'], '1', 'Smith', ' Jr.', 'ACME'), '#2=Smith, Jr.', '#3=ACME', '#4='),
    ).toEqual(['1', 'Smith, Jr.', 'ACME']);
    expect(edited(row(['id', 'last', 'company'], '1', 'ACME'), 'last=Smith', 'company=ACME')).toEqual([
      '1',
      'Smith',
      'ACME',
    ]);
  });

  it.each([
    ['First Nam=Bea', 'columnUnknown', /Did you mean "First Name"\? The row has: externalId, First Name, phone work/],
    ['#9=x', 'columnUnknown', /The row has/],
    ['phone work=x', 'columnTwice', /#3 or #4/],
    ['First Name', 'setInvalid', /--set COLUMN=VALUE/],
    ['=x', 'setInvalid', /--set COLUMN=VALUE/],
  ])('refuses %s', (set, code, hint) => {
    expect(() => edited(people, set)).toThrow(expect.objectContaining({ code, hint: expect.stringMatching(hint) }));
  });
});

describe('a JSON record', () => {
  const given = record({ id: 7, name: 'Ann', properties: { email: 'x', tags: ['a'] }, 'a.b': 'dotted' });

  it.each([
    ['a member', 'name=Bea', { name: 'Bea' }],
    ['a number', 'id=8', { id: 8 }],
    ['a number to text', 'id=8a', { id: '8a' }],
    ['a member with a dot in its name', 'a.b=c', { 'a.b': 'c' }],
    ['a path', 'properties.email=ann@example.com', { properties: { email: 'ann@example.com', tags: ['a'] } }],
    ['a list', 'properties.tags=["b"]', { properties: { email: 'x', tags: ['b'] } }],
  ])('gets %s set', (_what, set, changed) => {
    expect(edited(given, set)).toEqual({ ...(given.kind === 'object' ? given.object : {}), ...changed });
  });

  it('refuses a member that is not there, and suggests one', () => {
    const hint = expect.stringContaining('Did you mean "properties.email"?');
    expect(() => edited(given, 'properties.emial=x')).toThrow(expect.objectContaining({ code: 'columnUnknown', hint }));
    expect(() => edited(given, 'name.first=x')).toThrow(expect.objectContaining({ code: 'columnUnknown' }));
  });
});
