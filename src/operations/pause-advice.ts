/** What ends a pause, and what a person can do for that. Pure. */
import type { Config } from '#src/config/schema.ts';
import type { Pause } from '#src/ledger/port.ts';

/** In sentences. @param service as the process at work was started with it: a key file is read again and again, a key in the environment once. */
export function pauseAdvice(pause: Pause, service: Pick<Config['service'], 'apiKey' | 'apiKeyFile'>): string {
  if (pause.code === 'auth') return `${keyAdvice(service)} No row is lost.`;
  if (pause.errorCode?.startsWith('queue') === true)
    return 'Work continues by itself as soon as the queue takes requests again. No row is lost.';
  return pause.scope === 'writes'
    ? 'Nothing to do here: files are read, and writing continues by itself as soon as the service accepts writes. No row is lost.'
    : 'Nothing to do here: work continues by itself as soon as the service answers. No row is lost.';
}

function keyAdvice({ apiKey, apiKeyFile }: Pick<Config['service'], 'apiKey' | 'apiKeyFile'>): string {
  if (apiKey === null && apiKeyFile !== null)
    return `Set a working key in ${apiKeyFile}: work continues by itself as soon as the service accepts it.`;
  return 'Set a working key in PATCHBAY_API_KEY and start Patchbay again: it keeps the key that it was started with, and continues by itself only where the service accepts that one again.';
}
