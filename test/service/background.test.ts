/** Work that waits holds its request: how much of it may wait is limited. */
import { expect, test } from 'vitest';
import { createLogger, silentLogger } from '#src/log.ts';
import { createBackground, lateBodyBytesMax, lateWorksMax } from '#src/service/faults/answer-with-faults.ts';
import { manualClock } from './test-service.ts';

test('beyond so many works that wait, further ones never begin; the log says so once', async () => {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', stream: { write: (line) => void lines.push(line) } });
  const background = createBackground(clock, log);
  let doneCount = 0;
  const later = () => background.later(1_000, 10, async () => (doneCount += 1));
  for (let index = 0; index < lateWorksMax + 5; index += 1) later();
  expect(clock.sleeperCount()).toBe(lateWorksMax);
  clock.advance(1_000);
  await background.close();
  expect(doneCount).toBe(lateWorksMax);
  expect(lines).toHaveLength(1);
});

test('beyond so many bytes that wait, further works never begin; when they are done there is room again', async () => {
  const clock = manualClock();
  const background = createBackground(clock, silentLogger());
  const done: string[] = [];
  const later = (name: string, bodyBytes: number) => background.later(1_000, bodyBytes, async () => done.push(name));
  later('large', lateBodyBytesMax - 10);
  later('too much', 11);
  later('just fits', 10);
  clock.advance(1_000);
  // Ends with the turn: nothing of the work waits for anything else.
  await new Promise((resolve) => setImmediate(resolve));
  later('again', lateBodyBytesMax);
  clock.advance(1_000);
  await background.close();
  expect(done).toEqual(['large', 'just fits', 'again']);
});
