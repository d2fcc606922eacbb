/** The log of the ledger's file is synced beside the work (`src/ledger/sqlite/log-sync.ts`). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { createLogSync } from '#src/ledger/sqlite/log-sync.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pb-log-sync-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Syncs that end when the test says so. */
function syncsByHand() {
  const begun: PromiseWithResolvers<void>[] = [];
  const syncFile = async (): Promise<void> => {
    const one = Promise.withResolvers<void>();
    begun.push(one);
    await one.promise;
  };
  return { begun, syncFile };
}

const carriesNothing = async (): Promise<void> => expect.unreachable('nothing has failed');

describe('the log is synced', () => {
  function logFile(): string {
    const file = join(folder, 'ledger.sqlite');
    writeFileSync(`${file}-wal`, '');
    return file;
  }

  test('commits that wait at the same time share a sync that began after them', async () => {
    const { begun, syncFile } = syncsByHand();
    const log = createLogSync(logFile(), { carryOver: carriesNothing, syncFile });
    const ended: string[] = [];
    const waiting = ['one', 'two'].map((name) => log.synced().then(() => ended.push(name)));
    await nextTurn();
    expect(begun).toHaveLength(1);
    // These come while it is at work: it may not cover them.
    waiting.push(...['three', 'four'].map((name) => log.synced().then(() => ended.push(name))));
    await nextTurn();
    expect(begun).toHaveLength(1);
    begun[0]?.resolve();
    await nextTurn();
    expect(ended).toEqual(['one', 'two']);
    expect(begun).toHaveLength(2);
    begun[1]?.resolve();
    await Promise.all(waiting);
    expect(ended).toEqual(['one', 'two', 'three', 'four']);
    log.close();
  });

  test('a sync that fails is told to all that waited for it; before the next one the log is carried over', async () => {
    let carried = 0;
    let failing = true;
    const log = createLogSync(logFile(), {
      carryOver: async () => {
        carried += 1;
      },
      syncFile: async () => {
        if (failing) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
      },
    });
    const both = await Promise.allSettled([log.synced(), log.synced()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(log.synced()).rejects.toMatchObject({ kind: 'transient', code: 'ledgerIoFails' });
    expect(carried).toBe(1);
    failing = false;
    await log.synced();
    await log.synced();
    expect(carried).toBe(2);
    log.close();
  });

  test('a full disk is named', async () => {
    const syncFile = async (): Promise<void> => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    const log = createLogSync(logFile(), { carryOver: carriesNothing, syncFile });
    await expect(log.synced()).rejects.toMatchObject({ kind: 'transient', code: 'diskFull' });
    log.close();
  });
});

describe('a durable transaction', () => {
  test('resolves after the sync, and others begin and end meanwhile', async () => {
    const db = openDatabase(join(folder, 'ledger.sqlite'));
    const sync = Promise.withResolvers<void>();
    const connection = createConnection({ ...db, synced: () => sync.promise });
    const ended: string[] = [];
    const enter = (name: string) => (statements: { run: (sql: string, ...values: string[]) => Promise<number> }) =>
      statements.run("INSERT INTO meta (name, value) VALUES (?, 'x')", name);
    const durable = connection.transact(enter('durable'), 'durable').then(() => ended.push('durable'));
    await connection.transact(enter('quick')).then(() => ended.push('quick'));
    expect(await connection.reads.all("SELECT name FROM meta WHERE value = 'x' ORDER BY name")).toHaveLength(2);
    await nextTurn();
    expect(ended).toEqual(['quick']);
    sync.resolve();
    await durable;
    expect(ended).toEqual(['quick', 'durable']);
    db.close();
  });

  test('on a real file, one after the other and together, and the file is closed with a sync at work', async () => {
    const file = join(folder, 'ledger.sqlite');
    const db = openDatabase(file);
    const connection = createConnection(db);
    const enter = (name: string) =>
      connection.transact(
        (statements) => statements.run("INSERT INTO meta (name, value) VALUES (?, 'y')", name),
        'durable',
      );
    await enter('a');
    await Promise.all(['b', 'c', 'd'].map(enter));
    const last = db.synced();
    db.close();
    await last;
    const again = openDatabase(file);
    expect(again.all("SELECT name FROM meta WHERE value = 'y' ORDER BY name").map(({ name }) => name)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    again.close();
  });
});
