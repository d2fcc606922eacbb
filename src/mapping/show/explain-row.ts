/**
 * How one row becomes a contact, entry by entry: which cells were read, what each step made of them, and where the result went, or
 * what is wrong with it. Each answer is that of the mapping itself, asked with one entry and one step at a time.
 */

import { scalarNames } from '#src/contacts/desired.ts';
import { distinctProblems, type Problem } from '#src/contacts/outcome.ts';
import { filterColumns } from '#src/mapping/bind-mapping.ts';
import type { JsonObject } from '#src/mapping/cell.ts';
import { columnMatcher, fillPattern, isPattern } from '#src/mapping/column-pattern.ts';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { createRowFilter } from '#src/mapping/conditions.ts';
import { columnsOfCountry } from '#src/mapping/entry-schema.ts';
import { finderOf } from '#src/mapping/json-path.ts';
import { anySettings, genericTargets, type MappingContext, resolveSettings, type Target } from '#src/mapping/layout.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { memberPaths } from '#src/mapping/propose/column-facts.ts';
import type { MappedRow } from '#src/mapping/row.ts';
import type { Transform } from '#src/mapping/transforms.ts';
import { type ColumnRef, referencesIn, type Value } from '#src/mapping/value-schema.ts';
import { spellingsOf } from '#src/mapping/wrapped-value.ts';
import { ignoredBy, isIgnoredHeader, normaliseHeader } from '#src/sources/column-name.ts';
import { type JsonValue, type Row, recordOf, type ShownPlace, type SourceItem } from '#src/sources/row.ts';
import { type ContactView, rejectBare, viewContact } from './preview.ts';

export interface ExplainedRow extends ShownPlace {
  readonly entries: readonly ExplainedEntry[];
  /** Columns with a value that nothing reads. */
  readonly unused: readonly ExplainedCell[];
  /** Null for a row that would be rejected or left out. */
  readonly contact: ContactView | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Why the row is left out, by `skipRows` or `keepRows`, or as one of totals: it says nothing then, and nothing is wrong with it. */
  readonly skipped?: string;
}

interface ExplainedEntry {
  readonly target: string;
  readonly cells: readonly ExplainedCell[];
  /** What each step made of the value, in order; none for a value that is taken as it is. */
  readonly steps: readonly { readonly step: string; readonly result: string }[];
  /** What goes to the target; null where it says nothing, or is refused. */
  readonly result: string | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

interface ExplainedCell {
  readonly column: string;
  /** The cell as the file holds it, other JSON values as JSON; null where the row has none. */
  readonly raw: string | null;
}

/** @throws PatchbayError what `compileMapping` and `createRowFilter` throw. */
export function explainRow(mapping: Mapping | null, item: SourceItem, context: MappingContext): ExplainedRow {
  const { row } = item;
  const columns = row.kind === 'cells' ? row.columns : null;
  const skipped = createRowFilter(mapping, columns).reason(item);
  if (item.type === 'row' && skipped === null) return explainRead(mapping, row, context);
  const nothing = {
    line: row.line,
    ...recordOf(row),
    entries: [],
    unused: [],
    contact: null,
    problems: [],
    warnings: [],
  };
  if (skipped === null) return { ...nothing, problems: item.type === 'row' ? [] : [item.problem] };
  const entries = item.type === 'row' && mapping !== null ? filterEntries(mapping, row, 'left out') : [];
  return { ...nothing, entries, skipped };
}

function explainRead(mapping: Mapping | null, row: Row, context: MappingContext): ExplainedRow {
  const columns = row.kind === 'cells' ? row.columns : null;
  const whole = rejectBare(compileMapping(mapping, { columns }, context).mapRow(row), row);
  const header = headerOf(row);
  const uses = columnUses(mapping, header);
  const cellAt = (index: number): ExplainedCell => ({ column: header[index] ?? '', raw: rawAt(row, header, index) });
  return {
    line: row.line,
    ...recordOf(row),
    entries:
      mapping === null
        ? explainGeneric(row, header, context)
        : [...explainMapping(mapping, row, header, context), ...filterEntries(mapping, row, 'read')],
    unused: header
      .map((_, index) => cellAt(index))
      .filter(({ raw }, index) => uses[index]?.length === 0 && (raw ?? '') !== ''),
    contact: whole.kind === 'desired' ? viewContact(whole.desired) : null,
    problems: whole.kind === 'dead' ? distinctProblems(whole.problems) : [],
    warnings: whole.warnings,
  };
}

/** The columns that decide whether a row is read, and what they decided. */
function filterEntries(mapping: Mapping, row: Row, result: 'read' | 'left out'): readonly ExplainedEntry[] {
  const header = headerOf(row);
  const columns = new Set(filterColumns(mapping));
  return [...columns].map((column) => ({
    ...{
      target: filterTarget,
      cells: cellsOf(row, header, column, mapping),
      steps: [],
      result,
      problems: [],
      warnings: [],
    },
  }));
}

function headerOf(row: Row): readonly string[] {
  return row.kind === 'cells' ? row.columns : memberPaths(row.object);
}

function explainMapping(
  mapping: Mapping,
  row: Row,
  header: readonly string[],
  context: MappingContext,
): readonly ExplainedEntry[] {
  const columns = row.kind === 'cells' ? row.columns : null;
  const mapped = (by: Mapping): MappedRow => compileMapping(by, { columns }, context).mapRow(row);
  return entriesOf(mapping, header).map(({ target, columns: read, alone, steps }) => {
    const found = mapped(alone);
    return {
      target,
      cells: read.flatMap((column) => cellsOf(row, header, column, alone)),
      steps: steps.map(({ step, until }) => ({ step, result: resultOf(mapped(until), target) ?? '' })),
      result: resultOf(found, target),
      ...findingsOf(found, target),
    };
  });
}

/** In the generic layout a column is one entry: the row is read with the cells of all others blank. */
function explainGeneric(row: Row, header: readonly string[], context: MappingContext): readonly ExplainedEntry[] {
  const settings = resolveSettings(null, context);
  const { targets } = genericTargets(header, settings);
  const columns = row.kind === 'cells' ? row.columns : null;
  const compiled = compileMapping(null, { columns }, context);
  const isKey = (index: number): boolean => targets[index]?.some(({ kind }) => kind === 'key') === true;
  return header.flatMap((column, index): readonly ExplainedEntry[] => {
    const found = isInList(column) ? [] : (targets[index] ?? []);
    if (found.length === 0) return [];
    const mapped = compiled.mapRow(withCells(row, header, (other) => other === index || isKey(other)));
    return found.map((one) => {
      const target = targetInWords(one);
      const result = resultOf(mapped, target);
      return {
        target,
        cells: [{ column, raw: rawAt(row, header, index) }],
        steps: [],
        result,
        ...findingsOf(mapped, target),
      };
    });
  });
}

function withCells(row: Row, header: readonly string[], keeps: (index: number) => boolean): Row {
  if (row.kind === 'cells') return { ...row, cells: row.cells.map((cell, index) => (keeps(index) ? cell : '')) };
  const kept = Object.entries(row.object).filter(([name]) =>
    header.some(
      (path, index) => keeps(index) && (path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`)),
    ),
  );
  return { ...row, object: Object.assign(Object.create(null), Object.fromEntries(kept)) };
}

/** A row that is rejected has no contact to read: its problems say why. */
function resultOf(mapped: MappedRow, target: string): string | null {
  if (mapped.kind === 'dead') return target === 'key' ? mapped.key : null;
  const view = viewContact(mapped.desired);
  if (target === 'key') return view.externalId;
  if (target.startsWith('custom.')) return shown(view.customFields?.[target.slice('custom.'.length)]);
  const list = target.startsWith('email') ? 'emails' : target.startsWith('phone') ? 'phones' : null;
  if (list === null) return shown(view[target as 'firstName']);
  const items = view[list] ?? [];
  if (items.length > 0) return items.map(({ name, value }) => `${value} (${name})`).join(', ');
  // A slot without items takes away what it said before; beside a value that was left out it says nothing.
  return mapped.desired[list].some(({ partial }) => partial !== true) ? shown(null) : null;
}

/** The key is read with every entry: what is wrong with it is said once. */
function findingsOf(mapped: MappedRow, target: string): Pick<ExplainedEntry, 'problems' | 'warnings'> {
  const isOwn = ({ code }: Problem): boolean => code.startsWith('key') === (target === 'key');
  return {
    problems: distinctProblems(mapped.kind === 'dead' ? mapped.problems : []).filter(isOwn),
    warnings: mapped.warnings.filter(isOwn),
  };
}

function cellsOf(row: Row, header: readonly string[], column: ColumnRef, mapping: Mapping): readonly ExplainedCell[] {
  const positions = positionsOf(column, header, mapping);
  if (positions.length > 0 && !String(column).includes('[]'))
    return positions.map((index) => ({ column: header[index] ?? '', raw: rawAt(row, header, index) }));
  const raw = row.kind === 'object' ? shownRaw(valueAt(row.object, String(column))) : null;
  return [{ column: String(column), raw }];
}

function rawAt(row: Row, header: readonly string[], index: number): string | null {
  return row.kind === 'cells' ? (row.cells[index] ?? null) : shownRaw(valueAt(row.object, header[index] ?? ''));
}

function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  return finderOf(path)(object).raw;
}

function shownRaw(value: JsonValue | undefined): string | null {
  return value === null ? 'null' : shown(value);
}

const shownCharsMax = 200;

function shown(value: unknown): string | null {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : value === null ? 'removed' : JSON.stringify(value);
  return [...text.slice(0, 2 * shownCharsMax)].slice(0, shownCharsMax).join('');
}

// The entries of a mapping: each says what one part of a contact is made of. In words, and as a mapping of its own with this
// entry alone, which shows what it does without a second implementation.

interface MappingEntry {
  /** Where its value goes: `key`, `firstName`, `phone (mobile)`, `custom.tier`. */
  readonly target: string;
  /** Of e-mails and phones, whose label may come from the column's name or from another column. */
  readonly item?: { readonly plain: 'email' | 'phone'; readonly label: Mapping['phones'][number]['label'] };
  /** The columns that it reads, as the mapping names them. */
  readonly columns: readonly ColumnRef[];
  /** The mapping with this entry and the key alone. */
  readonly alone: Mapping;
  /** The steps of its value that follow one another, in words; and the mapping with all steps up to each. */
  readonly steps: readonly { readonly step: string; readonly until: Mapping }[];
}

/** In the order in which they are documented, the key first. @param header of the file: a pattern reads what no entry before it does. */
function entriesOf(mapping: Mapping, header: readonly string[]): readonly MappingEntry[] {
  const { fields, emails, phones, customFields } = mapping;
  const bare: Mapping = { ...mapping, fields: {}, emails: [], phones: [], customFields: [], optional: true };
  const without = (taken: readonly string[]): Mapping =>
    taken.length === 0 ? bare : { ...bare, ignore: [...(mapping.ignore ?? []), ...taken] };
  const takenBefore = (one: ItemEntry, list: readonly ItemEntry[]) => columnsTakenBefore(one, list, header);
  const entry = <Entry extends Value>(target: string, value: Entry, put: (value: Entry) => Mapping): MappingEntry => ({
    target,
    columns: referencesIn(value).map(({ reference }) => reference),
    alone: put(value),
    steps: stepsOf(value).map(({ step, until }) => ({ step, until: put(until as Entry) })),
  });
  return [
    entry('key', mapping.key as Value, (key) => ({ ...bare, key: key as Mapping['key'] })),
    ...scalarNames.flatMap((name) => {
      const field = fields[name];
      return field === undefined ? [] : [entry(name, field, (value) => ({ ...bare, fields: { [name]: value } }))];
    }),
    ...(fields.source === undefined
      ? []
      : [entry('source', fields.source, (source) => ({ ...bare, fields: { source } }))]),
    ...emails.map((one) => ({
      ...entry(itemInWords('email', one.label), one, (value) => ({
        ...without(takenBefore(one, emails)),
        emails: [value],
      })),
      item: { plain: 'email', label: one.label } as const,
    })),
    ...phones.map((one) => ({
      ...entry(itemInWords('phone', one.label), one, (value) => ({
        ...without(takenBefore(one, phones)),
        phones: [value],
      })),
      item: { plain: 'phone', label: one.label } as const,
    })),
    ...customFields.map((one) => entry(`custom.${one.key}`, one, (value) => ({ ...bare, customFields: [value] }))),
  ];
}

type ItemEntry = Mapping['emails'][number] | Mapping['phones'][number];

/** Of a pattern: the columns that other entries of the list name, and those of a pattern before it (`wanted-values.ts`). */
function columnsTakenBefore(
  entry: ItemEntry,
  list: readonly ItemEntry[],
  header: readonly string[],
): readonly string[] {
  if (entry.column === undefined || !isPattern(entry.column)) return [];
  const named = new Set(
    list.flatMap(({ column }) => (typeof column === 'string' && !isPattern(column) ? [normaliseHeader(column)] : [])),
  );
  const before = list.slice(0, entry.skip === undefined ? list.indexOf(entry) : 0).flatMap(({ column, part }) => {
    return column !== undefined && isPattern(column) && part === entry.part ? [columnMatcher(column)] : [];
  });
  return header.filter((name) => named.has(normaliseHeader(name)) || before.some((match) => match(name) !== null));
}

function itemInWords(plain: string, label: unknown): string {
  if (typeof label === 'string') return label === plain ? plain : `${plain} (${label})`;
  return plain;
}

/** What the column becomes: `phone (mobile)`, `phone (label in Phone 2 - Label)`. */
function useOf({ target, item }: Pick<MappingEntry, 'target' | 'item'>, column: ColumnRef, name: string): string {
  if (item === undefined) return target;
  const { plain, label } = item;
  const by = typeof column === 'string' && isPattern(column) ? columnMatcher(column)(name) : null;
  if (typeof label === 'string') return itemInWords(plain, by?.label ?? label);
  const from =
    typeof label.column === 'number' ? `column ${label.column}` : fillPattern(String(label.column), by ?? {});
  return `${plain} (label in ${from})`;
}

/** Part and transforms, one after the other: each with the value up to and including it. */
function stepsOf(value: Value): readonly { readonly step: string; readonly until: Value }[] {
  if (typeof value !== 'object') return [];
  const { part, transform = [] } = value;
  const parts = part === undefined ? [] : [{ step: `part ${part}`, until: { ...value, transform: undefined } }];
  const transforms = transform.map((one, index) => ({
    step: transformInWords(one),
    until: { ...value, transform: transform.slice(0, index + 1) },
  }));
  return [...parts, ...transforms];
}

function transformInWords(transform: Transform): string {
  return typeof transform === 'string' ? transform : JSON.stringify(transform);
}

/** The positions of the columns of a table that a mapping's column means; for a pattern, several. */
export function positionsOf(column: ColumnRef, header: readonly string[], mapping: Mapping): readonly number[] {
  if (typeof column === 'number') return column <= header.length ? [column - 1] : [];
  const where = (test: (name: string) => boolean) => header.flatMap((name, index) => (test(name) ? [index] : []));
  if (isPattern(column)) {
    const match = columnMatcher(column);
    const isIgnored = ignoredBy(mapping);
    return where((name) => match(name) !== null && !isIgnored(name));
  }
  const exact = where((name) => name.trim() === column);
  if (exact.length > 0) return exact;
  const wanted = spellingsOf(column);
  const similar = where((name) => wanted.includes(normaliseHeader(name)));
  // A member of each element of a list is shown by that of the first.
  return similar.length > 0 || !String(column).includes('[]')
    ? similar
    : where((name) => normaliseHeader(name.replaceAll('[0]', '[]')) === normaliseHeader(column));
}

/** What becomes of each column of a file, by position: `phone (mobile)`; several for a column that is read several times. */
export function columnUses(mapping: Mapping | null, header: readonly string[]): readonly (readonly string[])[] {
  const uses: string[][] = header.map(() => []);
  if (mapping === null) {
    genericTargets(header, anySettings).targets.forEach((targets, index) => {
      if (!isIgnoredHeader(header[index] ?? '') && !isInList(header[index] ?? ''))
        uses[index]?.push(...targets.map(targetInWords));
    });
    return uses;
  }
  const entries = [...entriesOf(mapping, header), ...sideColumns(mapping).map((one) => ({ ...one, alone: mapping }))];
  for (const entry of entries) {
    for (const column of entry.columns) {
      for (const index of positionsOf(column, header, entry.alone)) {
        const use = useOf(entry, column, header[index] ?? '');
        if (uses[index]?.includes(use) === false) uses[index]?.push(use);
      }
    }
  }
  return uses;
}

/** The path of a member of a list's element: the generic layout knows the names of the record's own members. */
function isInList(path: string): boolean {
  return /\[0\]\./.test(path);
}

const filterTarget = 'which rows are read';

/** Columns that say something about others: the label of an item, the country of a number, what is left out. */
function sideColumns(mapping: Mapping): readonly Pick<MappingEntry, 'target' | 'item' | 'columns'>[] {
  const { emails, phones, defaultCountry } = mapping;
  const columnOf = (choice: unknown): readonly ColumnRef[] =>
    typeof choice === 'object' && choice !== null && 'column' in choice ? [choice.column as ColumnRef] : [];
  return [
    ...[...emails, ...phones].map(({ label }) => ({ target: 'label', columns: columnOf(label) })),
    ...[...emails, ...phones].map(({ skip }) => ({ target: 'which items are read', columns: columnOf(skip) })),
    { target: filterTarget, columns: filterColumns(mapping) },
    ...[defaultCountry, ...phones.map(({ country }) => country)].map((choice) => ({
      target: 'country of phone numbers',
      columns: columnsOfCountry(choice),
    })),
  ];
}

function targetInWords(target: Target): string {
  switch (target.kind) {
    case 'scalar':
      return target.name;
    case 'items':
      return itemInWords(target.list === 'emails' ? 'email' : 'phone', target.label);
    case 'custom':
      return `custom.${target.key}`;
    default:
      return target.kind;
  }
}
