/**
 * The thread of `row-reader.ts`: cells in, desired contacts out, as JSON that is written once and goes into the ledger as it is; with how
 * each stands to what its feed said before, where the ledger can be read here.
 */
import { parentPort } from 'node:worker_threads';
import { type DesiredContact, fingerprint, hasContent } from '#src/contacts/desired.ts';
import { invariant } from '#src/errors.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import { openSaidReads, type SaidReads } from '#src/ledger/sqlite/said-reads.ts';
import type { BoundColumn, Settings } from '#src/mapping/layout.ts';
import { type MappedRow, mapCells } from '#src/mapping/row.ts';
import { givenToThread } from '#src/threads/start-thread.ts';
import { type Standing, type StandingRules, standingOf } from './compare.ts';

/** Plain data: it is copied. */
export interface ThreadMapping {
  readonly bound: readonly BoundColumn[];
  readonly settings: Settings;
  /** Null where the ledger is no file. */
  readonly said: ThreadSaid | null;
}

/** What rows are compared with. */
export interface ThreadSaid {
  /** `StagingLedger.saidFile`. */
  readonly file: string;
  readonly feed: string;
  readonly rules: StandingRules;
}

export interface RowsToMap {
  readonly lines: readonly number[];
  /** Of each row, with a NUL between two cells. */
  readonly cells: readonly string[];
}

export interface MappedRows {
  /** Of each row; empty where `others` has it. */
  readonly keys: readonly string[];
  readonly desired: readonly string[];
  readonly fingerprints: readonly string[];
  /** 1 where the desired contact holds anything but its key. */
  readonly hasContent: Uint8Array;
  /** Rows that are rejected or warned of, by their index. */
  readonly others: readonly (readonly [number, MappedRow])[];
  /** Null where the ledger was not asked. */
  readonly standings: PackedStandings | null;
}

/** Columns, since an object for each row would take longer to copy. */
export interface PackedStandings {
  /** Four for each row: the number of its key, 0 where the feed does not know it; held fields; values taken away; 1 settled, 2 an update. */
  readonly figures: Float64Array;
  /** Of the row that was settled last; empty where the row must be looked at again. */
  readonly fingerprints: readonly string[];
}

/** Between the cells of a row on their way: no cell that can be read holds a control character. */
const cellEnd = '\u0000';

const { bound, settings, said: place } = givenToThread<ThreadMapping>();
const asks = createAsking();

function mapAll({ lines, cells }: RowsToMap): MappedRows {
  const keys: string[] = [];
  const contacts: (DesiredContact | null)[] = [];
  const fingerprints: string[] = [];
  const others: [number, MappedRow][] = [];
  const filled = new Uint8Array(cells.length);
  for (const [index, text] of cells.entries()) {
    const line = lines[index] ?? 0;
    const row = { kind: 'cells', line, record: line, columns: [], cells: text.split(cellEnd) } as const;
    const mapped = mapCells(row, bound, settings);
    const isPlain = mapped.kind === 'desired' && mapped.warnings.length === 0;
    if (!isPlain) others.push([index, mapped]);
    keys.push(isPlain ? mapped.desired.key : '');
    contacts.push(isPlain ? mapped.desired : null);
    fingerprints.push(isPlain ? fingerprint(mapped.desired) : '');
    filled[index] = Number(isPlain && hasContent(mapped.desired));
  }
  const standings = compareAll(contacts, fingerprints);
  const desired = contacts.map((contact) => (contact === null ? '' : JSON.stringify(contact)));
  return { keys, desired, fingerprints, hasContent: filled, others, standings };
}

/** Puts in place what is wanted instead of a contact. */
function compareAll(contacts: (DesiredContact | null)[], prints: readonly string[]): PackedStandings | null {
  const said = asks(contacts.flatMap((contact) => contact?.key ?? []));
  if (said === null || place === null) return null;
  const figures = new Float64Array(contacts.length * 4);
  const fingerprints: string[] = [];
  for (const [index, contact] of contacts.entries()) {
    const before = contact === null ? undefined : said.get(contact.key);
    fingerprints.push(before?.fingerprint ?? '');
    if (contact === null || before === undefined) continue;
    const row = { key: contact.key, fingerprint: prints[index] ?? '', isMissing: false, desired: () => contact };
    const { standing, instead } = standingOf(row, before, place.rules);
    if (instead !== null) contacts[index] = instead;
    figures.set(figuresOf(standing), index * 4);
  }
  return { figures, fingerprints };
}

function figuresOf({ number, heldCount, clears, isSettled, isUpdate }: Standing): readonly number[] {
  return [number, heldCount, clears, Number(isSettled) + 2 * Number(isUpdate)];
}

/** Behind these keys at least half must be known, or the ledger is asked no more: a file of new rows keeps this thread busy, and the ledger idle. */
const keysOnTrial = 1_000;

/** @returns a function: what the feed said of keys; null where it is not asked, or the ledger cannot be read here. */
function createAsking(): (keys: readonly string[]) => ReadonlyMap<string, SaidRecord> | null {
  let [askedCount, knownCount] = [0, 0];
  let reads: SaidReads | null = null;
  let isOver = place === null;
  return (keys) => {
    if (isOver || place === null) return null;
    try {
      reads ??= openSaidReads(place.file);
      const said = reads.saidOf(place.feed, keys);
      askedCount += keys.length;
      knownCount += said.size;
      isOver = askedCount >= keysOnTrial && knownCount * 2 < askedCount;
      return said;
    } catch {
      // The ledger is asked instead, and tells what is wrong.
      isOver = true;
      return null;
    }
  };
}

invariant(parentPort !== null, 'rows are mapped in a worker thread');
const owner = parentPort;
owner.on('message', (rows: RowsToMap) => owner.postMessage(mapAll(rows)));
// It is ready.
owner.postMessage(null);
