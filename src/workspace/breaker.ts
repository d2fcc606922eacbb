/**
 * Breakers: one counts consecutive failures of reads, the other those of writes (`rules.md`, "Retries, rate, outages").
 *
 * A breaker *opens* with the fifth consecutive failure, and reports that to its owner. It stops nothing by itself: the
 * owner decides what must wait, and records that in the ledger. An *answer* is a clear yes or no of the service; it resets
 * the count. Invariant: ends that say nothing about the service's health do not count: a 429, a refused key, a caller that
 * gave up.
 */
import type { Clock } from '#src/clock.ts';
import { unreachable } from '#src/errors.ts';
import { describeCode, endCodes, type TransportEnd, type Verdict } from './classify.ts';

export type BreakerKind = 'read' | 'write';

/** Why a request got no answer; codes and words as in the errors of reads (`port.ts`). */
export interface RequestFailure {
  readonly code: 'serviceUnreachable' | 'serviceFailing' | 'serviceAnswersOddly';
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
}

export const closedBreaker: BreakerState = { failuresInARow: 0, sinceMs: null };

/** Consecutive failures that open a breaker. */
export const failuresInARowMax = 5;

/**
 * The state after one more end. It opens with every fifth consecutive failure: a process that continues although its breaker
 * is open, because another process ended the pause, gets another report.
 */
export function stepBreaker(
  state: BreakerState,
  sign: Sign,
  nowMs: number,
): { readonly state: BreakerState; readonly opens: boolean } {
  if (sign === 'neither') return { state, opens: false };
  if (sign === 'answer') return { state: closedBreaker, opens: false };
  const failuresInARow = state.failuresInARow + 1;
  return {
    state: { failuresInARow, sinceMs: state.sinceMs ?? nowMs },
    opens: failuresInARow % failuresInARowMax === 0,
  };
}

/** What the end of a request says about the service. Pure. */
export function signOf(end: TransportEnd, verdict: Verdict): Sign {
  if (end.phase !== 'replied' && ourDoing.has(end.code)) return 'neither';
  switch (verdict.next) {
    case 'use':
    case 'giveUp':
      return 'answer';
    case 'waitForRate':
    case 'checkKey':
      return 'neither';
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
  /** When the first of the consecutive failures happened, on the wall clock. */
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

export interface BreakerTotals {
  readonly answers: number;
  readonly failures: number;
}

export interface BreakersOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Must not throw. */
  readonly onOpen: (opened: OpenedBreaker) => void;
}

const otherKind = { read: 'write', write: 'read' } as const;

export function createBreakers({ clock, onOpen }: BreakersOptions): Breakers {
  const states: Record<BreakerKind, BreakerState> = { read: closedBreaker, write: closedBreaker };
  const totals = { read: { answers: 0, failures: 0 }, write: { answers: 0, failures: 0 } };
  const passes = (kind: BreakerKind): boolean => totals[kind].answers > 0 && states[kind].failuresInARow === 0;
  return {
    note: (kind, end, verdict) => {
      const sign = signOf(end, verdict);
      const { state, opens } = stepBreaker(states[kind], sign, clock.nowMs());
      states[kind] = state;
      if (sign === 'neither') return;
      if (sign === 'answer') {
        totals[kind].answers += 1;
        return;
      }
      totals[kind].failures += 1;
      if (!opens) return;
      const otherKindPasses = passes(otherKind[kind]);
      onOpen({ kind, failure: sign, sinceMs: state.sinceMs ?? clock.nowMs(), otherKindPasses });
    },
    totals: (kind) => ({ ...totals[kind] }),
  };
}
