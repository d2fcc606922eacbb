/** What one try of a download throws where another one may do better. */
import type { PatchbayError } from '#src/errors.ts';

export class TryAgain extends Error {
  override readonly name = 'TryAgain';
  /** What is told when it was the last try. */
  readonly failure: PatchbayError;
  /** What the server asked for; null where it asked for nothing. */
  readonly retryAfterMs: number | null;

  constructor(failure: PatchbayError, retryAfterMs: number | null) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}
