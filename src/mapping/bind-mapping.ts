/**
 * The values of a mapping, looked up in the columns of a file: each becomes an expression over its columns. A column that the
 * file lacks stops the file, since silence would look like blank cells; one that a guard watches, or that is optional, is left
 * out.
 */
import { PatchbayError } from '#src/errors.ts';
import { ignoredBy, isIgnoredHeader, normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { listNames } from '#src/sources/row.ts';
import { beyondNumbers, columnMatcher, isPattern } from './column-pattern.ts';
import { isSynonym } from './contact-columns.ts';
import { columnsOfCountry } from './entry-schema.ts';
import type { CellRef, Expression } from './expression.ts';
import { nameInstead } from './header-changes.ts';
import {
  anySettings,
  type BoundColumn,
  type ColumnBinding,
  genericTarget,
  type Made,
  readsOf,
  type Settings,
  type Target,
} from './layout.ts';
import type { Mapping } from './mapping-schema.ts';
import type { PlaceholderPlace } from './placeholder.ts';
import { type ColumnRef, parseTemplate, referencesIn, type Value } from './value-schema.ts';
import { type ColumnNames, type Wanted, wantedValues } from './wanted-values.ts';

/** @throws PatchbayError `file`: `columnMissing` (all of them at once), `columnAmbiguous`. */
export function configuredMapping(mapping: Mapping, columns: readonly string[], settings: Settings): ColumnBinding {
  const mayLack = new Set(settings.mayLack.map(normaliseHeader));
  const find: FindColumn = (reference) => {
    if (typeof reference === 'string') {
      const index = isPattern(reference) ? null : findColumn(columns, reference);
      return index === null ? null : { index, field: columns[index] ?? reference };
    }
    const name = columns[reference - 1];
    if (name === undefined) return null;
    return { index: reference - 1, field: tidyHeader(name) === '' ? `column ${reference}` : name };
  };
  const missing: ColumnRef[] = [];
  const names: ColumnNames = columns.map((name, index) => ({ name, reference: index + 1 }));
  const bound = wantedValues(mapping, settings, names).flatMap((wanted): readonly BoundColumn[] => {
    const { column, missing: lacking } = bindWanted(wanted, find);
    const isAllowed = (reference: ColumnRef) =>
      wanted.target.kind !== 'key' &&
      (wanted.optional || (typeof reference === 'string' && mayLack.has(normaliseHeader(reference))));
    missing.push(...lacking.filter((reference) => !isAllowed(reference)));
    return column === null ? [] : [column];
  });
  if (missing.length > 0) throw columnMissing(mapping, [...new Set(missing)], columns);
  const others = filterColumns(mapping).flatMap((reference) => find(reference) ?? []);
  return { bound, unmapped: unmappedOf(columns, bound, others, ignoredBy(mapping)) };
}

/** The values of a mapping for JSON: each column is a path. @param names the members of the record, for patterns. */
export function configuredMembers(
  mapping: Mapping,
  settings: Settings,
  names: readonly string[],
): readonly BoundColumn[] {
  const find: FindColumn = (reference) => {
    if (typeof reference === 'number') throw positionInJson(reference);
    return isPattern(reference) ? null : { index: null, field: reference };
  };
  const columns = names.map((name) => ({ name, reference: name }));
  return wantedValues(mapping, settings, columns).flatMap((wanted) => bindWanted(wanted, find).column ?? []);
}

interface BoundWanted {
  /** Null where the file lacks all columns of the value. */
  readonly column: BoundColumn | null;
  readonly missing: readonly ColumnRef[];
}

function bindWanted(wanted: Wanted, find: FindColumn): BoundWanted {
  const { target, optional, split } = wanted;
  const value = bindValue(wanted.value, find, placeOf(target));
  const missing = [...value.missing];
  const lookUp = (
    one: { readonly column: ColumnRef | null; readonly optional: boolean } | undefined,
  ): CellRef | null => {
    if (one === undefined || one.column === null) return null;
    const cell = find(one.column);
    if (cell === null && !one.optional) missing.push(one.column);
    return cell;
  };
  const label = lookUp(wanted.label);
  const [country = null, ...otherCountries] = [
    lookUp(wanted.country),
    ...(wanted.otherCountries ?? []).map((column) => lookUp({ column, optional: true })),
  ].filter((cell) => cell !== null);
  const skip = lookUp(wanted.skip);
  const { expression } = value;
  if (expression === null) return { column: null, missing };
  const isSkipped = wanted.skip !== undefined && (skip !== null || wanted.skip.column === null);
  const made: Made = {
    value: expression,
    reads: [...value.reads, ...[label, country, ...otherCountries, skip].filter((cell) => cell !== null)],
    ...(split === undefined ? {} : { split }),
    ...(label === null ? {} : { label: { cell: label, transform: wanted.label?.transform ?? [] } }),
    ...(country === null ? {} : { country }),
    ...(otherCountries.length === 0 ? {} : { otherCountries }),
    ...(isSkipped && wanted.skip !== undefined ? { skip: { cell: skip, condition: wanted.skip.condition } } : {}),
  };
  const drops = wanted.dropsInvalid ? { dropsInvalid: true } : {};
  if (Object.keys(made).length === 2 && expression.kind === 'cell') {
    return { column: { ...expression.cell, target, optional, ...drops }, missing };
  }
  const [first] = value.reads;
  return { column: { index: null, field: first?.field ?? 'constant', target, optional, ...drops, made }, missing };
}

/** Which words mean "no value" for a target. */
function placeOf(target: Target): PlaceholderPlace {
  if (target.kind === 'items') return 'item';
  if (target.kind === 'key') return 'key';
  return target.kind === 'scalar' && (target.name === 'firstName' || target.name === 'lastName') ? 'name' : 'company';
}

/** The columns of the conditions on rows: they are used, although no value goes into a contact. */
export function filterColumns({ skipRows = [], keepRows = [] }: Mapping): readonly ColumnRef[] {
  return [...skipRows, ...keepRows].flatMap(({ column }) => column ?? []);
}

/** Positions of columns that have a name and no target, and are not ignored by choice. */
function unmappedOf(
  columns: readonly string[],
  bound: readonly BoundColumn[],
  others: readonly CellRef[],
  isIgnored: (column: string) => boolean,
) {
  const used = new Set([...bound.flatMap(readsOf), ...others].map(({ index }) => index));
  const isLeft = (column: string): boolean => tidyHeader(column) !== '' && !isIgnored(column);
  return columns.flatMap((column, index) => (!used.has(index) && isLeft(column) ? [index] : []));
}

function positionMissing(mapping: Mapping, position: number, columns: readonly string[]): PatchbayError {
  const message = `mapping "${mapping.name}": the file lacks column ${position}, which is picked by its position; it has ${columns.length}: ${listNames(columns)}`;
  const facts = { mapping: mapping.name, position, columnCount: columns.length };
  return new PatchbayError('file', 'columnMissing', message, { facts, hint: 'Correct the file or the mapping.' });
}

function positionInJson(position: number): PatchbayError {
  const field = `column ${position}`;
  const message = `the mapping picks ${field} by its position, but the members of JSON have none`;
  const hint = 'Name the member in the mapping, or export CSV.';
  return new PatchbayError('file', 'positionInJson', message, { facts: { column: field }, hint });
}

/**
 * By its exact name, else by its normalised one.
 *
 * @throws PatchbayError `file`: `duplicateHeader` for a name that occurs twice, `columnAmbiguous` for two similar names.
 */
function findColumn(columns: readonly string[], wanted: string): number | null {
  for (const form of [tidyHeader, normaliseHeader]) {
    const found = columns.flatMap((column, index) => (form(column) === form(wanted) ? [index] : []));
    const [first, second] = found;
    if (first !== undefined && second !== undefined) {
      const isSame = tidyHeader(columns[first] ?? '') === tidyHeader(columns[second] ?? '');
      const places = `columns ${found.map((index) => index + 1).join(' and ')}`;
      throw new PatchbayError(
        'file',
        isSame ? 'duplicateHeader' : 'columnAmbiguous',
        isSame ? `the header "${wanted}" is used by ${places}` : `"${wanted}" of the mapping matches ${places}`,
        {
          facts: { column: wanted, first: first + 1, second: second + 1 },
          hint: `Rename one of them, or pick one by its position: in the mapping, write ${first + 1} instead of "${wanted}".`,
        },
      );
    }
    if (first !== undefined) return first;
  }
  return null;
}

function columnMissing(mapping: Mapping, references: readonly ColumnRef[], columns: readonly string[]): PatchbayError {
  const position = references.find((reference) => typeof reference === 'number');
  if (position !== undefined) return positionMissing(mapping, position, columns);
  const missing = references.filter((reference) => typeof reference === 'string');
  const named = columns.filter((column) => !isIgnoredHeader(column));
  const [first = ''] = missing;
  const close = nameInstead(
    first,
    named.filter((column) => !namesColumn(mapping, column)),
  );
  const what = missing.length === 1 ? 'the column' : 'the columns';
  return new PatchbayError(
    'file',
    'columnMissing',
    `mapping "${mapping.name}": the file lacks ${what} ${listNames(missing)}; found: ${listNames(named)}`,
    {
      facts: { mapping: mapping.name, missingCount: missing.length, first },
      hint: missingHint(first, close),
    },
  );
}

/** The hint for a missing column or JSON member. @param close the most similar name in the file. */
export function missingHint(first: string, close: string | null): string {
  const lacks = `if files may lack it, write { column: "${first}", optional: true }.`;
  if (close === null) return `Correct the file or the mapping; ${lacks}`;
  return `Correct the mapping: did you mean "${tidyHeader(close)}"? Otherwise, ${lacks}`;
}

/**
 * Whether the mapping gives the column a meaning, by its name; null is the generic layout, where a synonym may need other
 * columns for that, too.
 */
export function namesColumn(mapping: Mapping | null, column: string): boolean {
  if (mapping === null) return genericTarget(column, anySettings) !== null || isSynonym(column);
  return columnsOf(mapping).some((named) => {
    if (typeof named !== 'string') return false;
    return isPattern(named)
      ? !ignoredBy(mapping)(column) && columnMatcher(named)(column) !== null
      : normaliseHeader(named) === normaliseHeader(column);
  });
}

/** Tells of a column that the file lacks whether its number is beyond those that the file has (`column-pattern.ts`). */
export function beyondNumbersOf(mapping: Mapping | null, columns: readonly string[]): (column: string) => boolean {
  const named = mapping === null ? [] : columnsOf(mapping);
  const tests = named.filter(isPattern).map((pattern) => beyondNumbers(pattern, columns));
  const ownNames = new Set(named.map((one) => (isPattern(one) ? null : normaliseHeader(String(one)))));
  return (column) => !ownNames.has(normaliseHeader(column)) && tests.some((isBeyond) => isBeyond(column));
}

/** Every column that a mapping names, patterns and the columns of labels, countries and conditions among them. */
export function columnsOf(mapping: Mapping): readonly ColumnRef[] {
  const { key, fields, emails, phones, customFields, defaultCountry } = mapping;
  const items: readonly { readonly column?: ColumnRef | undefined }[] = [...emails, ...phones].flatMap(
    ({ label, skip }) => [typeof label === 'object' ? label : {}, skip ?? {}],
  );
  const countries = [defaultCountry, ...phones.map(({ country }) => country)];
  const values = [key, ...Object.values(fields), ...emails, ...phones, ...customFields].filter(
    (one) => one !== undefined,
  );
  return [
    ...values.flatMap((value) => referencesIn(value).map(({ reference }) => reference)),
    ...items.flatMap(({ column }) => column ?? []),
    ...countries.flatMap(columnsOfCountry),
    ...filterColumns(mapping),
  ];
}

// A value of a mapping → an expression over the columns of a file.

/** Looks up a column. Null for one that the file lacks. */
type FindColumn = (reference: ColumnRef) => CellRef | null;

/** A value that was looked up. The expression is null where the file lacks all of its columns. */
interface BoundValue {
  readonly expression: Expression | null;
  readonly reads: readonly CellRef[];
  /** Columns that the file lacks. Those of `firstOf` count only where the file lacks all of them. */
  readonly missing: readonly ColumnRef[];
}

const defaultSeparator = ';';

/** @param place which words mean "no value" in `firstOf`. */
function bindValue(value: Value, find: FindColumn, place: PlaceholderPlace): BoundValue {
  if (typeof value !== 'object') return bindColumn(value, find);
  const bound = bindSource(value, find, place);
  const { part, transform = [], separator = defaultSeparator } = value;
  if (bound.expression === null || (part === undefined && transform.length === 0)) return bound;
  return {
    ...bound,
    expression: { kind: 'steps', of: bound.expression, part: part ?? null, separator, transform },
  };
}

function bindSource(value: Exclude<Value, ColumnRef>, find: FindColumn, place: PlaceholderPlace): BoundValue {
  const { column, firstOf, join, template, constant } = value;
  if (column !== undefined) return bindColumn(column, find);
  if (firstOf !== undefined) {
    const { of, reads, missing } = bindAll(firstOf, find, place);
    return {
      expression: of.length === 0 ? null : { kind: 'firstOf', of, place },
      reads,
      missing: of.length === 0 ? missing : [],
    };
  }
  if (join !== undefined) {
    const { of, ...bound } = bindAll(join, find, place);
    return { ...bound, expression: of.length === 0 ? null : { kind: 'join', of, with: value.with ?? ' ' } };
  }
  if (template !== undefined) return bindTemplate(template, find);
  return { expression: { kind: 'constant', text: constant ?? '' }, reads: [], missing: [] };
}

function bindColumn(column: ColumnRef, find: FindColumn): BoundValue {
  const cell = find(column);
  if (cell === null) return { expression: null, reads: [], missing: [column] };
  return { expression: { kind: 'cell', cell }, reads: [cell], missing: [] };
}

function bindAll(values: readonly Value[], find: FindColumn, place: PlaceholderPlace) {
  const bound = values.map((one) => bindValue(one, find, place));
  return {
    of: bound.flatMap(({ expression }) => (expression === null ? [] : [expression])),
    reads: bound.flatMap(({ reads }) => reads),
    missing: bound.flatMap(({ missing }) => missing),
  };
}

/** A column that the file lacks is blank in the text. */
function bindTemplate(text: string, find: FindColumn): BoundValue {
  const template = parseTemplate(text);
  if (!template.ok) return { expression: null, reads: [], missing: [] };
  const pieces = template.pieces.map((piece) => ('text' in piece ? piece.text : bindColumn(piece.column, find)));
  const columns = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece]));
  const reads = columns.flatMap((column) => column.reads);
  return {
    expression:
      reads.length === 0
        ? null
        : {
            kind: 'template',
            pieces: pieces.map((piece) => (typeof piece === 'string' ? piece : (piece.expression ?? ''))),
          },
    reads,
    missing: columns.flatMap((column) => column.missing),
  };
}
