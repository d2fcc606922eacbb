/** Files that were taken while they grew are looked at again, beside everything else that an engine does (`docs/operations.md`, "Feeds"). */
import { expect, it, vi } from 'vitest';
import { lookForGrown } from '#src/engine/intake.ts';
import { silentLogger } from '#src/log.ts';
import { fakeIntervals } from './support/held-calls.ts';

it('an engine that does not lead looks at no file that a feed has taken', async () => {
  fakeIntervals();
  const look = vi.fn(async () => 1);
  const onTaken = vi.fn();
  let leads = false;
  const watch = lookForGrown({ look }, silentLogger(), onTaken, () => leads);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(look).not.toHaveBeenCalled();
  leads = true;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(onTaken).toHaveBeenCalledOnce();
  await watch.stop(1_000);
});

it('a file system that does not answer delays no stop beyond its time, and nothing is taken afterwards', async () => {
  fakeIntervals();
  const hanging = Promise.withResolvers<number>();
  const look = vi.fn((_signal?: AbortSignal) => hanging.promise);
  const watch = lookForGrown({ look }, silentLogger(), () => undefined);
  await vi.advanceTimersByTimeAsync(5_000);
  await watch.stop(1);
  expect(look.mock.calls[0]?.[0]?.aborted).toBe(true);
  hanging.resolve(0);
});
