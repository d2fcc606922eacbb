/**
 * The memory of a workspace: one SQLite file, or none for `:memory:`.
 *
 * Invariant: what a reply tells was committed before, and on a file it is on the disk (WAL, synchronous FULL). A store
 * is made and filled in one transaction: there is none without its seed.
 */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PatchbayError } from '#src/errors.ts';
import {
  type CallTable,
  createCallTable,
  createMessageTable,
  createRecordingTable,
  type MessageTable,
  type RecordingTable,
} from './activity-tables.ts';
import { type ContactTable, createContactDocuments, createContactTable } from './contact-table.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { migrations, schemaVersion } from './schema.ts';
import { fileAt, journalsOf, makeFolder, noPlace, type StorePlace, unreadable, watchStorePlace } from './store-lock.ts';
import {
  type ApiKeyTable,
  type CustomFieldTable,
  createApiKeyTable,
  createCustomFieldTable,
  createPhoneNumberTable,
  createUserTable,
  type PhoneNumberTable,
  type UserTable,
} from './workspace-tables.ts';

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
  /** Random, made with the store; never in a workspace file. See `paging.ts`. */
  readonly pageTokenSecret: Uint8Array;
  readonly read: SharedReads['read'];
  readonly write: GroupCommit['write'];
  /** Commits what waits and closes the file. */
  readonly close: () => void;
}

/** Fills a new store inside the transaction that makes it, and answers the owner's user id. */
export type Seed = (tables: StoreTables) => string;

const busyTimeoutMs = 5_000;

/**
 * The journal is brought into the file every 32 MB, not every 4: pages that many writes change are then written once
 * for all of them.
 */
const fileSettings = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000;';

/**
 * Throws `usage` errors: `storeUnreadable`, `storeNewer`, and whatever the seed throws. A store that could not be made
 * leaves no file.
 */
export function openStore(path: string, seed: Seed): Store {
  const isFile = path !== ':memory:';
  let isNew = false;
  let database: DatabaseSync | undefined;
  try {
    if (isFile) isNew = requireStoreFile(path);
    database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    const opened = isFile ? fileAt(path) : null;
    if (isFile) database.exec(fileSettings);
    if (versionOf(database) < schemaVersion) bringUpToDate(database, seed);
    return storeOf(database, isFile ? watchStorePlace(path, opened, database) : noPlace);
  } catch (error) {
    if (database?.isOpen === true) database.close();
    if (isNew) for (const file of [path, ...journalsOf(path)]) rmSync(file, { force: true });
    throw error instanceof PatchbayError ? error : unreadable(path, error);
  }
}

/** The store on a database that is up to date; closing the one closes the other. */
export function storeOf(database: DatabaseSync, place: StorePlace = noPlace): Store {
  const tables = tablesOf(database);
  const { read, end } = createSharedReads(database);
  const { write, close } = createGroupCommit(database, end, place.require);
  return {
    ...tables,
    ownerUserId: ownerOf(database),
    apiKeys: createApiKeyTable(database),
    pageTokenSecret: pageTokenSecretOf(database),
    read,
    write,
    close: () => {
      end();
      close();
      try {
        place.require();
      } catch {
        // Nothing waits for a commit any more: what is to be done about it was done.
      }
      database.close();
      place.leave();
    },
  };
}

/** Answers whether it had to be made. Throws the system's errors, and those of `refuseForeignDatabase`. */
function requireStoreFile(path: string): boolean {
  // Contacts are personal data: the folder and the file are their owner's alone.
  makeFolder(dirname(path));
  // Not where it is there: to close a file gives back the locks that this process has on it.
  const isMissing = !existsSync(path);
  if (isMissing) closeSync(openSync(path, 'a', 0o600));
  refuseForeignDatabase(path);
  return isMissing;
}

/**
 * Looks before anything is changed: what is refused stays as it is, down to its journal. Throws `storeUnreadable`,
 * `storeNewer`, and SQLite's errors.
 */
function refuseForeignDatabase(path: string): void {
  // The last one who may write brings a journal that a crash left into the file, and removes it; a reader does not.
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly: existsSync(`${path}-wal`) });
  try {
    const version = versionOf(database);
    if (version > schemaVersion) throw newer(version);
    const tables = database
      .prepare("SELECT count(*) AS any, total(name = 'workspace') AS ours FROM sqlite_schema")
      .get();
    const isOurs = version === 0 ? tables?.any === 0 : tables?.ours === 1;
    if (!isOurs) throw unreadable(path, new Error('it is a database of another program'));
  } finally {
    database.close();
  }
}

/** Makes the tables of a new store and fills them, or brings an older store up to date, in one transaction. */
function bringUpToDate(database: DatabaseSync, seed: Seed): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been here while this one waited for the lock.
    const version = versionOf(database);
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
  database
    .prepare('INSERT INTO workspace (only, owner_user_id, page_token_secret) VALUES (1, ?, randomblob(16))')
    .run(ownerUserId);
}

/** Throws a `usage` error, `storeNewer`. */
export function tablesOf(database: DatabaseSync): StoreTables {
  const version = versionOf(database);
  if (version > schemaVersion) throw newer(version);
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

function pageTokenSecretOf(database: DatabaseSync): Uint8Array {
  const secret = database.prepare('SELECT page_token_secret FROM workspace').get()?.page_token_secret;
  if (secret instanceof Uint8Array) return secret;
  throw new Error('it is damaged: it has no workspace');
}

function newer(version: number): PatchbayError {
  return new PatchbayError(
    'usage',
    'storeNewer',
    `the store has version ${version}; this program knows ${schemaVersion}`,
    { facts: { version, known: schemaVersion }, hint: 'Use the newer program, or another store.' },
  );
}

/** What SQLite threw, as of a damaged file. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

/**
 * Reads that come in one turn of the event loop share one transaction: to take and give back SQLite's locks costs more
 * than to look a contact up.
 *
 * Invariant: the transaction ends with its turn, and before a write begins. So a read sees all that was answered
 * before it came.
 */
interface SharedReads {
  /** Does the work at once. It must not write. */
  readonly read: <Result>(work: () => Result) => Result;
  /** Ends the transaction, if there is one. */
  readonly end: () => void;
}

export function createSharedReads(database: DatabaseSync): SharedReads {
  const begin = database.prepare('BEGIN');
  const rollBack = database.prepare('ROLLBACK');
  let isOpen = false;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    try {
      // A read that failed on a broken file has ended it already.
      if (database.isTransaction) rollBack.run();
    } catch {
      // Reads have nothing to lose, and no caller waits here: the next statement meets the same fault and tells it.
    }
  };
  return {
    read: (work) => {
      if (!database.isTransaction) {
        begin.run();
        isOpen = true;
        setImmediate(end);
      }
      return work();
    },
    end,
  };
}
