/**
 * What a file is compared with before the guards judge it: the earlier files of its feed (`docs/rules.md`, "Guards").
 *
 * - For a named feed, its last accepted file, so that half an export is not mistaken for a decision to drop the other half.
 * - For `main` too, the run that accepted the same content, so that an older file does not turn values back.
 * - Columns with contact data that nothing maps: they stop the first file of a feed that has them. Letting that file pass
 *   decides for the files that follow, so the columns that accepted files left out are remembered.
 * - Mapped columns that a file lacks are remembered in the same way, until a file has them again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Feeds } from '#src/feeds/feeds.ts';
import { eachRun } from '#src/ledger/paged-lists.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { countBits, countShared, emptyBitmap, enterBit, without } from '#src/ledger/rules/bitmap.ts';
import { acceptedStates, mainFeed } from '#src/ledger/rules/feeds.ts';
import {
  appliesAllRows,
  type ColumnFill,
  cameByItself,
  type FileShape,
  type RunRecord,
  rowsOfFile,
} from '#src/ledger/runs.ts';
import { beyondNumbersOf, namesColumn } from '#src/mapping/bind-mapping.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { straysInWords, unreadInWords } from '#src/mapping/contradicted-country.ts';
import { areOfOneKind, compareHeaders, describeHeaderChanges } from '#src/mapping/header-changes.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { operands, shellWord } from '#src/shell-words.ts';
import { hashStart } from '#src/sources/check-out.ts';
import { normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { listNames, type Row } from '#src/sources/row.ts';
import { blankedColumns, type FillCount, fillOf } from './column-fill.ts';
import type { FileBefore, FileHistory, GuardVerdict, OlderFile } from './guards.ts';

/** Whether the run's file belongs to a series of files that each hold all contacts of their feed. */
export function isFullFile(feeds: Feeds, run: RunRecord): boolean {
  return run.feed !== mainFeed && comesInFull(feeds, run);
}

/** Whether what the run's file lacks is gone: a full file, all of whose rows are applied. The other rows of a run in a mode are left out. */
export function isWholeFile(feeds: Feeds, run: RunRecord): boolean {
  return isFullFile(feeds, run) && appliesAllRows(run.options);
}

/** Whether the run's file holds what changed since the file before, and all of that is applied. */
export function isWholeDelta(feeds: Feeds, { feed, kind, options }: RunRecord): boolean {
  return kind === 'file' && feeds.rulesOf(feed).kind === 'delta' && appliesAllRows(options);
}

/** Fix-files, redrives and files of kind `delta` hold a part of their feed and are compared with nothing. */
function comesInFull(feeds: Feeds, { feed, kind }: RunRecord): boolean {
  return kind === 'file' && feeds.rulesOf(feed).kind === 'full';
}

/** Of a run that is staged to its end; null where the guards have nothing to compare it with. */
export async function fileHistory(ledger: Ledger, feeds: Feeds, run: RunRecord): Promise<FileHistory | null> {
  if (!comesInFull(feeds, run)) return null;
  const before = await runBefore(ledger, feeds, run);
  return {
    before: before === null ? null : await compareWithBefore(ledger, before, run),
    older: await olderFile(ledger, run),
    isNamed: run.feed !== mainFeed,
  };
}

/** The newest run that accepted the same content, unless all that the feed accepted since are parts of that content. */
async function olderFile(ledger: Ledger, run: RunRecord): Promise<OlderFile | null> {
  const { feed, sha256, sequence } = run;
  const same = await ledger.runs.lastAccepted(feed, sequence, { sha256 });
  if (same === null || same.newerCount === 0) return null;
  if (same.newerCount <= partsMax && (await areParts(ledger, run, same.run))) return null;
  return { runId: same.run.id, atMs: same.run.createdAtMs, newerCount: same.newerCount };
}

/** As many as a file that grows is read, and one that was read beside it. */
const partsMax = 5;

/** How long an export is written at most. */
const writtenWithinMs = 3_600_000;

/**
 * Whether each file that the feed accepted since the earlier run is the beginning of the run's file, and came shortly before it: an export that
 * was read while it was being written, and is whole now. Later such a file may be the older one of two, whose last people have left since.
 */
async function areParts(ledger: Ledger, run: RunRecord, earlier: RunRecord): Promise<boolean> {
  const { claimedPath, bytes } = run;
  const files = await acceptedFiles(ledger, run, partsMax);
  for (const part of files.filter(({ sequence }) => sequence > earlier.sequence)) {
    if (part.bytes === 0 || part.bytes >= bytes) return false;
    if (run.createdAtMs - part.createdAtMs > writtenWithinMs) return false;
    // One that cannot be read here is judged as any other.
    if ((await hashStart(claimedPath, part.bytes).catch(() => null)) !== part.sha256) return false;
  }
  return true;
}

/** The feed's last file that was accepted with all rows; null where there is none, or nothing to compare. */
async function runBefore(ledger: Ledger, feeds: Feeds, run: RunRecord): Promise<RunRecord | null> {
  if (!isFullFile(feeds, run)) return null;
  return (await ledger.runs.lastAccepted(run.feed, run.sequence, { applies: 'allRows' }))?.run ?? null;
}

/** How full the columns of the run's file are, which has been read to its end. @param leftCount records that were known by their text. */
export async function fillOfFile(
  { ledger, feeds }: { readonly ledger: Ledger; readonly feeds: Feeds },
  run: RunRecord,
  count: FillCount,
  leftCount: number,
): Promise<readonly ColumnFill[]> {
  if (count.filled.size === 0) return [];
  const before = (await runBefore(ledger, feeds, run))?.shape?.filled ?? null;
  // The mapping may have been recognised while the file was read.
  return await fillOf((await ledger.runs.get(run.id)) ?? run, count, leftCount, before);
}

async function compareWithBefore(ledger: Ledger, before: RunRecord, run: RunRecord): Promise<FileBefore> {
  const { keys, shared } = await keysShared(ledger, before, run);
  const mapped = before.shape?.mapped ?? [];
  const isSameMapping = areReadAlike(before, run);
  const columns = run.shape?.columns ?? null;
  const missing = missingColumns(mapped, columns, run.mapping);
  // They are no lacked columns, but may have held values of most rows.
  const beyond = missing.filter(beyondNumbersOf(run.mapping, columns ?? []));
  const filled = [...(run.shape?.filled ?? []), ...beyond.map((column) => ({ column, share: 0 }))];
  const undoneBy = await undoOf(ledger, before);
  return {
    ...(undoneBy === null ? {} : { undone: { runId: before.id, by: undoneBy } }),
    rows: rowsOfFile(before),
    keys,
    sharedKeys: shared,
    mappedColumns: mapped.length,
    // After an empty file that a person has let pass the next one may be empty, too.
    missingColumns:
      isSameMapping && !(isWithoutHeader(before.shape?.columns) && isWithoutHeader(columns))
        ? missing.filter((column) => !beyond.includes(column))
        : [],
    ...(await blankedSince(ledger, { before, run, filled })),
  };
}

/** A file without rows says nothing of the values in its columns: what is known of the one before it stands. */
async function blankedSince(
  ledger: Ledger,
  { before, run, filled }: { before: RunRecord; run: RunRecord; filled: readonly ColumnFill[] },
): Promise<Pick<FileBefore, 'blankedColumns' | 'filledRows'>> {
  const from = rowsOfFile(before) > 0 ? before : await lastWithRows(ledger, before);
  if (from === null || !areReadAlike(from, run)) return { blankedColumns: [], filledRows: 0 };
  const blanked = blankedColumns(from.shape?.filled ?? [], filled);
  // A column that the header without rows was let lack is not compared when it returns.
  const lacked = new Set((before.shape?.lacked ?? []).map(normaliseHeader));
  const isKnown = (column: string): boolean => !lacked.has(normaliseHeader(column));
  return { blankedColumns: blanked.filter(isKnown), filledRows: rowsOfFile(from) };
}

type KeysLedger = Pick<Ledger, 'missing'> & {
  readonly runs: Pick<Ledger['runs'], 'keysOfRun' | 'sharedKeys'>;
};

/**
 * What a run settled has the keys of people whom its file lacks, where it changed their contacts. They are no keys of the file.
 * @param before the newest file of the feed that was accepted with all rows: whom it lacks are those who are missing now.
 */
async function keysShared(
  { runs, missing }: KeysLedger,
  before: RunRecord,
  run: Pick<RunRecord, 'id'>,
): Promise<{ readonly keys: number; readonly shared: number }> {
  if (rowsOfFile(before) === before.counts.rows) return await runs.sharedKeys(before.id, run.id);
  const all = await runs.keysOfRun(before.id);
  const keys = without(all, await missingIn(missing, before.feed, all.length * 8));
  return { keys: countBits(keys), shared: countShared(keys, await runs.keysOfRun(run.id)) };
}

const peoplePerPage = 1_000;

async function missingIn({ list }: KeysLedger['missing'], feed: string, numberMax: number): Promise<Uint8Array> {
  const bits = emptyBitmap(numberMax);
  let after: string | null = null;
  // Ends with the first short page.
  for (;;) {
    const page: Awaited<ReturnType<typeof list>> = await list(feed, after, peoplePerPage);
    for (const { number } of page) enterBit(bits, number);
    after = page.at(-1)?.key ?? null;
    if (after === null || page.length < peoplePerPage) return bits;
    await nextTurn();
  }
}

/** Of the newest undos of a feed, how many are looked at. */
const undosMax = 50;

/** The undo that took a file back, in whole or in part; null where there is none, or it was undone itself. */
async function undoOf(ledger: Ledger, { id, feed }: RunRecord): Promise<string | null> {
  const undos = await ledger.runs.list({ feed, kind: 'undo', states: acceptedStates, limit: undosMax });
  const undo = undos.find(({ options }) => options.undoes === id);
  return undo === undefined || undos.some(({ options }) => options.undoes === undo.id) ? null : undo.id;
}

/** The last accepted file with rows before the run's, of those that were accepted with all rows; null where there is none. */
async function lastWithRows(ledger: Ledger, run: RunRecord): Promise<RunRecord | null> {
  const files = await acceptedFiles(ledger, run);
  return files.find((file) => rowsOfFile(file) > 0 && appliesAllRows(file.options)) ?? null;
}

/** Another mapping reads other columns. */
function areReadAlike(one: Pick<RunRecord, 'mapping'>, other: Pick<RunRecord, 'mapping'>): boolean {
  return one.mapping?.name === other.mapping?.name;
}

/** Those of the named columns that the file lacks. One that the mapping no longer names is not missing; JSON has no columns. */
function missingColumns(
  named: readonly string[],
  columns: readonly string[] | null,
  mapping: Mapping | null,
): readonly string[] {
  if (columns === null) return [];
  const there = new Set(columns.map(normaliseHeader));
  return named.filter((column) => !there.has(normaliseHeader(column)) && namesColumn(mapping, column));
}

/** What the file before has left of the mapping's columns: those that it had, and those that it was let lack. */
export type ColumnsBefore = Required<Pick<FileShape, 'mapped' | 'lacked'>>;

/**
 * Columns of the mapping that a full file may lack: those that the file before had, which a guard judges, so that a person can let the file
 * pass; and those that it lacked, since a person has let it pass. None of any other file.
 */
export async function columnsBefore(ledger: Ledger, feeds: Feeds, run: RunRecord): Promise<ColumnsBefore> {
  const before = await runBefore(ledger, feeds, run);
  const shape = before !== null && areReadAlike(before, run) ? before.shape : null;
  return { mapped: shape?.mapped ?? [], lacked: shape?.lacked ?? [] };
}

/** What is to be remembered of a file that lacks columns. One without a header says nothing of them: what was known before it stands. */
export function columnsLacked(
  { mapped, lacked }: ColumnsBefore,
  columns: readonly string[] | null,
  mapping: Mapping | null,
): Pick<FileShape, 'mapped' | 'lacked'> {
  if (isWithoutHeader(columns)) return { mapped, ...(lacked.length === 0 ? {} : { lacked }) };
  const now = missingColumns([...mapped, ...lacked], columns, mapping);
  return now.length === 0 ? {} : { lacked: now };
}

/** Whether a table has no header, as an empty file. @param columns null for JSON. */
export function isWithoutHeader(columns: readonly string[] | null | undefined): boolean {
  return columns?.every((column) => column.trim() === '') ?? false;
}

/**
 * Columns of the mapping that rows of dead letters may lack: those that a person has let the files lack whose rows they are. What rows were
 * tried again with is remembered of that run, too.
 * @param metBy ids of the runs that met the letters last.
 */
export async function columnsLetLack(
  { runs }: Pick<Ledger, 'runs'>,
  run: RunRecord,
  metBy: Iterable<string>,
): Promise<readonly string[]> {
  const lacked = new Set<string>();
  for (const id of new Set(metBy)) {
    for (const column of await letLack({ runs }, await runs.get(id), run)) lacked.add(column);
  }
  return [...lacked];
}

/**
 * The same for a fix-file, whose letters are not known before its rows are: those of all files of the feed that have open letters, and of the
 * last ones, where a letter is closed. A row may lack none that its own letter has (`lostColumns`).
 */
export async function columnsOfFixFile(ledger: Ledger, run: RunRecord): Promise<readonly string[]> {
  const open = (await ledger.deadLetters.openByRun({})).filter(({ feed }) => feed === run.feed);
  const ofOpen = await columnsLetLack(
    ledger,
    run,
    open.map(({ runId }) => runId),
  );
  return [...new Set([...ofOpen, ...(await lackedByFiles(ledger, run))])];
}

/** What the last files of the feed were let lack. */
async function lackedByFiles(ledger: Pick<Ledger, 'runs'>, run: RunRecord): Promise<readonly string[]> {
  const files = await acceptedFiles(ledger, run);
  return files.flatMap((file) => (areReadAlike(file, run) ? (file.shape?.lacked ?? []) : []));
}

/**
 * Of a file that was not let pass: what the file before it was let lack, since no guard asks for that again. Older versions did not write what
 * the rows of fix-files and retries may lack: it is what the files were let lack.
 */
async function letLack(
  ledger: Pick<Ledger, 'runs'>,
  met: RunRecord | null,
  run: RunRecord,
): Promise<readonly string[]> {
  if (met === null || !areReadAlike(met, run)) return [];
  if (met.kind !== 'file') return met.shape?.lacked ?? (await lackedByFiles(ledger, run));
  const lacked = met.shape?.lacked ?? [];
  const wasLetPass = !met.options.verify && letPassStates.some((one) => one === met.state);
  if (wasLetPass || lacked.length === 0) return lacked;
  const [before] = await acceptedFiles(ledger, met, 1);
  const known = new Set(before !== undefined && areReadAlike(before, run) ? before.shape?.lacked : []);
  return lacked.filter((column) => known.has(column));
}

/**
 * Those of the columns that a row of a fix-file has lost: it lacks them, and its letter has them. A row without a letter may lack none. JSON has no
 * columns.
 * @param stored the letter's row; null where there is none.
 */
export function lostColumns(notNeeded: readonly string[], row: Row, stored: Row | null): readonly string[] {
  if (row.kind !== 'cells' || stored?.kind === 'object') return [];
  const there = new Set(row.columns.map(normaliseHeader));
  const ofLetter = stored === null ? null : new Set(stored.columns.map(normaliseHeader));
  return notNeeded.filter((column) => {
    const name = normaliseHeader(column);
    return !there.has(name) && (ofLetter === null || ofLetter.has(name));
  });
}

/**
 * What changed in the header since the last accepted file of the feed, as a note; null for no change, for JSON, and for rows of
 * a file that was judged before. `main` may hold files of several kinds: only one of the same kind is compared.
 */
export async function headerNote(
  ledger: Ledger,
  { feed, kind, sequence }: RunRecord,
  columns: readonly string[] | null,
): Promise<string | null> {
  if (kind !== 'file' || columns === null) return null;
  const last = await ledger.runs.lastAccepted(feed, sequence, { applies: 'allRows' });
  const before = last?.run.shape?.columns ?? null;
  if (before === null || (feed === mainFeed && !areOfOneKind(before, columns))) return null;
  return describeHeaderChanges(compareHeaders(before, columns));
}

const letPassStates = ['applying', ...acceptedStates] as const;

/** How many accepted files are looked through; a column that returns after more than that counts as new. */
const filesMax = 100;

async function acceptedFiles(
  { runs }: Pick<Ledger, 'runs'>,
  { feed, sequence: before }: RunRecord,
  max = filesMax,
): Promise<readonly RunRecord[]> {
  const files: RunRecord[] = [];
  // Retries and fix-files between them may be many.
  for await (const one of eachRun(runs, { feed, states: letPassStates })) {
    if (one.kind === 'file' && one.sequence < before && !one.options.verify) files.push(one);
    if (files.length === max) break;
  }
  return files;
}

/** Those that no accepted file of the feed has left out. None for rows of a file that was judged before. */
export async function newlyLeftOut(
  ledger: Ledger,
  run: RunRecord,
  leftOut: readonly ContactColumn[],
): Promise<readonly ContactColumn[]> {
  if (run.kind !== 'file' || leftOut.length === 0) return [];
  const files = await acceptedFiles(ledger, run);
  // Older versions did not look for such columns: all that their files had was accepted with them.
  const accepted = files.flatMap(({ shape }) => shape?.leftOut ?? shape?.columns ?? []);
  const known = new Set(accepted.map(normaliseHeader));
  return leftOut.filter(({ column }) => !known.has(normaliseHeader(column)));
}

/** No limit applies: the columns are needed, or they are not. */
export function leftOutVerdict(columns: readonly ContactColumn[], run: RunRecord): readonly GuardVerdict[] {
  if (columns.length === 0 || run.options.accept) return [];
  const names = columns.map(({ column }) => column);
  const count = columns.length;
  const countries = columns.flatMap(({ kind, column }) => (kind === 'country' ? [column] : []));
  const contacts = columns.filter(({ kind }) => kind !== 'country');
  const ofStrays = columns.flatMap(({ column, strays }) =>
    strays === undefined
      ? []
      : [unreadInWords(strays.unread), straysInWords(column, strays)].flatMap((words) =>
          words === null ? [] : [`About that mapping: ${words}.`],
        ),
  );
  const advices = [
    ...(contacts.length === 0 ? [] : [adviceFor(contacts, run)]),
    ...(countries.length === 0 ? [] : [countryAdvice(countries, run), ...ofStrays]),
  ];
  return [{ guard: 'unmapped', count, base: count, limit: 0, names, countries, advice: advices.join(' ') }];
}

function adviceFor(columns: readonly ContactColumn[], run: RunRecord): string {
  const { mapping } = run;
  const ignore = `ignore: [${columns.map(({ column }) => JSON.stringify(tidyHeader(column))).join(', ')}]`;
  if (mapping !== null) {
    const lines = columns.map(({ line }) => line).join(' and ');
    return `Add the columns you need to mapping "${mapping.name}", for example ${lines}; ignore the others with ${ignore}.`;
  }
  const them = columns.length === 1 ? 'it' : 'them';
  return `To import ${them}, rename ${renamedIn(columns)} in the file, or map ${them} ${whereToMap(run)}. To leave ${them} out, put ${ignore} into that mapping.`;
}

function whereToMap(run: RunRecord): string {
  if (!cameByItself(run)) return 'with --mapping';
  return run.feed === mainFeed ? 'in a mapping that the config file names (mapping.file)' : 'in a mapping of the feed';
}

/** The generic layout has no column for the country of a number: a mapping has. */
function countryAdvice(columns: readonly string[], run: RunRecord): string {
  const { feed, fileName, options, claimedPath, host } = run;
  const flags = [
    ...(feed === mainFeed ? [] : [`--feed ${shellWord(feed)} `]),
    ...(options.defaultCountry === null ? [] : [`--default-country ${options.defaultCountry} `]),
  ].join('');
  const mapped = (file: string): string =>
    `To read each number in its own country, let patchbay map ${flags}--save ${operands(file)} make a mapping that reads ${listNames(columns)}`;
  if (cameByItself(run)) {
    const named = feed === mainFeed ? ', and name it in the config file (mapping.file)' : '';
    // Other hosts show this, too.
    const where = host === null ? '' : ` Its file is on host ${host}.`;
    return `${mapped(claimedPath)}${named}.${where}`;
  }
  return `${mapped(fileName)}, and import the file again${feed === mainFeed ? ' with that (--mapping)' : ''}.`;
}

/** Several columns of one field are alternatives: the generic layout takes one of them. */
function renamedIn(columns: readonly ContactColumn[]): string {
  const isList = ({ kind }: ContactColumn): boolean => kind === 'phone' || kind === 'email';
  const groups = Map.groupBy(columns, (one) => (isList(one) ? one : one.generic));
  const renamed = [...groups.values()].map((group) => {
    const names = group.map(({ column }) => listNames([column])).join(' or ');
    return `${names} to "${group[0]?.generic}"`;
  });
  return renamed.join(' and ');
}
