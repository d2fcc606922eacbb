/** Whether this process can take files: asked by probes, and told among the metrics. */

import { PatchbayError } from '#src/errors.ts';
import type { Pause } from '#src/ledger/port.ts';
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
  return { ready: false, degraded: false, reasons: [reason], troubles: [reason] };
}

/** What a process knows of itself. */
export interface Signs {
  /** Import folders that cannot be used: a sentence each. */
  readonly folders: readonly string[];
  /** Of ledger, queue, disk and schedules. `plainMessage`: without an error's own words, where the message has them. */
  readonly troubles: readonly { readonly code: string; readonly message: string; readonly plainMessage?: string }[];
  /** Jobs that end early again and again: in full, and without an error's own words. */
  readonly failures: { readonly whole: readonly string[]; readonly plain: readonly string[] };
  readonly pause: Pause | null;
}

/** What keeps a process from taking files. */
const notReadyCodes: readonly string[] = [
  ...['diskFull', 'ledgerIoFails', 'ledgerDamaged', 'ledgerAway', 'ledgerReadOnly'],
];

/** Not ready only when this process cannot take files; work that is paused is degraded. Pure. */
export function readinessOf({ folders, troubles, failures, pause }: Signs): Readiness {
  const isBlocking = ({ code }: { readonly code: string }): boolean => notReadyCodes.includes(code);
  const blocking = troubles.filter(isBlocking);
  const inOrder = [...blocking, ...troubles.filter((trouble) => !isBlocking(trouble))];
  const plain = inOrder.map(({ message, plainMessage }) => plainMessage ?? message);
  return {
    ready: folders.length + blocking.length === 0,
    degraded: pause !== null || failures.whole.length + troubles.length > 0,
    // A queue that takes nothing is a trouble, and may be why work is paused.
    reasons: [...new Set([...folders, ...plain, ...failures.plain, ...(pause === null ? [] : [plainPause(pause)])])],
    troubles: [...folders, ...inOrder.map(({ message }) => message), ...failures.whole],
  };
}

/** Older versions kept the whole message alone, with the service's words. */
function plainPause({ code, scope, plainMessage, errorCode }: Pause): string {
  if (plainMessage !== undefined) return plainMessage;
  const why = code === 'auth' ? 'the API key' : scope === 'writes' ? 'writes' : 'reads';
  return `Work is paused: the service does not accept ${why}${errorCode === undefined ? '' : ` (${errorCode})`}.`;
}
