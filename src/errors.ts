/**
 * Errors, classified by what must happen next.
 *
 * An error carries facts and a stable code. Advice is added where it is shown: on the command line and on the page.
 */

/**
 * - `usage`: the command or the configuration is wrong; nothing was done.
 * - `file`: one file cannot be read as a whole; nothing of it was sent.
 * - `auth`: the key is missing or refused; stop and wait for a working key.
 * - `guard`: a limit stopped the run before it wrote.
 * - `unreachable`: queue or service does not answer, or sends an unexpected response; try again later.
 * - `transient`: one operation failed and may be retried.
 * - `damaged`: the ledger's file is damaged; all work stops until it is restored.
 * - `rejected`: one row is rejected; the run continues.
 * - `bug`: an invariant does not hold.
 */
export type ErrorKind =
  | 'usage'
  | 'file'
  | 'auth'
  | 'guard'
  | 'unreachable'
  | 'transient'
  | 'damaged'
  | 'rejected'
  | 'bug';

export type Facts = Readonly<Record<string, string | number | boolean | null>>;

export interface ErrorOptions {
  /** What happened, as fields. Never a secret; personal data only if the reader is the one who dropped the file. */
  readonly facts?: Facts;
  /** What to do next, in one sentence, if only the thrower knows it. */
  readonly hint?: string;
  /** The message without what others wrote in it, as the service did: for readers without a token. Left out: the message itself. */
  readonly plainMessage?: string;
  readonly cause?: unknown;
}

/** The one error class of Patchbay. `code` is stable: scripts may compare it. */
export class PatchbayError extends Error {
  override readonly name = 'PatchbayError';
  readonly kind: ErrorKind;
  readonly code: string;
  readonly facts: Facts;
  readonly hint: string | null;
  /** Without words of the service, which may be about a person. */
  readonly plainMessage: string;

  constructor(kind: ErrorKind, code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.facts = options.facts ?? {};
    this.hint = options.hint ?? null;
    this.plainMessage = options.plainMessage ?? message;
  }
}

/** A `file` error: nothing of the file was sent. `message` names the file as the user does, `hint` says what to do next. */
export function fileError(code: string, message: string, facts: Facts, hint: string, cause?: unknown): PatchbayError {
  return new PatchbayError('file', code, message, { facts, hint, ...(cause === undefined ? {} : { cause }) });
}

/** Asserts an invariant. @throws PatchbayError `bug` `invariant`. */
export function invariant(condition: unknown, message: string, facts: Facts = {}): asserts condition {
  if (!condition) throw new PatchbayError('bug', 'invariant', message, { facts });
}

/** Makes a `switch` over a tagged union exhaustive: a missing case does not compile. */
export function unreachable(value: never): never {
  throw new PatchbayError('bug', 'unreachableCase', `no case for ${JSON.stringify(value)}`);
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error such as `ENOENT`, or null. */
export function systemCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** For `readdir(folder).catch(emptyIfMissing)`: a missing folder holds nothing. Any other error is thrown again. */
export function emptyIfMissing(error: unknown): [] {
  if (systemCodeOf(error) === 'ENOENT') return [];
  throw error;
}
