/**
 * A draft of the ledger: everything that is known can be read, and what is written goes into a scratch store that is thrown away.
 * A plan stages a file on it with the code of an import (`docs/plans.md`, "Plans").
 *
 * Runs of the draft have sequences behind all others, by which it tells its own rows. What it would write about keys, letters and
 * everything else is dropped.
 *
 * Invariant: nothing is ever written to the ledger beneath.
 */
import type { DeskTables, KeyTables, LetterTables, RunTables, Store, Tables } from '#src/ledger/tables.ts';

/** What a draft writes into. */
export interface Scratch extends Store {
  /** Runs with greater sequences are its own. */
  readonly afterSequence: number;
}

export function draftStore(beneath: Tables, scratch: Scratch): Store {
  const over = (own: Tables): Tables => ({
    runs: draftRuns(beneath.runs, own.runs, scratch.afterSequence),
    keys: draftKeys(beneath.keys),
    letters: draftLetters(beneath.letters, own.letters, scratch.afterSequence),
    desk: draftDesk(beneath.desk),
  });
  return {
    reads: over(scratch.reads),
    transact: (work, durability) => scratch.transact((own) => work(over(own)), durability),
  };
}

const dropped = async (): Promise<void> => undefined;
const droppedRows = async (): Promise<number> => 0;

function draftRuns(beneath: RunTables, own: RunTables, afterSequence: number): RunTables {
  const of = (sequence: number): RunTables => (sequence > afterSequence ? own : beneath);
  const isOwn = (sequence: number): boolean => sequence > afterSequence;
  return {
    insertRun: own.insertRun,
    findRuns: async (where, limit, oldestFirst) => {
      const both = [await own.findRuns(where, limit, oldestFirst), await beneath.findRuns(where, limit, oldestFirst)];
      return (oldestFirst === true ? both.toReversed() : both).flat().slice(0, limit);
    },
    countRuns: async (where) => (await own.countRuns(where)) + (await beneath.countRuns(where)),
    place: async (id) => (await own.place(id)) ?? beneath.place(id),
    keyPrefixes: beneath.keyPrefixes,
    changeRun: async (sequence, ...change) => {
      if (isOwn(sequence)) await own.changeRun(sequence, ...change);
    },
    headers: (sequence) => of(sequence).headers(sequence),
    insertRows: async (sequence, staged) => {
      if (isOwn(sequence)) await own.insertRows(sequence, staged);
    },
    pendingRows: (sequence, positions) => of(sequence).pendingRows(sequence, positions),
    rowFacts: (sequence, positions) => of(sequence).rowFacts(sequence, positions),
    rowStates: (sequence, span) => of(sequence).rowStates(sequence, span),
    changeRows: async (sequence, changes) => (isOwn(sequence) ? own.changeRows(sequence, changes) : 0),
    batch: (sequence, batch) => of(sequence).batch(sequence, batch),
    // No job works on a draft.
    nextBatches: async () => [],
    changeBatch: async () => false,
    insertEvents: async (sequence, events) => {
      if (isOwn(sequence)) await own.insertEvents(sequence, events);
    },
    events: (sequence, afterOrdinal, limit) => of(sequence).events(sequence, afterOrdinal, limit),
    putBitmap: async (sequence, kind, bits) => {
      if (isOwn(sequence)) await own.putBitmap(sequence, kind, bits);
    },
    bitmaps: async (feed, kind, from, to, limit) => {
      const newest = await own.bitmaps(feed, kind, from, to, limit);
      const older = await beneath.bitmaps(feed, kind, from, to, limit);
      return [...newest, ...older].slice(0, limit);
    },
    deletePart: async (sequence, part, limit) => (isOwn(sequence) ? own.deletePart(sequence, part, limit) : 0),
  };
}

function draftKeys(beneath: KeyTables): KeyTables {
  return { ...beneath, write: dropped, addJournal: dropped, forget: droppedRows };
}

/** Rejected rows are the run's; letters stay as they are. */
function draftLetters(beneath: LetterTables, own: LetterTables, afterSequence: number): LetterTables {
  const of = (sequence: number): LetterTables => (sequence > afterSequence ? own : beneath);
  return {
    ...beneath,
    // A rejected row names its letter.
    write: own.write,
    change: dropped,
    forget: droppedRows,
    putRedrive: dropped,
    addDeadRows: async (sequence, rows) => {
      if (sequence > afterSequence) await own.addDeadRows(sequence, rows);
    },
    deadRows: (sequence, afterOrdinal, limit) => of(sequence).deadRows(sequence, afterOrdinal, limit),
    deadCounts: (sequence) => of(sequence).deadCounts(sequence),
  };
}

function draftDesk(beneath: DeskTables): DeskTables {
  return {
    ...beneath,
    putRecords: dropped,
    removeRecords: droppedRows,
    turnVersions: async () => new Map(),
    removeVersions: droppedRows,
    putTouched: dropped,
  };
}
