/**
 * Which layout a file has, by its headers and cells (`docs/exports.md`): the generic one, that of a known export, or none that is
 * known; and which line of a table is its header. Pure.
 *
 *   generic layout? ──no──▶ presets: one fits ─▶ it is used
 *                                     several ─▶ ambiguous: nothing is guessed
 *                                     none ────▶ unknown
 *
 * Names are compared trimmed, without a byte order mark and without regard to case, and otherwise as they are: `Last Name` and
 * `LastName` tell two exports of one system apart.
 */

import { normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import type { HeaderRule } from '#src/sources/format-reader.ts';
import type { Row } from '#src/sources/row.ts';
import { memberFinder, nameOfStep } from './json-path.ts';
import { isContactShape } from './json-rows.ts';
import { genericKeyColumns } from './layout.ts';
import type { Mapping, Signature } from './mapping-schema.ts';
import { referencesIn } from './value-schema.ts';

/** What is known of a file when its layout is decided. */
export interface FileHead {
  /** Of a table; null for JSON. */
  readonly columns: readonly string[] | null;
  readonly format: string;
  /** JSON: the member of the document that holds the records; null where there is none. */
  readonly wrapper?: string | null;
  /** Some of its first rows and, where `needsEnd` says so, its last ones; rows that cannot be read among them. */
  readonly sample: readonly Row[];
}

export type Recognition =
  | { readonly kind: 'generic' }
  | { readonly kind: 'preset'; readonly mapping: Mapping }
  | { readonly kind: 'ambiguous'; readonly mappings: readonly Mapping[] }
  | { readonly kind: 'unknown' };

/** @param presets mappings with `recognise`; others are never recognised. */
export function recognise(head: FileHead, presets: readonly Mapping[]): Recognition {
  if (isGeneric(head)) return { kind: 'generic' };
  const fitting = presets.filter(({ recognise: ways = [] }) => ways.some((way) => fits(way, head)));
  const [mapping, ...others] = fitting;
  if (mapping === undefined) return { kind: 'unknown' };
  return others.length === 0 ? { kind: 'preset', mapping } : { kind: 'ambiguous', mappings: fitting };
}

/** `HubSpot contacts (preset hubspot)` */
export function presetWords({ name, title }: Mapping): string {
  return title === undefined ? `preset ${name}` : `${title} (preset ${name})`;
}

/** Whether the last rows of a table are needed to decide: some preset is known by a footer alone. */
export function needsEnd({ columns }: Pick<FileHead, 'columns'>, presets: readonly Mapping[]): boolean {
  if (columns === null) return false;
  const names = foldedSet(columns);
  return presets.some(({ recognise: ways = [] }) =>
    ways.some((way) => way.footer !== undefined && fitsNames(way, names)),
  );
}

/**
 * The header of a table whose layout is to be recognised: a line with the key of the generic layout, or with all signature
 * headers of a preset.
 */
export function isKnownHeader(presets: readonly Mapping[]): HeaderRule['isHeader'] {
  const ways = presets.flatMap(({ recognise: own = [] }) => own);
  return (cells) => {
    if (holdsGenericKey(cells)) return true;
    const names = foldedSet(cells);
    return ways.some((way) => fitsNames(way, names) || fitsTopMembers(way, cells));
  };
}

/** By a name: whether a column of the generic layout, or of a preset, holds the key or a part of it. */
export function isKnownKey(presets: readonly Mapping[]): (name: string) => boolean {
  const names = new Set([null, ...presets].flatMap(ownKeyColumns));
  return (name) => names.has(normaliseHeader(name));
}

/** Of a key that is made of several columns, those that are nothing else: no names and addresses. */
function ownKeyColumns(mapping: Mapping | null): readonly string[] {
  const names = keyColumns(mapping).map(normaliseHeader);
  if (mapping === null || names.length === 1) return names;
  const { fields, emails, phones } = mapping;
  const content = [...Object.values(fields), ...emails, ...phones].flatMap((value) =>
    value === undefined ? [] : referencesIn(value),
  );
  const used = new Set(content.map(({ reference }) => normaliseHeader(String(reference))));
  return names.filter((name) => !used.has(name));
}

/** Whether the file is in the generic layout, whatever the presets are. */
export function isGeneric({ columns, sample }: Pick<FileHead, 'columns' | 'sample'>): boolean {
  if (columns !== null) return holdsGenericKey(columns);
  return sample.some(
    (row) => row.kind === 'object' && (isContactShape(row.object) || holdsGenericKey(Object.keys(row.object))),
  );
}

const genericKeys = new Set(genericKeyColumns.map(normaliseHeader));

function holdsGenericKey(names: readonly string[]): boolean {
  return names.some((name) => genericKeys.has(normaliseHeader(name)));
}

function fits(way: Signature, { columns, format, wrapper = null, sample }: FileHead): boolean {
  if (way.format !== undefined) return way.format === format;
  if (columns === null) {
    if (way.members === undefined || (way.wrapper !== undefined && fold(way.wrapper) !== fold(wrapper ?? '')))
      return false;
    return fitsMembers(way, sample) && fitsCells(way, sample);
  }
  return fitsNames(way, foldedSet(columns)) && fitsCells(way, sample) && fitsFooter(way, sample);
}

function fitsNames({ headers, without = [] }: Signature, names: ReadonlySet<string>): boolean {
  if (headers === undefined) return false;
  return headers.every((name) => names.has(fold(name))) && !without.some((name) => names.has(fold(name)));
}

/** Of a lone object, the names alone are known: the first steps of the paths. */
function fitsTopMembers({ members, wrapper }: Signature, names: readonly string[]): boolean {
  if (members === undefined || wrapper !== undefined) return false;
  const there = new Set(names);
  return members.every((path) => there.has(path) || there.has(path.split(/[.[]/, 1)[0] ?? ''));
}

/** Each member is in some record: a system may leave out what is empty. */
function fitsMembers({ members = [], without = [] }: Signature, sample: readonly Row[]): boolean {
  return members.every((path) => isThere(path, sample)) && !without.some((path) => isThere(path, sample));
}

function isThere(path: string, sample: readonly Row[]): boolean {
  const find = memberFinder(path);
  return sample.some((row) => row.kind === 'object' && find(row.object).raw !== undefined);
}

/** Each filled cell of the named columns is as described, and at least one is filled. */
function fitsCells({ cells = [] }: Signature, sample: readonly Row[]): boolean {
  return cells.every(({ column, beginsWith, equals, lengths }) => {
    const filled = sample.flatMap((row) => textIn(row, column) ?? []);
    return (
      filled.length > 0 &&
      filled.every(
        (text) =>
          (beginsWith === undefined || fold(text).startsWith(fold(beginsWith))) &&
          (equals === undefined || fold(text) === fold(equals)) &&
          (lengths === undefined || lengths.includes(text.length)),
      )
    );
  });
}

/** The trimmed cell; null where it is blank, or the row cannot be read. */
function textIn(row: Row, column: string): string | null {
  if (row.kind === 'cells' && row.cells.length !== row.columns.length) return null;
  const value =
    row.kind === 'cells'
      ? row.cells[row.columns.findIndex((name) => fold(name) === fold(column))]
      : memberFinder(column)(row.object).raw;
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  return text === '' ? null : text;
}

function fitsFooter({ footer }: Signature, sample: readonly Row[]): boolean {
  if (footer === undefined) return true;
  const starts = footer.map(fold);
  return sample.some((row) => {
    const first = row.kind === 'cells' ? row.cells.find((cell) => cell.trim() !== '') : undefined;
    return first !== undefined && starts.some((start) => fold(first).startsWith(start));
  });
}

function foldedSet(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(fold));
}

function fold(name: string): string {
  return tidyHeader(name.replace(/^\ufeff/, '')).toLowerCase();
}

// Which line of a table is its header, for a mapping or the generic layout. The columns of the key alone tell: a line above
// the header may well hold a word such as `Company`.

const delimiterHint = 'If its cells are separated by another character, name that with --delimiter.';

/** Null where the key is picked by its position: the header is then the first line that is not blank. */
export function headerRule(mapping: Mapping | null): HeaderRule | null {
  const columns = keyColumns(mapping);
  const [key] = columns;
  if (key === undefined) return null;
  const names = new Set(columns.map(normaliseHeader));
  const keys = new Set(ownKeyColumns(mapping));
  const firstSteps = new Set(columns.map((path) => normaliseHeader(nameOfStep(path.split('.', 1)[0] ?? ''))));
  return {
    isHeader: (cells) => cells.some((cell) => names.has(normaliseHeader(cell))),
    isKey: (name) => keys.has(normaliseHeader(name)),
    isKeyPart: (name) => isPutTogether(mapping) && names.has(normaliseHeader(name)),
    leadsToKey: (name) => firstSteps.has(normaliseHeader(name)),
    wanted: `column ${key}`,
    hint:
      mapping === null
        ? `Add the column ${key}, or describe the columns in a mapping (--mapping, or _mapping.yaml in the folder of a feed).`
        : `The mapping names ${key} as the column of the key: correct the mapping or the file.`,
    delimiterHint,
  };
}

function isPutTogether(mapping: Mapping | null): boolean {
  const key = mapping?.key;
  return typeof key === 'object' && ('join' in key || 'template' in key);
}

/** The names of the columns that make the key; none if they are picked by their positions. */
export function keyColumns(mapping: Mapping | null): readonly string[] {
  if (mapping === null) return genericKeyColumns;
  return referencesIn(mapping.key).flatMap(({ reference }) => (typeof reference === 'number' ? [] : [reference]));
}
