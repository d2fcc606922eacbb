/** The script decides as the model of the rule does: the same calls get the same answers from both. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { rateGateScript } from '#src/rate/rate-script.ts';
import type { OnTestFinished, RedisPlace } from './support/rate-gate-bench.ts';
import { admit, type CountedPass, countFrom, newRateState, refuse, untilNextMs } from './support/rule-model.ts';

type Answer = readonly [grantedCount: number, waitMs: string];

/** The script at moments of the test's choice, with a state of its own. */
interface Script {
  call(atMs: number, name: string, ...words: readonly (string | number)[]): Promise<Answer>;
  /** A value of the state; null if it is not set. */
  mark(name: string): Promise<number | null>;
}

export function sharedRuleContract(place: () => RedisPlace): void {
  it.concurrent('decides as the model of the rule does, call by call', async ({ onTestFinished }) => {
    const event = fc.record({
      // Eighths, as a real clock has fractions; most follow closely, so that whole windows are filled.
      afterMs: fc.oneof({ weight: 6, arbitrary: eighths(150) }, eighths(1_500), eighths(15_000)),
      kind: fc.oneof(
        { weight: 12, arbitrary: fc.constant('take') },
        { weight: 4, arbitrary: fc.constant('written') },
        fc.constant('pause'),
      ),
      amount: fc.integer({ min: 1, max: 12 }),
    });
    const rates = fc.constantFrom(0.5, 1, 2.5, 8, 20);
    const openScript = scriptOn(place(), onTestFinished);
    await fc.assert(
      fc.asyncProperty(rates, fc.array(event, { minLength: 20, maxLength: 60 }), async (rate, events) => {
        const { call, mark } = openScript(rate);
        let nowMs = 1_700_000_000_000.25;
        const state = newRateState(nowMs);
        await call(nowMs, 'take', 'p', 0, 0, '');
        // Most begin behind the silence of a new state.
        nowMs += 900;
        const given = new Map<number, CountedPass>();
        let nextNumber = 1;
        for (const { afterMs, kind, amount } of events) {
          nowMs += afterMs;
          if (kind === 'take') {
            const [grantedCount, waitMs] = await call(nowMs, 'take', 'p', nextNumber, amount);
            let expectedCount = 0;
            while (expectedCount < amount && untilNextMs(state, rate, nowMs) <= 0) {
              given.set(nextNumber + expectedCount, admit(state, rate, nowMs));
              expectedCount += 1;
            }
            expect(grantedCount).toBe(expectedCount);
            if (expectedCount < amount) expect(Number(waitMs)).toBe(untilNextMs(state, rate, nowMs));
            nextNumber += amount;
          } else if (kind === 'written') {
            const [number, pass] = [...given].at(-amount) ?? [];
            if (number === undefined || pass === undefined) continue;
            await call(nowMs, 'written', 'p', `${number}:0`);
            countFrom(state, rate, pass, nowMs);
          } else {
            // A burst of refusals is one message.
            for (let refused = 0; refused < amount; refused += 1) {
              await call(nowMs, 'pause', amount * 100);
              refuse(state, nowMs, nowMs + amount * 100);
            }
            expect((await mark('share')) ?? 1).toBe(state.slowDown.share);
            expect((await mark('shareSinceMs')) ?? 0).toBe(state.slowDown.sinceMs);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it.concurrent('goes on from the latest moment it saw when the clock of Redis is set back', async ({
    onTestFinished,
  }) => {
    const { call } = scriptOn(place(), onTestFinished)(4);
    const taken = async (atMs: number) => (await call(atMs, 'take', 'p', atMs, 9))[0];
    await taken(50_000);
    for (const atMs of [51_000, 51_400, 51_800]) await taken(atMs);
    // Set back by 40 s, between a pass at 51,800 and the next question.
    expect(await taken(11_800), 'no time has passed').toBe(0);
    const inTheSecondAfter: number[] = [];
    for (const atMs of [12_000, 12_200, 12_400, 12_700]) inTheSecondAfter.push(await taken(atMs));
    expect(inTheSecondAfter.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(4);
    expect(await taken(12_900), 'and it does not stay closed').toBeGreaterThan(0);
  });
}

const eighths = (max: number) => fc.integer({ min: 0, max: 8 * max }).map((count) => count / 8);

/** Each script has a state of its own, for one rate. */
function scriptOn(place: RedisPlace, onTestFinished: OnTestFinished): (rate: number) => Script {
  const redis = new Redis({ ...place });
  onTestFinished(() => redis.disconnect());
  const script = rateGateScript('tonumber(ARGV[6])');
  return (rate) => {
    const key = `rule:{${randomUUID()}}`;
    return {
      call: async (atMs, name, ...words) => {
        const three = [...words, '', '', ''].slice(0, 3);
        // The script answers in this form; the client cannot know it.
        return (await redis.eval(script, 1, key, name, rate, ...three, atMs)) as Answer;
      },
      mark: async (name) => {
        const score = await redis.zscore(key, name);
        return score === null ? null : -Number(score);
      },
    };
  };
}
