/** Reads of one turn share a transaction that is over before anything else happens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createGroupCommit } from '#src/service/store/group-commit.ts';
import { createSharedReads } from '#src/service/store/open-store.ts';

/** Two connections to one file: the service's, and that of another process. */
function twoConnections() {
  const folder = mkdtempSync(join(tmpdir(), 'shared-reads-'));
  const [ours, others] = [1, 2].map(() => new DatabaseSync(join(folder, 's.sqlite'))) as [DatabaseSync, DatabaseSync];
  onTestFinished(() => {
    ours.close();
    others.close();
    rmSync(folder, { recursive: true });
  });
  ours.exec('PRAGMA journal_mode = WAL; CREATE TABLE counted (n INTEGER) STRICT');
  const count = ours.prepare('SELECT count(*) AS n FROM counted');
  return { ours, others, count: () => Number(count.get()?.n) };
}

test('reads of one turn see one and the same state, and those of the next turn see what came meanwhile', async () => {
  const { ours, others, count } = twoConnections();
  const { read, end } = createSharedReads(ours);
  expect(read(count)).toBe(0);
  others.exec('INSERT INTO counted VALUES (1)');
  expect(read(count)).toBe(0);
  expect(ours.isTransaction).toBe(true);
  await nextTurn();
  expect(ours.isTransaction).toBe(false);
  expect(read(count)).toBe(1);
  end();
});

test('a write that follows a read in the same turn is committed, and the next read sees it', async () => {
  const { ours, count } = twoConnections();
  const { read, end } = createSharedReads(ours);
  const { write } = createGroupCommit(ours, end);
  const written = write(() => ours.exec('INSERT INTO counted VALUES (1)'));
  expect(read(count)).toBe(0);
  await written;
  expect(read(count)).toBe(1);
  end();
});

test('a read inside of a write belongs to its transaction', async () => {
  const { ours, count } = twoConnections();
  const { read, end } = createSharedReads(ours);
  const { write } = createGroupCommit(ours, end);
  const seen = await write(() => {
    ours.exec('INSERT INTO counted VALUES (1)');
    return read(count);
  });
  expect(seen).toBe(1);
  expect(ours.isTransaction).toBe(false);
});

test('a read that fails leaves the next turn as it was', async () => {
  const { ours, count } = twoConnections();
  const { read, end } = createSharedReads(ours);
  expect(() => read(() => ours.exec('SELECT * FROM absent'))).toThrow(/no such table/);
  await nextTurn();
  expect(ours.isTransaction).toBe(false);
  expect(read(count)).toBe(0);
  end();
});
