/** As many requests at a time as there are connections, so that none waits behind the rate gate (`docs/rules.md`, "Retries, rate, outages"). */
import { expect, test } from 'vitest';
import { createSlots } from '#src/workspace/send.ts';

test('no more requests go on at once than there are slots, in the order in which they came', async () => {
  const slots = createSlots(2);
  const begun: number[] = [];
  const releases: (() => void)[] = [];
  const all = Array.from({ length: 6 }, async (_, number) => {
    releases.push(await slots.take());
    begun.push(number);
  });
  const settled = async () => await new Promise((done) => setImmediate(done));
  await settled();
  expect(begun).toEqual([0, 1]);
  for (const free of [1, 2, 3, 4]) {
    releases.shift()?.();
    await settled();
    expect(begun, `${free} freed`).toEqual([0, 1, 2, 3, 4, 5].slice(0, 2 + free));
  }
  await Promise.all(all);
  for (const release of releases) release();
  releases.push(await slots.take(), await slots.take());
  const cancel = new AbortController();
  const third = slots.take(cancel.signal);
  cancel.abort(new Error('there was no third slot'));
  await expect(third).rejects.toThrow('there was no third slot');
});

test('a request that is cancelled while it waits leaves its place to the next one', async () => {
  const slots = createSlots(1);
  const release = await slots.take();
  const cancel = new AbortController();
  const cancelled = slots.take(cancel.signal);
  const next = slots.take();
  cancel.abort(new Error('cancelled'));
  await expect(cancelled).rejects.toThrow('cancelled');
  release();
  (await next)();
  await expect(slots.take()).resolves.toBeTypeOf('function');
});
