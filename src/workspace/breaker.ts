/**
 * Breakers: one counts the failures in a row of reads, the other those of writes (`rules.md`, "Retries, rate, outages").
 *
 * A breaker *opens* with the fifth failure in a row, and tells why once. It stops nothing by itself: what must wait is the
 * caller's to decide, and stands in the ledger. An *answer* is a clear yes or no of the service; it ends the row.
 * Invariant: what says nothing about the service's health moves no count: a limited rate, a refused key, a caller who
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
  /** Null where no status came. */
  readonly status: number | null;
}

/** What the end of one request says about the service. */
export type Sign = 'answer' | 'neither' | RequestFailure;

export interface BreakerState {
  readonly failuresInARow: number;
  /** The first failure of the row, on the wall clock; null where there is none. */
  readonly sinceMs: number | null;
}

export const closedBreaker: BreakerState = { failuresInARow: 0, sinceMs: null };

/** Failures in a row that open a breaker. */
export const failuresInARowMax = 5;

/**
 * The state after one more end. It opens with every fifth failure of the row: whoever works on although it is open, since
 * somebody else has let work go on, is told again.
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

/** What the end of a request says. Pure. */
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

/** Ends that we brought about. */
const ourDoing: ReadonlySet<string> = new Set([endCodes.aborted, 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

const codeOfReason = { lost: 'serviceUnreachable', failing: 'serviceFailing', odd: 'serviceAnswersOddly' } as const;

export interface OpenedBreaker {
  readonly kind: BreakerKind;
  /** The last one of the row. */
  readonly failure: RequestFailure;
  /** The first failure of the row, on the wall clock. */
  readonly sinceMs: number;
  /** Whether requests of the other kind got an answer last. */
  readonly otherKindPasses: boolean;
}

export interface Breakers {
  /** Called once for each request, when it has ended. */
  note(kind: BreakerKind, end: TransportEnd, verdict: Verdict): void;
  /** Ends since these breakers were made. */
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
