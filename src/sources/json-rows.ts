/**
 * One JSON value to an item, and the errors and notes that both JSON forms share.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { PatchbayError } from '#src/errors.ts';
import { shownValue } from '#src/sources/cell-text.ts';
import { fileError } from '#src/sources/file-error.ts';
import type { BuiltValue, ValueOptions } from '#src/sources/json-value.ts';
import type { JsonValue, ObjectRow, SourceItem } from '#src/sources/row.ts';
import type { SourceLimits, Tally } from './format-reader.ts';

export interface JsonOptions {
  /** The user's name of the file. */
  readonly name: string;
  /** Member names (any case, spaces, `_`, `-`) that mark an object as a contact of its own. */
  readonly requiredColumn: readonly string[];
  readonly limits: SourceLimits;
}

/** A value's limits and notes. `outerDepth` is how many containers are open around each value. */
export function valueOptions(options: JsonOptions, tally: Tally, outerDepth: () => number): ValueOptions {
  const { name, limits } = options;
  return {
    cellBytesMax: limits.cellBytesMax,
    onDepth: (depth, line) => {
      if (outerDepth() + depth > limits.jsonDepthMax) throw tooDeep(name, line, limits.jsonDepthMax);
    },
    onDuplicate: (field, line) => tally.warn(duplicateMember(field, line)),
  };
}

/** The item of a complete value: a row, or broken where it is no object or holds what cannot be kept. */
export function itemOf(built: BuiltValue, tally: Tally): SourceItem {
  const { value, line } = built;
  const record = tally.nextRecord(line);
  if (value === null || typeof value !== 'object' || isList(value)) {
    const text = shownValue(JSON.stringify(value) ?? 'null');
    return { type: 'broken', row: textRow(text, line, record), problem: notAnObject(text, line) };
  }
  const row: ObjectRow = { kind: 'object', line, record, object: value };
  return built.problem === null ? { type: 'row', row } : { type: 'broken', row, problem: built.problem };
}

/** A row for text that is no object: the text under the member `_text`. */
export function textRow(text: string, line: number, record: number): ObjectRow {
  const object: { [name: string]: JsonValue } = Object.create(null);
  object._text = text;
  return { kind: 'object', line, record, object };
}

export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function recordTooLong(options: JsonOptions, line: number): PatchbayError {
  const { name, limits } = options;
  const message = `${name}, line ${line}: the record is longer than ${limits.recordBytesMax} bytes`;
  const facts = { file: name, line, recordBytesMax: limits.recordBytesMax };
  return fileError('recordTooLong', message, facts, 'Check that the file is a list with one object per contact.');
}

/** The note of a file without a record. */
export function emptyNote(name: string, isEmpty: boolean): Problem {
  const message = isEmpty ? `${name} is empty` : `${name} holds no records`;
  const hint = 'Check the export if rows were expected.';
  return { code: isEmpty ? 'emptyFile' : 'noRows', line: 1, field: null, value: null, message, hint };
}

function tooDeep(name: string, line: number, jsonDepthMax: number): PatchbayError {
  const message = `${name}, line ${line}: lists and objects inside each other more than ${jsonDepthMax} deep`;
  const hint = 'Check that the file is a list with one object per contact.';
  return fileError('jsonTooDeep', message, { file: name, line, jsonDepthMax }, hint);
}

function duplicateMember(field: string, line: number): Problem {
  const message = `the member "${shownValue(field)}" stands twice in one object; the last one counts`;
  const hint = 'Remove one of them in the system that makes the export.';
  return { code: 'duplicateMember', line, field: shownValue(field), value: null, message, hint };
}

function notAnObject(text: string, line: number): Problem {
  const message = 'the record is not an object';
  return { code: 'notAnObject', line, field: null, value: text, message, hint: 'Each record must be a {…} object.' };
}
