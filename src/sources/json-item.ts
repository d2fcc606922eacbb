/**
 * The text of one JSON record to an item: a row, or a broken row with the first thing in it that cannot be kept.
 *
 * Most records are parsed by `JSON.parse` and looked through once. Only where that finds something wrong or unusual is the
 * text walked through again, which knows the line and the path of each value.
 *
 * A text that is no record becomes a row of its own, which a person may repair. Pure.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { JsonError, type Place } from '#src/json/place.ts';
import { isList, type JsonValue, recordValue } from '#src/json/record-value.ts';
import { createMeasure } from '#src/json/value-scanner.ts';
import { type Spot, walkJson } from '#src/json/walk-json.ts';
import { looksMisread, mayHoldMisread, misreadWarning } from './code-page.ts';
import { createTally, defaultSourceLimits, type Tally } from './format-reader.ts';
import { hintOnSyntax } from './json-ways-out.ts';
import { cellProblem, isSoundCell, type ObjectRow, type Row, type SourceItem, shownValue } from './row.ts';

/** Names and strings that hold none of these and are not too long are sound. */
const maybeUnsound = /[\u007f-\u009f]|\\[bfu]/;

export interface ReadValue {
  readonly value: JsonValue;
  /** The first thing in it that cannot be kept, if any. */
  readonly problem: Problem | null;
}

/**
 * Whole numbers beyond 2^53 become text, digit by digit. Warns of members that occur twice.
 * @throws JsonError `syntax`.
 */
export function readValue(
  text: string,
  memberCount: number,
  place: Place,
  cellBytesMax: number,
  tally: Tally,
): ReadValue {
  let isTooLarge = false;
  const { value, hasRepeatedNames } = recordValue(text, memberCount, place, (source, number) => {
    isTooLarge ||= !Number.isFinite(number);
    return isTooLarge ? source : digitsOf(source);
  });
  if (mayHoldMisread(text)) warnOfMisread(value, place.line, tally);
  const mayHold = maybeUnsound.test(text) || text.length * 3 > cellBytesMax;
  const isSuspect = isTooLarge || hasRepeatedNames || (mayHold && !isSound(value, cellBytesMax));
  return { value, problem: isSuspect ? inspect(text, place.line, cellBytesMax, tally) : null };
}

/** The most digits that a number in a program surely keeps. */
const sureDigitsMax = 15;

/**
 * A whole number with all its digits: `1e21` and `1000000000000000000000` are the same number, and so the same key. One that was written with
 * an exponent or decimals, and with more digits than are sure, stays as it is: some may be lost.
 */
function digitsOf(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = numberParts.exec(source) ?? [];
  const bare = `${whole}${fraction}`.replace(/^0+/, '');
  const wholeDigits = bare.length - fraction.length + Number(exponent);
  const digits = bare.replace(/0+$/, '');
  return digits.length > Math.min(sureDigitsMax, wholeDigits) ? source : `${sign}${digits.padEnd(wholeDigits, '0')}`;
}

const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** The item of a complete record. @throws JsonError `syntax`; PatchbayError `file` `tooManyRows`. */
export function itemOf(
  text: string,
  memberCount: number,
  place: Place,
  cellBytesMax: number,
  tally: Tally,
): SourceItem {
  return itemOfValue(readValue(text, memberCount, place, cellBytesMax, tally), place.line, tally);
}

/** Broken where the value is no object, or holds what cannot be kept. @throws PatchbayError `file` `tooManyRows`. */
export function itemOfValue({ value, problem }: ReadValue, line: number, tally: Tally): SourceItem {
  const record = tally.nextRecord(line);
  if (!isObject(value)) {
    const text = JSON.stringify(value);
    return { type: 'broken', row: textRow(text, line, record), problem: notAnObject(shownValue(text), line) };
  }
  const row: ObjectRow = { kind: 'object', line, record, object: value };
  return problem === null ? { type: 'row', row } : { type: 'broken', row, problem };
}

/**
 * A row for text that is no object, or could not be read as a record: the text under the member `_text`. In a fix-file and by `dead edit` a
 * person repairs it (`readTextOf`), or writes the members of the record in its place (`docs/rules.md`, "Dead letters").
 */
export function textRow(text: string, line: number, record: number): ObjectRow {
  const object: { [name: string]: JsonValue } = Object.create(null);
  object[textMember] = text;
  return { kind: 'object', line, record, object };
}

export const textMember = '_text';

/** The text of a row that holds nothing else; null for any other row. */
export function textAlone(row: Row): string | null {
  return row.kind === 'object' && Object.keys(row.object).length === 1 ? textIn(row.object) : null;
}

/** The text beside whatever else is in the object; null where there is none. */
export function textIn(object: { readonly [name: string]: JsonValue }): string | null {
  const text = object[textMember];
  return typeof text === 'string' ? text : null;
}

const { cellBytesMax: textBytesMax, jsonDepthMax } = defaultSourceLimits;
const measure = createMeasure(jsonDepthMax);

/** Reads the text as a line of JSON. @returns the record, broken where it is none; in the place of the row that holds the text. */
export function readTextOf({ line, record }: Row, text: string): SourceItem {
  const place = { line, column: 1 };
  try {
    const { memberCount, isTooDeep } = measure(Buffer.from(text));
    if (isTooDeep)
      throw new JsonError('tooDeep', `more than ${jsonDepthMax} lists and objects inside each other`, place);
    const item = itemOf(text, memberCount, place, textBytesMax, createTally('', 1));
    return { ...item, row: { ...item.row, record } };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { type: 'broken', row: textRow(text, line, record), problem: jsonInvalid(error, text, line) };
  }
}

/** Of the first string in it that was decoded wrongly, if any. */
function warnOfMisread(value: JsonValue, line: number, tally: Tally): void {
  const found = firstMisread(value, '');
  if (found !== null) tally.warnOnce(misreadWarning(found.text, line, found.path));
}

/** The depth of a record is bounded. */
function firstMisread(value: JsonValue, path: string): { readonly text: string; readonly path: string } | null {
  if (typeof value === 'string') return looksMisread(value) ? { text: value, path } : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = firstMisread(inner, isList(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !isList(value);
}

function isSound(value: JsonValue, cellBytesMax: number): boolean {
  if (typeof value === 'string') return isSoundCell(value, cellBytesMax);
  if (typeof value !== 'object' || value === null) return true;
  if (isList(value)) return value.every((inner) => isSound(inner, cellBytesMax));
  return Object.entries(value).every(
    ([name, inner]) => isSoundCell(name, cellBytesMax) && isSound(inner, cellBytesMax),
  );
}

/** Warns of repeated names; returns the first problem in the order of the text. */
function inspect(text: string, startLine: number, cellBytesMax: number, tally: Tally): Problem | null {
  let problem: Problem | null = null;
  let line = startLine;
  let counted = 0;
  /** Each line end is counted once: spots only move forward, and none lies between a CR and its LF. */
  const lineOf = ({ index }: Spot): number => {
    line += text.slice(counted, index).match(/\r\n|\r|\n/g)?.length ?? 0;
    counted = index;
    return line;
  };
  const check = (cell: string, spot: Spot): void => {
    if (problem !== null || isSoundCell(cell, cellBytesMax)) return;
    problem = cellProblem(cell, lineOf(spot), spot.path(), cellBytesMax);
  };
  walkJson(text, {
    onName: (name, spot, isRepeated) => {
      check(name, spot);
      if (isRepeated) tally.warn(duplicateMember(spot.path(), lineOf(spot)));
    },
    onString: check,
    onNumber: (source, spot) => {
      if (!Number.isFinite(Number(source))) problem ??= numberTooLarge(source, spot.path(), lineOf(spot));
    },
  });
  return problem;
}

function numberTooLarge(source: string, field: string, line: number): Problem {
  const message = 'the number is too large to be read';
  const hint = 'Write it as a string if it is an id.';
  return { code: 'numberTooLarge', line, field, value: shownValue(source), message, hint };
}

function duplicateMember(field: string, line: number): Problem {
  const message = `the member "${shownValue(field)}" occurs twice in one object; the last one counts`;
  const hint = 'Remove one of them in the system that makes the export.';
  return { code: 'duplicateMember', line, field: shownValue(field), value: null, message, hint };
}

/** Of a text that is no JSON. */
export function jsonInvalid(error: JsonError, text: string, line: number): Problem {
  const { found, place, message } = error;
  const why = found === null ? message : unexpected(found, place.column);
  const hint = hintOnSyntax(error) ?? 'Each line must hold one complete {…} object.';
  const about = { line, field: null, value: shownValue(text) };
  return { code: 'jsonInvalid', ...about, message: `the line is not valid JSON: ${why}`, hint };
}

export function unexpected(found: string, column: number): string {
  return `unexpected ${JSON.stringify(found)} at column ${column}`;
}

function notAnObject(text: string, line: number): Problem {
  const message = 'the record is not an object';
  return { code: 'notAnObject', line, field: null, value: text, message, hint: 'Each record must be a {…} object.' };
}
