/** Rows that are read once more, since their keys have moved while the file was read. */
import { expect, test } from 'vitest';
import type { StageItem } from '#src/runs/compare.ts';
import { noTally } from '#src/runs/guards.ts';
import { type StagedRows, stageMoved } from '#src/runs/late-rows.ts';
import type { LateDead } from '#src/runs/slice.ts';

const itemOn = (line: number): StageItem => ({
  kind: 'row',
  row: { kind: 'cells', line, record: line, columns: ['externalId'], cells: [`c-${line}`] },
  sequence: 1,
});
const problem = { code: 'duplicateKey', line: 2, field: null, value: null, message: '', hint: '' };
const lateOn = (line: number): LateDead => ({ key: `c-${line}`, line, fingerprint: '', problem });
const linesOf = (items: readonly StageItem[]) => items.map(({ row }) => row.line);

test('rows of moved keys count for the guards from each slice, and those that turn out to be duplicates are all told', async () => {
  const asked: (readonly number[])[] = [];
  const supply = {
    itemsAgain: async function* (lines: ReadonlySet<number>) {
      asked.push([...lines]);
      yield [itemOn(2), itemOn(3)];
      yield [itemOn(700)];
    },
  };
  const stageAgain = async (items: readonly StageItem[], places: Set<number>): Promise<StagedRows> => {
    expect([...places]).toEqual([10, 11, 12]);
    const lines = linesOf(items);
    const stagedKeys = lines.map((line) => `c-${line}`);
    return { tally: { ...noTally, updates: lines.length, clears: 1 }, lateDead: lines.map(lateOn), stagedKeys };
  };
  const moved = new Map([
    [10, 2],
    [11, 3],
    [12, 700],
  ]);
  const { tally, lateDead, stagedKeys } = await stageMoved(stageAgain, supply, moved);
  expect(asked).toEqual([[2, 3, 700]]);
  expect(tally).toEqual({ ...noTally, updates: 3, clears: 2 });
  expect(lateDead.map(({ line }) => line)).toEqual([2, 3, 700]);
  expect(stagedKeys).toEqual(['c-2', 'c-3', 'c-700']);
});

test('where no key has moved, no row is read again', async () => {
  const never = (): never => {
    throw new Error('a row was read again');
  };
  expect(await stageMoved(never, { itemsAgain: never }, new Map())).toEqual({
    tally: noTally,
    lateDead: [],
    stagedKeys: [],
  });
});
