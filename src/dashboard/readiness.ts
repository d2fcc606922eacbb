/** Whether this process can take files: asked by probes, and told among the metrics. */

import { PatchbayError } from '#src/errors.ts';
import type { DashboardParts, Readiness } from './parts.ts';

/** Asks whether this process can take files. A question that fails or hangs counts as not ready. */
const answerWithinMs = 3_000;

export async function askReadiness(parts: Pick<DashboardParts, 'readiness' | 'clock' | 'log'>): Promise<Readiness> {
  const waiting = new AbortController();
  const tooLate = parts.clock
    .sleep(answerWithinMs, waiting.signal)
    .then(() => notReady(`the process did not say within ${answerWithinMs / 1_000} s whether it can take files`));
  try {
    return await Promise.race([tooLate, ask(parts)]);
  } catch (error) {
    parts.log.warn({ code: error instanceof PatchbayError ? error.code : 'unexpected' }, 'readiness not known');
    return notReady('the process could not find out whether it can take files; see its log');
  } finally {
    waiting.abort();
  }
}

/** A throw becomes a rejection. */
async function ask(parts: Pick<DashboardParts, 'readiness'>): Promise<Readiness> {
  return await parts.readiness();
}

function notReady(reason: string): Readiness {
  return { ready: false, degraded: false, reasons: [reason] };
}
