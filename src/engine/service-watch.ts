/**
 * Stops all work when the service refuses the key or does not answer, and starts it again by itself.
 *
 * The pause stands in the ledger: every process on it waits, and people see since when and why. While it stands, one
 * cheap request per sweep asks whether the service works again (`rules.md`, "Retries, rate, outages").
 */
import type { Clock } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { Ledger, Pause } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import type { Workspace } from '#src/workspace/port.ts';

export interface ServiceWatch {
  /** Pauses where the error says so. @returns whether it did. */
  pauseFor(error: unknown): Promise<boolean>;
  /** Asks the service once, if work is paused; ends the pause when it answers. @returns whether work may go on. */
  probe(): Promise<boolean>;
}

/** A key that no contact has: the cheapest question that needs a working key. */
const probeKey = 'patchbay-probe';

export interface ServiceWatchParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs before work begins again: the key may have changed meanwhile. */
  readonly recheck: () => Promise<void>;
}

export function createServiceWatch(parts: ServiceWatchParts): ServiceWatch {
  const { ledger, workspace, clock, log } = parts;
  const pause = async (code: Pause['code'], errorCode: string, message: string): Promise<void> => {
    const known = await ledger.pause();
    if (known?.code === code) return;
    await ledger.setPause({ code, errorCode, message, sinceMs: clock.nowMs() });
    log.warn({ code: errorCode }, 'work paused');
  };
  const pauseFor = async (error: unknown): Promise<boolean> => {
    if (!(error instanceof PatchbayError) || (error.kind !== 'auth' && error.kind !== 'unreachable')) return false;
    await pause(error.kind, error.code, error.message);
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
  return {
    pauseFor,
    probe: async () => {
      if ((await ledger.pause()) === null) return true;
      try {
        await workspace.listByExternalIds([probeKey]);
        await parts.recheck();
      } catch (error) {
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
