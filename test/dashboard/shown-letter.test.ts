/** Long rows of dead letters: no more is held, and no more is made, than what is shown. */
import { describe, expect, it } from 'vitest';
import { jsonStart } from '#src/dashboard/shown-letter.ts';
import { dashboardBench, deadRow, finishedRun, openPages } from './dashboard-bench.ts';

describe('the beginning of a JSON row', () => {
  it.each([{}, [], { a: 1, b: [true, null, 'x "y"'], c: { d: {}, e: [] } }, [[1], { 'a "b"': 'ä' }]])(
    'is that of the whole text: %j',
    (value) => {
      const whole = JSON.stringify(value, null, 2);
      expect(jsonStart(value, 1_000)).toBe(whole);
      for (const length of [0, 1, 5, whole.length - 1])
        if (length < whole.length) expect(jsonStart(value, length)).toBe(`${whole.slice(0, length)}…`);
      expect(jsonStart(value, whole.length)).toBe(whole);
    },
  );

  it('is made without walking through the rest', () => {
    const behind = {
      first: 'x'.repeat(200),
      get second() {
        throw new Error('this was not to be read');
      },
    };
    expect(jsonStart(behind, 100)).toHaveLength(101);
  });
});

it('the page reads long rows a few at a time, and shows their beginnings', async () => {
  const bench = await dashboardBench();
  const long = 'x'.repeat(20_000);
  const object = { kind: 'object', line: 3, record: 2, object: { note: long } } as const;
  const rows = Array.from({ length: 25 }, (_, index) => deadRow({ key: `c-${index}`, cell: long }));
  await finishedRun(bench, [...rows, deadRow({ key: 'c-object', row: object })]);
  const limits: number[] = [];
  const { deadLetters } = bench.ledger;
  const list: typeof deadLetters.list = (filter) => {
    limits.push(filter.limit);
    return deadLetters.list(filter);
  };
  const ledger = { ...bench.ledger, deadLetters: { ...deadLetters, list } };
  const { page, json } = openPages({ ...bench.parts, ledger } as never);
  const { text } = await page('/dead-letters');
  expect(text.match(/<article/g)).toHaveLength(26);
  expect(text).toContain(`${'x'.repeat(200)}…`);
  expect(text.length).toBeLessThan(100_000);
  expect((await json('/dead-letters')).body).toHaveLength(26);
  expect(Math.max(...limits)).toBeLessThanOrEqual(10);
});
