/**
 * Which rows of a file are left out, by `skipRows` and `keepRows` of its mapping, and which rejected ones are left alone, by
 * `ignoreRejected` (`docs/mapping.md`, "Rows to leave out").
 * Nothing is left out in silence: what was skipped is counted, with its lines and in words.
 */

import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import { closestName, isIgnoredHeader, normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { type JsonValue, listNames, type Row, type SourceItem } from '#src/sources/row.ts';
import type { Condition } from './entry-schema.ts';
import { memberFinder } from './json-path.ts';
import type { Mapping } from './mapping-schema.ts';

/** Decides on the rows of one reading of a file, and remembers what it left out. */
export interface RowFilter {
  /**
   * Also asked about rows that cannot be read, as far as conditions have no column: the lines of a footer have fewer cells
   * than the header.
   */
  skips(item: SourceItem): boolean;
  /** Why it would be left out: `IsDeleted is "true"`; null where it is read. Remembers nothing. */
  reason(item: SourceItem): string | null;
  /** What was left out so far: `skipped 3 rows: IsDeleted is "true" (lines 4, 9, 12)`. */
  notes(): readonly string[];
}

const keepsAll: RowFilter = { skips: () => false, reason: () => null, notes: () => [] };

/** Reads the values of a column: a cell, or what a path leads to in a JSON record. Null where there is no such column. */
type ReadColumn = (row: Row) => readonly string[] | null;

/**
 * @param columns of a table; null for JSON.
 * @throws PatchbayError `file` `columnMissing` for a condition whose column the file lacks, unless all columns are optional.
 */
export function createRowFilter(mapping: Mapping | null, columns: readonly string[] | null): RowFilter {
  const { skipRows = [], keepRows = [] } = mapping ?? {};
  if (mapping === null || skipRows.length + keepRows.length === 0) return keepsAll;
  const missing: string[] = [];
  const bind = (condition: Condition, isKept: boolean) => {
    const read = readColumn(condition, columns);
    if (read === null && condition.column !== undefined) missing.push(String(condition.column));
    return { condition, read, isKept, why: isKept ? describe(condition, 'not ') : describe(condition, '') };
  };
  const bound = [...skipRows.map((one) => bind(one, false)), ...keepRows.map((one) => bind(one, true))];
  if (missing.length > 0 && mapping.optional !== true) throw columnMissing(mapping, missing, columns ?? []);
  const skipped = new Map<string, SkippedLines>();
  const reason: RowFilter['reason'] = ({ row, type }) => {
    const met = bound.find(({ condition, read, isKept }) => {
      if (type === 'broken' && condition.column !== undefined) return false;
      const found = read?.(row) ?? null;
      return found !== null && holds(condition, found, row) !== isKept;
    });
    return met?.why ?? null;
  };
  return {
    skips: (item) => {
      const why = reason(item);
      if (why === null) return false;
      const known = skipped.get(why) ?? { count: 0, lines: [] };
      if (known.lines.length < linesShownMax) known.lines.push(item.row.line);
      known.count += 1;
      skipped.set(why, known);
      return true;
    },
    reason,
    notes: () => [...skipped].map(([why, found]) => noteOn(why, found)),
  };
}

interface SkippedLines {
  count: number;
  /** The first of them. */
  readonly lines: number[];
}

const linesShownMax = 10;

function noteOn(why: string, { count, lines }: SkippedLines): string {
  const more = count > lines.length ? ` and ${count - lines.length} more` : '';
  return count === 1
    ? `skipped 1 row: ${why} (line ${lines.join(', ')})`
    : `skipped ${count} rows: ${why} (lines ${lines.join(', ')}${more})`;
}

function readColumn({ column }: Condition, columns: readonly string[] | null): ReadColumn | null {
  if (column === undefined) return (row) => (row.kind === 'cells' ? [firstFilled(row.cells)] : null);
  if (columns === null) return membersAt(String(column));
  const index = indexOf(columns, column);
  return index < 0 ? null : (row) => (row.kind === 'cells' ? [row.cells[index] ?? ''] : null);
}

/** A list has several texts; a member that the record lacks has none. */
function membersAt(path: string): ReadColumn {
  const find = memberFinder(path);
  return (row) => {
    if (row.kind !== 'object') return null;
    const { raw } = find(row.object);
    if (raw === undefined) return [];
    const values: readonly JsonValue[] = Array.isArray(raw) ? raw : [raw];
    return values.map(textOf);
  };
}

function textOf(value: JsonValue): string {
  return typeof value === 'object' ? '' : String(value);
}

function indexOf(columns: readonly string[], column: string | number): number {
  if (typeof column === 'number') return column <= columns.length ? column - 1 : -1;
  const exact = columns.findIndex((name) => tidyHeader(name) === tidyHeader(column));
  return exact >= 0 ? exact : columns.findIndex((name) => normaliseHeader(name) === normaliseHeader(column));
}

function firstFilled(cells: readonly string[]): string {
  return cells.find((cell) => cell.trim() !== '') ?? '';
}

function holds(condition: Condition, texts: readonly string[], row: Row): boolean {
  const isAlone = row.kind !== 'cells' || row.cells.filter((cell) => cell.trim() !== '').length <= 1;
  return (condition.isAlone !== true || isAlone) && meets(condition, texts);
}

/** Whether a condition holds for a cell. Any of the texts is enough; a list in JSON has several. */
export function meets(condition: Condition, texts: readonly string[]): boolean {
  const { equals, beginsWith, contains, isBlank, isFilled } = condition;
  const found = texts.map(fold).filter((text) => text !== '');
  if (isBlank === true) return found.length === 0;
  if (isFilled === true) return found.length > 0;
  const any = (wanted: string | readonly string[], test: (text: string, wanted: string) => boolean) =>
    listOf(wanted).some((one) => found.some((text) => test(text, fold(one))));
  if (equals !== undefined) return any(equals, (text, one) => text === one);
  if (beginsWith !== undefined) return any(beginsWith, (text, one) => text.startsWith(one));
  return contains !== undefined && any(contains, (text, one) => text.includes(one));
}

function listOf(texts: string | readonly string[]): readonly string[] {
  return typeof texts === 'string' ? [texts] : texts;
}

function fold(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

/** @param not empty, or `not ` with a blank. */
function describe(condition: Condition, not: '' | 'not '): string {
  const { column, equals, beginsWith, contains, isBlank, isAlone, why = '' } = condition;
  if (why.trim() !== '') return why.trim();
  if (column === undefined) return 'footer or total of the export';
  const name = typeof column === 'number' ? `column ${column}` : column;
  if (equals !== undefined) return `${name} is ${not}${anyOf(equals)}`;
  const does = not === '' ? 's' : '';
  const verb = not === '' ? '' : 'does not ';
  if (beginsWith !== undefined) return `${name} ${verb}begin${does} with ${anyOf(beginsWith)}`;
  if (contains !== undefined) return `${name} ${verb}contain${does} ${anyOf(contains)}`;
  const only = isAlone === true && isBlank !== true ? 'only ' : '';
  return `${only}${name} is ${(isBlank === true) === (not === '') ? 'blank' : 'filled'}`;
}

const textsShownMax = 3;

function othersText(count: number): string {
  return count === 1 ? '1 other' : `${count} others`;
}

function anyOf(texts: string | readonly string[]): string {
  const all = listOf(texts).map((text) => `"${text}"`);
  const shown = all.slice(0, textsShownMax).join(' or ');
  return all.length > textsShownMax ? `${shown} or ${othersText(all.length - textsShownMax)}` : shown;
}

function columnMissing(mapping: Mapping, missing: readonly string[], columns: readonly string[]): PatchbayError {
  const named = columns.filter((column) => !isIgnoredHeader(column));
  const [first = ''] = missing;
  const close = closestName(first, named);
  const message = `mapping "${mapping.name}": skipRows or keepRows names ${listNames(missing)}, which the file lacks; found: ${listNames(named)}`;
  const facts = { mapping: mapping.name, missingCount: missing.length, first };
  const hint = close === null ? 'Correct the file or the mapping.' : `Did you mean "${tidyHeader(close)}"?`;
  return new PatchbayError('file', 'columnMissing', message, { facts, hint });
}

/** Whether a rejected row with these problems is skipped: a rule fits each of them, so that no other problem is passed over. */
export type IgnoresRow = (problems: readonly Problem[]) => boolean;

/** Which rejected rows a mapping leaves alone: they are skipped and counted, and leave no dead letter. Pure. */
export function ignoredRows(mapping: Pick<Mapping, 'ignoreRejected'> | null): IgnoresRow {
  const rules = mapping?.ignoreRejected ?? [];
  if (rules.length === 0) return () => false;
  const names = rules.map(({ code, column }) => ({
    code,
    column: column === undefined ? null : normaliseHeader(column),
  }));
  const fits = ({ code, field }: Problem): boolean =>
    names.some((rule) => rule.code === code && (rule.column === null || rule.column === normaliseHeader(field ?? '')));
  return (problems) => problems.length > 0 && problems.every(fits);
}
