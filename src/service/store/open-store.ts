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
import { type ContactTable, createContactTable } from './contact-table.ts';
import { type CustomFieldTable, createCustomFieldTable } from './custom-field-table.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { createPhoneNumberTable, type PhoneNumberTable } from './phone-number-table.ts';
import { schemaSql, schemaVersion } from './schema.ts';

export interface StoreTables {
  readonly contacts: ContactTable;
  readonly customFields: CustomFieldTable;
  readonly phoneNumbers: PhoneNumberTable;
}

export interface Store extends StoreTables {
  /** The user to whom the API key belongs: the creator of a contact whose body names none. */
  readonly ownerUserId: string;
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
    if (versionOf(database) === 0) fillNewStore(database, path, seed);
    const tables = tablesOf(database);
    const { write, close } = createGroupCommit(database);
    return {
      ...tables,
      ownerUserId: ownerOf(database),
      write,
      close: () => {
        close();
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error instanceof PatchbayError ? error : unreadable(path, error);
  }
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

function fillNewStore(database: DatabaseSync, path: string, seed: Seed): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have filled it while this one waited for the lock.
    if (versionOf(database) === 0) {
      // A file that is somebody else's database has tables, but no version of ours.
      const { tableCount } = database.prepare('SELECT count(*) AS tableCount FROM sqlite_schema').get() ?? {};
      if (tableCount !== 0) throw unreadable(path, new Error('it is a database of another program'));
      database.exec(schemaSql);
      const ownerUserId = seed(tablesOf(database));
      database.prepare('INSERT INTO workspace (only, owner_user_id) VALUES (1, ?)').run(ownerUserId);
      database.exec(`PRAGMA user_version = ${schemaVersion}`);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function tablesOf(database: DatabaseSync): StoreTables {
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
  return {
    contacts: createContactTable(database),
    customFields: createCustomFieldTable(database),
    phoneNumbers: createPhoneNumberTable(database),
  };
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
}

function ownerOf(database: DatabaseSync): string {
  return String(database.prepare('SELECT owner_user_id FROM workspace').get()?.owner_user_id ?? '');
}

function unreadable(path: string, cause: unknown): PatchbayError {
  return new PatchbayError('usage', 'storeUnreadable', `cannot open the store ${path}: ${messageOf(cause)}`, {
    facts: { path },
    hint: 'Name a file that this service made, a new file, or :memory:.',
    cause,
  });
}
