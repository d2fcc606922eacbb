/**
 * Guards while a run is applied (`rules.md`, "Guards"): a ledger that does not know what it should know, and a service
 * that takes nothing. Both mean that something is wrong with the whole, and the run stops before it does harm.
 */
import { type Facts, PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import type { DeadCount } from '#src/ledger/staging-ledger.ts';

export interface ApplyingLimits {
  /** Contacts found that the ledger did not know, as a fraction of the keys looked up. */
  readonly adoptionsMax: number;
  readonly adoptionsFloor: number;
  /** So many writes, all refused with one code and none accepted, stop the run. */
  readonly refusalsMax: number;
}

/** @throws PatchbayError `guard` `guardAdoptions`. */
export function checkAdoptions(run: RunRecord, limits: ApplyingLimits): void {
  const { foundUnknown, lookedUp } = run.counts;
  const { accept, adopt, maxChange } = run.options;
  const limit = Math.max(limits.adoptionsMax, maxChange ?? 0);
  // Dead letters that a person tries again were looked at one by one.
  if (
    run.kind === 'redrive' ||
    accept ||
    adopt ||
    foundUnknown < Math.max(1, limits.adoptionsFloor) ||
    foundUnknown <= limit * lookedUp
  )
    return;
  const message = `${foundUnknown} of ${lookedUp} keys looked up belong to contacts that are in the workspace already and that this data folder does not know (the limit guards.adoptionsMax is ${Math.round(limit * 100)}%): their fields would be overwritten`;
  const hint =
    'Was the data folder lost, or is it another one? If the contacts are to be taken over, approve the run, or import again with --adopt.';
  throw stop('guardAdoptions', message, hint, { foundUnknown, lookedUp, limit });
}

/** @throws PatchbayError `guard` `guardRefusals`. */
export function checkRefusals(run: RunRecord, dead: readonly DeadCount[], limits: ApplyingLimits): void {
  if (run.options.accept || run.counts.created + run.counts.updated > 0) return;
  const refused = dead.filter((one) => one.class === 'refused');
  const [only] = refused;
  if (only === undefined || refused.length > 1 || only.count < limits.refusalsMax) return;
  const message = `the first ${only.count} writes were all refused with ${only.code}, and none was accepted (guards.refusalsMax is ${limits.refusalsMax})`;
  const hint =
    'Look at one of the dead letters: patchbay dead ls. When the cause is mended, approve the run and retry them.';
  throw stop('guardRefusals', message, hint, { refused: only.count, code: only.code });
}

function stop(code: string, message: string, hint: string, facts: Facts): PatchbayError {
  return new PatchbayError('guard', code, `stopped: ${message}`, { hint, facts });
}
