/** The same failure, again and again, does not fill the log. */
import { expect, test } from 'vitest';
import { createLogger } from '#src/log.ts';
import { createFailureLog } from '#src/service/operations/failure-log.ts';
import { manualClock } from './test-service.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('one cause has one line in a second, with how often it came, and every cause its own', async () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'error', stream: { write: (line) => void lines.push(line) } });
  const told = () => lines.splice(0).map((line) => JSON.parse(line));
  const clock = manualClock();
  const closing = new AbortController();
  const tell = createFailureLog(log, clock, closing.signal);
  const fail = (cause: string, trace: string) => tell({ operation: 'create', error: new Error(cause), trace });

  for (let number = 0; number < 5_000; number += 1) fail('full', `t${number}`);
  fail('damaged', 'd');
  expect(told()).toMatchObject([
    { error: 'full', trace: 't0', operation: 'create' },
    { error: 'damaged', trace: 'd' },
  ]);
  clock.advance(1_000);
  await turn();
  const [first, ...others] = told();
  expect(first).toMatchObject({ error: 'full', count: 4_999, msg: 'requests failed' });
  expect(first.traces).toHaveLength(100);
  expect(others).toEqual([]);

  fail('full', 'later');
  expect(told()).toEqual([]);
  clock.advance(1_000);
  await turn();
  expect(told()).toMatchObject([{ error: 'full', count: 1, traces: ['later'] }]);
  clock.advance(1_000);
  await turn();
  fail('full', 'after a pause');
  fail('full', 'held');
  expect(told()).toMatchObject([{ trace: 'after a pause' }]);
  closing.abort();
  await turn();
  expect(told()).toMatchObject([{ error: 'full', count: 1, traces: ['held'] }]);
  fail('full', 'at the end');
  expect(told()).toMatchObject([{ trace: 'at the end' }]);
});
