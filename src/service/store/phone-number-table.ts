/** The phone numbers of a workspace as rows. They are made with the store and do not change. */
import type { DatabaseSync } from 'node:sqlite';
import type { PhoneNumber } from '../phone-numbers/phone-number.ts';

export interface PhoneNumberQuery {
  /** Null: the numbers of all users. */
  readonly userId: string | null;
  readonly afterSeq: number;
  readonly limit: number;
}

export interface PhoneNumberRow {
  readonly seq: number;
  readonly phoneNumber: PhoneNumber;
}

export interface PhoneNumberTable {
  readonly insert: (phoneNumber: PhoneNumber) => void;
  readonly find: (id: string) => PhoneNumber | null;
  /** By the number itself, E.164. */
  readonly findByNumber: (number: string) => PhoneNumber | null;
  /** In order of insertion. */
  readonly page: (query: PhoneNumberQuery) => readonly PhoneNumberRow[];
  /** All of them in order of insertion, read as they are taken. */
  readonly each: () => Iterable<PhoneNumber>;
}

export function createPhoneNumberTable(database: DatabaseSync): PhoneNumberTable {
  const insert = database.prepare('INSERT INTO phone_numbers (id, document) VALUES (?, ?)');
  const attach = database.prepare('INSERT INTO phone_number_users (phone_number_seq, user_id) VALUES (?, ?)');
  const find = database.prepare('SELECT document FROM phone_numbers WHERE id = ?');
  const findByNumber = database.prepare(
    "SELECT document FROM phone_numbers WHERE document ->> 'number' = ? ORDER BY seq LIMIT 1",
  );
  const pageOfAll = database.prepare('SELECT seq, document FROM phone_numbers WHERE seq > ? ORDER BY seq LIMIT ?');
  const pageOfUser = database.prepare(`
    SELECT seq, document FROM phone_number_users JOIN phone_numbers ON seq = phone_number_seq
    WHERE user_id = ? AND phone_number_seq > ? ORDER BY phone_number_seq LIMIT ?`);
  return {
    insert: (phoneNumber) => {
      const { lastInsertRowid } = insert.run(phoneNumber.id, JSON.stringify(phoneNumber));
      for (const user of phoneNumber.users) attach.run(lastInsertRowid, user.id);
    },
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? null : readDocument(row.document);
    },
    findByNumber: (number) => {
      const row = findByNumber.get(number);
      return row === undefined ? null : readDocument(row.document);
    },
    page: ({ userId, afterSeq, limit }) => {
      const rows = userId === null ? pageOfAll.all(afterSeq, limit) : pageOfUser.all(userId, afterSeq, limit);
      return rows.map((row) => ({ seq: Number(row.seq), phoneNumber: readDocument(row.document) }));
    },
    each: function* () {
      const rows = database.prepare('SELECT document FROM phone_numbers ORDER BY seq').iterate();
      for (const { document } of rows) yield readDocument(document);
    },
  };
}

/** The column holds what `insert` wrote, and nothing else. */
function readDocument(document: unknown): PhoneNumber {
  return JSON.parse(String(document)) as PhoneNumber;
}
