/** Trouble of the ledger's file: told in our words, and nothing half written is left. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '#src/ledger/sqlite/database.ts';
import { ledgerTroubleOf } from '#src/ledger/sqlite/ledger-trouble.ts';
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
        enter(db, 'second', 100_000);
      });
    expect(large).toThrow(expect.objectContaining({ kind: 'transient', code: 'diskFull' }));
    expect(() => db.durable(() => enter(db, 'third', 100_000))).toThrow(expect.objectContaining({ code: 'diskFull' }));
    expect(names(db)).toEqual([]);
    leaveRoomFor(db, 1_000);
    large();
    expect(names(db)).toEqual(['first', 'second']);
    expect(new Set(told.slice(0, -1))).toEqual(new Set(['diskFull']));
    expect(told.at(-1)).toBe('well');
  });
});

describe('a ledger that another process holds', () => {
  it('is told as busy after the wait, and works when it is let go', () => {
    const { db, file, told } = open();
    db.get('PRAGMA busy_timeout = 20');
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    expect(() => db.transaction(() => enter(db, 'one'))).toThrow(
      expect.objectContaining({ kind: 'transient', code: 'ledgerBusy' }),
    );
    expect(() => enter(db, 'one')).toThrow(expect.objectContaining({ code: 'ledgerBusy' }));
    expect(names(db), 'reading goes on').toEqual([]);
    other.exec('ROLLBACK');
    db.transaction(() => enter(db, 'one'));
    expect(told).toEqual(['ledgerBusy', 'ledgerBusy', 'well']);
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
    expect(ledgerTroubleOf('full')).toBeNull();
  });
});

function invalid(): never {
  throw new Error('mine');
}
