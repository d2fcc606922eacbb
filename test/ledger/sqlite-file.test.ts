import { chmodSync, chownSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ledgerTroubleOf } from '#src/ledger/sqlite/damage.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { firstDesign } from '#src/ledger/sqlite/migrations/first-design.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { openForTest } from '#test/contracts/support/opened-ledger.ts';
import { openTempLedger, tempFolder } from './support/temp-ledger.ts';

function plain<Result>(file: string, look: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(file);
  try {
    return look(db);
  } finally {
    db.close();
  }
}

/** No right is missing to root: a test of rights is that of an ordinary user. */
const ordinaryUser = 65_534;

function asOwner(folder: string): void {
  if (process.geteuid?.() !== 0) return;
  for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))])
    chownSync(path, ordinaryUser, ordinaryUser);
}

/** Nothing else goes on meanwhile: the work does not wait. */
function asOrdinaryUser<Result>(work: () => Result): Result {
  if (process.geteuid?.() !== 0 || process.seteuid === undefined) return work();
  process.seteuid(ordinaryUser);
  try {
    return work();
  } finally {
    process.seteuid(0);
  }
}

/** The schema before redrives had a table of their own. */
const releasedSchema = 3;

describe('the ledger’s file', () => {
  test('a ledger and all its companions are readable by their owner only', async () => {
    const folder = tempFolder();
    const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'));
    onTestFinished(() => ledger.close());
    await ledger.runs.create(newRun('r1'));
    const names = readdirSync(folder);
    expect(names).toContain('ledger.sqlite-wal');
    for (const name of names) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  test('a folder that is not there yet is made, for its owner only', async () => {
    const folder = join(tempFolder(), 'a', 'b');
    const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'));
    await ledger.close();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test('a file with wider rights is narrowed when it is opened', async () => {
    const file = join(tempFolder(), 'ledger.sqlite');
    writeFileSync(file, '', { mode: 0o666 });
    const ledger = openSqliteLedger(file);
    await ledger.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('a file that has lost its write permission is written at the first try', async () => {
    const folder = tempFolder();
    const file = join(folder, 'ledger.sqlite');
    await openSqliteLedger(file).close();
    asOwner(folder);
    chmodSync(file, 0o444);
    const ledger = asOrdinaryUser(() => openSqliteLedger(file));
    onTestFinished(() => ledger.close());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await ledger.runs.create(newRun('r1'));
    expect(await ledger.runs.get('r1')).toMatchObject({ state: 'queued' });
  });

  test('what SQLite may only read is said in words, as trouble that passes once the rights are there', async () => {
    const file = join(tempFolder(), 'ledger.sqlite');
    await openSqliteLedger(file).close();
    const db = new DatabaseSync(file, { readOnly: true });
    onTestFinished(() => db.close());
    const refused = (): unknown => {
      try {
        return db.exec('CREATE TABLE x (y)');
      } catch (error) {
        return ledgerTroubleOf(error, file);
      }
    };
    expect(refused()).toMatchObject({
      ...{ kind: 'transient', code: 'ledgerReadOnly' },
      message: `this user may not write the ledger ${file}, or not in its folder`,
    });
  });

  test('the ledger of a newer Patchbay is refused by its schema’s number, and stays as it is', async () => {
    const file = join(tempFolder(), 'ledger.sqlite');
    await openSqliteLedger(file).close();
    plain(file, (db) => db.exec('PRAGMA user_version = 4711'));
    expect(() => openSqliteLedger(file)).toThrow(
      expect.objectContaining({
        kind: 'usage',
        code: 'ledgerTooNew',
        message: expect.stringMatching(/ledger\.sqlite has schema 4711, and this Patchbay knows schemas up to \d+$/),
      }),
    );
    expect(plain(file, (db) => db.prepare('PRAGMA user_version').get())).toEqual({ user_version: 4711 });
  });

  test('a redrive that an older Patchbay had entered keeps its letters, in the order they were met', async () => {
    const file = join(tempFolder(), 'ledger.sqlite');
    const letter = (id: string, line: number, redrive: string | null): string =>
      `INSERT INTO dead_letters (id, feed, identity, code, class, run_id, first_run_id, file, line, message, hint, state,
         redrive_run_id, sequence, first_at, last_at)
       VALUES ('${id}', 'main', '${id}', 'c', 'invalid', 'r1', 'r1', 'a.csv', ${line}, 'm', 'h',
         '${redrive === null ? 'open' : 'redriven'}', ${redrive === null ? 'NULL' : `'${redrive}'`}, 1, 1, 1)`;
    plain(file, (db) => {
      for (const sql of firstDesign.slice(0, releasedSchema)) db.exec(sql);
      db.exec(`PRAGMA user_version = ${releasedSchema}`);
      for (const sql of [letter('d1', 9, 'r2'), letter('d2', 3, 'r2'), letter('d3', 4, null)]) db.exec(sql);
    });
    const ledger = openSqliteLedger(file);
    expect(await ledger.deadLetters.lettersOf('r2', null, 10)).toMatchObject([{ id: 'd2' }, { id: 'd1' }]);
    await ledger.close();
  });

  test('a large ledger of an older Patchbay is not carried over where the disk has no room for it, and stays as it is', () => {
    const file = join(tempFolder(), 'ledger.sqlite');
    plain(file, (db) => {
      for (const sql of firstDesign) db.exec(sql);
      db.exec('PRAGMA user_version = 5');
    });
    const bytes = statSync(file).size;
    // A sparse file: it says that it is larger than any disk, and takes no room.
    truncateSync(file, 2 ** 42);
    expect(() => openSqliteLedger(file)).toThrow(expect.objectContaining({ kind: 'usage', code: 'ledgerNoRoom' }));
    truncateSync(file, bytes);
    expect(plain(file, (db) => db.prepare('PRAGMA user_version').get())).toEqual({ user_version: 5 });
  });

  test('a file that is no database is told as damaged, by its name, and stays as it is', () => {
    const file = join(tempFolder(), 'ledger.sqlite');
    const content = 'id;name\n1;Ann\n'.repeat(200);
    writeFileSync(file, content);
    expect(() => openSqliteLedger(file)).toThrow(
      expect.objectContaining({
        kind: 'damaged',
        code: 'ledgerDamaged',
        message: `the ledger ${file} is damaged: file is not a database`,
        hint: expect.stringContaining('backup'),
      }),
    );
    expect(statSync(file).size).toBe(content.length);
  });

  test('a folder that cannot be made is a usage error', () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'data'), '');
    expect(() => openSqliteLedger(join(folder, 'data', 'ledger.sqlite'))).toThrow(
      expect.objectContaining({ kind: 'usage', code: 'ledgerUnreadable' }),
    );
  });

  test('two connections of one process write in turns, without waiting for each other', async () => {
    const { ledger, reopen } = await openForTest(openTempLedger);
    const other = await reopen();
    await ledger.runs.create(newRun('r1'));
    const adding = Array.from({ length: 200 }, (_, turn) =>
      (turn % 2 === 0 ? ledger : other).runs.record('r1', { counts: { rows: 1 } }),
    );
    await Promise.all(adding);
    expect((await other.runs.get('r1'))?.counts.rows).toBe(200);
  });
});
