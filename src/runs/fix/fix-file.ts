/**
 * The fix-file: a run's rejected rows with their original columns, in the original's format, and what to do about each. It
 * can be imported again as it is (`docs/rules.md`, "Dead letters").
 *
 * It adds columns of its own. `_more1`, `_more2`… hold the cells beyond the header. A column of the user's with such a name
 * gets one more `_` in front while it is in a fix-file, so that neither is mistaken for the other.
 */
import { statSync } from 'node:fs';
import { join, parse } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { archiveFolders } from '#src/config/data-folders.ts';
import { duplicateKey } from '#src/contacts/outcome.ts';
import type { FileShape, RunOptions, RunRecord } from '#src/ledger/runs.ts';
import type { RunDeadRow, StagingLedger } from '#src/ledger/staging.ts';
import { fileReadingOf } from '#src/mapping/file-reading.ts';
import { unguardFormulas, writeCsvFile } from '#src/sources/csv-writer.ts';
import { safeFileName } from '#src/sources/file-name.ts';
import { textAlone, textMember } from '#src/sources/json-item.ts';
import type { SourceOptions } from '#src/sources/open-source.ts';
import { type CellsRow, type JsonValue, type Row, recordOf } from '#src/sources/row.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import { cellsOfRecord } from './fix-record.ts';

const fixFileColumns = ['_id', '_line', '_code', '_hint'] as const;
/** In a fix-file of JSON, where several records of the original share a line. */
const recordMember = '_record';
const ownNames: ReadonlySet<string> = new Set([...fixFileColumns, recordMember]);

/** A fix-file may hold all that its original held, and its own columns, hints, quotes and apostrophes as well. */
const fixFileReading = {
  header: {
    isHeader: (cells) => cells.some((cell) => ownNames.has(cell.trim().toLowerCase())),
    wanted: `column ${fixFileColumns.join(', ')}`,
    hint: 'Write the fix-file again by retrying the rejected rows.',
  },
  mayBeCut: false,
  limits: { columnsMax: 5_000, recordBytesMax: 8 * 1024 * 1024 },
} satisfies Partial<SourceOptions>;

/**
 * How a fix-file is opened. It is no file of its mapping: it is written as UTF-8, and one that was saved as a workbook has a sheet with another
 * name. @param chosen what the command line says of the file.
 */
export function readingOfFixFile(chosen: RunOptions): Partial<SourceOptions> {
  return { ...fixFileReading, ...fileReadingOf(null, chosen) };
}

const moreName = /^_more[1-9]\d*$/;
/** Headers are compared without regard to case. */
const mistakable = /^_+(?:id|line|record|code|hint|more\d+)$/i;

/** Those of a fix-file's four columns that some of the rows have. */
export function fixFileColumnsOf(rows: readonly Row[]): readonly string[] {
  // Rows of a table share their header.
  const headers = new Set(rows.map((row) => (row.kind === 'cells' ? row.columns : Object.keys(row.object))));
  const names = new Set([...headers].flat().map(ownName));
  return fixFileColumns.filter((column) => names.has(column));
}

/** A column that the fix-file added keeps its meaning where a person or a program has changed its case. */
export function ownName(name: string): string {
  return name.toLowerCase();
}

/** The id of the dead letter in a row of a fix-file; empty if the cell was emptied. */
export function letterIdOf(row: Row): string {
  if (row.kind === 'cells') return (row.cells[row.columns.findIndex((name) => ownName(name) === '_id')] ?? '').trim();
  const id = Object.entries(row.object).find(([name]) => ownName(name) === '_id')?.[1];
  return typeof id === 'string' ? id.trim() : '';
}

/** The name of a user's column in a fix-file. */
function nameInFixFile(name: string): string {
  return mistakable.test(name) ? `_${name}` : name;
}

/** The original name of a column of a fix-file; null for a column that the fix-file added. */
export function originalName(name: string): string | null {
  if (ownNames.has(ownName(name)) || moreName.test(ownName(name))) return null;
  return mistakable.test(name) && name.startsWith('__') ? name.slice(1) : name;
}

/** The original columns of a CSV fix-file; null for JSON. */
export function originalColumns(columns: readonly string[] | null): readonly string[] | null {
  return columns?.flatMap((column) => originalName(unguardFormulas(column)) ?? []) ?? null;
}

/** `_more1` for 0. */
function moreColumn(index: number): string {
  return `_more${index + 1}`;
}

/** The cells beyond the header. */
export function cellsBeyond({ columns, cells, beyond = [] }: CellsRow): readonly string[] {
  return [...cells.slice(columns.length), ...beyond];
}

/** A distinct name for each column of a header: columns may have no name, or the name of another one. */
export function distinctNames(columns: readonly string[]): readonly string[] {
  const met = new Map<string, number>();
  return columns.map((column) => {
    const count = met.get(column) ?? 0;
    met.set(column, count + 1);
    return `${column}\0${count}`;
  });
}

const rowsPerPage = 250;

/** The rows of a workbook are cells under columns, too: any program can open and save their fix-file as CSV. */
function isTable(shape: FileShape | null): boolean {
  return shape === null || shape.format === 'csv' || shape.format === 'xlsx';
}

/** The path of a run's fix-file, if it has one. */
export function fixFilePath(run: RunRecord): string {
  const extension = isTable(run.shape) ? '.csv' : '.ndjson';
  const stem = parse(run.fileName.replace(/\.gz$/i, '')).name;
  return join(archiveFolders(run.importFolder).fix, `${run.id}__${safeFileName(`${stem}${extension}`)}`);
}

/** The same where the file is there: it is deleted once it is old (`data.keepFiles`), and a person may have moved it. @throws the system's errors. */
export function fixFileThere(run: RunRecord): string | null {
  const path = fixFilePath(run);
  return statSync(path, { throwIfNoEntry: false }) === undefined ? null : path;
}

/** Writes the rejected rows of the run; the file appears complete or not at all. Throws the system's errors. */
export async function writeFixFile(staging: StagingLedger, run: RunRecord): Promise<string> {
  const path = fixFilePath(run);
  await writeFixRows(path, run.shape, () => deadRowsOf(staging, run));
  return path;
}

/** A rejected row with all that is wrong with it, and its letter. */
export type FixRow = Pick<RunDeadRow, 'row' | 'line' | 'key' | 'code' | 'problems' | 'letterId'>;

/**
 * `_code` of a row that was rejected beside others of its key, where the fix-file holds none of those, as one of letters does. Where all are
 * there, a person decides by taking rows out of it. This one says nothing yet.
 */
const oneOfSeveral = `${duplicateKey} (one of several)`;

/** Whether the row is one of several of its key, and not chosen. @param code its `_code`; null of a table that has lost the column. */
export function isOneOfSeveral(code: string | null): boolean {
  return code === null || code.trim().toLowerCase() === oneOfSeveral.toLowerCase();
}

/** What to do about it, in the fix-file itself. */
export const howToChoose =
  'This is one of these rows, and the others are not in this file: correct it, or leave _code empty if it is right as it is';

/**
 * Writes rows as a fix-file in the format of their original; it appears complete or not at all.
 * @param rows is called several times: how many cells are beyond the header, and which rows are without others of their key, is known
 *   only after the last row.
 * @throws the system's errors.
 */
export async function writeFixRows(
  path: string,
  shape: FileShape | null,
  rows: () => AsyncIterable<FixRow>,
): Promise<void> {
  const codeOf = codesInFile(await lonelyKeys(rows));
  if (!isTable(shape)) {
    await writeWholeFile(path, jsonLines(rows(), codeOf));
    return;
  }
  const { moreCount, anyObject } = await surveyOf(rows());
  const columns = shape?.columns ?? [];
  // A fix-file of JSON was saved as a table.
  const original = anyObject && !columns.includes(textMember) ? [...columns, textMember] : columns;
  const more = Array.from({ length: moreCount }, (_, index) => moreColumn(index));
  await writeCsvFile(path, {
    columns: [...original.map(nameInFixFile), ...more, ...fixFileColumns],
    delimiter: shape?.delimiter ?? ',',
    rows: csvRows(rows(), original, moreCount, codeOf),
  });
}

async function* deadRowsOf(staging: StagingLedger, run: RunRecord): AsyncGenerator<RunDeadRow> {
  let after = 0;
  // Ends with the first short page: ordinals only grow, and a finished run gets no new ones.
  for (;;) {
    const page = await staging.deadRows(run.id, after, rowsPerPage);
    yield* page;
    if (page.length < rowsPerPage) return;
    after = page.at(-1)?.ordinal ?? after;
    await nextTurn();
  }
}

interface Survey {
  /** The most cells that a row has beyond its header. */
  readonly moreCount: number;
  /** A row is a record of JSON. */
  readonly anyObject: boolean;
}

async function surveyOf(rows: AsyncIterable<FixRow>): Promise<Survey> {
  let [moreCount, anyObject] = [0, false];
  for await (const { row } of rows) {
    if (row?.kind === 'cells') moreCount = Math.max(moreCount, cellsBeyond(row).length);
    anyObject ||= row?.kind === 'object';
  }
  return { moreCount, anyObject };
}

/** The keys of which one row alone is there, though it was rejected beside others. */
async function lonelyKeys(rows: () => AsyncIterable<FixRow>): Promise<ReadonlySet<string>> {
  const [lonely, met] = [new Set<string>(), new Set<string>()];
  for await (const { code, key } of rows()) {
    if (code !== duplicateKey || key === null) continue;
    if (met.has(key)) lonely.delete(key);
    else lonely.add(key);
    met.add(key);
  }
  if (lonely.size === 0) return lonely;
  // The other one may have been rejected for itself.
  for await (const { code, key } of rows()) if (code !== duplicateKey && key !== null) lonely.delete(key);
  return lonely;
}

type CodeInFile = (row: FixRow) => string;

function codesInFile(lonely: ReadonlySet<string>): CodeInFile {
  return ({ code, key }) => (code === duplicateKey && key !== null && lonely.has(key) ? oneOfSeveral : code);
}

/** Each row is a page by itself: they come one by one. */
async function* csvRows(
  rows: AsyncIterable<FixRow>,
  original: readonly string[],
  moreCount: number,
  codeOf: CodeInFile,
): AsyncGenerator<readonly [readonly string[]]> {
  const names = distinctNames(original);
  let columns = placesOf([]);
  let columnsOf: readonly string[] = [];
  for await (const dead of rows) {
    const row = dead.row?.kind === 'cells' ? dead.row : null;
    // Rows of a page share their header.
    if (row !== null && row.columns !== columnsOf) {
      columnsOf = row.columns;
      columns = placesOf(columnsOf);
    }
    const cells =
      dead.row?.kind === 'object'
        ? cellsOfRecord(dead.row, original)
        : names.map((name) => row?.cells[columns.get(name) ?? -1] ?? '');
    const beyond = row === null ? [] : cellsBeyond(row);
    const more = Array.from({ length: moreCount }, (_, index) => beyond[index] ?? '');
    const code = codeOf(dead);
    yield [[...cells, ...more, dead.letterId, dead.line === 0 ? '' : `${dead.line}`, code, hintsOf(dead, code)]];
  }
}

function placesOf(columns: readonly string[]): ReadonlyMap<string, number> {
  return new Map(distinctNames(columns).map((name, index) => [name, index]));
}

async function* jsonLines(rows: AsyncIterable<FixRow>, codeOf: CodeInFile): AsyncGenerator<string> {
  for await (const dead of rows) {
    const object = dead.row === null ? {} : objectOf(dead.row);
    const { record } = recordOf(dead.row);
    const place = { _line: dead.line, ...(record === undefined ? {} : { [recordMember]: record }) };
    const code = codeOf(dead);
    const line = { ...object, _id: dead.letterId, ...place, _code: code, _hint: hintsOf(dead, code) };
    yield `${JSON.stringify(line)}\n`;
  }
}

/** A redrive may contain rows of CSV and of JSON files. */
function objectOf(row: Row): Readonly<Record<string, JsonValue>> {
  const members =
    row.kind === 'object'
      ? Object.entries(row.object)
      : row.columns.map((column, index): [string, JsonValue] => [column, row.cells[index] ?? '']);
  const more = row.kind === 'object' ? [] : cellsBeyond(row).map((cell, index) => [moreColumn(index), cell] as const);
  return Object.fromEntries([...members.map(([name, value]) => [nameInFixFile(name), value] as const), ...more]);
}

/** Codes of malformed rows: in the fix-file they look better than they were. */
const misshapenCodes: ReadonlySet<string> = new Set([
  'cellCount',
  'strayQuote',
  'jsonInvalid',
  'notAnObject',
  'cardNeverEnds',
  'cardNeverBegins',
  'base64Invalid',
]);

export function isMisshapen(code: string): boolean {
  return misshapenCodes.has(code);
}

const howToRepair =
  'In this file: correct the text in _text so that it is one {…} object, or write the members of the contact in its place';
const howToReshape =
  'In this file: move each value under its column and empty _more1, _more2…; if all of them stand right, empty _code';

/** All that is wrong with the row, for the person who corrects it. @param inFile its `_code`. */
function hintsOf(dead: FixRow, inFile: string): string {
  const hints = dead.problems.map(({ code, field, message, hint }) => {
    const advice = code === duplicateKey && inFile === oneOfSeveral ? howToChoose : withoutOptions(hint);
    return `${field === null ? '' : `${field}: `}${message}. ${advice}`;
  });
  return [...new Set(hints), ...(isMisshapen(dead.code) && dead.row !== null ? howToMend(dead.row) : [])].join(' | ');
}

/**
 * A command with options is never in a cell: the guard against formulas puts an apostrophe in front of each that follows a blank. It ends
 * its hint, and is named by its words, with the one option in brackets that a retry needs to read a row anew.
 */
function withoutOptions(hint: string): string {
  return hint
    .replace(/: patchbay dead edit .*--set\b.*$/s, ', use dead edit.')
    .replace(/: patchbay dead retry .*--remap\b.*$/s, ' by dead retry (--remap).');
}

function howToMend(row: Row): readonly string[] {
  if (row.kind === 'cells') return [howToReshape];
  return textAlone(row) === null ? [] : [howToRepair];
}
