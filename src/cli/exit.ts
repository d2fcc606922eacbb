/** From an error to what a person reads and a script compares. */
import { type ErrorKind, messageOf, PatchbayError } from '#src/errors.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { adviceFor, adviceOfKind } from './advice.ts';
import { printable } from './output.ts';

const codeOfKind: Record<ErrorKind, number> = {
  usage: exitCodes.usage,
  file: exitCodes.dead,
  auth: exitCodes.auth,
  guard: exitCodes.guard,
  unreachable: exitCodes.unreachable,
  transient: exitCodes.unreachable,
  // Nothing is wrong with the command, and trying again does not help.
  damaged: exitCodes.unexpected,
  rejected: exitCodes.dead,
  bug: exitCodes.unexpected,
};

export interface ErrorDocument {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null };
  readonly exitCode: number;
}

export function errorDocument(error: unknown): ErrorDocument {
  if (error instanceof PatchbayError) {
    const { code, message, hint, kind } = error;
    return {
      error: { code, message, hint: hint ?? adviceFor(code) ?? adviceOfKind(kind) },
      // A request that is refused as such: the service does not answer as its interface says.
      exitCode: code === 'requestRefused' ? exitCodes.unreachable : codeOfKind[kind],
    };
  }
  if (isUsageError(error)) {
    const message = messageOf(error)
      .replace(/^error: /, '')
      .replace('(outputHelp)', 'no command was given');
    return { error: { code: 'usage', message, hint: 'See: patchbay --help' }, exitCode: exitCodes.usage };
  }
  return {
    error: { code: 'unexpected', message: messageOf(error), hint: adviceFor('unexpected') },
    exitCode: exitCodes.unexpected,
  };
}

/** Commander's own errors carry codes of this form. */
function isUsageError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');
}

/** What a person reads: one or two lines. Names of files and columns may stand in them, and must not move the cursor. */
export function errorLines({ error: { code, message, hint } }: ErrorDocument): string {
  // Several problems come one a line.
  const inOneLine = message.trim().replaceAll('\n', '; ');
  return `patchbay: ${printable(inOneLine)} [${code}]${hint === null ? '' : `\n  ${printable(hint)}`}`;
}

/** Tells the error and leaves its exit code. With `json` the document goes to stdout, else two lines go to stderr. */
export async function exitWithError(error: unknown, { json }: { readonly json: boolean }): Promise<void> {
  const document = errorDocument(error);
  if (json) {
    process.stdout.write(`${JSON.stringify(document)}\n`);
  } else {
    process.stderr.write(`${errorLines(document)}\n`);
    if (document.exitCode === exitCodes.unexpected && error instanceof Error && process.env.LOG_LEVEL === 'debug') {
      process.stderr.write(`${error.stack}\n`);
    }
  }
  process.exitCode = document.exitCode;
}
