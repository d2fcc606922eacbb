/** What the shared rate gate has to do on every Redis (`docs/rules.md`, "Retries, rate, outages"). */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, type TestContext } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { createLogger } from '#src/log.ts';
import { startRedisProxy } from '../queue/support/redis-proxy.ts';
import { until } from '../support/until.ts';
import { sharedRuleContract } from './rate-script-contract.ts';
import { type GateBench, keepTaking, openGateBench, type RedisPlace, shortestMs } from './support/rate-gate-bench.ts';

/** One pass counts for a second and a margin; the clocks of the test are whole or another one's. */
const secondMs = 999;
const longerThanAnAnswerMs = 600;
/** A pass whose answer took so long counts from its arrival; and a report of that is on its way for less than the other. */
const slowAnswerMs = 120;
const longerThanAReportMs = 300;

/** A pass that Redis gave to a caller who has left; the answer is held back. */
async function givenToWhoLeft(place: () => RedisPlace, { onTestFinished }: TestContext) {
  const bench = openGateBench(place(), onTestFinished);
  const proxy = await startRedisProxy(place(), onTestFinished);
  const gate = bench.open(20, { place: proxy.connection });
  await gate.take();
  proxy.hold();
  const leave = new AbortController();
  const taken = gate.take(leave.signal);
  const given = await until('the pass', secondPass(bench));
  leave.abort(new Error('left'));
  await expect(taken).rejects.toThrow('left');
  return { bench, proxy, given };
}

/** `place` is asked for in each test. The tests run side by side, each with a gate of its own name. */
export function sharedRateGateContract(place: () => RedisPlace): void {
  const clock = systemClock();
  sharedRuleContract(place);

  it.concurrent('lets no more pass in any sliding second than allowed, however many processes ask', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const stop = new AbortController();
    const writtenAtMs: number[] = [];
    const gates = [1, 2, 3].map(() => bench.open(20));
    const taking = keepTaking(gates, stop.signal, writtenAtMs);
    await until('more than twice as many as a second allows', () => writtenAtMs.length >= 45);
    stop.abort();
    await taking;
    expect(shortestMs(writtenAtMs, 20)).toBeGreaterThanOrEqual(1_000);
    expect(await bench.share()).toBe(1);
  });

  it.concurrent('waits a full second where it finds no state, be it new or lost with its script', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const openedAtMs = performance.now();
    const gate = bench.open(50);
    await gate.take();
    expect(performance.now() - openedAtMs).toBeGreaterThanOrEqual(secondMs);
    await gate.take();
    await bench.redis.del(bench.key);
    await bench.redis.script('FLUSH');
    const lostAtMs = performance.now();
    await gate.take();
    expect(performance.now() - lostAtMs).toBeGreaterThanOrEqual(secondMs);
  });

  it.concurrent('a 429 pauses everybody, and three halve the rate of everybody', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const one = bench.open(8);
    const other = bench.open(8);
    await other.take();
    const pausedUntilMs = clock.monotonicMs() + 500;
    for (let refused = 0; refused < 3; refused += 1) void one.pause(pausedUntilMs);
    await until('the slow-down', () => bench.redis.zscore(bench.key, 'share'));
    await other.take();
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(pausedUntilMs - 2);
    expect(await bench.share()).toBe(0.5);
    await one.take();
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(pausedUntilMs - 2);
  });

  it.concurrent('a pass counts from when it was written, also where its state was lost meanwhile', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const gate = bench.open(1);
    const pass = await gate.take();
    const givenAtMs = Number((await bench.redis.zrange(bench.key, '-1', '-1', 'WITHSCORES'))[1]);
    await sleep(20);
    void pass.written();
    const moved = await until('the pass at its new moment', async () => {
      const atMs = Number((await bench.redis.zrange(bench.key, '-1', '-1', 'WITHSCORES'))[1]);
      return atMs > givenAtMs && atMs;
    });
    expect(moved - givenAtMs).toBeGreaterThanOrEqual(19);
    await bench.redis.del(bench.key);
    await sleep(20);
    void pass.written();
    await until('the pass in the new state', async () => (await bench.passNumbers()).length === 1);
  });

  it.concurrent('a pass whose answer was long on its way is given back and asked for anew', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const proxy = await startRedisProxy(place(), context.onTestFinished);
    const gate = bench.open(20, { place: proxy.connection });
    await gate.take();
    proxy.hold();
    const taken = gate.take();
    const unheard = await until('the pass that nobody hears of', secondPass(bench));
    await sleep(longerThanAnAnswerMs);
    proxy.release();
    await taken;
    const numbers = await bench.passNumbers();
    expect(numbers).not.toContain(unheard);
    expect(numbers).toContain(unheard + 1);
  });

  it.concurrent('a pass that is given to somebody who left meanwhile is given back', async (context) => {
    const { bench, proxy, given } = await givenToWhoLeft(place, context);
    proxy.release();
    await until('the pass back', async () => !(await bench.passNumbers()).includes(given));
  });

  it.concurrent('a pass that came slowly, to somebody who left meanwhile, stays given back', async (context) => {
    const { bench, proxy, given } = await givenToWhoLeft(place, context);
    await sleep(slowAnswerMs);
    proxy.release();
    await until('the pass back', async () => !(await bench.passNumbers()).includes(given));
    await sleep(longerThanAReportMs);
    expect(await bench.passNumbers()).not.toContain(given);
  });

  it.concurrent('a busy process is given passes ahead, and what it does not use counts for nobody', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const gate = bench.open(5_000);
    await gate.take();
    let usedCount = 1;
    let highest = 0;
    for (let round = 0; round < 40; round += 1) {
      const passes = await Promise.all(Array.from({ length: 10 }, () => gate.take()));
      for (const pass of passes) void pass.written();
      usedCount += passes.length;
      await sleep(1);
      highest = Math.max(highest, (await bench.passNumbers()).length - usedCount);
    }
    expect(highest, 'passes ahead').toBeGreaterThan(0);
    await until('all of them given back', async () => (await bench.passNumbers()).length <= usedCount);
  });

  it.concurrent('a 429 takes back what was given ahead', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const gate = bench.open(5_000);
    await gate.take();
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 10 }, () => gate.take()));
      await sleep(1);
    }
    const pausedUntilMs = clock.monotonicMs() + 300;
    void gate.pause(pausedUntilMs);
    await Promise.all(Array.from({ length: 5 }, () => gate.take()));
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(pausedUntilMs - 2);
  });

  it.concurrent('while Redis is away requests wait for it or their signal, and one line says so', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const proxy = await startRedisProxy(place(), context.onTestFinished);
    const lines: string[] = [];
    const log = createLogger({ level: 'debug', stream: { write: (line) => void lines.push(JSON.parse(line).msg) } });
    const gate = bench.open(20, { place: proxy.connection, log });
    const pass = await gate.take();
    const [name = '', givenAtMs] = await bench.redis.zrange(bench.key, '-1', '-1', 'WITHSCORES');

    await proxy.leave();
    const waiting = gate.take();
    const leave = new AbortController();
    const leaving = gate.take(leave.signal);
    await until('the line in the log', () => lines.length > 0);
    leave.abort(new Error('left'));
    await expect(leaving).rejects.toThrow('left');
    void pass.written();
    await proxy.comeBack();
    await waiting;
    expect(lines).toEqual(['the rate gate waits for its Redis', 'the rate gate has its Redis again']);
    await until('what could not be told', async () => {
      return Number(await bench.redis.zscore(bench.key, name)) > Number(givenAtMs);
    });
  });

  it.concurrent('turns away those whom a pause holds back longer than they wait, whichever process met it', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const one = bench.open(20);
    const other = bench.open(20);
    await Promise.all([one.take(), other.take()]);
    const limited = { kind: 'unreachable', code: 'rateLimited' };
    await one.take(undefined, 5_000);
    void one.pause(clock.monotonicMs() + 60_000);
    await expect(one.take(undefined, 5_000)).rejects.toMatchObject(limited);
    await until('the 429 in Redis', () => bench.redis.zscore(bench.key, 'refusedAtMs1'));
    const stop = new AbortController();
    const patient = other.take(stop.signal);
    await expect(other.take(undefined, 5_000)).rejects.toMatchObject(limited);
    // By now it knows, and asks no more.
    await expect(other.take(stop.signal, 5_000)).rejects.toMatchObject(limited);
    stop.abort(new Error('left'));
    await expect(patient).rejects.toThrow('left');
  });

  it.concurrent('turns away nobody because of the rate alone', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const gate = bench.open(2);
    await Promise.all(Array.from({ length: 4 }, () => gate.take(undefined, 0)));
  });

  it.concurrent('turns away those who do not wait for a Redis that is away, and says why it cannot be asked', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const proxy = await startRedisProxy(place(), context.onTestFinished);
    const gate = bench.open(20, { place: proxy.connection });
    await gate.take();
    await proxy.leave();
    await expect(gate.take(undefined, 0)).rejects.toMatchObject({
      ...{ kind: 'unreachable', code: 'rateGateAway', cause: expect.any(Error) },
    });
    await proxy.comeBack();
    await gate.take(undefined, 60_000);
  });

  it.concurrent('refuses those who wait when it closes', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const gate = bench.open(1);
    const taken = [gate.take(), gate.take()].map((one) =>
      expect(one).rejects.toMatchObject({ code: 'rateGateClosed' }),
    );
    await gate.close();
    await Promise.all(taken);
    await expect(gate.take()).rejects.toMatchObject({ code: 'rateGateClosed' });
    await gate.close();
  });

  it.concurrent('forgets what nobody uses: its key has an expiry', async (context) => {
    const bench = openGateBench(place(), context.onTestFinished);
    const gate = bench.open(8);
    await gate.take();
    expect(await bench.redis.pttl(bench.key)).toBeGreaterThan(60_000);
  });
}

/** The number of the second pass, once there are two. */
function secondPass(bench: GateBench): () => Promise<number | undefined> {
  return async () => (await bench.passNumbers())[1];
}
