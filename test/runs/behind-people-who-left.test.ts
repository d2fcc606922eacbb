/** A full file is compared with the rows of the file before it, not with the contacts of people who left that were changed with it. */
import { describe, expect, it } from 'vitest';
import { csv, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const header = 'externalId,firstName,role';
/** Rows `from` to `through`. @param roles what the first column after the name holds. */
const file = (from: number, through: number, role = 'Buyer') =>
  csv(
    Array.from({ length: through - from + 1 }, (_, index) => `c-${from + index},Ann ${from + index},${role}`),
    header,
  );
const open = (onMissing: string) =>
  openRunsBench({
    guards: { ...defaultGuards, updatesMax: 9, clearsMax: 9 },
    configured: { crm: { onMissing } },
  });
const take = (bench: RunsBench, name: string, content: string, accept = false) =>
  bench.import(name, content, { feed: 'crm', options: { accept } });

describe.each(['clear role', 'tag role=Left'])('with onMissing: %s', (onMissing) => {
  it('a file is compared with as many rows as the file before it had', async () => {
    const bench = await open(onMissing);
    await take(bench, 'a.csv', file(1, 40));
    expect((await take(bench, 'b.csv', file(1, 29))).state).toBe('done');
    // 93 % of 29; of 40 it would be less than 70 %.
    expect((await take(bench, 'c.csv', file(3, 29))).state).toBe('done');
    const less = await take(bench, 'd.csv', file(3, 12));
    expect([less.state, less.reason?.message]).toEqual([
      'stopped',
      expect.stringContaining('the file has 10 rows, and the previous file had 27'),
    ]);
  });

  it('its keys are compared with those of people whom the file before it had', async () => {
    const bench = await open(onMissing);
    await take(bench, 'a.csv', file(1, 60));
    expect((await take(bench, 'b.csv', file(1, 28), true)).state).toBe('done');
    // All of these were in the file before: 27 of 28, and not of 60.
    expect((await take(bench, 'c.csv', file(2, 28))).state).toBe('done');
    const others = await take(bench, 'd.csv', file(20, 46));
    expect([others.state, others.reason?.message]).toEqual([
      'stopped',
      expect.stringContaining('9 of the 27 keys of the previous file'),
    ]);
  });

  it('behind an empty file the columns are compared with the last file that had rows', async () => {
    const bench = await open(onMissing);
    await take(bench, 'a.csv', file(1, 20));
    expect((await take(bench, 'b.csv', csv([], header), true)).state).toBe('done');
    expect((await take(bench, 'c.csv', file(1, 20, ''))).reason?.code).toBe('guardBlanks');
  });
});
