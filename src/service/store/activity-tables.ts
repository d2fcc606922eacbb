/** The calls of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Place } from '#src/service/paging.ts';
import {
  callAsShown,
  type KeptCall,
  type KeptMessage,
  messageAsShown,
  type StoredCall,
  type StoredMessage,
  type StoredRecording,
} from '#src/service/stored-records.ts';

interface CallQuery {
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

interface CallRow {
  readonly place: Place;
  readonly call: StoredCall;
}

export interface CallTable {
  /** Its number must be there: it tells the other party. */
  readonly insert: (call: KeptCall) => void;
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
      return row === undefined ? null : readCall(row.document);
    },
    page: ({ conversation, createdAfterMs, below, limit }) => {
      const bounds = { createdAfterMs, belowMs: below.createdMs, belowSeq: below.seq, limit };
      const rows =
        conversation === null ? pageOfAll.all(bounds) : pageOfConversation.all({ ...conversation, ...bounds });
      return rows.map((row) => ({
        place: { createdMs: Number(row.created_ms), seq: Number(row.seq) },
        call: readCall(row.document),
      }));
    },
    *each() {
      // A statement of its own, so that two walks do not meet.
      const rows = database.prepare('SELECT document FROM calls ORDER BY seq').iterate();
      for (const row of rows) yield readCall(row.document);
    },
  };
}

/** The column holds what `insert` wrote, be it of an earlier version, and nothing else. */
function readCall(document: unknown): StoredCall {
  return callAsShown(JSON.parse(String(document)) as KeptCall);
}

/** The messages of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
interface MessageQuery {
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

interface MessageRow {
  readonly place: Place;
  readonly message: StoredMessage;
}

export interface MessageTable {
  /** Its number must be there: it tells the other parties. */
  readonly insert: (message: KeptMessage) => void;
  /** As listings show it: with its conversation. Its number must be there. */
  readonly shown: (message: KeptMessage) => StoredMessage;
  readonly find: (id: string) => StoredMessage | null;
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
  const find = database.prepare(`SELECT ${columns.messages} FROM messages WHERE id = ?`);
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
  const participantsOf = ({ phoneNumberId, from, to }: KeptMessage) =>
    conversationKey(othersOf(phoneNumberId, [from, ...to]));
  return {
    insert: (message) => {
      const participants = participantsOf(message);
      const createdMs = Date.parse(message.createdAt);
      const { id, phoneNumberId, userId } = message;
      insert.run(id, phoneNumberId, participants, userId, createdMs, JSON.stringify(message));
    },
    shown: (message) => messageAsShown(message, conversationIdOf(message.phoneNumberId, participantsOf(message))),
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? null : readMessage(row);
    },
    page: (query) =>
      pageRows(query).map((row) => ({
        place: { createdMs: Number(row.created_ms), seq: Number(row.seq) },
        message: readMessage(row),
      })),
    *each() {
      // A statement of its own, so that two walks do not meet.
      const rows = database.prepare('SELECT document, participants FROM messages ORDER BY seq').iterate();
      for (const row of rows) yield readMessage(row);
    },
  };
}

/** The same people give the same text, in whatever order they are named. */
function conversationKey(participants: readonly string[]): string {
  return [...new Set(participants)].sort().join(' ');
}

/**
 * The id of a conversation. Section 2.4, how it is made: not shown. It follows from the number and the others, so that
 * the messages of earlier versions have theirs, too. `participants`: the text of `conversationKey`.
 */
function conversationIdOf(phoneNumberId: string, participants: string): string {
  return `CN${hash('sha256', `${phoneNumberId} ${participants}`, 'hex').slice(0, 24)}`;
}

/** The document is what `insert` wrote, be it of an earlier version, and nothing else. */
function readMessage({ document, participants }: Readonly<Record<string, unknown>>): StoredMessage {
  const kept = JSON.parse(String(document)) as KeptMessage;
  return messageAsShown(kept, conversationIdOf(kept.phoneNumberId, String(participants)));
}

/** The call recordings of a workspace as rows. Works inside or outside a transaction; commits are the caller's. */
export interface RecordingTable {
  readonly insert: (recording: StoredRecording) => void;
  /** The oldest first; those without a start come last, in order of insertion. */
  readonly ofCall: (callId: string) => readonly StoredRecording[];
  /** All of them, one at a time, in order of insertion. */
  readonly each: () => Iterable<StoredRecording>;
}

export function createRecordingTable(database: DatabaseSync): RecordingTable {
  const insert = database.prepare('INSERT INTO recordings (id, call_id, document) VALUES (?, ?, ?)');
  const ofCall = database.prepare('SELECT document FROM recordings WHERE call_id = ? ORDER BY seq');
  return {
    insert: (recording) => {
      insert.run(recording.id, recording.callId, JSON.stringify(recording));
    },
    ofCall: (callId) =>
      ofCall
        .all(callId)
        .map((row) => readRecording(row.document))
        .sort((one, other) => startMs(one) - startMs(other)),
    *each() {
      // A statement of its own, so that two walks do not meet.
      const rows = database.prepare('SELECT document FROM recordings ORDER BY seq').iterate();
      for (const row of rows) yield readRecording(row.document);
    },
  };
}

function startMs({ startTime }: StoredRecording): number {
  return startTime === null ? Number.MAX_SAFE_INTEGER : Date.parse(startTime);
}

/** The column holds what `insert` wrote, and nothing else. */
function readRecording(document: unknown): StoredRecording {
  return JSON.parse(String(document)) as StoredRecording;
}

// The SQL of a page of calls or messages, the newest first. Both bounds are on the index: a page costs the same wherever
// it begins.

const columns = { calls: 'document', messages: 'document, participants' } as const;

/** `conversation`: conditions on the columns before `created_ms` in the index, ended by AND; empty for all. */
function newestFirstSql(table: 'calls' | 'messages', conversation: string): string {
  return `
SELECT seq, created_ms, ${columns[table]} FROM ${table}
WHERE ${conversation} created_ms > :createdAfterMs AND (created_ms, seq) < (:belowMs, :belowSeq)
ORDER BY created_ms DESC, seq DESC LIMIT :limit`;
}

// Who takes part in a conversation: all but the workspace's own number (`docs/facts.md`, "Calls, recordings, messages").

/** Answers the others of some numbers, each once, in their order. */
type OthersOf = (phoneNumberId: string, numbers: readonly string[]) => readonly string[];

function createOthersOf(database: DatabaseSync): OthersOf {
  const ownNumber = database.prepare("SELECT document ->> 'number' AS number FROM phone_numbers WHERE id = ?");
  return (phoneNumberId, numbers) => {
    const own = ownNumber.get(phoneNumberId)?.number;
    return [...new Set(numbers)].filter((number) => number !== own);
  };
}
