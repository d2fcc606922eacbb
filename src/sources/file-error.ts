/**
 * The error of a file that cannot be read as a whole ("F" in bad-inputs.md): nothing of it was sent.
 */
import { type Facts, PatchbayError } from '#src/errors.ts';

/** A `file` error. `message` speaks of the file in the user's own words, `hint` says what to do next. */
export function fileError(code: string, message: string, facts: Facts, hint: string, cause?: unknown): PatchbayError {
  return new PatchbayError('file', code, message, { facts, hint, ...(cause === undefined ? {} : { cause }) });
}

/** The `code` of a system error such as `ENOENT`, or null. */
export function systemCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** For reading a folder that may never have been made: it holds nothing. Any other error passes through. */
export function noneWhereMissing(error: unknown): [] {
  if (systemCodeOf(error) === 'ENOENT') return [];
  throw error;
}
