/**
 * A row, as read: with its file's physical line and nothing interpreted yet.
 *
 * CSV gives cells under columns; JSON gives an object. Both keep the user's own names.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { JsonValue } from '#src/json/record-value.ts';

export type { JsonValue };

interface RowPlace {
  /** The physical line on which the record begins, counted from 1. */
  readonly line: number;
  /** Which record it is, counted from 1, without header and blank lines. */
  readonly record: number;
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
  | { readonly type: 'row'; readonly row: Row }
  | { readonly type: 'broken'; readonly row: Row; readonly problem: Problem };

/** What is known before the first row. */
export interface SourceHead {
  readonly format: 'csv' | 'json' | 'ndjson';
  /** CSV only: the header as the file holds it, in order. Null for JSON. */
  readonly columns: readonly string[] | null;
  readonly delimiter: string | null;
  /** `utf-8`, `utf-16le`, `utf-16be`, `windows-1252`… */
  readonly encoding: string;
}

/** What is known after the last row. */
export interface SourceTail {
  readonly recordCount: number;
  readonly blankLineCount: number;
  /** Sentences: an assumed encoding with its first line, ignored header cells, an empty file. */
  readonly warnings: readonly Problem[];
}
