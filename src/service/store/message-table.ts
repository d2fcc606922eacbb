/** The messages of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
import type { DatabaseSync } from 'node:sqlite';
import type { StoredMessage } from '../messages/stored-message.ts';
import type { Place } from '../paging/place.ts';
import { newestFirstSql } from './newest-first-sql.ts';
import { createOthersOf } from './others-of.ts';

export interface MessageQuery {
  /** Null: every message of the workspace. */
  readonly conversation: {
    readonly phoneNumberId: string;
    /** All the others of the conversation, E.164; their order does not matter. */
    readonly participants: readonly string[];
    /** Null: of any user. */
    readonly userId: string | null;
  } | null;
  /** Messages created after this instant, in milliseconds; -1 for all. */
  readonly createdAfterMs: number;
  /** Messages below this place. */
  readonly below: Place;
  readonly limit: number;
}

export interface MessageRow {
  readonly place: Place;
  readonly message: StoredMessage;
}

export interface MessageTable {
  /** Its number must be there: it tells the other parties. */
  readonly insert: (message: StoredMessage) => void;
  /** The newest first. */
  readonly page: (query: MessageQuery) => readonly MessageRow[];
  /** All of them, one at a time, in order of insertion. */
  readonly each: () => Iterable<StoredMessage>;
}

const ofConversation = 'phone_number_id = :phoneNumberId AND participants = :participants AND';

export function createMessageTable(database: DatabaseSync): MessageTable {
  const othersOf = createOthersOf(database);
  const insert = database.prepare(
    'INSERT INTO messages (id, phone_number_id, participants, user_id, created_ms, document) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const pageOfAll = database.prepare(newestFirstSql('messages', ''));
  const pageOfConversation = database.prepare(newestFirstSql('messages', ofConversation));
  const pageOfUser = database.prepare(newestFirstSql('messages', `${ofConversation} user_id = :userId AND`));

  const pageRows = ({ conversation, createdAfterMs, below, limit }: MessageQuery) => {
    const bounds = { createdAfterMs, belowMs: below.createdMs, belowSeq: below.seq, limit };
    if (conversation === null) return pageOfAll.all(bounds);
    const { phoneNumberId, userId } = conversation;
    const participants = conversationKey(conversation.participants);
    if (userId === null) return pageOfConversation.all({ phoneNumberId, participants, ...bounds });
    return pageOfUser.all({ phoneNumberId, participants, userId, ...bounds });
  };
  return {
    insert: (message) => {
      const participants = conversationKey(othersOf(message.phoneNumberId, [message.from, ...message.to]));
      const createdMs = Date.parse(message.createdAt);
      const { id, phoneNumberId, userId } = message;
      insert.run(id, phoneNumberId, participants, userId, createdMs, JSON.stringify(message));
    },
    page: (query) =>
      pageRows(query).map((row) => ({
        place: { createdMs: Number(row.created_ms), seq: Number(row.seq) },
        message: readDocument(row.document),
      })),
    *each() {
      // A statement of its own, so that two walks do not meet.
      const rows = database.prepare('SELECT document FROM messages ORDER BY seq').iterate();
      for (const row of rows) yield readDocument(row.document);
    },
  };
}

/** The same people give the same text, in whatever order they are named. */
function conversationKey(participants: readonly string[]): string {
  return [...new Set(participants)].sort().join(' ');
}

/** The column holds what `insert` wrote, and nothing else. */
function readDocument(document: unknown): StoredMessage {
  return JSON.parse(String(document)) as StoredMessage;
}
