/** The calls of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
import type { DatabaseSync } from 'node:sqlite';
import type { StoredCall } from '../calls/stored-call.ts';
import type { Place } from '../paging/place.ts';
import { newestFirstSql } from './newest-first-sql.ts';
import { createOthersOf } from './others-of.ts';

export interface CallQuery {
  /** Null: every call of the workspace. */
  readonly conversation: {
    readonly phoneNumberId: string;
    /** The other party, E.164. */
    readonly participant: string;
    readonly userId: string;
  } | null;
  /** Calls created after this instant, in milliseconds; -1 for all. */
  readonly createdAfterMs: number;
  /** Calls below this place. */
  readonly below: Place;
  readonly limit: number;
}

export interface CallRow {
  readonly place: Place;
  readonly call: StoredCall;
}

export interface CallTable {
  /** Its number must be there: it tells the other party. */
  readonly insert: (call: StoredCall) => void;
  readonly find: (id: string) => StoredCall | null;
  /** The newest first. */
  readonly page: (query: CallQuery) => readonly CallRow[];
  /** All of them, one at a time, in order of insertion. */
  readonly each: () => Iterable<StoredCall>;
}

export function createCallTable(database: DatabaseSync): CallTable {
  const othersOf = createOthersOf(database);
  const insert = database.prepare(
    'INSERT INTO calls (id, phone_number_id, participant, user_id, created_ms, document) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const find = database.prepare('SELECT document FROM calls WHERE id = ?');
  const pageOfAll = database.prepare(newestFirstSql('calls', ''));
  const pageOfConversation = database.prepare(
    newestFirstSql(
      'calls',
      'phone_number_id = :phoneNumberId AND participant = :participant AND user_id = :userId AND',
    ),
  );
  return {
    insert: (call) => {
      const [participant = ''] = othersOf(call.phoneNumberId, call.participants);
      const createdMs = Date.parse(call.createdAt);
      insert.run(call.id, call.phoneNumberId, participant, call.userId, createdMs, JSON.stringify(call));
    },
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? null : readDocument(row.document);
    },
    page: ({ conversation, createdAfterMs, below, limit }) => {
      const bounds = { createdAfterMs, belowMs: below.createdMs, belowSeq: below.seq, limit };
      const rows =
        conversation === null ? pageOfAll.all(bounds) : pageOfConversation.all({ ...conversation, ...bounds });
      return rows.map((row) => ({
        place: { createdMs: Number(row.created_ms), seq: Number(row.seq) },
        call: readDocument(row.document),
      }));
    },
    *each() {
      // A statement of its own, so that two walks do not meet.
      const rows = database.prepare('SELECT document FROM calls ORDER BY seq').iterate();
      for (const row of rows) yield readDocument(row.document);
    },
  };
}

/** The column holds what `insert` wrote, and nothing else. */
function readDocument(document: unknown): StoredCall {
  return JSON.parse(String(document)) as StoredCall;
}
