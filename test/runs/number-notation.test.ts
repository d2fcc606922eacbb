import { describe, expect, test } from 'vitest';
import { createColumnWarnings } from '#src/runs/column-warnings.ts';
import { allTypes, mapping, mapRecord } from '#test/mapping/support.ts';

/** What is said of a column of numbers, and how many rows have a warning of their own. */
function said(cells: readonly string[], { by = undefined as object | undefined } = {}) {
  const columns = createColumnWarnings();
  const rule = by === undefined ? null : mapping({ fields: { firstName: 'n' }, customFields: [by] });
  const header = rule === null ? ['externalId', 'custom.visits'] : ['id', 'visits'];
  const rows = cells.map((cell, index) => {
    const record = Object.fromEntries([...header, 'n'].map((name, at) => [name, [`${index}`, cell, 'Ann'][at] ?? '']));
    return columns.take(mapRecord(record, { customFields: allTypes }, rule));
  });
  expect(rows.flatMap(({ warnings }) => warnings.filter(({ code }) => code === 'numberInDoubt'))).toEqual([]);
  return columns.list().map(({ code, field, message }) => [code, field, message.replace(/^.*?12\.5, though /, '')]);
}

describe('numbers of a custom field whose point may separate thousands', () => {
  test.each([
    ['a comma before decimals', ['1.234,56', '12.500', '1.250', '1.234.567']],
    ['two points', ['12.5', '1.250', '-12.500', '1.234.567']],
    ['a comma before two decimals', ['12.500', '5,25', '1.250']],
  ])('are told once, where another number of the column shows it: %s', (_name, cells) => {
    const message = expect.stringMatching(/^the column has other numbers with .*, first in line 2 \(2 rows\)$/);
    expect(said(cells)).toEqual([['numberInDoubt', 'custom.visits', message]]);
  });

  test.each([
    ['all have three digits behind the point, as far as rows were read', ['12.500', '1.250', '3.000']],
    ['other decimals', ['12.500', '1.250', '3.000', '1.5']],
    ['no thousands begin with 0', ['12.500', '1.250', '3.000', '0.750']],
    ['no thousands have four digits in front', ['12.500', '1.250', '3.000', '1234.567']],
    ['of a comma before three digits nothing is known', ['12.500', '1.250', '1,234']],
    ['no point', ['12', '1250', '3']],
  ])('are decimals: %s', (_name, cells) => expect(said(cells)).toEqual([]));

  test('are whole where a mapping takes the points out', () => {
    const transform = [
      { replace: '.', with: '' },
      { replace: ',', with: '.' },
    ];
    const by = { column: 'visits', key: 'visits', transform };
    expect(said(['12.500', '1.250', '3.000', '1.234,56'], { by })).toEqual([]);
  });

  test('are told where the numbers that show it are left out', () => {
    const by = { column: 'visits', key: 'visits', onInvalid: 'drop' };
    expect(said(['12.500', '1.234,56'], { by })).toMatchObject([['numberInDoubt', 'visits', expect.anything()]]);
  });
});

test('cells that look like several choices are told once for the column, by the separator of the first', () => {
  const columns = createColumnWarnings();
  const cells = ['tea', 'tea, maps', 'tea|maps', 'a;b'];
  const rows = cells.map((cell) =>
    columns.take(mapRecord({ externalId: 'a', 'custom.tags': cell }, { customFields: allTypes })),
  );
  expect(rows.flatMap(({ warnings }) => warnings)).toEqual([]);
  expect(columns.list()).toMatchObject([
    {
      ...{ code: 'choicesInDoubt', field: 'custom.tags', value: 'tea, maps' },
      message: expect.stringMatching(/\(2 rows\)$/),
      hint: expect.stringContaining('separator: ","'),
    },
  ]);
});

test.each(["['tea', 'maps']", '{tea,maps}', '[1, 2]'])(
  'no separator is named for a list that is no JSON list of texts: %s',
  (cell) => {
    const columns = createColumnWarnings();
    columns.take(mapRecord({ externalId: 'a', 'custom.tags': cell }, { customFields: allTypes }));
    expect(columns.list()).toMatchObject([
      { code: 'choicesInDoubt', hint: expect.stringMatching(/^Export the choices/) },
    ]);
  },
);
