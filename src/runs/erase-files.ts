/**
 * Erases a forgotten person from the files that runs left behind: archived originals, fix-files, notes and reports
 * (`docs/rules.md`, "Forgetting a person").
 *
 * The rows of the person are found as a run finds them, by the mapping of the run that read the file. A table or a list of one record
 * a line is written anew without them; any other file (a workbook, an archive, vCards, one JSON document, UTF-16) is deleted whole, and
 * so is one that cannot be read any more and holds the person's key, addresses or numbers.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { archiveFolders } from '#src/config/data-folders.ts';
import { emptyIfMissing, PatchbayError } from '#src/errors.ts';
import type { IsForgotten } from '#src/ledger/forgetting.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import type { Row } from '#src/sources/row.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import { holdsText, type LineRange, linesWithout } from './file-bytes.ts';
import { originalName } from './fix-file.ts';
import { openRunFile, presetsFor } from './open-file.ts';
import { type RunFolders, runIdOf } from './run-files.ts';
import { readingOf, rowMapper } from './supply.ts';

/** By what a person is recognised in files. */
export interface PersonMarks {
  readonly key: string;
  /** Addresses, numbers and ids of the contact; the key where it is long enough to be no other word. */
  readonly texts: readonly string[];
}

export interface ErasedFile {
  readonly path: string;
  /** How many rows, entries or lines left the file; null where it was deleted. */
  readonly removed: number | null;
}

interface EraseParts {
  readonly ledger: Pick<Ledger, 'runs'>;
  readonly folders: Pick<RunFolders, 'importFolders' | 'reports'>;
}

/** Files in which nothing was found are left as they are. */
export async function eraseFromFiles(
  { ledger, folders }: EraseParts,
  person: PersonMarks,
): Promise<readonly ErasedFile[]> {
  const erased: ErasedFile[] = [];
  const linesByRun = new Map<string, Set<number>>();
  const note = (path: string, removed: number | null): void => {
    if (removed !== 0) erased.push({ path, removed });
  };
  for (const importFolder of folders.importFolders) {
    const { done, failed, fix, stopped } = archiveFolders(importFolder);
    for (const folder of [done, failed, fix]) {
      for (const path of await filesIn(folder)) {
        const named = runIdOf(basename(path));
        if (/\.txt$/.test(path) && (await isNote(path, folder))) note(path, await eraseLines(path, person));
        else if (named !== null) {
          const run = await ledger.runs.get(named.runId);
          const lines = linesByRun.get(named.runId) ?? new Set<number>();
          linesByRun.set(named.runId, lines);
          note(path, await eraseRows(path, run, person, { isFixFile: folder === fix, lines }));
        }
      }
    }
    for (const path of await filesIn(stopped)) note(path, await eraseLines(path, person));
  }
  for (const path of await filesIn(folders.reports)) {
    if (path.endsWith('.csv')) note(path, await eraseRows(path, null, person, { isFixFile: false, lines: new Set() }));
    else {
      const lines = linesByRun.get(basename(path).replace(/(?:\.audit)?\.json$/, '')) ?? new Set<number>();
      note(path, await eraseEntries(path, person, lines));
    }
  }
  return erased;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(emptyIfMissing);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(folder, entry.name));
}

/** Beside an archived file lies a note of the same name. */
async function isNote(path: string, folder: string): Promise<boolean> {
  const file = path.replace(/(?:\.reason)?\.txt$/, '');
  return file !== path && (await filesIn(folder)).includes(file);
}

interface RowsWhere {
  readonly isFixFile: boolean;
  /** Takes the lines of the person's rows. */
  readonly lines: Set<number>;
}

async function eraseRows(
  path: string,
  run: RunRecord | null,
  person: PersonMarks,
  { isFixFile, lines }: RowsWhere,
): Promise<number | null> {
  const open = () =>
    isFixFile || run === null ? openPlain(path, run, person) : openAsRun(path, run, (key) => key === person.key);
  const rows = { open, namesThem: (row: Row) => namesThem(row, person), lines };
  try {
    return await cutRows(path, rows);
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    // It cannot be read as rows, and may hold the person all the same.
    if (!(await holdsText(path, person.texts))) return 0;
    await rm(path, { force: true });
    return null;
  }
}

/**
 * Erases the rows of people who were forgotten before the file came, from the file that a run has read.
 * @returns how many; null where the file was deleted, since it cannot be cut by lines. @throws PatchbayError as the file is read.
 */
export async function eraseForgottenRows(run: RunRecord, isForgotten: IsForgotten): Promise<number | null> {
  const path = run.claimedPath;
  const open = () => openAsRun(path, run, (key) => key !== null && isForgotten(key));
  const isNamed = (row: Row) => textsOf(row).some((text) => isForgotten(text.normalize('NFC')));
  return await cutRows(path, { open, namesThem: isNamed, lines: new Set() });
}

interface RowsToCut {
  readonly open: () => Promise<OpenedRows>;
  /** Whether a row that cannot be mapped is theirs. */
  readonly namesThem: (row: Row) => boolean;
  readonly lines: Set<number>;
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
        open = type === 'broken' ? (rows.namesThem(row) ? row.line : null) : isTheirs(row) ? row.line : null;
        if (open !== null) rows.lines.add(open);
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

interface OpenedRows {
  readonly source: OpenSource;
  readonly isTheirs: (row: Row) => boolean;
}

/** As its run read it. */
async function openAsRun(
  path: string,
  run: RunRecord,
  isTheirKey: (key: string | null) => boolean,
): Promise<OpenedRows> {
  const file = await openRunFile({ ...run, claimedPath: path });
  const keyOf = await keyReader({ ...run, mapping: file.mapping });
  return { source: file.source, isTheirs: (row) => isTheirKey(keyOf(row)) };
}

/** A fix-file, whose columns are those of its run and some more; or a table of our own, with the key in a column. */
async function openPlain(path: string, run: RunRecord | null, person: PersonMarks): Promise<OpenedRows> {
  const source = await openSource(path, { name: basename(path), mayBeCut: false });
  const keyOf = run === null ? null : await keyReader(run);
  return {
    source,
    isTheirs: (row) => namesThem(row, person) || (keyOf !== null && keyOf(withoutOwnColumns(row)) === person.key),
  };
}

async function keyReader(run: RunRecord): Promise<(row: Row) => string | null> {
  const { mapping, context } = readingOf(run, { defaultCountry: null, onBlank: 'keep' });
  const mapRow = rowMapper(mapping, context, await presetsFor(run));
  return (row) => {
    const mapped = mapRow(row);
    return mapped.kind === 'dead' ? mapped.key : mapped.desired.key;
  };
}

function withoutOwnColumns(row: Row): Row {
  if (row.kind === 'object') return row;
  const kept = row.columns.flatMap((name, index) => (originalName(name) === null ? [] : [index]));
  return {
    ...row,
    columns: kept.map((index) => originalName(row.columns[index] ?? '') ?? ''),
    cells: kept.map((index) => row.cells[index] ?? ''),
  };
}

function namesThem(row: Row, { key, texts }: PersonMarks): boolean {
  return textsOf(row).some((text) => text === key || texts.includes(text));
}

function textsOf(row: Row): readonly string[] {
  const values = row.kind === 'cells' ? [...row.cells, ...(row.beyond ?? [])] : Object.values(row.object);
  return values.flatMap((value) => (typeof value === 'string' ? [value.trim()] : []));
}

/** Lines of a note that hold one of the person's texts. @returns how many. */
async function eraseLines(path: string, { texts }: PersonMarks): Promise<number> {
  const text = await readFile(path, 'utf8');
  const lines = text.split('\n');
  const kept = lines.filter((line) => !texts.some((one) => line.includes(one)));
  if (kept.length < lines.length) await writeWholeFile(path, kept.join('\n'));
  return lines.length - kept.length;
}

/** Entries of the lists of a report. @param lines of the person's rows in the run's file. @returns how many. */
async function eraseEntries(path: string, person: PersonMarks, lines: ReadonlySet<number>): Promise<number | null> {
  let report: unknown;
  const text = await readFile(path, 'utf8');
  try {
    report = JSON.parse(text);
  } catch {
    // Cut off or damaged: it has no entries that could be taken out.
    if (!person.texts.some((one) => text.includes(one))) return 0;
    await rm(path, { force: true });
    return null;
  }
  let removed = 0;
  const isTheirs = (entry: unknown): boolean => {
    if (typeof entry === 'string') return entry === person.key;
    if (typeof entry !== 'object' || entry === null) return false;
    if ('key' in entry && entry.key === person.key) return true;
    // A problem names the line of its row, and no key.
    if (!('key' in entry) && 'line' in entry && lines.has(Number(entry.line))) return true;
    const inside = JSON.stringify(entry);
    return person.texts.some((one) => inside.includes(JSON.stringify(one).slice(1, -1)));
  };
  const cleaned = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      const kept = value.filter((entry) => !isTheirs(entry));
      removed += value.length - kept.length;
      return kept.map(cleaned);
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cleaned(member)]));
  };
  const rest = cleaned(report);
  if (removed > 0) await writeWholeFile(path, `${JSON.stringify(rest, null, 1)}\n`);
  return removed;
}
