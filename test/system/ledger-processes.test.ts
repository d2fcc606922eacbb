/** Several processes on one ledger in a file, one of which is killed. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { finalRunStates, pendingCount } from '#src/ledger/runs.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { startChild } from '#test/ledger/support/child-process.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';

const writer = new URL('../ledger/support/writer-process.ts', import.meta.url);

describe('several processes', () => {
  test('open a new ledger at the same moment and write at once: all of it is there', async () => {
    const file = join(tempFolder(), 'new', 'ledger.sqlite');
    const children = ['a', 'b', 'c', 'd'].map((name) => startChild(writer, 'add', file, name));
    for (const child of children) expect(await child.nextLine()).toBe('ready');
    for (const child of children) child.tell('go');
    for (const child of children) expect(await child.nextLine()).toBe('done');
    const ledger = openSqliteLedger(file);
    const run = await ledger.runs.get('shared');
    await ledger.close();
    expect(run?.counts.rows).toBe(4 * 200);
    expect(run?.notes).toHaveLength(4 * 5);
  });
});

describe('a process that is killed', () => {
  test.each([1, 3, 6])('leaves a ledger that is whole, after %i finished runs', async (finishedCount) => {
    const file = join(tempFolder(), 'ledger.sqlite');
    const child = startChild(writer, 'runs', file, 'w');
    await child.nextLine();
    child.tell('go');
    const finished: (string | null)[] = [];
    while (finished.length < finishedCount) finished.push(await child.nextLine());
    await child.kill();

    const plain = new DatabaseSync(file);
    expect(plain.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    plain.close();
    const ledger = openSqliteLedger(file);
    const runs = await ledger.runs.list({ limit: 1_000 });
    for (const id of finished) expect(runs.find((run) => run.id === id)?.state).toBe('doneWithDead');
    for (const run of runs) {
      const ends = await ledger.runs.countEnds(run.id);
      expect(ends).toMatchObject({ created: run.counts.created, dead: 0 });
      if ((finalRunStates as readonly string[]).includes(run.state)) {
        expect(run.counts).toMatchObject({ rows: 9, created: 8, dead: 1, deadNew: 1 });
      } else {
        expect(await ledger.runs.pendingCount(run.id)).toBe(pendingCount(run.counts));
      }
      expect(await ledger.runs.deadRows(run.id, 0, 10)).toHaveLength(run.counts.dead);
    }
    await ledger.close();
  });
});
