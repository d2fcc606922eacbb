/**
 * A row, as read, with its physical line in the file and nothing interpreted yet; and what can be wrong with the text of one
 * cell or JSON string, whatever the format.
 *
 * CSV gives cells under columns; JSON gives an object. Both keep the user's own names.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { JsonValue } from '#src/json/record-value.ts';
import type { HashWords } from './record-hash.ts';

export type { JsonValue };

interface RowPlace {
  /** The physical line on which the record begins, counted from 1. */
  readonly line: number;
  /** Which record it is, counted from 1, without header and blank lines. */
  readonly record: number;
}

/**
 * The number of a row's record, where its line does not tell it from others: JSON without line breaks has all records in line 1.
 * Empty elsewhere.
 */
export function recordOf(row: RowPlace | null): { readonly record?: number } {
  return row !== null && row.record > row.line ? { record: row.record } : {};
}

/** Where a row is. Line 0: in no file, as the row of a person who left, or of a contact that is written back. */
export interface ShownPlace {
  readonly line: number;
  readonly record?: number;
}

/** `17`; `1, record 17` where several records share the line; a dash for a row without a line. */
export function placeText({ line, record }: ShownPlace): string {
  if (line === 0) return '–';
  return record === undefined ? `${line}` : `${line}, record ${record}`;
}

/** `line 17`; nothing for a row without a line. To be joined with what else is said of the row. */
export function lineText(place: ShownPlace): readonly string[] {
  return place.line === 0 ? [] : [`line ${placeText(place)}`];
}

/** `people.csv:17`; the file alone for a row without a line. */
export function fileAndLine(file: string, place: ShownPlace): string {
  return place.line === 0 ? file : `${file}:${placeText(place)}`;
}

/** One CSV record. `columns` is one array shared by all rows of the file; `cells` has the same length, except in a broken row. */
export interface CellsRow extends RowPlace {
  readonly kind: 'cells';
  readonly columns: readonly string[];
  readonly cells: readonly string[];
  /** The cells beyond the header's last name, under empty ones: ignored, and kept for the fix-file. */
  readonly beyond?: readonly string[];
}

/** One JSON object. Its members are own properties of an object without a prototype. */
export interface ObjectRow extends RowPlace {
  readonly kind: 'object';
  readonly object: { readonly [name: string]: JsonValue };
}

export type Row = CellsRow | ObjectRow;

/** A row, or a row that cannot even be read (ragged, control characters, a cell above its limit) with the reason. */
export type SourceItem =
  | {
      readonly type: 'row';
      readonly row: Row;
      /** Of CSV: the text of the record, where it tells all that the row is. */
      readonly text?: string;
      /** Of the text, under the seed of the look that asked for it (`format-reader.ts`). */
      readonly hash?: HashWords;
    }
  | { readonly type: 'broken'; readonly row: Row; readonly problem: Problem };

/** What is known before the first row. */
export interface SourceHead {
  readonly format: 'csv' | 'xlsx' | 'json' | 'ndjson' | 'vcf';
  /** CSV only: the header as the file holds it, in order. Null for JSON. */
  readonly columns: readonly string[] | null;
  readonly delimiter: string | null;
  /** JSON only: the member of the root object that holds the records, as `results`. */
  readonly wrapper?: string | null;
  /** `utf-8`, `utf-16le`, `utf-16be`, `windows-1252`… */
  readonly encoding: string;
}

/** A column of a table that has no name, and a value in some row. */
export interface NamelessColumn {
  /** From 1. */
  readonly position: number;
  /** The first line with a value. */
  readonly line: number;
  readonly value: string;
}

/** What is known after the last row. */
export interface SourceTail {
  readonly recordCount: number;
  readonly blankLineCount: number;
  /** Sentences: an assumed encoding with its first line, lines that are left out, an empty file. */
  readonly warnings: readonly Problem[];
  /** Of a table, in the order in which they were met: whether they are ignored is for the mapping to say. */
  readonly nameless?: readonly NamelessColumn[];
}

/** Control characters but tab, line feed and carriage return. C1 too: they are the mark of a wrong encoding. */
const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const valueCharsMax = 200;

export function holdsControlCharacter(text: string): boolean {
  return controlCharacter.test(text);
}

/** Whether `text` is longer than `bytesMax` in UTF-8; measures only what could be. */
export function isLongerThan(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return true;
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax;
}

/** A cell as a report shows it: well-formed, at most 200 characters. */
export function shownValue(text: string): string {
  return text.slice(0, valueCharsMax).toWellFormed();
}

/** Whether `cellProblem` finds nothing. */
export function isSoundCell(text: string, bytesMax: number): boolean {
  return !isLongerThan(text, bytesMax) && !controlCharacter.test(text) && text.isWellFormed();
}

/** The problem of one cell, or null. Codes: `cellTooLong`, `controlCharacter`, `loneSurrogate`. */
export function cellProblem(text: string, line: number, field: string, bytesMax: number): Problem | null {
  const about = { line, field, value: shownValue(text) };
  if (isLongerThan(text, bytesMax)) {
    const message = `the value is longer than ${bytesMax} bytes`;
    return { ...about, code: 'cellTooLong', message, hint: 'Shorten it, or leave the column out of the export.' };
  }
  const control = controlCharacter.exec(text)?.[0];
  if (control !== undefined) {
    const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const message = `the value holds the control character U+${code}`;
    const hint = 'Remove it; where many rows have one, the file was probably saved in another encoding.';
    return { ...about, code: 'controlCharacter', message, hint };
  }
  if (!text.isWellFormed()) {
    const message = 'the value holds half a character (a lone surrogate)';
    return { ...about, code: 'loneSurrogate', message, hint: 'Type the value anew in the system it comes from.' };
  }
  return null;
}

const listedCharactersMax = 600;
const listedNameCharactersMax = 120;

/**
 * Column or member names as part of a sentence: quoted, separated by commas; what is beyond 600 characters is counted.
 * @param called what people call each of them, in brackets behind it; null where that is the same.
 */
export function listNames(names: readonly string[], called: readonly (string | null)[] = []): string {
  if (names.length === 0) return 'none';
  const shown: string[] = [];
  let length = 0;
  for (const [index, name] of names.entries()) {
    const other = called[index] ?? null;
    const quoted = `"${shownName(name)}"${other === null ? '' : ` (${shownName(other)})`}`;
    length += quoted.length + 2;
    if (length > listedCharactersMax && shown.length > 0)
      return `${shown.join(', ')} and ${names.length - shown.length} more`;
    shown.push(quoted);
  }
  return shown.join(', ');
}

/** On one line, without spaces around it. */
function shownName(name: string): string {
  const tidy = name
    .normalize('NFC')
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return tidy.length <= listedNameCharactersMax ? tidy : `${tidy.slice(0, listedNameCharactersMax).toWellFormed()}…`;
}
