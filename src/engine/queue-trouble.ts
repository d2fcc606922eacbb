/** What is the matter with the queue, told from how it took jobs. Pure. */

/** Jobs are taken in a few milliseconds. */
const slowMs = 2_000;

/** Null where all is well. The words of Redis come first in its errors, as in `OOM command not allowed`. */
export function queueTrouble(
  description: string,
  error: Error | null,
  tookMs: number,
): { readonly code: string; readonly message: string } | null {
  const waits = 'Work waits, and nothing is lost.';
  if (error === null) {
    if (tookMs < slowMs) return null;
    return { code: 'queueSlow', message: `The queue is slow: ${description} took ${seconds(tookMs)} for a few jobs.` };
  }
  const { message } = error;
  if (message === 'Command timed out') {
    return { code: 'queueSlow', message: `The queue does not answer in time: ${description}. ${waits}` };
  }
  if (message.includes('OOM ')) {
    return { code: 'queueFull', message: `The queue has no memory left: ${description}. ${waits}` };
  }
  if (/^(MISCONF|READONLY|LOADING|BUSY|NOPERM|NOAUTH|WRONGPASS|ERR) /.test(message)) {
    return { code: 'queueRefuses', message: `The queue takes no jobs: ${description} says ${message}. ${waits}` };
  }
  return { code: 'queueAway', message: `The queue cannot be reached: ${description} (${message}). ${waits}` };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
