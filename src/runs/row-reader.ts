/**
 * Maps the rows of a file: here while there are few, and on a thread of its own from then on, since that is half of the work on
 * rows that are not known. What the thread gives back is what `readRow` gives, row by row.
 *
 * Invariants: one thread for each run that is staged, ended with it; rows come back in their order. A thread that dies ends
 * the staging with an error that passes, so that the run is staged anew.
 */
import type { Worker } from 'node:worker_threads';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { startThread } from '#src/threads/start-thread.ts';
import { type CompareRules, type ReadRow, readAs, readRow, type StageItem, type Standing } from './compare.ts';
import type { MappedRows, PackedStandings, RowsToMap, ThreadMapping, ThreadSaid } from './mapping-thread.ts';

/** A row with the name of its hash. */
export interface HashedItem {
  readonly item: StageItem;
  readonly hash: string;
}

export interface RowReader {
  /** How many slices may be read before the first of them is staged: a thread works on them meanwhile, or starts. */
  slicesAhead(): number;
  /** @returns what gives the rows once they are mapped: to be asked once, slice by slice in the order in which they were read. */
  read(items: readonly HashedItem[]): MappedSlice;
  /** Ends the thread. What is read from then on is mapped here. */
  close(): Promise<void>;
}

/** Rejects with PatchbayError `transient` `mappingThreadDied`. */
export type MappedSlice = () => Promise<readonly ReadRow[]>;

/** A thread costs a tenth of a second of processor time and 20 MB: a file of fewer rows needs none. */
const rowsBeforeThread = 500;
/** While the thread starts, rows are mapped here: at most these, as a thread that never answers must show. */
const rowsMappedHereMax = 20_000;
const slicesAheadOfThread = 2;
/**
 * While it starts, more is read ahead, for it to map: what is mapped here meanwhile is mapped by code that has just begun to run, and is
 * not needed any more.
 */
const slicesAheadOfStart = 8;

/** Where the thread finds what the feed said. */
interface SaidPlace {
  /** `StagingLedger.saidFile`; null: rows are compared where they are staged. */
  readonly file: string | null;
  readonly feed: string;
}

export function createRowReader(
  rules: CompareRules,
  { file, feed }: SaidPlace,
  rowsHereMax = rowsMappedHereMax,
): RowReader {
  const { cells, policies } = rules.mapping;
  const { mapping: _functions, isIgnored: _function, ...plain } = rules;
  const said: ThreadSaid | null = file === null ? null : { file, feed, rules: { ...plain, policies } };
  let [rowCount, hereCount] = [0, 0];
  let thread: MappingThread | null = null;
  let isClosed = false;
  const threadFor = (items: readonly HashedItem[]): MappingThread | null => {
    rowCount += items.length;
    if (cells === undefined || isClosed || rowCount <= Math.min(rowsBeforeThread, rowsHereMax)) return null;
    thread ??= startMapping({ bound: cells.bound, settings: cells.settings, said });
    return items.some(({ item }) => isOfCells(item)) ? thread : null;
  };
  const mapHere = (items: readonly HashedItem[]): readonly ReadRow[] =>
    items.map(({ item, hash }) => readRow(item, hash, rules));
  return {
    slicesAhead: () => {
      if (thread === null) return 0;
      return thread.isReady() ? slicesAheadOfThread : slicesAheadOfStart;
    },
    read: (items) => {
      const mapper = threadFor(items);
      if (mapper === null) {
        const rows = mapHere(items);
        return async () => rows;
      }
      let mapped: Promise<readonly ReadRow[]> | null = null;
      const send = (): void => {
        mapped = mapThere(items, mapper, rules);
        // It may fail before its turn comes.
        mapped.catch(() => undefined);
      };
      if (hereCount >= rowsHereMax) send();
      else mapper.onceReady(send);
      return async () => {
        if (mapped !== null) return await mapped;
        mapper.withdraw(send);
        hereCount += items.length;
        return mapHere(items);
      };
    },
    close: async () => {
      isClosed = true;
      await thread?.end();
    },
  };
}

async function mapThere(
  items: readonly HashedItem[],
  thread: MappingThread,
  rules: CompareRules,
): Promise<readonly ReadRow[]> {
  const rows = items.flatMap(({ item }) => (isOfCells(item) ? [item.row] : []));
  const mapped = await thread.map({
    lines: rows.map(({ line }) => line),
    cells: rows.map((row) => row.cells.join(cellEnd)),
  });
  const others = new Map(mapped.others);
  let next = 0;
  return items.map(({ item, hash }): ReadRow => {
    if (!isOfCells(item)) return readRow(item, hash, rules);
    const index = next++;
    const other = others.get(index);
    if (other !== undefined) return readAs(item, hash, rules.mapping.cells?.noted(other) ?? other);
    const { row, sequence, letterId } = item;
    return {
      kind: 'mapped',
      row,
      letterId: letterId ?? null,
      rowHash: hash,
      sequence,
      key: mapped.keys[index] ?? '',
      desired: mapped.desired[index] ?? '',
      fingerprint: mapped.fingerprints[index] ?? '',
      hasContent: mapped.hasContent[index] === 1,
      ...(mapped.standings === null ? {} : { standing: standingAt(mapped.standings, index) }),
      warnings: [],
    };
  });
}

function standingAt({ figures, fingerprints }: PackedStandings, index: number): Standing | null {
  const [number = 0, heldCount = 0, clears = 0, flags = 0] = figures.subarray(index * 4, index * 4 + 4);
  if (number === 0) return null;
  const fingerprint = fingerprints[index] || null;
  return { number, fingerprint, heldCount, clears, isSettled: (flags & 1) !== 0, isUpdate: (flags & 2) !== 0 };
}

type CellsItem = Extract<StageItem, { readonly kind: 'row' }> & {
  readonly row: Extract<StageItem['row'], { readonly kind: 'cells' }>;
};

function isOfCells(item: StageItem): item is CellsItem {
  return item.kind === 'row' && item.row.kind === 'cells';
}

/** As `mapping-thread.ts` has it, which is a program and not to be imported. */
const cellEnd = '\u0000';

interface MappingThread {
  /** Whether it has started. */
  isReady(): boolean;
  /** Does it then, or at once. */
  onceReady(work: () => void): void;
  /** Of what was to be done once it is ready. */
  withdraw(work: () => void): void;
  map(rows: RowsToMap): Promise<MappedRows>;
  end(): Promise<void>;
}

interface Waiting {
  readonly resolve: (mapped: MappedRows) => void;
  readonly reject: (error: Error) => void;
}

function startMapping(mapping: ThreadMapping): MappingThread {
  const thread: Worker = startThread(new URL('./mapping-thread.ts', import.meta.url), mapping, {
    name: 'mapping',
    resourceLimits: { maxYoungGenerationSizeMb: 6 },
    // It needs no environment, and the environment may hold the API key.
    env: {},
  });
  /** The thread answers in the order in which it was asked. */
  const waiting: Waiting[] = [];
  const onceReady = new Set<() => void>();
  let isReady = false;
  let death: Error | null = null;
  const die = (why: string): void => {
    const hint = 'Run the same command again: the run goes on where it stopped. If it happens again, free some memory.';
    death ??= new PatchbayError('transient', 'mappingThreadDied', `the thread that maps rows ended: ${why}`, { hint });
    for (const { reject } of waiting.splice(0)) reject(death);
  };
  thread.on('message', (mapped: MappedRows | null) => {
    if (mapped !== null) {
      waiting.shift()?.resolve(mapped);
      return;
    }
    isReady = true;
    for (const work of onceReady) work();
    onceReady.clear();
  });
  thread.on('error', (error) => die(messageOf(error)));
  thread.on('exit', (code) => die(`exit code ${code}`));
  return {
    isReady: () => isReady,
    onceReady: (work) => {
      if (isReady) work();
      else onceReady.add(work);
    },
    withdraw: (work) => void onceReady.delete(work),
    map: (rows) =>
      new Promise((resolve, reject) => {
        if (death !== null) {
          reject(death);
          return;
        }
        waiting.push({ resolve, reject });
        thread.postMessage(rows);
      }),
    end: async () => {
      await thread.terminate();
    },
  };
}

/** A slice of fewer rows costs the ledger as much as one of these. */
const itemsGatheredMin = 100;
const charsGatheredMax = 256 * 1024;
/** So that progress shows, and what is known of a slice stays small: V8 keeps an array of more apart, and gives its memory back late. */
const leftGatheredMax = 11_000;

/**
 * Joins small slices: where most records are known and left out, each piece of the file has a few others. @param leftCount how many
 * records were left out since the last slice went out. Ends with the slices.
 */
export async function* gathered(
  slices: AsyncIterable<readonly StageItem[]>,
  leftCount: () => number,
): AsyncGenerator<readonly StageItem[]> {
  let items: readonly StageItem[] = [];
  let chars = 0;
  for await (const slice of slices) {
    items = items.length === 0 ? slice : [...items, ...slice];
    chars = slice.reduce((sum, item) => sum + charsOf(item), chars);
    if (items.length < itemsGatheredMin && chars < charsGatheredMax && leftCount() < leftGatheredMax) continue;
    yield items;
    [items, chars] = [[], 0];
  }
  if (items.length + leftCount() > 0) yield items;
}

/** What is not known by its text is not gathered. */
function charsOf(item: StageItem): number {
  return item.kind === 'row' && item.text !== undefined ? item.text.length : charsGatheredMax;
}

/** Slices in their order, each with up to `slicesAhead` behind it under way. Ends with the slices. */
export async function* readAhead<Items, Slice>(
  slices: AsyncIterable<Items>,
  read: (items: Items) => Slice,
  slicesAhead: () => number,
): AsyncGenerator<Slice> {
  const underWay: Slice[] = [];
  for await (const items of slices) {
    underWay.push(read(items));
    while (underWay.length > slicesAhead()) yield underWay.shift() as Slice;
  }
  yield* underWay;
}
