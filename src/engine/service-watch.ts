/**
 * Stops work when the service refuses the key, does not answer or takes no writes, and starts it again by itself.
 *
 * The pause stands in the ledger: every process on it waits, and people see since when and why. While it stands, each
 * sweep asks whether the service works again: by one cheap read, and where writes failed by one record that is due
 * anyway (`rules.md`, "Retries, rate, outages"). Invariant: nothing here gives up a row.
 */
import type { Clock } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { Ledger, Pause } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import type { Breakers, OpenedBreaker } from '#src/workspace/breaker.ts';
import { askControlKey } from '#src/workspace/look-up.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { breakerPause } from './breaker-pause.ts';
import type { TrialEnd } from './write-trial.ts';

export interface ServiceWatch {
  /** Pauses all work where the error says so. @returns whether it did. */
  pauseFor(error: unknown): Promise<boolean>;
  /** Five failures in a row: pauses what they are about. Never rejects. */
  opened(breaker: OpenedBreaker): Promise<void>;
  /** A read stayed without an answer after all its tries; the second such read in a row pauses all work. */
  exhausted(error: PatchbayError): Promise<void>;
  /** Fires when this process has paused work: what it has begun is to stop at the next safe place. */
  atWork(): AbortSignal;
  /** Asks the service once, if work is paused; ends the pause when it answers. @returns whether work may go on. */
  probe(signal?: AbortSignal): Promise<boolean>;
}

export interface ServiceWatchParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly breakers: Pick<Breakers, 'totals'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs before work begins again: the key may have changed meanwhile. */
  readonly recheck: () => Promise<void>;
  /** Whether writes pass again; absent where nobody calls `probe`. */
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
      // Writes failed first, then reads too: it is one outage.
      const since = known !== null && known.code === next.code ? known.sinceMs : sinceMs;
      await ledger.setPause({ ...next, sinceMs: since });
      log.warn({ code: next.errorCode, scope: next.scope }, 'work paused');
    }
    answersAtExhausted = null;
    work.abort(new DOMException('work is paused', 'AbortError'));
    work = new AbortController();
  };
  const pauseFor = async (error: unknown): Promise<boolean> => {
    if (!(error instanceof PatchbayError) || (error.kind !== 'auth' && error.kind !== 'unreachable')) return false;
    await pause({ code: error.kind, scope: 'all', errorCode: error.code, message: error.message });
    return true;
  };
  /** What else went wrong at the last probe: told once, not every few seconds. */
  let toldFailure: string | null = null;
  const tellFailure = async (error: unknown): Promise<void> => {
    const code = error instanceof PatchbayError ? error.code : 'unexpected';
    if (code === toldFailure) return;
    toldFailure = code;
    log.error({ code }, 'probe failed');
    const known = await ledger.pause();
    if (known !== null) await ledger.setPause({ ...known, message: messageOf(error) });
  };
  const passes = async (known: Pause, signal?: AbortSignal): Promise<boolean> => {
    await askControlKey(workspace, signal === undefined ? {} : { signal });
    if (known.scope !== 'writes' || parts.tryWrite === undefined) {
      await parts.recheck();
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
        // The ledger has trouble of its own. The next five failures say it again.
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
        if (signal?.aborted) return false;
        if (await pauseFor(error)) toldFailure = null;
        else await tellFailure(error);
        return false;
      }
      toldFailure = null;
      await ledger.setPause(null);
      log.info({}, 'work goes on');
      return true;
    },
  };
}

/** Whether the pause that stands says as much already. Failing writes are no news while all work waits. */
function covers(known: Pause | null, next: NewPause): boolean {
  if (known === null) return false;
  return next.scope === 'writes' || (known.code === next.code && known.scope !== 'writes');
}
