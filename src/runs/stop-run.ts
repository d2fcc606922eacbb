/** Stops a run that a guard stopped while it was applied: its rows stay staged, its report says why. */
import { PatchbayError } from '#src/errors.ts';
import { reportStopped } from './finish-run.ts';
import type { RunParts } from './parts.ts';

/** @returns whether the error was a guard's, and the run is stopped now. */
export async function stopForGuard(parts: RunParts, runId: string, error: unknown): Promise<boolean> {
  if (!(error instanceof PatchbayError) || error.kind !== 'guard') return false;
  const { ledger, clock, log } = parts;
  const { code, message, hint, facts } = error;
  const reason = { code, message, hint, facts };
  if (await ledger.runs.move(runId, ['applying'], 'stopped', { atMs: clock.nowMs(), reason })) {
    const run = await ledger.runs.get(runId);
    if (run !== null) await reportStopped(parts, run);
    log.warn({ run: runId, code, ...facts }, 'run stopped by a guard');
  }
  return true;
}
