/** Builders for the tests of the mapping stage: rows as the sources give them, mapped with few words. */
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import type { MappingContext } from '#src/mapping/layout.ts';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import type { MappedRow } from '#src/mapping/row.ts';
import type { CellsRow, JsonValue, ObjectRow } from '#src/sources/row.ts';

export const noContext: MappingContext = { sourceLabel: null, customFields: null, defaultCountry: null, onBlank: null };

export function cellsRow(columns: readonly string[], cells: readonly string[], line = 2): CellsRow {
  return { kind: 'cells', columns, cells, line, record: line - 1 };
}

/** From JSON text, since a literal `__proto__` in an object would not be a member. */
export function objectRow(json: string | object, line = 1): ObjectRow {
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  const object: { readonly [name: string]: JsonValue } = Object.assign(Object.create(null), JSON.parse(text));
  return { kind: 'object', object, line, record: line };
}

export function mapping(input: object): Mapping {
  return mappingSchema.parse({ name: 'test', key: 'id', ...input });
}

/** One CSV record, written as `{column: cell}`, by a mapping or, with null, by the generic layout. */
export function mapRecord(
  record: Readonly<Record<string, string>>,
  context: Partial<MappingContext> = {},
  by: Mapping | null = null,
): MappedRow {
  const columns = Object.keys(record);
  const compiled = compileMapping(by, { columns }, { ...noContext, ...context });
  return compiled.mapRow(cellsRow(columns, Object.values(record)));
}

export function mapJson(
  json: string | object,
  context: Partial<MappingContext> = {},
  by: Mapping | null = null,
): MappedRow {
  return compileMapping(by, { columns: null }, { ...noContext, ...context }).mapRow(objectRow(json));
}

/** The desired contact; fails the test when the row is dead. */
export function desiredOf(row: MappedRow) {
  if (row.kind === 'dead') throw new Error(`dead: ${JSON.stringify(row.problems)}`);
  return row.desired;
}

export function problemsOf(row: MappedRow) {
  if (row.kind === 'desired') throw new Error('the row is not dead');
  return row.problems;
}

export function codesOf(row: MappedRow): readonly string[] {
  return row.kind === 'dead' ? row.problems.map(({ code }) => code) : [];
}

export function warningsOf(row: MappedRow): readonly string[] {
  return row.warnings.map(({ code }) => code);
}

export const allTypes = [
  { key: 'since', name: 'Since', type: 'date' },
  { key: 'visits', name: 'Visits', type: 'number' },
  { key: 'vip', name: 'VIP', type: 'boolean' },
  { key: 'tags', name: 'Tags', type: 'multi-select' },
  { key: 'home', name: 'Home', type: 'url' },
  { key: 'note', name: 'Note', type: 'string' },
  { key: 'where', name: 'Where', type: 'address' },
];
