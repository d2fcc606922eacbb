/**
 * Erases a forgotten person from the files that runs left behind: archived originals, fix-files, notes and reports
 * (`docs/rules.md`, "Forgetting a person").
 *
 * The rows of the person are found as a run finds them, by the mapping of the run that read the file. A table or a list of one record
 * a line is written anew without them; any other file (a workbook, an archive, vCards, one JSON document, UTF-16) is deleted whole, and
 * so is one that cannot be read any more and holds the person's key, addresses or numbers.
 */
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { archiveFolders } from '#src/config/data-folders.ts';
import { emptyIfMissing, PatchbayError } from '#src/errors.ts';
import type { changesColumns } from '#src/journal/changes-file.ts';
import type { ForgottenPeople } from '#src/ledger/forgetting.ts';
import { eachRun } from '#src/ledger/paged-lists.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { isMisshapen, letterIdOf, originalName } from '#src/runs/fix/fix-file.ts';
import { openRunFile, presetsFor } from '#src/runs/open-file.ts';
import { hasMovedCells, possibleKeys } from '#src/runs/possible-keys.ts';
import { type RunFolders, reasonEnding, runIdOf } from '#src/runs/run-files.ts';
import { isOfHost } from '#src/runs/stop-run.ts';
import { type ReadAs, readingOf, rowKeyReader } from '#src/runs/supply.ts';
import { unguardFormulas } from '#src/sources/csv-writer.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import { placeText, type Row, recordOf } from '#src/sources/row.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import { eraseEntries, eraseLines, type PersonMarks, type PlacesOfPerson } from './erase-entries.ts';
import { holdsText, type LineRange, linesWithout } from './file-bytes.ts';
import { cleanUnreadable } from './unreadable-files.ts';

export interface ErasedFile {
  readonly path: string;
  /** How many rows, entries or lines left the file; null where it was deleted. */
  readonly removed: number | null;
}

interface EraseParts {
  readonly ledger: Pick<Ledger, 'runs'>;
  readonly folders: Pick<RunFolders, 'importFolders' | 'reports'>;
  /** The host that this data folder is: files of other hosts are not here. */
  readonly host: string | null;
}

export interface ErasedFiles {
  readonly erased: readonly ErasedFile[];
  /** Which cannot be read, so that it is not known whether they name the person: they stay as they came. */
  readonly unsearched: readonly string[];
}

/** Files in which nothing was found are left as they are. */
export async function eraseFromFiles({ ledger, folders, host }: EraseParts, person: PersonMarks): Promise<ErasedFiles> {
  const erased: ErasedFile[] = [];
  const unsearched: string[] = [];
  const placesByRun = new Map<string, PlacesOfPerson>();
  const note = (path: string, removed: number | null): void => {
    if (removed !== 0) erased.push({ path, removed });
  };
  const placesOf = (runId: string): PlacesOfPerson => placesByRun.get(runId) ?? null;
  // What a stopped run is to write is staged: its file only waits to be archived.
  for await (const run of eachRun(ledger.runs, { states: ['stopped'] })) {
    if (run.claimedPath === '' || !isOfHost(run, host)) continue;
    const { removed, places } = await eraseRows(run.claimedPath, run, person, 'original');
    placesByRun.set(run.id, places);
    note(run.claimedPath, removed);
  }
  for (const importFolder of folders.importFolders) {
    const { done, failed, fix, stopped } = archiveFolders(importFolder);
    const notes = await filesIn(stopped);
    for (const folder of [done, failed, fix]) {
      const files = await filesIn(folder);
      for (const path of files) {
        const named = runIdOf(basename(path));
        if (isNote(path, files)) notes.push(path);
        else if (named !== null) {
          const run = await ledger.runs.get(named.runId);
          const rows = await eraseRows(path, run, person, folder === fix ? 'fixFile' : 'original');
          if (folder !== fix) placesByRun.set(named.runId, rows.places);
          note(path, rows.removed);
          if (rows.isUnsearched === true) unsearched.push(path);
        }
      }
    }
    for (const path of notes)
      note(path, await eraseLines(path, person, placesOf(runIdOf(basename(path))?.runId ?? '')));
  }
  for (const path of await filesIn(folders.reports)) {
    if (path.endsWith('.csv')) note(path, (await eraseRows(path, null, person, 'changes')).removed);
    else {
      const places = placesOf(basename(path).replace(/(?:\.audit|\.earlier)?\.json$/, ''));
      note(path, await eraseEntries(path, person, places));
    }
  }
  return { erased, unsearched };
}

/** Whether `eraseFromFiles` would find rows of the person in originals and fix-files, which it reads as their runs did. Changes nothing. */
export async function hasRowsInFiles({ ledger, folders, host }: EraseParts, person: PersonMarks): Promise<boolean> {
  for await (const run of eachRun(ledger.runs, { states: ['stopped'] }))
    if (run.claimedPath !== '' && isOfHost(run, host) && (await hasRows(run.claimedPath, run, person, 'original')))
      return true;
  for (const importFolder of folders.importFolders) {
    const { done, failed, fix } = archiveFolders(importFolder);
    for (const folder of [done, failed, fix]) {
      const files = await filesIn(folder);
      for (const path of files) {
        const named = isNote(path, files) ? null : runIdOf(basename(path));
        if (named === null) continue;
        const run = await ledger.runs.get(named.runId);
        if (await hasRows(path, run, person, folder === fix ? 'fixFile' : 'original')) return true;
      }
    }
  }
  return false;
}

/** Of a file that cannot be read as rows, its bytes tell. */
async function hasRows(path: string, run: RunRecord | null, person: PersonMarks, of: RowsOf): Promise<boolean> {
  try {
    const rows = { open: () => openRows(path, run, person, of), places: new Set<string>() };
    return (await theirRows(path, rows)).ranges.length > 0;
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    return error.code !== 'fileMissing' && (await holdsText(path, person.texts));
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(emptyIfMissing);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(folder, entry.name));
}

/** Beside an archived file lies a note of the same name. */
function isNote(path: string, files: readonly string[]): boolean {
  return path.endsWith(reasonEnding) || (path.endsWith('.txt') && files.includes(path.replace(/\.txt$/, '')));
}

/** An original is read as its run read it; a file of changes is a table of our own. */
type RowsOf = 'original' | 'fixFile' | 'changes';

interface ErasedRows {
  /** How many; null where the file was deleted. */
  readonly removed: number | null;
  readonly places: PlacesOfPerson;
  /** The file could not be searched for the key. */
  readonly isUnsearched?: boolean;
}

async function eraseRows(path: string, run: RunRecord | null, person: PersonMarks, of: RowsOf): Promise<ErasedRows> {
  const open = () => openRows(path, run, person, of);
  const places = new Set<string>();
  try {
    return { removed: await cutRows(path, { open, places }), places };
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    if (error.code === 'fileMissing') return { removed: 0, places: null };
    // It cannot be read as rows, and may hold the person all the same.
    if (!(await holdsText(path, person.texts))) return { places: null, ...(await eraseUnread(path, run, person, of)) };
    await rm(path, { force: true });
    return { removed: null, places: null };
  }
}

/** Line by line, of a file that cannot be read and holds no long text of the person: their key may be short, or be made of several cells. */
async function eraseUnread(
  path: string,
  run: RunRecord | null,
  { key, texts }: PersonMarks,
  of: RowsOf,
): Promise<Pick<ErasedRows, 'removed' | 'isUnsearched'>> {
  if (of !== 'original') return { removed: 0 };
  const isShort = !texts.includes(key);
  if (run === null) return { removed: 0, isUnsearched: isShort };
  const cleaned = await cleanUnreadable({ ...run, claimedPath: path }, { count: 1, has: (one) => one === key });
  switch (cleaned.kind) {
    case 'cut':
      return { removed: cleaned.lines };
    case 'deleted':
      return { removed: null };
    case 'unknown':
      return { removed: 0, isUnsearched: true };
    default: {
      const isMadeOfCells = run.mapping !== null && typeof run.mapping.key !== 'string';
      return { removed: 0, isUnsearched: !cleaned.byMapping && (isShort || isMadeOfCells) };
    }
  }
}

/**
 * Erases the rows of people who were forgotten before the file came, from the file that a run has read.
 * @returns how many; null where the file was deleted, since it cannot be cut by lines. @throws PatchbayError as the file is read.
 */
export async function eraseForgottenRows(run: RunRecord, people: ForgottenPeople): Promise<number | null> {
  const path = run.claimedPath;
  const open = () => openAsRun(path, run, { hasKey: people.has, isNamedIn: () => false });
  return await cutRows(path, { open, places: new Set() });
}

interface RowsToCut {
  readonly open: () => Promise<OpenedRows>;
  /** Takes the places of the rows. */
  readonly places: Set<string>;
}

/** @returns how many rows left the file; null where it was deleted. */
async function cutRows(path: string, rows: RowsToCut): Promise<number | null> {
  const { ranges, isByLine } = await theirRows(path, rows);
  if (ranges.length === 0) return 0;
  if (isByLine) {
    await writeWholeFile(path, linesWithout(path, ranges));
    if ((await theirRows(path, rows)).ranges.length === 0) return ranges.length;
  }
  await rm(path, { force: true });
  return null;
}

interface TheirRows {
  readonly ranges: readonly LineRange[];
  /** Each record has lines of its own, in bytes that can be cut there. */
  readonly isByLine: boolean;
}

async function theirRows(path: string, rows: RowsToCut): Promise<TheirRows> {
  const { source, isTheirs } = await rows.open();
  try {
    const ranges: LineRange[] = [];
    let open: number | null = null;
    for await (const slice of source.slices()) {
      for (const { row, type } of slice) {
        if (open !== null) ranges.push({ first: open, next: row.line });
        open = isTheirs(row, type === 'broken') ? row.line : null;
        if (open !== null) rows.places.add(placeText({ line: row.line, ...recordOf(row) }));
      }
    }
    if (open !== null) ranges.push({ first: open, next: Number.MAX_SAFE_INTEGER });
    const { format, encoding } = source.head;
    const isText = /\.(?:csv|tsv|txt|ndjson|jsonl)$/i.test(path) && !encoding.startsWith('utf-16');
    return { ranges, isByLine: isText && (format === 'csv' || format === 'ndjson') };
  } finally {
    await source.close();
  }
}

/** Whose rows are looked for. */
interface RowsOfPeople {
  hasKey(key: string): boolean;
  /** Of a row whose key cannot be read. */
  isNamedIn(row: Row): boolean;
  readonly letterIds?: ReadonlySet<string> | undefined;
}

function rowsOf(person: PersonMarks): RowsOfPeople {
  const { key, letterIds } = person;
  return { hasKey: (one) => one === key, isNamedIn: (row) => namesThem(row, person), letterIds };
}

/** Whether a row is theirs. @param isBroken whether it could not be read. */
export type RowJudge = (row: Row, isBroken: boolean) => boolean;

interface OpenedRows {
  readonly source: OpenSource;
  readonly isTheirs: RowJudge;
}

function openRows(path: string, run: RunRecord | null, person: PersonMarks, of: RowsOf): Promise<OpenedRows> {
  if (of === 'changes') return openChanges(path, person);
  return of === 'fixFile' || run === null ? openPlain(path, run, person) : openAsRun(path, run, rowsOf(person));
}

/** As its run read it. */
async function openAsRun(path: string, run: RunRecord, people: RowsOfPeople): Promise<OpenedRows> {
  const file = await openRunFile({ ...run, claimedPath: path });
  const judge = await judgeOf({ ...run, mapping: file.mapping }, people);
  return { source: file.source, isTheirs: run.kind === 'fixFile' ? ofFixFile(judge, people) : judge };
}

/** A fix-file, whose columns are those of its run and some more; or a file whose run is not known any more. */
async function openPlain(path: string, run: RunRecord | null, person: PersonMarks): Promise<OpenedRows> {
  const source = await openSource(path, { name: basename(path), mayBeCut: false });
  const judge = await rowJudge(run, person);
  return { source, isTheirs: run === null ? judge : ofFixFile(judge, person) };
}

/** Of rows that this run has read; where it is not known any more, their texts alone tell. */
export async function rowJudge(run: ReadAs | null, person: PersonMarks): Promise<RowJudge> {
  if (run === null) return (row) => namesThem(row, person);
  const judge = await judgeOf(run, rowsOf(person));
  return (row, isBroken) => {
    try {
      return judge(row, isBroken);
    } catch (error) {
      // A row with another header, which its mapping does not fit.
      if (!(error instanceof PatchbayError)) throw error;
      return namesThem(row, person);
    }
  };
}

function ofFixFile(judge: RowJudge, { letterIds }: Pick<RowsOfPeople, 'letterIds'>): RowJudge {
  return (row, isBroken) =>
    letterIds?.has(letterIdOf(row)) === true || judge(withoutOwnColumns(row), isBroken || isMisshapen(codeOf(row)));
}

async function openChanges(path: string, { key }: PersonMarks): Promise<OpenedRows> {
  const source = await openSource(path, { name: basename(path), mayBeCut: false });
  const isTheirs = (row: Row): boolean =>
    row.kind === 'cells' && unguardFormulas(row.cells[row.columns.indexOf(keyOfChanges)] ?? '') === key;
  return { source, isTheirs };
}

/** The column of a file of changes (`src/journal/changes-file.ts`). */
const keyOfChanges: (typeof changesColumns)[number] = 'key';

/** Whether a row is theirs: by its key, and where it cannot be read, by those that it may have, or by what else names them. */
async function judgeOf(run: ReadAs, people: RowsOfPeople): Promise<RowJudge> {
  const { mapping, context } = readingOf(run, { defaultCountry: null, onBlank: 'keep' });
  const keyOf = rowKeyReader(mapping, context, await presetsFor(run));
  return (row, isBroken) => {
    if (isBroken && hasMovedCells(row)) return possibleKeys(row, keyOf).some(people.hasKey) || people.isNamedIn(row);
    const key = keyOf(row);
    return key === null ? people.isNamedIn(row) : people.hasKey(key);
  };
}

function codeOf(row: Row): string {
  return row.kind === 'cells' ? (row.cells[row.columns.indexOf('_code')] ?? '') : String(row.object._code ?? '');
}

/** The original row of a fix-file: the cells of `_more1`, `_more2`… are beyond its header again. */
function withoutOwnColumns(row: Row): Row {
  if (row.kind === 'object') return row;
  const kept: number[] = [];
  const beyond: string[] = [];
  for (const [index, name] of row.columns.entries()) {
    if (originalName(name) !== null) kept.push(index);
    else if (name.startsWith('_more') && row.cells[index] !== '') beyond.push(row.cells[index] ?? '');
  }
  const cells = kept.map((index) => unguardFormulas(row.cells[index] ?? ''));
  const columns = kept.map((index) => originalName(row.columns[index] ?? '') ?? '');
  // A row with too few cells was filled up with blank ones.
  const isFilledUp = beyond.length === 0 && isMisshapen(codeOf(row));
  const own = isFilledUp ? cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1) : cells;
  return { ...row, columns, cells: own, beyond };
}

function namesThem(row: Row, { key, texts }: PersonMarks): boolean {
  return textsOf(row).some((text) => text === key || texts.includes(text));
}

function textsOf(row: Row): readonly string[] {
  const values = row.kind === 'cells' ? [...row.cells, ...(row.beyond ?? [])] : Object.values(row.object);
  return values.flatMap((value) => (typeof value === 'string' ? [value.trim()] : []));
}
