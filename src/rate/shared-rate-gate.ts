/**
 * The rate gate of one API key for all processes that use it, on all machines that share a Redis (`docs/rules.md`, "Retries,
 * rate, outages"). The rule and its state are in Redis (`rate-script.ts`); this is a process's side to it.
 *
 * Callers wait in a line. One loop asks Redis for all of them, one question at a time; if Redis answers with a waiting
 * time, the loop sleeps and asks again. A pass counts from when Redis gave it, and is moved to the moment of writing if
 * that is later. A pass is *stale* if its answer took long or arrived after a pause: it is given back and asked for again.
 * Where the rate allows hundreds of requests a second, a busy process asks for a few more than it has callers, and keeps
 * those *in hand* for a moment (`passes-in-hand.ts`): so it asks some hundred times a second at most.
 *
 * Invariant: no request passes unless Redis granted it a moment ago. While Redis is away, requests wait until it is back or
 * their signal fires; a caller that says for how long it lets itself be held back is then turned away (`turnAway`). A Redis that lost the state grants nothing for a full second.
 *
 * Known limit: a Redis whose clock is set forward grants one second's passes too many.
 */
import { createHash } from 'node:crypto';
import type { RedisOptions } from 'bullmq';
import { type Clock, sleepUnlessCut } from '#src/clock.ts';
import { invariant, messageOf, PatchbayError } from '#src/errors.ts';
import { type Logger, outsideLogContext } from '#src/log.ts';
import { createPassesInHand } from './passes-in-hand.ts';
import { createPauseGate, createWaitLine, heldByPause, type RateGate, type RatePass } from './rate-gate.ts';
import { longestTurnMs, openRateCalls, passesPerCallMax, type Taken, type WrittenPass } from './rate-script.ts';

export interface SharedRateGateOptions {
  /** Of Redis. When it retries is taken from here; when it gives up is not. */
  readonly connection: RedisOptions;
  /** Gates with one name share one rate. Not a secret: it is visible in Redis. */
  readonly name: string;
  /** Above zero. */
  readonly requestsPerSecond: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface SharedRateGate extends RateGate {
  /** Callers still waiting are rejected: `unreachable` `rateGateClosed`. May be called again. */
  close(): Promise<void>;
}

/** An older answer is stale. Well below a second, after which others would count its passes as over. */
const answerMsMax = 500;
/** A pass whose answer took longer than this counts from its arrival, in case it is written late as well. */
const slowAnswerMs = 50;
/** A pass is moved if it was written later than this; the margin of the window covers the rest. */
const lateMs = 2;
const passesPerAskMax = 128;
/** When passes were written is reported within this time, for all together. */
const tellMs = 100;
/** Between two questions to a Redis that is away. It is asked at once when it comes back. */
const awayMs = 1_000;
/** The first failure is often a connection that is not open yet. */
const failuresToWarn = 2;

/** Opens the connection and does not wait for it. Throws a `bug` for a rate of zero or below. */
export function openSharedRateGate(options: SharedRateGateOptions): SharedRateGate {
  const { connection, name, requestsPerSecond, clock, log } = options;
  invariant(Number.isFinite(requestsPerSecond) && requestsPerSecond > 0, 'a rate is above zero');
  const onReady = (): void => nap?.abort();
  const calls = openRateCalls({ connection, name, requestsPerSecond, onReady, onEnd: closeLine });
  const reports = createReports(clock);
  const telling = createTelling(clock, reports, (passes) => calls.written(passes));
  const inHand = createPassesInHand({ requestsPerSecond, clock, giveBack });
  let nextNumber = 1;
  let pausedUntilMs = 0;
  /** The same of a pause that another process began, as far as Redis told. */
  let toldUntilMs = 0;
  let failureCount = 0;
  let asking = false;
  let closed = false;
  let nap: AbortController | null = null;
  /** Callers in the line that let themselves be held back for a time only: until when, monotonic. */
  const impatient = new Map<AbortController, number>();
  /** Null: the gate closes. If the last caller gave up, sleeping on would only keep the process alive. */
  const line = createWaitLine<RatePass | null>(() => {
    if (line.waitingCount === 0) nap?.abort();
  });

  function closeLine(): void {
    closed = true;
    inHand.giveUp();
    // Ends: each turn takes one out of the line.
    while (line.admitFirst(null));
    nap?.abort();
  }

  function passOf(number: number, givenAtMs: number): RatePass {
    let countsFromMs = givenAtMs;
    return {
      written() {
        const nowMs = clock.monotonicMs();
        if (nowMs - countsFromMs <= lateMs) return;
        countsFromMs = nowMs;
        telling.add(number, nowMs);
      },
    };
  }

  /** Unused passes do not count. If the call fails they do: the rate is a little lower for a second. */
  function giveBack(first: number, count: number): void {
    if (count > 0) calls.giveBack(first, count).catch(() => {});
  }

  function noteFailure(error: unknown): void {
    failureCount += 1;
    if (failureCount === failuresToWarn) log.warn({ reason: messageOf(error) }, 'the rate gate waits for its Redis');
  }

  function noteAnswer(): void {
    if (failureCount >= failuresToWarn) log.info('the rate gate has its Redis again');
    failureCount = 0;
  }

  function handOut(first: number, count: number, askedAtMs: number): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - askedAtMs > answerMsMax || nowMs < pausedUntilMs) {
      giveBack(first, count);
      return;
    }
    const isSlow = nowMs - askedAtMs > slowAnswerMs;
    for (let place = 0; place < count; place += 1) {
      const pass = passOf(first + place, askedAtMs);
      if (line.admitFirst(pass)) {
        inHand.used();
        // Only what a caller takes: a report of one that is given back would bring it back.
        if (isSlow) void pass.written();
        continue;
      }
      if (closed || isSlow) giveBack(first + place, count - place);
      else inHand.keep(first + place, count - place, askedAtMs);
      return;
    }
  }

  function join(signal: AbortSignal | undefined): Promise<RatePass | null> {
    const admitted = line.join(signal);
    // The loop asks for all callers: its log lines do not belong to the one that started it.
    if (!asking) void outsideLogContext(askForAll);
    return admitted;
  }

  async function joinUntil(heldUntilMs: number, signal: AbortSignal | undefined): Promise<RatePass | null> {
    const closedUntilMs = Math.max(pausedUntilMs, toldUntilMs);
    if (closedUntilMs > heldUntilMs) throw heldByPause(closedUntilMs - clock.monotonicMs());
    const leaving = new AbortController();
    impatient.set(leaving, heldUntilMs);
    try {
      return await join(signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]));
    } finally {
      impatient.delete(leaving);
    }
  }

  /** Rejects the callers who would wait too long, given that nothing passes before `untilMs`. */
  function turnAway(untilMs: number, why: PatchbayError): void {
    for (const [leaving, heldUntilMs] of impatient) if (untilMs > heldUntilMs) leaving.abort(why);
  }

  /** Asks once, for callers and what is to be in hand. @returns how long to wait before asking again, in milliseconds. */
  async function ask(inHandCount: number): Promise<number> {
    reports.resend();
    const wantedCount = Math.min(line.waitingCount + inHandCount, passesPerAskMax);
    const first = nextNumber;
    // If no answer comes, all of them may have been granted.
    nextNumber = first + wantedCount;
    const askedAtMs = clock.monotonicMs();
    let taken: Taken;
    try {
      taken = await calls.take(first, wantedCount);
    } catch (error) {
      noteFailure(error);
      if (failureCount >= failuresToWarn) turnAway(clock.monotonicMs(), awayError(error));
      return awayMs;
    }
    nextNumber = first + taken.grantedCount;
    noteAnswer();
    handOut(first, taken.grantedCount, askedAtMs);
    // The rate alone keeps a turn back for less: another process met a 429.
    if (taken.waitMs > longestTurnMs(requestsPerSecond)) {
      toldUntilMs = clock.monotonicMs() + taken.waitMs;
      turnAway(toldUntilMs, heldByPause(taken.waitMs));
    }
    return taken.waitMs;
  }

  async function askForAll(): Promise<void> {
    if (asking) return;
    asking = true;
    // Ends when the line is empty, which closing the gate brings about. Each turn asks, and waits as answered.
    while (line.waitingCount > 0) {
      const pausedMs = pausedUntilMs - clock.monotonicMs();
      if (pausedMs > 0) turnAway(pausedUntilMs, heldByPause(pausedMs));
      const waitMs = pausedMs > 0 ? pausedMs : await ask(inHand.wantedCount());
      if (waitMs <= 0 || line.waitingCount === 0) continue;
      nap = new AbortController();
      await sleepUnlessCut(clock, Math.ceil(waitMs), nap.signal);
      nap = null;
    }
    asking = false;
  }

  return {
    async take(signal, heldMsMax) {
      if (closed) throw closedError();
      signal?.throwIfAborted();
      // While callers wait in the line, nothing is in hand.
      const kept = line.waitingCount === 0 ? inHand.take() : null;
      if (kept !== null) {
        inHand.used();
        return passOf(kept.number, kept.givenAtMs);
      }
      const heldUntilMs = heldMsMax === undefined ? null : clock.monotonicMs() + heldMsMax;
      const pass = await (heldUntilMs === null ? join(signal) : joinUntil(heldUntilMs, signal));
      if (pass === null) throw closedError();
      return pass;
    },
    pause(untilMs) {
      pausedUntilMs = Math.max(pausedUntilMs, untilMs);
      inHand.giveUp();
      reports.send(() => calls.pause(Math.max(0, untilMs - clock.monotonicMs())));
    },
    close: async () => {
      closeLine();
      telling.now();
      calls.close();
    },
  };
}

function awayError(cause: unknown): PatchbayError {
  const message = 'No request can be sent, since the Redis that holds the rate cannot be asked.';
  return new PatchbayError('unreachable', 'rateGateAway', message, {
    hint: 'Nothing was sent. See what is wrong with Redis: patchbay doctor',
    cause,
  });
}

function closedError(): PatchbayError {
  return new PatchbayError('unreachable', 'rateGateClosed', 'the rate gate was closed; nothing was sent', {
    hint: 'Nothing was lost. Run the same command again: it continues where it stopped.',
  });
}

/** Messages to Redis that must arrive, though perhaps later. Sending never fails and is not awaited. */
interface Reports {
  /** `send` may be called again, and then reports what is true by then. It rejects if the message did not arrive. */
  send(send: () => Promise<void>): void;
  /** Sends again what did not arrive; before the next question, so that its answer takes the reports into account. */
  resend(): void;
}

/** An older report has no effect any more. */
const reportKeptMs = 60_000;
const reportsMax = 1_000;

interface Report {
  readonly send: () => Promise<void>;
  readonly untilMs: number;
}

function createReports(clock: Clock): Reports {
  const failed: Report[] = [];
  const attempt = (report: Report): void => {
    report.send().catch(() => {
      failed.push(report);
      if (failed.length > reportsMax) failed.shift();
    });
  };
  return {
    send: (send) => attempt({ send, untilMs: clock.monotonicMs() + reportKeptMs }),
    resend: () => {
      for (const report of failed.splice(0)) if (clock.monotonicMs() < report.untilMs) attempt(report);
    },
  };
}

/** When passes were written, reported together shortly after: it matters a second later. */
interface Telling {
  add(number: number, writtenAtMs: number): void;
  /** Before the connection closes. */
  now(): void;
}

function createTelling(
  clock: Clock,
  reports: Reports,
  tell: (passes: readonly WrittenPass[]) => Promise<void>,
): Telling {
  let written: { readonly number: number; readonly atMs: number }[] = [];
  let timer: NodeJS.Timeout | null = null;
  const now = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (written.length === 0) return;
    const told = written;
    written = [];
    reports.send(() => {
      const nowMs = clock.monotonicMs();
      return tell(told.map(({ number, atMs }) => ({ number, agoMs: nowMs - atMs })));
    });
  };
  return {
    add: (number, atMs) => {
      written.push({ number, atMs });
      if (written.length >= passesPerCallMax) now();
      else timer ??= setTimeout(now, tellMs);
    },
    now,
  };
}

/** The rate gates of one service, one for each API key, since the service counts requests by key. */
export interface KeyGates {
  /** The gate of that key, opened by the first call. */
  of(apiKey: string): RateGate;
  /** Callers that wait at a shared gate are rejected. */
  close(): Promise<void>;
}

export interface KeyGatesOptions {
  readonly origin: string;
  /** Null: no limit. */
  readonly requestsPerSecond: number | null;
  /** Of the queue's Redis: all processes with the key share it, also those of other data folders. */
  readonly connection: RedisOptions;
  readonly clock: Clock;
  readonly log: Logger;
}

interface OpenGate {
  readonly gate: RateGate;
  close(): Promise<void>;
}

/** Keys change rarely, and at most the last two are in use. */
const gatesMax = 4;

export function createKeyGates(options: KeyGatesOptions): KeyGates {
  /** The most recently used one is last. */
  const open = new Map<string, OpenGate>();
  const closing: Promise<void>[] = [];
  /** Each request asks: a look-up of its name would cost a hash. */
  let newest: { readonly apiKey: string; readonly gate: RateGate } | null = null;
  return {
    of: (apiKey) => {
      if (newest?.apiKey === apiKey) return newest.gate;
      const name = gateName(options.origin, apiKey);
      const found = open.get(name) ?? openGate(options, name);
      open.delete(name);
      open.set(name, found);
      const [oldest] = open;
      if (oldest !== undefined && open.size > gatesMax) {
        open.delete(oldest[0]);
        closing.push(oldest[1].close());
      }
      newest = { apiKey, gate: found.gate };
      return found.gate;
    },
    close: async () => {
      const all = [...open.values()].map((one) => one.close());
      open.clear();
      newest = null;
      await Promise.allSettled([...closing, ...all]);
    },
  };
}

function openGate({ requestsPerSecond, connection, clock, log }: KeyGatesOptions, name: string): OpenGate {
  if (requestsPerSecond === null) return { gate: createPauseGate(clock), close: async () => undefined };
  const gate = openSharedRateGate({ connection, name, requestsPerSecond, clock, log });
  return { gate, close: gate.close };
}

/** A hash, so that the key is not visible in Redis; a random key cannot be guessed from it. */
function gateName(origin: string, apiKey: string): string {
  return createHash('sha256')
    .update(JSON.stringify([origin, apiKey]))
    .digest('hex')
    .slice(0, 32);
}
