/**
 * What the end of a request means: for the request itself, and for the health of the service.
 *
 * An *end* is what the transport saw; a *verdict* is what it means. Invariant: a request that was written to the socket,
 * even in part, and was not answered with a clear yes or no, is in doubt, whichever code the transport gave.
 *
 * *Breakers* count consecutive failures, one of reads and one of writes (`docs/rules.md`, "Retries, rate, outages"). A breaker
 * *opens* with the fifth, and reports that to its owner. It stops nothing by itself: the owner decides what must wait, and
 * records that in the ledger. An *answer* is a clear yes or no of the service, and resets the count. Ends that say nothing
 * about the service's health do not count: a refused key, a caller that gave up. A 429 is usual, and no such failure; a breaker opens, too,
 * where all requests of its kind were answered with 429 for half a minute.
 */
import type { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import { unreachable } from '#src/errors.ts';
import { readErrorBody, type ServiceErrorBody } from '#src/wire/error.ts';
import { parseRetryAfter } from './retry.ts';

export type TransportEnd =
  /** No byte of the request reached the socket: refused, DNS, connect time-out, cancelled before. */
  | { readonly phase: 'notSent'; readonly code: string; readonly cause: unknown }
  /** Bytes were sent and no complete reply was received. `status` if the headers were. */
  | { readonly phase: 'sent'; readonly code: string; readonly status: number | null; readonly cause: unknown }
  /** A complete reply. */
  | { readonly phase: 'replied'; readonly status: number; readonly text: string; readonly retryAfter: string | null };

/**
 * - `lost`: the connection broke, or no reply came in time;
 * - `failing`: the service reports a failure (5xx, 408, 425);
 * - `odd`: the reply does not follow the interface (a redirect, not JSON, another shape, too large).
 */
type DoubtReason = 'lost' | 'failing' | 'odd';

export type Verdict<Body = unknown> =
  /** 2xx with JSON: read it. */
  | { readonly next: 'use'; readonly status: number; readonly body: Body }
  /** Certainly not sent: may be sent again. */
  | { readonly next: 'sendAgain'; readonly code: string; readonly cause: unknown }
  /** 429: not carried out; wait at the gate, then send again. */
  | { readonly next: 'waitForRate'; readonly retryAfter: string | null; readonly body: ServiceErrorBody }
  /** 401, 403: check the key. */
  | { readonly next: 'checkKey'; readonly status: number; readonly body: ServiceErrorBody }
  /** Any other 4xx: refused, and would be refused again. */
  | { readonly next: 'giveUp'; readonly status: number; readonly body: ServiceErrorBody }
  /** A write may have landed; a read may be repeated unless the reply is `odd`. */
  | {
      readonly next: 'doubt';
      readonly reason: DoubtReason;
      readonly why: string;
      readonly status: number | null;
      readonly retryAfter: string | null;
      readonly body: ServiceErrorBody;
      readonly cause: unknown;
    };

/** Our codes for ends that the transport library has no code for. */
export const endCodes = {
  aborted: 'PATCHBAY_ABORTED',
  startedTooLate: 'PATCHBAY_STARTED_TOO_LATE',
  requestTimeout: 'PATCHBAY_REQUEST_TIMEOUT',
  noAnswer: 'PATCHBAY_NO_ANSWER',
  replyTooLarge: 'PATCHBAY_REPLY_TOO_LARGE',
} as const;

/** The verdict on one end. Pure; never throws. @param mayBeEmpty a success may have no body, as that of DELETE. */
export function classify(end: TransportEnd, mayBeEmpty = false): Verdict {
  switch (end.phase) {
    case 'notSent':
      return { next: 'sendAgain', code: end.code, cause: end.cause };
    case 'sent': {
      const reason = end.code === endCodes.replyTooLarge ? 'odd' : 'lost';
      return doubt(reason, describeCode(end.code), end.status, { cause: end.cause });
    }
    case 'replied':
      if (mayBeEmpty && end.text === '' && end.status >= 200 && end.status < 300)
        return { next: 'use', status: end.status, body: null };
      return classifyReply(end.status, end.text, end.retryAfter);
    default:
      return unreachable(end);
  }
}

function classifyReply(status: number, text: string, retryAfter: string | null): Verdict {
  const json = parseJson(text);
  if (status >= 200 && status < 300) {
    if (json.readable) return { next: 'use', status, body: json.value };
    return doubt('odd', text === '' ? `status ${status} without a body` : `status ${status} without JSON`, status);
  }
  const body = readErrorBody(json.value);
  if (status === 429) return { next: 'waitForRate', retryAfter, body };
  if (status === 401 || status === 403) return { next: 'checkKey', status, body };
  // 408 and 425 concern timing, not the request: it may have been read (docs/rules.md, "One contact per key", 4).
  if (status === 408 || status === 425) return doubt('failing', `status ${status}`, status, { retryAfter, body });
  if (status >= 400 && status < 500) return { next: 'giveUp', status, body };
  if (status >= 500 && status < 600) return doubt('failing', `status ${status}`, status, { retryAfter, body });
  if (status >= 300 && status < 400) return doubt('odd', `status ${status}, a redirect`, status, { body });
  return doubt('odd', `status ${status}`, status, { body });
}

/** Checks the body of a 2xx against its schema. Pure; never throws. */
export function fitToSchema<Schema extends z.ZodType>(verdict: Verdict, schema: Schema): Verdict<z.infer<Schema>> {
  if (verdict.next !== 'use') return verdict;
  const parsed = schema.safeParse(verdict.body);
  if (parsed.success) return { ...verdict, body: parsed.data };
  const issue = parsed.error.issues[0];
  const place = issue?.path.join('.') || 'the reply';
  return doubt('odd', `status ${verdict.status}, ${place}: ${issue?.message ?? 'unreadable'}`, verdict.status);
}

function doubt(
  reason: DoubtReason,
  why: string,
  status: number | null,
  more: { retryAfter?: string | null; body?: ServiceErrorBody; cause?: unknown } = {},
): Extract<Verdict, { next: 'doubt' }> {
  const body = more.body ?? readErrorBody(null);
  return { next: 'doubt', reason, why, status, retryAfter: more.retryAfter ?? null, body, cause: more.cause };
}

function parseJson(text: string): { readable: boolean; value: unknown } {
  try {
    return { readable: true, value: JSON.parse(text) };
  } catch {
    return { readable: false, value: undefined };
  }
}

const words: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'the connection was refused'],
  ['ENOTFOUND', 'the host name was not found'],
  ['EAI_AGAIN', 'the host name could not be looked up'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the network cannot be reached'],
  ['ETIMEDOUT', 'the connection timed out'],
  ['ECONNRESET', 'the connection was reset'],
  ['EPIPE', 'the connection was closed while writing'],
  ['UND_ERR_CONNECT_TIMEOUT', 'the connection timed out'],
  ['UND_ERR_HEADERS_TIMEOUT', 'the reply timed out'],
  ['UND_ERR_BODY_TIMEOUT', 'the reply stopped before its end'],
  ['UND_ERR_SOCKET', 'the connection was closed before the reply was complete'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the reply was cut short'],
  ['UND_ERR_CLOSED', 'the client is closed'],
  ['UND_ERR_DESTROYED', 'the client is closed'],
  [endCodes.aborted, 'cancelled by the caller'],
  [endCodes.startedTooLate, 'the connection took too long, so nothing was sent'],
  [endCodes.requestTimeout, 'no complete reply in time'],
  [endCodes.noAnswer, 'no answer in time'],
  [endCodes.replyTooLarge, 'the reply is too large'],
]);

/** A transport code in words, followed by the code itself unless it is ours. */
export function describeCode(code: string): string {
  const text = words.get(code);
  if (text === undefined) return `the transport failed (${code})`;
  return code.startsWith('PATCHBAY_') ? text : `${text} (${code})`;
}

export type BreakerKind = 'read' | 'write';

/** Why a request got no answer; codes and words as in the errors of reads (`port.ts`). */
export interface RequestFailure {
  readonly code: 'serviceUnreachable' | 'serviceFailing' | 'serviceAnswersOddly' | 'rateLimited';
  /** As in `the connection was refused (ECONNREFUSED)` or `status 503`. */
  readonly why: string;
  /** Null if no status was received. */
  readonly status: number | null;
}

/** What the end of one request says about the service. */
export type Sign = 'answer' | 'neither' | RequestFailure;

export interface BreakerState {
  readonly failuresInARow: number;
  /** When the first of them happened, on the wall clock; null if there is none. */
  readonly sinceMs: number | null;
  /** Answers with 429 since the last answer of another kind, and since they opened the breaker last. Null: there was none. */
  readonly limited: Limited | null;
}

interface Limited {
  readonly first: Instant;
  /** Monotonic: the end of the time for which the last of them keeps requests back. */
  readonly heldUntilMs: number;
}

interface Instant {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export const closedBreaker: BreakerState = { failuresInARow: 0, sinceMs: null, limited: null };

/** Consecutive failures that open a breaker. */
export const failuresInARowMax = 5;

/** A rate limit that lets no request through for this time is an outage. */
const limitedMsMax = 30_000;

/** An answer with 429 that comes later than this after the hold of the one before has nothing to do with it: no request was to be sent. */
const limitedGapMsMax = 30_000;

interface BreakerStep {
  readonly state: BreakerState;
  /** Where this end opens the breaker, when the first of these failures happened, on the wall clock; else null. */
  readonly opensSinceMs: number | null;
}

/**
 * The state after one more end. It opens with every fifth consecutive failure, and after each half a minute of 429: a process that
 * continues although its breaker is open, because another process ended the pause, gets another report. Pure.
 * @param heldMs for how long an answer with 429 keeps requests back, in milliseconds.
 */
export function stepBreaker(state: BreakerState, sign: Sign, now: Instant, heldMs = 0): BreakerStep {
  if (sign === 'neither') return { state, opensSinceMs: null };
  if (sign === 'answer') return { state: closedBreaker, opensSinceMs: null };
  if (sign.code === 'rateLimited') return stepLimited(state, now, heldMs);
  const failuresInARow = state.failuresInARow + 1;
  const sinceMs = state.sinceMs ?? now.wallMs;
  const opens = failuresInARow % failuresInARowMax === 0;
  return { state: { ...state, failuresInARow, sinceMs }, opensSinceMs: opens ? sinceMs : null };
}

function stepLimited(state: BreakerState, now: Instant, heldMs: number): BreakerStep {
  const { limited } = state;
  const goesOn = limited !== null && now.monotonicMs - limited.heldUntilMs <= limitedGapMsMax;
  const first = goesOn ? limited.first : now;
  if (now.monotonicMs - first.monotonicMs < limitedMsMax)
    return { state: { ...state, limited: { first, heldUntilMs: now.monotonicMs + heldMs } }, opensSinceMs: null };
  // Counted anew: of an outage that ended, perhaps by another process's request, nothing may be left.
  return { state: { ...state, limited: null }, opensSinceMs: first.wallMs };
}

/** What the end of a request says about the service. Pure. */
export function signOf(end: TransportEnd, verdict: Verdict): Sign {
  if (end.phase !== 'replied' && ourDoing.has(end.code)) return 'neither';
  switch (verdict.next) {
    case 'use':
    case 'giveUp':
      return 'answer';
    case 'checkKey':
      return 'neither';
    case 'waitForRate':
      return { code: 'rateLimited', why: 'status 429, too many requests', status: 429 };
    case 'sendAgain':
      return { code: 'serviceUnreachable', why: describeCode(verdict.code), status: null };
    case 'doubt':
      return { code: codeOfReason[verdict.reason], why: verdict.why, status: verdict.status };
    default:
      return unreachable(verdict);
  }
}

/** Ends that this process caused. */
const ourDoing: ReadonlySet<string> = new Set([endCodes.aborted, 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

const codeOfReason = { lost: 'serviceUnreachable', failing: 'serviceFailing', odd: 'serviceAnswersOddly' } as const;

export interface OpenedBreaker {
  readonly kind: BreakerKind;
  /** The last one. */
  readonly failure: RequestFailure;
  /** When the first of these failures happened, on the wall clock. */
  readonly sinceMs: number;
  /** Whether the last request of the other kind was answered. */
  readonly otherKindPasses: boolean;
}

export interface Breakers {
  /** Must be called once for each request, at its end. */
  note(kind: BreakerKind, end: TransportEnd, verdict: Verdict): void;
  /** Counts since these breakers were created. */
  totals(kind: BreakerKind): BreakerTotals;
}

interface BreakerTotals {
  readonly answers: number;
  readonly failures: number;
}

interface BreakersOptions {
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** Must not throw. */
  readonly onOpen: (opened: OpenedBreaker) => void;
  /** Called for each failure. Must not throw. */
  readonly onFailure?: (kind: BreakerKind, failure: RequestFailure) => void;
}

const otherKind = { read: 'write', write: 'read' } as const;

export function createBreakers({ clock, onOpen, onFailure }: BreakersOptions): Breakers {
  const states: Record<BreakerKind, BreakerState> = { read: closedBreaker, write: closedBreaker };
  const totals = { read: { answers: 0, failures: 0 }, write: { answers: 0, failures: 0 } };
  /** Whether the last request that says something was answered. */
  const passes = { read: false, write: false };
  return {
    note: (kind, end, verdict) => {
      const sign = signOf(end, verdict);
      const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
      const heldMs = verdict.next === 'waitForRate' ? parseRetryAfter(verdict.retryAfter, now.wallMs) : null;
      const { state, opensSinceMs } = stepBreaker(states[kind], sign, now, heldMs ?? 0);
      states[kind] = state;
      if (sign === 'neither') return;
      passes[kind] = sign === 'answer';
      if (sign === 'answer') {
        totals[kind].answers += 1;
        return;
      }
      totals[kind].failures += 1;
      onFailure?.(kind, sign);
      if (opensSinceMs === null) return;
      onOpen({ kind, failure: sign, sinceMs: opensSinceMs, otherKindPasses: passes[otherKind[kind]] });
    },
    totals: (kind) => ({ ...totals[kind] }),
  };
}
