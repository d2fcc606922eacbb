/** Trouble of the ledger's file: told in our words, and nothing half written is left. */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ledgerTroubleOf, markOf } from '#src/ledger/sqlite/damage.ts';
import { type Database, openDatabase } from '#src/ledger/sqlite/database.ts';
import { damageTables } from '#test/support/damage-ledger.ts';
import { mountSmallDisk } from '#test/support/small-disk.ts';
import { tempFolder } from './support/temp-ledger.ts';

interface Opened {
  readonly db: Database;
  readonly file: string;
  /** Codes of what the observer was told; `well` for null. */
  readonly told: readonly string[];
}

function open(): Opened {
  const file = join(tempFolder(), 'ledger.sqlite');
  const told: string[] = [];
  const db = openDatabase(file, (trouble) => told.push(trouble?.code ?? 'well'));
  onTestFinished(() => db.close());
  told.length = 0;
  return { db, file, told };
}

const enter = (db: Database, name: string, length = 10): void => {
  db.run('INSERT INTO meta (name, value) VALUES (?, ?)', name, 'x'.repeat(length));
};
const names = (db: Database): unknown[] => db.all('SELECT name FROM meta ORDER BY name').map(({ name }) => name);

/** SQLite refuses to grow a file beyond so many pages, as a full disk does. */
function leaveRoomFor(db: Database, pageCount: number): void {
  // The migrations have left free pages.
  db.get('VACUUM');
  const now = Number(db.get('PRAGMA page_count')?.page_count);
  db.get(`PRAGMA max_page_count = ${now + pageCount}`);
}

describe('a full disk', () => {
  it('is told as such, keeps nothing of the transaction, and the next one works when there is room', () => {
    const { db, told } = open();
    leaveRoomFor(db, 2);
    const large = (): void =>
      db.transaction(() => {
        enter(db, 'first');
        enter(db, 'second', 1_000_000);
      });
    expect(large).toThrow(expect.objectContaining({ kind: 'transient', code: 'diskFull' }));
    expect(() => db.durable(() => enter(db, 'third', 1_000_000))).toThrow(
      expect.objectContaining({ code: 'diskFull' }),
    );
    expect(names(db)).toEqual([]);
    leaveRoomFor(db, 1_000);
    large();
    expect(names(db)).toEqual(['first', 'second']);
    expect(new Set(told.slice(0, -1))).toEqual(new Set(['diskFull']));
    expect(told.at(-1)).toBe('well');
  });
});

describe('a ledger on a disk that is full when it is opened', () => {
  it('is told as such, and is opened when there is room', ({ skip }) => {
    const disk = mountSmallDisk(2) ?? skip('no disk can be mounted here');
    onTestFinished(disk.close);
    const file = join(disk.folder, 'ledger.sqlite');
    openDatabase(file).close();
    disk.fill();
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ kind: 'transient', code: 'diskFull' }));
    disk.makeRoom();
    openDatabase(file).close();
  });
});

describe('a ledger that another process holds', () => {
  it('is told as busy after the wait, and works when it is let go', () => {
    const { db, file, told } = open();
    db.get('PRAGMA busy_timeout = 20');
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    expect(() => enter(db, 'one')).toThrow(expect.objectContaining({ kind: 'transient', code: 'ledgerBusy' }));
    // Whoever begins a transaction waits outside of it, and tells nobody before the wait is over.
    expect(() => db.transaction(() => enter(db, 'one'))).toThrow(expect.objectContaining({ code: 'ledgerBusy' }));
    expect(names(db), 'reading goes on').toEqual([]);
    other.exec('ROLLBACK');
    db.transaction(() => enter(db, 'one'));
    expect(told).toEqual(['ledgerBusy', 'well']);
  });
});

/** Of an invented error: its code as SQLite gives it. */
const troubleOf = (errcode: number) => ledgerTroubleOf(Object.assign(new Error('words'), { errcode }), 'a.sqlite');

describe('a ledger that is damaged', () => {
  const openDamaged = (): Opened => {
    const opened = open();
    enter(opened.db, 'one');
    damageTables(opened.file, ['contacts']);
    return opened;
  };
  const damaged = expect.objectContaining({ kind: 'damaged', code: 'ledgerDamaged' });

  it('is told once with its name, and from then on nothing is read or written', () => {
    const { db, file, told } = openDamaged();
    const before = told.length;
    expect(() => db.transaction(() => db.all('SELECT * FROM contacts'))).toThrow(damaged);
    expect(() => names(db), 'of whole pages').toThrow(
      expect.objectContaining({ message: expect.stringContaining(file) }),
    );
    expect(() => enter(db, 'two')).toThrow(damaged);
    expect(() => db.durable(() => enter(db, 'two'))).toThrow(damaged);
    expect(told.slice(before)).toEqual(['ledgerDamaged']);
  });

  it('is marked, so that nobody works on it who meets whole pages only', () => {
    const { db, file } = openDamaged();
    const other = openDatabase(file);
    onTestFinished(() => other.close());
    other.requireSound();
    expect(() => db.get('SELECT * FROM contacts')).toThrow(damaged);
    expect(statSync(markOf(file)).mode & 0o777).toBe(0o600);
    expect(() => other.requireSound()).toThrow(damaged);
    expect(() => names(other)).toThrow(damaged);
    expect(() => openDatabase(file)).toThrow(damaged);
  });

  it('is used again once a file is in its place that passes the whole check', () => {
    const file = join(tempFolder(), 'ledger.sqlite');
    const db = openDatabase(file);
    db.run(`VACUUM INTO '${file}.backup'`);
    damageTables(file, ['contacts']);
    expect(() => db.get('SELECT * FROM contacts')).toThrow(damaged);
    db.close();
    for (const companion of ['-wal', '-shm']) rmSync(`${file}${companion}`, { force: true });
    renameSync(`${file}.backup`, file);
    const restored = openDatabase(file);
    expect(restored.all('SELECT * FROM contacts')).toEqual([]);
    restored.close();
    expect(existsSync(markOf(file))).toBe(false);
  });

  it.each([
    ['SQLITE_CORRUPT', 11],
    ['SQLITE_CORRUPT_INDEX', 779],
    ['SQLITE_NOTADB', 26],
    ['SQLITE_IOERR_SHORT_READ', 522],
    ['SQLITE_IOERR_DATA', 8_202],
    ['SQLITE_IOERR_CORRUPTFS', 8_458],
  ])('is what %s says', (_name, errcode) => {
    expect(troubleOf(errcode)).toMatchObject({ kind: 'damaged', code: 'ledgerDamaged' });
  });

  it('is not what a disk says that fails and may come back', () => {
    for (const errcode of [10, 266, 778]) expect(troubleOf(errcode)).toMatchObject({ code: 'ledgerIoFails' });
  });
});

describe('what is told of the file', () => {
  it('is no news where a transaction changed nothing', () => {
    const { db, told } = open();
    db.transaction(() => db.run("DELETE FROM meta WHERE name = 'nobody'"));
    expect(told).toEqual([]);
  });

  it('is nothing about errors of another kind, which pass as they are', () => {
    const { db, told } = open();
    expect(() => db.run('SELECT nonsense FROM nowhere')).toThrow(/no such table/);
    expect(() => db.transaction(invalid)).toThrow('mine');
    expect(told).toEqual([]);
    expect(ledgerTroubleOf('full', 'ledger.sqlite')).toBeNull();
  });
});

function invalid(): never {
  throw new Error('mine');
}
