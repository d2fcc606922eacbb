/** How an error leaves a command: one JSON document on stdout, or a few lines on stderr; and the exit code. */
import { type ErrorDocument, errorDocument } from '#src/operations/error-document.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { type FolderFlags, withFlags } from '#src/shell-words.ts';
import { print, printable } from './output.ts';

/** What a person reads: a few lines. Names of files and columns in them must not move the cursor. */
export function errorLines({ error: { code, message, hint } }: ErrorDocument): string {
  // Several problems come one per line.
  const lines = message.trim().split('\n').map(printable).join('\n  ');
  return `patchbay: ${lines} [${code}]${hint === null ? '' : `\n  ${hint.trim().split('\n').map(printable).join('\n  ')}`}`;
}

/** An error of the command line itself: an unknown command or option, a missing argument. */
export function usageDocument(message: string, hint: string): ErrorDocument {
  return { error: { code: 'usage', message, hint }, exitCode: exitCodes.usage };
}

/** The document with the flags of this command in the commands that its hint names. */
export function withFlagsInHint(document: ErrorDocument, flags: FolderFlags): ErrorDocument {
  const { hint } = document.error;
  return { ...document, error: { ...document.error, hint: hint === null ? null : withFlags(hint, flags) } };
}

export interface ErrorOptions extends FolderFlags {
  readonly json: boolean;
  readonly verbose?: boolean;
}

/** Prints the error and sets its exit code. With `json` the document goes to stdout, otherwise the lines go to stderr. */
export function exitWithError(error: unknown, options: ErrorOptions): void {
  const document = withFlagsInHint(errorDocument(error), options);
  if (options.json) exitWithDocument(document, options);
  else {
    printError(error, document, options);
    process.exitCode = document.exitCode;
  }
}

/** The lines of the document on stderr; of a defect its stack, too, where details are asked for. */
export function printError(error: unknown, document: ErrorDocument, options: Pick<ErrorOptions, 'verbose'> = {}): void {
  process.stderr.write(`${errorLines(document)}
`);
  if (!wantsDetails(options)) return;
  if (document.exitCode === exitCodes.unexpected && error instanceof Error)
    process.stderr.write(`${error.stack}
`);
}

/** As log lines of the level debug would be printed; the config file may be what is wrong, and is not asked. */
function wantsDetails({ verbose = false }: Pick<ErrorOptions, 'verbose'>): boolean {
  const level = process.env.LOG_LEVEL?.trim() || process.env.PATCHBAY_LOG_LEVEL?.trim() || '';
  return verbose || level === 'debug' || level === 'trace';
}

export function exitWithDocument(document: ErrorDocument, { json }: { readonly json: boolean }): void {
  if (json) print(`${JSON.stringify(document)}\n`);
  else process.stderr.write(`${errorLines(document)}\n`);
  process.exitCode = document.exitCode;
}
