/** Any value of the language, on any row: a result that is pure and total. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnMatcher, fillPattern } from '#src/mapping/column-pattern.ts';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { mappingSchema } from '#src/mapping/mapping-schema.ts';
import { slotNamesOf } from '#src/mapping/wanted-values.ts';
import { cellsRow, noContext, objectRow } from './support.ts';

const columns = ['id', 'A', 'B', 'C', 'Phone 1', 'Phone 2', 'Type 1', 'Land'];
const column = fc.constantFrom('A', 'B', 'C');
const transform = fc.array(
  fc.oneof(
    fc.constantFrom('lowerCase', 'titleCase', 'digits', 'givenNames', 'familyName', 'withoutQuotes'),
    fc.record({ before: fc.constantFrom('@', ' ') }),
    fc.record({ replace: fc.constantFrom('a', ' '), with: fc.constantFrom('', 'aa') }),
    fc.constant({ values: { x: 'y', '': 'z' }, otherwise: 'blank' }),
    fc.constant({ date: ['DD.MM.YYYY', 'YYYY-MM-DD'] }),
  ),
  { maxLength: 3 },
);
const steps = fc.record({ part: fc.constantFrom(1, 2, -1), transform }, { requiredKeys: [] });
const { value } = fc.letrec<{ value: unknown; source: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    column,
    fc.tuple(tie('source'), steps).map(([source, more]) => ({ ...source, ...more })),
  ),
  source: fc.oneof(
    { maxDepth: 3 },
    column.map((name) => ({ column: name })),
    fc.constant({ constant: 'x' }),
    column.map((name) => ({ template: `{${name}}-{{{B}` })),
    fc.array(tie('value'), { minLength: 1, maxLength: 3 }).map((firstOf) => ({ firstOf })),
    fc.array(tie('value'), { minLength: 1, maxLength: 3 }).map((join) => ({ join })),
  ),
}));
const rule = fc.constantFrom('reject', 'drop');
const language = fc.record({
  company: value,
  key: fc.oneof(fc.constant('id'), value),
  onInvalid: rule,
  phones: fc.constantFrom(
    [{ column: 'Phone {n}', label: { column: 'Type {n}' }, country: { column: 'Land', default: 'DE' } }],
    [{ column: 'Phone {n}', separator: '/', transform: ['digits'], skip: { column: 'Type {n}', equals: ['fax'] } }],
    [{ column: 'Phone {label}' }, { column: 'Phone 2', part: 1 }],
  ),
});
const cell = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '#CLEAR',
    'N/A',
    'Ada Lovelace',
    'a;b',
    '5.3.2026',
    '+14155550101',
    '030 123456',
    'Germany',
    '\ud800',
    "'+1",
  ),
);
const json = fc.oneof(
  cell,
  fc.constant(null),
  fc.boolean(),
  fc.double(),
  fc.array(cell, { maxLength: 3 }),
  fc.record({ value: cell }),
);

const mappingOf = ({
  company,
  key,
  onInvalid,
  phones,
}: {
  company: unknown;
  key: unknown;
  onInvalid: string;
  phones: unknown;
}) => mappingSchema.safeParse({ name: 'test', key, onInvalid, optional: true, fields: { company }, phones });

test('of cells: never throws, and gives an equal result twice; each slot is one of the mapping', () => {
  fc.assert(
    fc.property(language, fc.array(cell, { minLength: 8, maxLength: 8 }), (input, cells) => {
      const parsed = mappingOf(input);
      fc.pre(parsed.success);
      const { mapRow } = compileMapping(parsed.data, { columns }, noContext);
      const row = cellsRow(columns, cells);
      const mapped = mapRow(row);
      expect(mapRow(row)).toEqual(mapped);
      if (mapped.kind === 'dead') {
        expect(mapped.problems.length).toBeGreaterThan(0);
        return;
      }
      const { phones } = slotNamesOf(parsed.data);
      expect(mapped.desired.phones.every(({ slot }) => phones.has(slot))).toBe(true);
    }),
  );
});

test('of JSON records: never throws, and gives an equal result twice', () => {
  const record = fc.record(Object.fromEntries(columns.map((name) => [name, json])), { requiredKeys: [] });
  fc.assert(
    fc.property(language, record, (input, object) => {
      const parsed = mappingOf(input);
      fc.pre(parsed.success);
      const { mapRow } = compileMapping(parsed.data, { columns: null }, noContext);
      const row = objectRow(JSON.stringify(object));
      const mapped = mapRow(row);
      expect(mapRow(row)).toEqual(mapped);
      if (mapped.kind === 'dead') expect(mapped.problems.length).toBeGreaterThan(0);
    }),
  );
});

test('a pattern matches the column that it makes of a number and a label, and reads both from it', () => {
  const word = fc.stringMatching(/^[a-z]{1,10}$/);
  fc.assert(
    fc.property(fc.nat(9999), word, word, (number, label, name) => {
      const by = { n: String(number), label };
      expect(columnMatcher(`${name} {n} - {label}`)(fillPattern(`${name} {n} - {label}`, by))).toEqual(by);
    }),
  );
});

test('a long header takes no long time', () => {
  const match = columnMatcher('a {label} b {n} c');
  expect(match(`a ${' '.repeat(60_000)} b`)).toBeNull();
  expect(match(`a ${' -'.repeat(240)}b 1 d`)).toBeNull();
});
