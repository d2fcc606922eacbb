/** The phone numbers of a workspace as rows. They are made with the store and do not change. */
import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '#src/errors.ts';
import { type KnownKeys, noKeys } from '#src/service/keys.ts';
import type { CustomFieldDefinition, PhoneNumber, WorkspaceUser } from '#src/service/stored-records.ts';
import { customFieldTypes } from '#src/wire/contact.ts';

interface PhoneNumberQuery {
  /** Null: the numbers of all users. */
  readonly userId: string | null;
  readonly afterSeq: number;
  readonly limit: number;
}

interface PhoneNumberRow {
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
      return row === undefined ? null : readPhoneNumber(row.document);
    },
    findByNumber: (number) => {
      const row = findByNumber.get(number);
      return row === undefined ? null : readPhoneNumber(row.document);
    },
    page: ({ userId, afterSeq, limit }) => {
      const rows = userId === null ? pageOfAll.all(afterSeq, limit) : pageOfUser.all(userId, afterSeq, limit);
      return rows.map((row) => ({ seq: Number(row.seq), phoneNumber: readPhoneNumber(row.document) }));
    },
    each: function* () {
      const rows = database.prepare('SELECT document FROM phone_numbers ORDER BY seq').iterate();
      for (const { document } of rows) yield readPhoneNumber(document);
    },
  };
}

/** The column holds what `insert` wrote, and nothing else. */
function readPhoneNumber(document: unknown): PhoneNumber {
  return JSON.parse(String(document)) as PhoneNumber;
}

/** The users of a workspace as rows. No endpoint of their own; numbers, calls and messages refer to them. */
export interface UserTable {
  readonly insert: (user: WorkspaceUser) => void;
  readonly find: (id: string) => WorkspaceUser | null;
  /** All of them, one at a time, in order of insertion. */
  readonly each: () => Iterable<WorkspaceUser>;
}

export function createUserTable(database: DatabaseSync): UserTable {
  const insert = database.prepare('INSERT INTO users (id, document) VALUES (?, ?)');
  const find = database.prepare('SELECT document FROM users WHERE id = ?');
  return {
    insert: (user) => {
      insert.run(user.id, JSON.stringify(user));
    },
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? null : readUser(row.document);
    },
    *each() {
      // A statement of its own, so that two walks do not meet.
      const rows = database.prepare('SELECT document FROM users ORDER BY seq').iterate();
      for (const row of rows) yield readUser(row.document);
    },
  };
}

/** The column holds what `insert` wrote, and nothing else. */
function readUser(document: unknown): WorkspaceUser {
  return JSON.parse(String(document)) as WorkspaceUser;
}

/** The custom-field definitions of a workspace as rows. The interface only reads them (`docs/facts.md`, "Custom fields"). */
export interface CustomFieldTable {
  readonly insert: (definition: CustomFieldDefinition) => void;
  /** In order of insertion. */
  readonly all: () => readonly CustomFieldDefinition[];
}

export function createCustomFieldTable(database: DatabaseSync): CustomFieldTable {
  const insert = database.prepare('INSERT INTO custom_fields (key, name, type) VALUES (?, ?, ?)');
  const all = database.prepare('SELECT key, name, type FROM custom_fields ORDER BY seq');
  return {
    insert: ({ key, name, type }) => {
      insert.run(key, name, type);
    },
    all: () =>
      all.all().map((row) => {
        const type = customFieldTypes.find((one) => one === row.type);
        invariant(type !== undefined, 'the store holds custom fields of the seven types only');
        return { key: String(row.key), name: String(row.name), type };
      }),
  };
}

/** The keys of a workspace as rows: hashes in the order in which they were given, never a raw key. */
export interface ApiKeyTable {
  readonly all: () => KnownKeys;
  /** Forgets all others, in one transaction. */
  readonly replace: (known: KnownKeys) => void;
}

export function createApiKeyTable(database: DatabaseSync): ApiKeyTable {
  const select = database.prepare('SELECT hash, salt, printed FROM api_keys ORDER BY place');
  const insert = database.prepare('INSERT INTO api_keys (place, hash, salt, printed) VALUES (?, ?, ?, ?)');
  return {
    all: () => {
      const rows = select.all();
      const [first] = rows;
      if (first === undefined) return noKeys;
      return {
        salt: bytesOf(first.salt),
        keys: rows.map(({ hash, printed }) => ({ hash: bytesOf(hash), printed: printed === 1 })),
      };
    },
    replace: ({ salt, keys }) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        database.exec('DELETE FROM api_keys');
        for (const [place, { hash, printed }] of keys.entries()) insert.run(place, hash, salt, printed ? 1 : 0);
        database.exec('COMMIT');
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
  };
}

/** The columns hold what `replace` wrote, and nothing else. */
function bytesOf(column: unknown): Uint8Array {
  return column as Uint8Array;
}
