/**
 * The memory of a workspace: one SQLite file, or none for `:memory:`.
 *
 * Invariant: what a reply tells was committed before, and on a file it is on the disk (WAL, synchronous FULL). A store
 * is made and filled in one transaction: there is none without its seed.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type ApiKeyTable, createApiKeyTable } from './api-key-table.ts';
import { type CallTable, createCallTable } from './call-table.ts';
import { createContactDocuments } from './contact-document.ts';
import { type ContactTable, createContactTable } from './contact-table.ts';
import { type CustomFieldTable, createCustomFieldTable } from './custom-field-table.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { createMessageTable, type MessageTable } from './message-table.ts';
import { createPhoneNumberTable, type PhoneNumberTable } from './phone-number-table.ts';
import { createRecordingTable, type RecordingTable } from './recording-table.ts';
import { migrations, schemaVersion } from './schema.ts';
import { createUserTable, type UserTable } from './user-table.ts';

export interface StoreTables {
  readonly contacts: ContactTable;
  readonly customFields: CustomFieldTable;
  readonly phoneNumbers: PhoneNumberTable;
  readonly users: UserTable;
  readonly calls: CallTable;
  readonly recordings: RecordingTable;
  readonly messages: MessageTable;
}

export interface Store extends StoreTables {
  /** The user to whom the API key belongs: the creator of a contact whose body names none. */
  readonly ownerUserId: string;
  readonly apiKeys: ApiKeyTable;
  readonly write: GroupCommit['write'];
  /** Commits what waits and closes the file. */
  readonly close: () => void;
}

/** Fills a new store inside the transaction that makes it, and answers the owner's user id. */
export type Seed = (tables: StoreTables) => string;

const busyTimeoutMs = 5_000;

/** Throws `usage` errors: `storeUnreadable`, `storeNewer`, and whatever the seed throws. */
export function openStore(path: string, seed: Seed): Store {
  const database = openDatabase(path);
  try {
    if (versionOf(database) < schemaVersion) bringUpToDate(database, path, seed);
    return storeOf(database);
  } catch (error) {
    database.close();
    throw error instanceof PatchbayError ? error : unreadable(path, error);
  }
}

/** The store on a database that is up to date; closing the one closes the other. */
export function storeOf(database: DatabaseSync): Store {
  const tables = tablesOf(database);
  const { write, close } = createGroupCommit(database);
  return {
    ...tables,
    ownerUserId: ownerOf(database),
    apiKeys: createApiKeyTable(database),
    write,
    close: () => {
      close();
      database.close();
    },
  };
}

function openDatabase(path: string): DatabaseSync {
  try {
    if (path !== ':memory:') {
      // Contacts are personal data: the folder and the file are their owner's alone.
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      closeSync(openSync(path, 'a', 0o600));
    }
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    if (path !== ':memory:') database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    return database;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Makes the tables of a new store and fills them, or brings an older store up to date, in one transaction. */
function bringUpToDate(database: DatabaseSync, path: string, seed: Seed): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been here while this one waited for the lock.
    const version = versionOf(database);
    if (version === 0) {
      // A file that is somebody else's database has tables, but no version of ours.
      const { tableCount } = database.prepare('SELECT count(*) AS tableCount FROM sqlite_schema').get() ?? {};
      if (tableCount !== 0) throw unreadable(path, new Error('it is a database of another program'));
    }
    if (version < schemaVersion) migrate(database, version);
    if (version === 0) keepOwner(database, seed(tablesOf(database)));
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Makes this program's version of the tables out of `version`; 0 is a database without any. */
export function migrate(database: DatabaseSync, version: number): void {
  for (const migration of migrations.slice(version)) database.exec(migration);
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
}

export function keepOwner(database: DatabaseSync, ownerUserId: string): void {
  database.prepare('INSERT INTO workspace (only, owner_user_id) VALUES (1, ?)').run(ownerUserId);
}

/** Throws a `usage` error, `storeNewer`. */
export function tablesOf(database: DatabaseSync): StoreTables {
  const version = versionOf(database);
  if (version > schemaVersion) {
    throw new PatchbayError(
      'usage',
      'storeNewer',
      `the store has version ${version}; this program knows ${schemaVersion}`,
      {
        facts: { version, known: schemaVersion },
        hint: 'Use the newer program, or another store.',
      },
    );
  }
  const customFields = createCustomFieldTable(database);
  return {
    contacts: createContactTable(database, createContactDocuments(customFields)),
    customFields,
    phoneNumbers: createPhoneNumberTable(database),
    users: createUserTable(database),
    calls: createCallTable(database),
    recordings: createRecordingTable(database),
    messages: createMessageTable(database),
  };
}

export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
}

export function ownerOf(database: DatabaseSync): string {
  return String(database.prepare('SELECT owner_user_id FROM workspace').get()?.owner_user_id ?? '');
}

export function unreadable(path: string, cause: unknown): PatchbayError {
  return new PatchbayError('usage', 'storeUnreadable', `cannot open the store ${path}: ${messageOf(cause)}`, {
    facts: { path },
    hint: 'Name a file that this service made, a new file, or :memory:.',
    cause,
  });
}
