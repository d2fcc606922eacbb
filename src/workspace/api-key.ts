/**
 * The API key in use, and when it is read anew: after a 401, at most once per 5 s, so that a rotated key file is
 * taken up while the program runs.
 *
 * Invariant: the key appears in no error, no log line and no result of this folder. What the service says is searched
 * for it, since a service may repeat the key that it refuses.
 */
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import { keyRenewalIntervalMs } from './limits.ts';

export interface ApiKey {
  /** Read once, then kept. Throws `auth` `keyMissing` or `keyMalformed`, and what reading it throws. */
  current(): Promise<string>;
  /** The service answered 401 to `used`: true when a repeat has a point, because the key was read anew since. */
  renewAfter(used: string): Promise<boolean>;
}

export interface ApiKeyOptions {
  readonly readApiKey: () => string | Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createApiKey({ readApiKey, clock, log }: ApiKeyOptions): ApiKey {
  let key: string | null = null;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  let renewal: Promise<boolean> | null = null;

  async function renew(): Promise<boolean> {
    try {
      key = checkKey(await readApiKey());
      return true;
    } catch (error) {
      // The refusal that led here is what the caller must learn; this is a note beside it.
      log.warn({ code: error instanceof PatchbayError ? error.code : null }, 'the API key could not be read anew');
      return false;
    }
  }

  return {
    async current() {
      key ??= checkKey(await readApiKey());
      return key;
    },
    async renewAfter(used) {
      if (key !== null && key !== used) return true;
      if (renewal === null) {
        const nowMs = clock.monotonicMs();
        if (nowMs - renewedAtMs < keyRenewalIntervalMs) return false;
        renewedAtMs = nowMs;
        renewal = renew().finally(() => {
          renewal = null;
        });
      }
      return renewal;
    },
  };
}

/** The key without the line end of its file. It is a header's value: visible ASCII, nothing else. */
function checkKey(text: string): string {
  const key = text.trim();
  if (key === '') {
    throw new PatchbayError('auth', 'keyMissing', 'There is no API key.', { hint: 'Set PATCHBAY_API_KEY.' });
  }
  if (!/^[\x21-\x7e]{1,4096}$/.test(key)) {
    const hint = 'Give the raw key alone, without spaces and without a scheme such as Bearer.';
    throw new PatchbayError('auth', 'keyMalformed', 'The API key holds characters that a key cannot have.', { hint });
  }
  return key;
}

/** The service's words without the key. */
export function withoutKey(body: ServiceErrorBody, key: string): ServiceErrorBody {
  const clean = (text: string) => text.replaceAll(key, '[key]');
  const cleanOrNull = (text: string | null) => (text === null ? null : clean(text));
  return {
    code: cleanOrNull(body.code),
    title: cleanOrNull(body.title),
    message: cleanOrNull(body.message),
    trace: cleanOrNull(body.trace),
    paths: body.paths.map(clean),
  };
}
