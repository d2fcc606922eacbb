/** A mapped column that has lost its values stops a full file of a named feed (`docs/rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import { noOptions } from '#src/ledger/runs.ts';
import { blankedColumns, createFillCount, fillOf } from '#src/runs/column-fill.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { csv, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const header = 'externalId,firstName,role,company';
/** Rows of which so many have a role. */
const file = (filled: number, rows = 30, name = 'Ann') =>
  csv(
    Array.from({ length: rows }, (_, index) => `c-${index},${name},${index < filled ? 'Lead' : ''},Pier`),
    header,
  );
const open = () => openRunsBench({ guards: { ...defaultGuards, updatesMax: 1 }, configured: { crm: {} } });
const load = (bench: RunsBench, name: string, text: string, feed = 'crm', options = {}) =>
  bench.import(name, text, { feed, options });

describe('a column that was filled in half of the rows or more', () => {
  it.each([30, 20, 15])('and is blank in all of them stops the file (filled in %d of 30)', async (filled) => {
    const bench = await open();
    expect((await load(bench, 'a.csv', file(filled))).state).toBe('done');
    const run = await load(bench, 'b.csv', file(0));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardBlanks', facts: { blanksCount: 1 } } });
    expect(run.reason?.message).toBe(
      `stopped before the first write: the mapped column "role", filled in half or more of the rows of the previous file, has lost the values: filled in less than a third as many now`,
    );
    expect((await bench.world.contactOf('c-1')).defaultFields.role).toBe('Lead');
  });

  it('passes with a third of its values, and stops with fewer', async () => {
    const bench = await open();
    await load(bench, 'a.csv', file(30));
    expect((await load(bench, 'b.csv', file(9))).reason?.code).toBe('guardBlanks');
    expect((await load(bench, 'c.csv', file(10))).state).toBe('done');
  });

  it('passes once it is accepted, and the next file is compared with that one', async () => {
    const bench = await open();
    await load(bench, 'a.csv', file(30));
    expect((await load(bench, 'b.csv', file(0), 'crm', { accept: true })).state).toBe('done');
    expect((await load(bench, 'c.csv', file(0, 30, 'Bea'))).state).toBe('done');
    await load(bench, 'd.csv', file(28));
    // Most of these rows are known by their text, and the part of the column was taken over from night to night.
    await load(bench, 'e.csv', file(29));
    expect((await load(bench, 'f.csv', file(1))).reason?.code).toBe('guardBlanks');
  });

  it.each([
    ['without a header', ''],
    ['of a header alone', csv([], header)],
  ])('stops the file behind an empty one %s that a person has let pass', async (_, empty) => {
    const bench = await open();
    await load(bench, 'a.csv', file(12, 12));
    expect((await load(bench, 'b.csv', empty, 'crm', { accept: true })).state).toBe('done');
    expect((await load(bench, 'c.csv', empty, 'crm')).state).toBe('done');
    expect((await load(bench, 'd.csv', file(0, 12))).reason).toMatchObject({
      code: 'guardBlanks',
      message: expect.stringContaining(
        '"role", filled in half or more of the rows of the last file that had any, has lost',
      ),
    });
    expect((await load(bench, 'e.csv', file(11, 12))).state).toBe('done');
  });

  it('is compared no more behind an empty file that lacks it, once that is let pass', async () => {
    const bench = await open();
    await load(bench, 'a.csv', file(12, 12));
    const less = csv([], header.replace('role,', ''));
    expect((await load(bench, 'b.csv', less, 'crm')).reason?.code).toBe('guardColumns');
    expect((await load(bench, 'b.csv', less, 'crm', { accept: true })).state).toBe('done');
    expect((await load(bench, 'c.csv', file(0, 12))).state).toBe('done');
  });

  it('stops no file of main, none that is a part, and none where fewer rows had a value', async () => {
    const bench = await open();
    await load(bench, 'a.csv', file(30), 'main');
    expect((await load(bench, 'b.csv', file(0), 'main')).state).toBe('done');
    await load(bench, 'c.csv', file(14));
    expect((await load(bench, 'd.csv', file(0))).state).toBe('done');
    const parts = await openRunsBench({
      guards: { ...defaultGuards, updatesMax: 1 },
      configured: { crm: { kind: 'delta' } },
    });
    await load(parts, 'a.csv', file(30));
    expect((await load(parts, 'b.csv', file(0))).state).toBe('done');
  });
});

describe('the share of filled rows', () => {
  const columns = ['externalId', 'role'];
  const counted = (...cells: readonly string[]) => {
    const count = createFillCount(columns);
    for (const [index, cell] of cells.entries())
      count.note({ kind: 'cells', line: index + 2, record: index + 1, columns, cells: [`c-${index}`, cell] });
    return count;
  };
  /** A file that is not there: a second reading would throw. */
  const unread = { ...newRun('r-1'), claimedPath: '/nowhere/gone.csv', options: noOptions } as never;

  it('of rows that are known by their text is that of the file before, and the file is not read again', async () => {
    const before = [
      { column: 'externalId', share: 1 },
      { column: 'role', share: 0.5 },
    ];
    expect(await fillOf(unread, counted('Lead', ' '), 98, before)).toEqual([
      { column: 'externalId', share: 1 },
      { column: 'role', share: 0.5 },
    ]);
    // A column that few rows ever filled cannot be lost.
    expect(
      await fillOf(unread, counted('', ''), 2, [
        { column: 'externalId', share: 1 },
        { column: 'role', share: 0 },
      ]),
    ).toEqual([
      { column: 'externalId', share: 1 },
      { column: 'role', share: 0 },
    ]);
    await expect(fillOf(unread, counted('', '', ''), 3, before)).rejects.toMatchObject({ code: 'fileMissing' });
    await expect(fillOf(unread, counted('Lead'), 9, null)).rejects.toMatchObject({ code: 'fileMissing' });
  });

  it('has fallen below a third where less is left, however the header is spelt', () => {
    const before = [{ column: 'Role', share: 0.6 }];
    expect(blankedColumns(before, [{ column: 'role ', share: 0.19 }])).toEqual(['Role']);
    expect(blankedColumns(before, [{ column: 'role', share: 0.2 }])).toEqual([]);
    expect(blankedColumns([{ column: 'Role', share: 0.49 }], [{ column: 'Role', share: 0 }])).toEqual([]);
    // A column that is missing has a guard of its own.
    expect(blankedColumns(before, [])).toEqual([]);
  });
});
