/** Tells the ledger of jobs that end with an error of Patchbay's own: each begins again with the next sweep, and people should know. */
import type { Home } from '#src/app.ts';
import { messageOf } from '#src/errors.ts';
import type { WorkDefect } from '#src/ledger/port.ts';

/** @returns what workers call after such a job. */
export function defectNotes({
  ledger,
  clock,
  log,
}: Pick<Home, 'ledger' | 'clock' | 'log'>): (defect: Pick<WorkDefect, 'job' | 'runId' | 'message'>) => void {
  return (defect) => {
    ledger.noteWorkDefect({ ...defect, atMs: clock.nowMs() }).catch((error: unknown) => {
      // The next one is noted again; trouble of the ledger is reported by `health.ts`.
      log.debug({ reason: messageOf(error) }, 'defect not noted');
    });
  };
}
