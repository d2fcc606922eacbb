/**
 * A worker process: takes batches from the queue of an engine that runs in another process.
 *
 * It holds no lock, serves no page, takes no files, reads no file and finishes no run: it never becomes the engine. The
 * engine may stop, die and come back as often as it likes: each time the worker waits for the next one and begins a new
 * shift (`worker-shift.ts`).
 */
import type { Home } from '#src/app.ts';
import { sleepUnlessCut } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { isGone, nextEngine, requireEngine } from './find-engine.ts';
import { retryEveryMs, type ShiftOptions, workShift } from './worker-shift.ts';

/**
 * Works until the signal fires: for the engine that runs, and for each one that follows it, however long that takes.
 * @throws PatchbayError `usage`: `noEngine`, `otherService`, `otherQueue`, `otherWorkspace`; `unreachable` `queueUnreachable` where
 *   Redis does not answer at the start; `damaged`.
 */
export async function runWorker(home: Home, options: ShiftOptions): Promise<void> {
  const { clock, ledger } = home;
  const { signal, onWait } = options;
  await requireEngine(home, signal);
  let engine = await ledger.engineNotice();
  // Ends with the signal.
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      if (engine === null || (await isGone(home, engine))) {
        if (!isFirst) onWait(null);
        engine = await nextEngine(home, signal);
        if (engine === null) return;
      }
      await workShift(home, engine, options);
    } catch (error) {
      // A ledger that another process holds for long is waited for like a service that does not answer.
      const passes = error instanceof PatchbayError && (error.kind === 'unreachable' || error.kind === 'transient');
      const waits = passes && !isFirst;
      if (!waits) throw error;
      onWait(error);
      await sleepUnlessCut(clock, retryEveryMs, signal);
    }
  }
}
