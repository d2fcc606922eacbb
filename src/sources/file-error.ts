/**
 * The error of a file that cannot be read as a whole ("F" in bad-inputs.md): nothing of it was sent.
 */
import { type Facts, PatchbayError } from '#src/errors.ts';

/** A `file` error. `message` speaks of the file in the user's own words, `hint` says what to do next. */
export function fileError(code: string, message: string, facts: Facts, hint: string, cause?: unknown): PatchbayError {
  return new PatchbayError('file', code, message, { facts, hint, ...(cause === undefined ? {} : { cause }) });
}
