/** What a copy promises whichever databases it joins, shown on two files; PostgreSQL: `postgres-copy.test.ts`. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { copiedTables } from '#src/ledger/copy/copied-tables.ts';
import { type CopiedRow, type CopyOptions, type CopyTarget, copyLedger } from '#src/ledger/copy/copy-ledger.ts';
import { openSqliteSource, openSqliteTarget } from '#src/ledger/sqlite/copy.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { act, newRun } from '#test/contracts/support/build.ts';
import { damageTables } from '#test/support/damage-ledger.ts';
import { filledRows, fillLedger, lastGiven } from './support/filled-ledger.ts';
import { tempFolder } from './support/temp-ledger.ts';

const quiet: CopyOptions = {
  act: act('ledgerCopy', { facts: { to: 'file' } }),
  onProgress: () => undefined,
  signal: new AbortController().signal,
};

async function filled(): Promise<{ readonly from: string; readonly to: string }> {
  const folder = tempFolder();
  const from = join(folder, 'ledger.sqlite');
  await fillLedger(from);
  return { from, to: join(folder, 'copy', '..', 'copy.sqlite') };
}

/** Copies through a target that the test may have changed. */
async function copied(from: string, to: string, change = (target: CopyTarget): CopyTarget => target, given = quiet) {
  const source = await openSqliteSource(from);
  let target: CopyTarget | null = null;
  try {
    target = await openSqliteTarget(to);
    return await copyLedger(source, change(target), given);
  } finally {
    await target?.close();
    await source.close();
  }
}

const totalOf = (counts: readonly { readonly rows: number }[]): number =>
  counts.reduce((sum, { rows }) => sum + rows, 0);

/** A target that is given other rows of that table. */
const spoils =
  (name: string, spoil: (rows: readonly CopiedRow[]) => readonly CopiedRow[]) =>
  (target: CopyTarget): CopyTarget => ({
    ...target,
    write: (table, columns, rows) => target.write(table, columns, table.name === name ? spoil(rows) : rows),
  });

describe('a copy', () => {
  it('knows every table of the schema', async () => {
    const { from } = await filled();
    const db = new DatabaseSync(from);
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    db.close();
    const own = ['meta', 'sqlite_sequence'];
    expect(copiedTables.map(({ name }) => name).sort()).toEqual(
      tables.map(({ name }) => String(name)).filter((name) => !own.includes(name)),
    );
  });

  it('has the rows of every table, the identity, and numbers that were never given', async () => {
    const { from, to } = await filled();
    const counts = await copied(from, to);
    for (const { table, rows } of counts) {
      if (table !== 'letter_revision' && table !== 'letter_counts') expect(rows, table).toBe(filledRows);
    }
    expect(statSync(to).mode & 0o777).toBe(0o600);
    const [one, other] = [openSqliteLedger(from), openSqliteLedger(to)];
    expect(other.id).toBe(one.id);
    // Who copied it is told by the copy alone.
    const facts = { to: 'file', rows: totalOf(counts) };
    const told = { kind: 'ledgerCopy', who: 'ann', number: lastGiven + 1, facts };
    expect(await other.acts.list({ limit: 1 })).toMatchObject([told]);
    expect((await one.acts.list({ limit: 1 }))[0]?.kind).not.toBe('ledgerCopy');
    await other.schedules.put({ name: 'next', work: 'take', rule: null, dueAtMs: null, createdAtMs: 1 });
    await other.runs.create(newRun('next'));
    const db = new DatabaseSync(to, { readOnly: true });
    expect(db.prepare("SELECT sequence FROM runs WHERE id = 'next'").get()?.sequence).toBe(lastGiven + 1);
    expect(db.prepare("SELECT count(*) AS found FROM records WHERE kind IN ('engine', 'worker')").get()?.found).toBe(0);
    db.close();
    await one.close();
    await other.close();
  });

  it('waits by the clock of its own database: leases are void, and horizons begin anew', async () => {
    const { from, to } = await filled();
    await copied(from, to);
    const ledger = openSqliteLedger(to);
    const nowMs = Date.now();
    await ledger.nowMs({ bootId: 'boot-of-the-copy', nowMs: () => nowMs, monotonicMs: () => 0 });
    await ledger.close();
    const db = new DatabaseSync(to, { readOnly: true });
    for (const { owner, horizon, horizon_span } of db.prepare('SELECT * FROM flights').all()) {
      expect(owner).toBeNull();
      if (horizon !== null && horizon_span !== null) expect(horizon).toBe(nowMs + Number(horizon_span));
    }
    db.close();
  });

  it.each([
    [
      'a value that was changed',
      (rows: readonly CopiedRow[]) => [(rows[0] ?? []).with(-1, 'changed'), ...rows.slice(1)],
    ],
    ['a row that is missing', (rows: readonly CopiedRow[]) => rows.slice(1)],
    ['no row at all', () => []],
  ])('notices %s, and leaves nothing', async (_what, spoil) => {
    const { from, to } = await filled();
    await expect(copied(from, to, spoils('held', spoil))).rejects.toMatchObject({
      code: 'copyDiffers',
      message: expect.stringContaining('held has'),
    });
    expect(existsSync(to)).toBe(false);
    expect(readdirSync(dirname(to)).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await copied(from, to)).toHaveLength(copiedTables.length);
  });

  it('of a damaged ledger is none', async () => {
    const { from, to } = await filled();
    damageTables(from, ['journal']);
    await expect(copied(from, to)).rejects.toMatchObject({ kind: 'damaged', code: 'ledgerDamaged' });
    expect(existsSync(to)).toBe(false);
  });

  it('that is interrupted leaves nothing, and takes away what a killed one has left', async () => {
    const { from, to } = await filled();
    const interrupted = new AbortController();
    const given: CopyOptions = { ...quiet, signal: interrupted.signal, onProgress: () => interrupted.abort() };
    await expect(copied(from, to, undefined, given)).rejects.toMatchObject({ name: 'AbortError' });
    expect(existsSync(to)).toBe(false);
    const left = await openSqliteTarget(to);
    await left.write(
      { name: 'redrives', key: [], filled: 'byRows' },
      ['run_id', 'feed', 'choice', 'is_taking'],
      [['r', 'f', '{}', 0]],
    );
    expect(await copied(from, to)).toHaveLength(copiedTables.length);
  });

  it('is not written over anything, nor while another process writes', async () => {
    const { from, to } = await filled();
    await copied(from, to);
    await expect(copied(from, to)).rejects.toMatchObject({
      ...{
        kind: 'usage',
        code: 'copyExists',
        hint: expect.stringContaining('move it away, together with -wal and -shm'),
      },
    });
    const source = await openSqliteSource(from);
    const writer = new DatabaseSync(from, { timeout: 0 });
    expect(() => writer.exec('BEGIN IMMEDIATE')).toThrow(/locked/);
    expect(writer.prepare('SELECT count(*) AS runs FROM runs').get()?.runs).toBe(filledRows);
    await source.close();
    writer.exec('BEGIN IMMEDIATE; ROLLBACK');
    writer.close();
  });
});
