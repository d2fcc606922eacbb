/**
 * Pauses work when the service refuses the key, does not answer or refuses writes, and resumes it without help.
 *
 * The pause is kept in the ledger: every process on it waits, and people see since when and why. During a pause each sweep
 * probes the service: by one cheap read, and if writes failed by a *write trial*, one record that is due anyway (`docs/rules.md`,
 * "Retries, rate, outages"). Invariant: nothing here gives up a row.
 */
import type { Clock, Moment } from '#src/clock.ts';
import { messageOf, PatchbayError, unreachable } from '#src/errors.ts';
import type { Ledger, Pause } from '#src/ledger/port.ts';
import type { BatchRecord } from '#src/ledger/staging.ts';
import { inLogContext, type Logger } from '#src/log.ts';
import { publishFact } from '#src/telemetry.ts';
import type { Breakers, OpenedBreaker, RequestFailure } from '#src/workspace/classify.ts';
import { askControlKey } from '#src/workspace/look-up.ts';
import { type CallOptions, firstLookHeldMsMax, isHeldBack, type Workspace } from '#src/workspace/port.ts';

export interface ServiceWatch {
  /** Pauses all work after an error of the kind `auth` or `unreachable`. @returns whether it did. */
  pauseFor(error: unknown): Promise<boolean>;
  /** After five consecutive failures, or half a minute of 429 alone: pauses all work, or writing alone. Never rejects. */
  opened(breaker: OpenedBreaker): Promise<void>;
  /** A read failed after all its tries; the second such read without an answer in between pauses all work. */
  exhausted(error: PatchbayError): Promise<void>;
  /** Fires when this process pauses work: work in progress must stop at the next safe place. */
  atWork(): AbortSignal;
  /** During a pause, probes the service once, and ends the pause if it works. @returns whether work may continue. */
  probe(signal?: AbortSignal): Promise<boolean>;
}

interface ServiceWatchParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly breakers: Pick<Breakers, 'totals'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called before work resumes: the key may have changed meanwhile. */
  readonly recheck: (cut?: Pick<CallOptions, 'signal' | 'heldMsMax'>) => Promise<void>;
  /** Tries one write; absent in processes that never probe. */
  readonly tryWrite?: (signal?: AbortSignal) => Promise<TrialEnd>;
}

type NewPause = Omit<Pause, 'sinceMs'>;

export function createServiceWatch(parts: ServiceWatchParts): ServiceWatch {
  const { ledger, workspace, breakers, clock, log } = parts;
  let work = new AbortController();
  /** The count of answered reads at the last exhausted one. */
  let answersAtExhausted: number | null = null;

  const pause = async (next: NewPause, sinceMs = clock.nowMs()): Promise<void> => {
    const known = await ledger.pause();
    if (!covers(known, next)) {
      // Writes failed first, then reads as well: one outage.
      const since = known !== null && known.code === next.code ? known.sinceMs : sinceMs;
      await ledger.setPause({ ...next, sinceMs: since });
      log.warn({ code: next.errorCode, scope: next.scope }, 'work paused');
      publishFact('paused', { code: next.errorCode ?? next.code, scope: next.scope ?? 'all' });
    } else if (known !== null && isRenewedBy(known, next)) await ledger.setPause({ ...next, sinceMs: known.sinceMs });
    answersAtExhausted = null;
    work.abort(new DOMException('work is paused', 'AbortError'));
    work = new AbortController();
  };
  const pauseFor = async (error: unknown): Promise<boolean> => {
    if (!(error instanceof PatchbayError) || (error.kind !== 'auth' && error.kind !== 'unreachable')) return false;
    const { kind, code, message, plainMessage } = error;
    await pause({ code: kind, scope: 'all', errorCode: code, message, plainMessage });
    return true;
  };
  /** The code of the last probe's failure: reported once, not every few seconds. */
  let reportedFailure: string | null = null;
  const reportFailure = async (error: unknown): Promise<void> => {
    const code = error instanceof PatchbayError ? error.code : 'unexpected';
    if (code === reportedFailure) return;
    reportedFailure = code;
    log.error({ code }, 'probe failed');
    const known = await ledger.pause();
    const plainMessage =
      error instanceof PatchbayError ? error.plainMessage : 'The service cannot be checked: an error inside Patchbay.';
    if (known !== null) await ledger.setPause({ ...known, message: messageOf(error), plainMessage });
  };
  const passes = async (known: Pause, signal?: AbortSignal): Promise<boolean> => {
    // The next sweep probes again, and this one has other things to do.
    const cut = { heldMsMax: firstLookHeldMsMax, ...(signal === undefined ? {} : { signal }) };
    await askControlKey(workspace, cut);
    if (known.scope !== 'writes' || parts.tryWrite === undefined) {
      await parts.recheck(cut);
      return true;
    }
    const end = await parts.tryWrite(signal);
    return end === 'passed' || end === 'nothingPending';
  };

  return {
    pauseFor,
    opened: async (breaker) => {
      try {
        await pause(breakerPause(workspace.origin, breaker), breaker.sinceMs);
      } catch (error) {
        // The ledger failed. The next five failures call this again.
        log.warn({ reason: messageOf(error) }, 'pause not written');
      }
    },
    exhausted: async (error) => {
      const { answers } = breakers.totals('read');
      if (answersAtExhausted === answers) await pauseFor(error);
      else answersAtExhausted = answers;
    },
    atWork: () => work.signal,
    probe: async (signal) => {
      const known = await ledger.pause();
      if (known === null) return true;
      try {
        if (!(await passes(known, signal))) return false;
      } catch (error) {
        // Not asked yet: what the pause is for, and what must be tried before it ends, stays.
        if (signal?.aborted || isHeldBack(error)) return false;
        if (await pauseFor(error)) reportedFailure = null;
        else await reportFailure(error);
        return false;
      }
      reportedFailure = null;
      await ledger.setPause(null);
      log.info({}, 'work resumed');
      return true;
    },
  };
}

/** Whether the current pause includes the next one. Failing writes add nothing while all work waits. */
function covers(known: Pause | null, next: NewPause): boolean {
  if (known === null) return false;
  return next.scope === 'writes' || (known.code === next.code && known.scope !== 'writes');
}

/** The same outage, which shows itself in another way now: what people read of it is its cause as it is, and not as it began. */
function isRenewedBy(known: Pause, next: NewPause): boolean {
  const isSame = known.code === next.code && (known.scope ?? 'all') === (next.scope ?? 'all');
  return isSame && (known.errorCode !== next.errorCode || known.message !== next.message);
}

/** The pause that an open breaker sets, with a message for people. Pure. */
function breakerPause(origin: string, breaker: OpenedBreaker): Omit<Pause, 'sinceMs'> {
  const { kind, failure, otherKindPasses } = breaker;
  const code = 'unreachable';
  const errorCode = failure.code;
  if (kind === 'read') {
    const why = readsFail(origin, failure);
    return { code, scope: 'all', errorCode, message: why, plainMessage: why };
  }
  const reads = otherKindPasses ? '; reads succeed' : '';
  const message = `Creates and updates fail at ${origin} (${failure.why})${reads}.`;
  return { code, scope: 'writes', errorCode, message, plainMessage: message };
}

function readsFail(origin: string, { code, why }: RequestFailure): string {
  switch (code) {
    case 'serviceUnreachable':
      return `The service at ${origin} cannot be reached: ${why}.`;
    case 'serviceFailing':
      return `The service at ${origin} is failing (${why}).`;
    case 'serviceAnswersOddly':
      return `The server at ${origin} is not a compatible service (${why}).`;
    case 'rateLimited':
      return `The service at ${origin} answers all reads with 429 (too many requests).`;
    default:
      return unreachable(code);
  }
}

/**
 * How a write trial ended:
 *
 * - `passed`: the service answered a write;
 * - `failed`: it did not, or not even a read;
 * - `nothingSent`: the records tried needed no write;
 * - `nothingDue`: all records wait, as records in doubt do;
 * - `nothingPending`: there is nothing to write.
 */
type TrialEnd = 'passed' | 'failed' | 'nothingSent' | 'nothingDue' | 'nothingPending';

/** Records in one trial: those that need no write are settled, and the next one is tried. */
const recordsMax = 20;
/** Trials rotate among these batches, so that one record that always fails does not decide for all. */
const batchesMax = 50;

/**
 * A trial takes the same path as any work on that record, so that it can neither lose the record nor write it twice. All other
 * writes wait meanwhile.
 *
 * @param workOnOne works on one record of the batch, and returns false if not even its reads succeeded.
 */
export function createWriteTrial(
  ledger: Pick<Ledger, 'nowMs' | 'runs'>,
  clock: Moment,
  breakers: Pick<Breakers, 'totals'>,
  workOnOne: (batch: BatchRecord, signal: AbortSignal) => Promise<boolean>,
): (signal?: AbortSignal) => Promise<TrialEnd> {
  let last: BatchRecord | null = null;
  return async (signal = new AbortController().signal) => {
    const before = breakers.totals('write');
    for (let tried = 0; tried < recordsMax && !signal.aborted; tried += 1) {
      const nowMs = await ledger.nowMs(clock);
      const batches = await ledger.runs.nextBatches(nowMs, batchesMax);
      if (batches.length === 0) return 'nothingPending';
      const due = batches.filter((batch) => batch.dueAtMs <= nowMs);
      const batch = nextAfter(due, last);
      if (batch === null) return 'nothingDue';
      last = batch;
      const run = await ledger.runs.get(batch.runId);
      const about = { run: batch.runId, batch: batch.batch, ...(run === null ? {} : { feed: run.feed }) };
      const readsPassed = await inLogContext(about, () => workOnOne(batch, signal));
      const now = breakers.totals('write');
      if (now.answers > before.answers) return 'passed';
      if (now.failures > before.failures || !readsPassed) return 'failed';
    }
    return 'nothingSent';
  };
}

/** The batch after the last one tried, cyclically; null if there is none. */
function nextAfter(batches: readonly BatchRecord[], last: BatchRecord | null): BatchRecord | null {
  const index = batches.findIndex((batch) => batch.runId === last?.runId && batch.batch === last.batch);
  return batches[(index + 1) % Math.max(1, batches.length)] ?? null;
}
