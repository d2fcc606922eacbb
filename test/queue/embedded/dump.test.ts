import { expect, test } from 'vitest';
import { nextSaveDelayMs } from '#src/queue/embedded/dump.ts';

test('a fast save is followed by the usual pause', () => {
  expect(nextSaveDelayMs(2_000, 64)).toBe(2_000);
});

test('a slow save is followed by nineteen times its own length', () => {
  expect(nextSaveDelayMs(2_000, 500)).toBe(9_500);
});
