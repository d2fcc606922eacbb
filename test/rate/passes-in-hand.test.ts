import { describe, expect, it } from 'vitest';
import { createPassesInHand } from '#src/rate/passes-in-hand.ts';
import { until } from '../support/until.ts';

function handOf(requestsPerSecond: number) {
  let nowMs = 10_000;
  const back: number[] = [];
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, bootId: 'test', sleep: () => Promise.resolve() };
  const giveBack = (first: number, count: number): void => {
    for (let place = 0; place < count; place += 1) back.push(first + place);
  };
  const hand = createPassesInHand({ requestsPerSecond, clock, giveBack });
  const use = (count: number): void => {
    for (let one = 0; one < count; one += 1) hand.used();
  };
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { hand, back, use, pass };
}

describe('the passes in hand', () => {
  it('are as many as were used in the time for which one is kept', () => {
    const { hand, use, pass } = handOf(10_000);
    hand.wantedCount();
    use(30);
    pass(100);
    expect(hand.wantedCount()).toBe(15);
    pass(100);
    expect(hand.wantedCount()).toBe(0);
  });

  it('are no more than the rate allows in a moment, and none at low rates', () => {
    for (const [rate, most] of [
      [10_000, 98],
      [500, 3],
      [200, 0],
      [8, 0],
    ] as const) {
      const { hand, use, pass } = handOf(rate);
      hand.wantedCount();
      use(10_000);
      pass(60);
      expect(hand.wantedCount(), `at ${rate}`).toBe(most);
    }
  });

  it('count against what is wanted, and are used in order, each once', () => {
    const { hand, use, pass } = handOf(10_000);
    hand.wantedCount();
    use(30);
    pass(100);
    hand.keep(7, 2, 10_100);
    hand.keep(12, 1, 10_100);
    expect(hand.wantedCount()).toBe(12);
    expect([hand.take(), hand.take(), hand.take()].map((one) => one?.number)).toEqual([7, 8, 12]);
    expect(hand.take()).toBeNull();
    hand.giveUp();
  });

  it('are given back when their time is over, asked for or not', async () => {
    const { hand, back, pass } = handOf(10_000);
    hand.keep(1, 2, 10_000);
    hand.take();
    pass(51);
    expect(hand.take(), 'too old to be used').toBeNull();
    expect(back).toEqual([2]);
    hand.keep(3, 2, 10_051);
    pass(51);
    await until('the timer', () => back.length === 3);
    expect(back).toEqual([2, 3, 4]);
  });

  it('are given back at once where nobody may pass', () => {
    const { hand, back } = handOf(10_000);
    hand.keep(1, 3, 10_000);
    hand.giveUp();
    expect(back).toEqual([1, 2, 3]);
    expect(hand.take()).toBeNull();
  });
});
