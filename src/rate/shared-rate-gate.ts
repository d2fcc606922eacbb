/**
 * The rate gate of one API key for all processes that use it, on all machines that share a Redis (`rules.md`, "Retries,
 * rate, outages"). The rule is that of `workspace/rate-rule.ts`; its state lies in Redis, which decides with its own clock.
 *
 * Terms. The *line* holds those who wait in this process. The *asker* asks Redis for them, one question at a time, for as
 * many as wait; told to wait, it sleeps so long and asks again. A *pass* counts from when Redis gave it, and is moved to
 * the moment of writing when that is later. A *stale* pass is one whose answer was long on its way, or came after a pause:
 * it is given back and asked for anew.
 *
 * Invariant: nobody passes whom Redis did not let pass a moment ago. While Redis is away, requests wait until it is back or
 * their signal fires. A Redis that lost the state lets nobody pass for a full second.
 *
 * What it can't see: a Redis whose clock is set forward lets one second pass too many.
 */

import { createHash } from 'node:crypto';
import type { RedisOptions } from 'bullmq';
import { type Clock, sleepUnlessCut } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type Logger, outsideLogContext } from '#src/log.ts';
import { assertRate, createRateGate, createWaitLine, type RateGate, type RatePass } from './rate-gate.ts';
import { shareAt } from './rate-rule.ts';
import { openRateGateStore, type Taken } from './rate-script.ts';

interface SharedRateGateOptions {
  /** Of the Redis; how it retries is taken from here, when it gives up is not. */
  readonly connection: RedisOptions;
  /** Gates with one name are one gate. No secret: it stands in Redis. */
  readonly name: string;
  /** Above zero; null: unlimited (a pause still holds for everybody). */
  readonly requestsPerSecond: number | null;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface SharedRateGate extends RateGate {
  /** Who still waits is refused: `unreachable` `rateGateClosed`. May be called again. */
  close(): Promise<void>;
}

/** An older answer is stale. Well below a second, in which others would have counted its passes as over. */
const answerMsMax = 500;
/** A pass whose answer took so long counts from its arrival, in case that it is written late as well. */
const slowAnswerMs = 50;
/** A pass is moved when it was written later than this; what is below is covered by the margin of the window. */
const lateMs = 2;
const passesPerAskMax = 64;
/** Between two questions to a Redis that is away. One that is back is asked at once. */
const awayMs = 1_000;
/** The first failure is often a connection that is not there yet. */
const failuresToWarn = 2;

/** Opens the connection and does not wait for it. Throws a `bug` for a rate that is none. */
export function openSharedRateGate(options: SharedRateGateOptions): SharedRateGate {
  const { clock, log, requestsPerSecond: configured } = options;
  assertRate(configured);
  const store = openRateGateStore(options, { onReady: () => nap?.abort(), onEnd: closeLine });
  const untold = createUntold(clock);
  let known = { share: 1, sinceMs: clock.monotonicMs() };
  let nextNumber = 1;
  let pausedUntilMs = 0;
  let failureCount = 0;
  let asking = false;
  let closed = false;
  let nap: AbortController | null = null;
  /** Null: the gate closes. When the last one in line gave up, the nap would only keep the process alive. */
  const line = createWaitLine<RatePass | null>(() => {
    if (line.waitingCount === 0) nap?.abort();
  });

  function closeLine(): void {
    closed = true;
    // Ends: each turn takes one out of the line.
    while (line.admitFirst(null));
    nap?.abort();
  }

  function passOf(number: number, givenAtMs: number): RatePass {
    let countsFromMs = givenAtMs;
    return {
      written() {
        const nowMs = clock.monotonicMs();
        if (configured === null || nowMs - countsFromMs <= lateMs) return;
        countsFromMs = nowMs;
        untold.tell(() => store.written(number, clock.monotonicMs() - nowMs));
      },
    };
  }

  /** What nobody uses does not count. Where that cannot be told it counts: the rate is a little lower for a second, and no more. */
  function giveBack(first: number, count: number): void {
    if (count > 0) store.giveBack(first, count).catch(() => {});
  }

  function noteFailure(error: unknown): void {
    failureCount += 1;
    if (failureCount === failuresToWarn) log.warn({ reason: messageOf(error) }, 'the rate gate waits for its Redis');
  }

  function noteAnswer(share: number): void {
    known = { share, sinceMs: clock.monotonicMs() };
    if (failureCount >= failuresToWarn) log.info('the rate gate has its Redis again');
    failureCount = 0;
  }

  function handOut(first: number, count: number, askedAtMs: number): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - askedAtMs > answerMsMax || nowMs < pausedUntilMs) {
      giveBack(first, count);
      return;
    }
    for (let place = 0; place < count; place += 1) {
      const pass = passOf(first + place, askedAtMs);
      if (nowMs - askedAtMs > slowAnswerMs) void pass.written();
      if (line.admitFirst(pass)) continue;
      giveBack(first + place, count - place);
      return;
    }
  }

  /** Asks once; answers how long to wait before asking again. */
  async function ask(): Promise<number> {
    untold.tellAll();
    const wantedCount = Math.min(line.waitingCount, passesPerAskMax);
    const first = nextNumber;
    // Where no answer comes, they may all have been given.
    nextNumber = first + wantedCount;
    const askedAtMs = clock.monotonicMs();
    let taken: Taken;
    try {
      taken = await store.take(first, wantedCount);
    } catch (error) {
      noteFailure(error);
      return awayMs;
    }
    nextNumber = first + taken.grantedCount;
    noteAnswer(taken.share);
    handOut(first, taken.grantedCount, askedAtMs);
    return taken.waitMs;
  }

  async function askForAll(): Promise<void> {
    if (asking) return;
    asking = true;
    // Ends when nobody waits, which a closing gate sees to. Each turn asks and waits as it is told.
    while (line.waitingCount > 0) {
      const pausedMs = pausedUntilMs - clock.monotonicMs();
      const waitMs = pausedMs > 0 ? pausedMs : await ask();
      if (waitMs <= 0 || line.waitingCount === 0) continue;
      nap = new AbortController();
      await sleepUnlessCut(clock, Math.ceil(waitMs), nap.signal);
      nap = null;
    }
    asking = false;
  }

  return {
    async take(signal) {
      if (closed) throw closedError();
      const admitted = line.join(signal);
      // It asks for all that wait, whoever came first.
      void outsideLogContext(askForAll);
      const pass = await admitted;
      if (pass === null) throw closedError();
      return pass;
    },
    pause(untilMs) {
      pausedUntilMs = Math.max(pausedUntilMs, untilMs);
      untold.tell(() => store.pause(Math.max(0, untilMs - clock.monotonicMs())));
    },
    requestsPerSecond: () => (configured === null ? null : configured * shareAt(known, clock.monotonicMs())),
    close: async () => {
      closeLine();
      store.close();
    },
  };
}

function closedError(): PatchbayError {
  return new PatchbayError('unreachable', 'rateGateClosed', 'the rate gate was closed; nothing was sent', {
    hint: 'Nothing was lost. Run the same command again: it goes on where it stopped.',
  });
}

/**
 * What a process has to tell the shared rate gate while Redis may be away: a message that did not arrive is told again
 * before the next question, so that who passes next is counted after it.
 *
 * Telling never fails and nobody waits for it.
 */
interface Untold {
  /** `send` may be called again, and then says what is true by then. It rejects where the message did not arrive. */
  tell(send: () => Promise<void>): void;
  /** Tells once more what did not arrive. */
  tellAll(): void;
}

/** Later it changes nothing any more. */
const keptMs = 60_000;
const messagesMax = 1_000;

interface Message {
  readonly send: () => Promise<void>;
  readonly untilMs: number;
}

function createUntold(clock: Clock): Untold {
  const messages: Message[] = [];
  const tell = (message: Message): void => {
    message.send().catch(() => {
      messages.push(message);
      if (messages.length > messagesMax) messages.shift();
    });
  };
  return {
    tell: (send) => tell({ send, untilMs: clock.monotonicMs() + keptMs }),
    tellAll: () => {
      for (const message of messages.splice(0)) if (clock.monotonicMs() < message.untilMs) tell(message);
    },
  };
}

/**
 * The rate gates of one service, one for each API key: the service counts requests by key (`rules.md`, "Retries, rate,
 * outages").
 *
 * Where there is a limit, the gate lies in the queue's Redis, so that all processes with this key share it: those of two
 * data folders too, since its name is a hash of origin and key.
 */
export interface KeyGates {
  /** The gate of that key, opened when it is first asked for. */
  of(apiKey: string): RateGate;
  /** Those who wait at a gate must have left it. */
  close(): Promise<void>;
}

interface KeyGatesOptions {
  readonly origin: string;
  /** Null: no limit. */
  readonly requestsPerSecond: number | null;
  /** Of the queue. */
  readonly connection: RedisOptions;
  readonly clock: Clock;
  readonly log: Logger;
}

interface OpenGate {
  readonly gate: RateGate;
  close(): Promise<void>;
}

/** A key is changed once in a while, and nobody uses the one before the last any more. */
const gatesMax = 4;

export function createKeyGates(options: KeyGatesOptions): KeyGates {
  /** The one that was asked for last is at the end. */
  const open = new Map<string, OpenGate>();
  /** Closed because there were too many. */
  const closing: Promise<void>[] = [];
  return {
    of: (apiKey) => {
      const name = gateName(options.origin, apiKey);
      const found = open.get(name) ?? openGate(options, name);
      open.delete(name);
      open.set(name, found);
      const [oldest] = open;
      if (oldest !== undefined && open.size > gatesMax) {
        open.delete(oldest[0]);
        closing.push(oldest[1].close());
      }
      return found.gate;
    },
    close: async () => {
      const all = [...open.values()].map((one) => one.close());
      open.clear();
      await Promise.allSettled([...closing, ...all]);
    },
  };
}

function openGate({ requestsPerSecond, connection, clock, log }: KeyGatesOptions, name: string): OpenGate {
  // Without a limit there is nothing to share but the pause after a 429, and each process is told that by itself.
  if (requestsPerSecond === null) {
    return { gate: createRateGate({ requestsPerSecond, clock }), close: async () => undefined };
  }
  const gate = openSharedRateGate({ connection, name, requestsPerSecond, clock, log });
  return { gate, close: gate.close };
}

/** The key does not show in it: a hash of a random text cannot be turned back. */
function gateName(origin: string, apiKey: string): string {
  return createHash('sha256')
    .update(JSON.stringify([origin, apiKey]))
    .digest('hex')
    .slice(0, 32);
}
