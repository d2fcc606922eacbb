/**
 * Records of one kind, typed. A record is its document; where it is found follows from the document by the `place` of its kind.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeskRecord, DeskTables, RecordFilter, RecordKind, Store, Tables } from '#src/ledger/tables.ts';

type Place = Omit<DeskRecord, 'number' | 'document'>;

/** A document with its place in lists. */
export interface Entry<Document> extends Place {
  readonly number: number;
  readonly document: Document;
}

export interface Records<Document> {
  get(id: string): Promise<Document | null>;
  entry(id: string): Promise<Entry<Document> | null>;
  /** Those that are there, by id. */
  many(ids: readonly string[]): Promise<ReadonlyMap<string, Document>>;
  list(filter: RecordFilter): Promise<readonly Entry<Document>[]>;
  count(of: Parameters<DeskTables['countRecords']>[1]): Promise<number>;
  put(...documents: readonly Document[]): Promise<void>;
  /** @returns how many were there. */
  remove(...ids: readonly string[]): Promise<number>;
}

/**
 * @param whole fills in what documents of older versions lack; absent where they lack nothing.
 * @returns the records of that kind in the tables that it is given.
 */
export function recordsOf<Document>(
  kind: RecordKind,
  place: (document: Document) => Place,
  whole: (stored: Document) => Document = (stored) => stored,
): (tables: Pick<Tables, 'desk'>) => Records<Document> {
  return ({ desk }) => {
    const typed = (record: DeskRecord): Entry<Document> => ({
      ...record,
      // Written by this ledger from a document of that type.
      document: whole(record.document as Document),
    });
    const many: Records<Document>['many'] = async (ids) =>
      new Map((await desk.records(kind, ids)).map((record) => [record.id, typed(record).document]));
    return {
      get: async (id) => (await many([id])).get(id) ?? null,
      entry: async (id) => (await desk.records(kind, [id])).map(typed).at(0) ?? null,
      many,
      list: async (filter) => (await desk.listRecords(kind, filter)).map(typed),
      count: async (of) => desk.countRecords(kind, of),
      put: async (...documents) => {
        const records = documents.map((document) => ({ ...place(document), document }));
        if (records.length > 0) await desk.putRecords(kind, records);
      },
      remove: async (...ids) => (ids.length === 0 ? 0 : desk.removeRecords(kind, ids)),
    };
  };
}

/** Records that are written in one transaction: some ten milliseconds. */
export const sliceMax = 500;

/** For lists that are short by their nature: schedules, workers, feeds. */
export const allMax = 100_000;

/** What a slice did, and whether there is none after it. */
export interface Slice {
  readonly count: number;
  readonly isLast: boolean;
}

/**
 * Work through many records in short transactions, between which others have their turn. Ends when a slice says that it was the
 * last: each must leave less to do. @returns what the slices counted, together.
 */
export async function inSlices(slice: () => Promise<Slice>): Promise<number> {
  let total = 0;
  for (;;) {
    const { count, isLast } = await slice();
    total += count;
    if (isLast) return total;
    await nextTurn();
  }
}

/** The same, each slice in a transaction of its own. */
export function inTransactions(
  { transact }: Pick<Store, 'transact'>,
  slice: (tables: Tables) => Promise<Slice>,
): Promise<number> {
  return inSlices(() => transact(slice));
}
