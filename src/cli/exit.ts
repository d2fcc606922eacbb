/** From an error to what a person reads and a script compares. */
import { type ErrorKind, messageOf, PatchbayError } from '#src/errors.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
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

/** What to do next about an error whose thrower could not know (house style, point 6). */
const oddPages = 'The service pages its lists in an unexpected way. Nothing was written; check PATCHBAY_BASE_URL.';
const queueStopped = 'Start again: the ledger knows what is to be done.';

const advice: Readonly<Record<string, string>> = {
  keyRefused: 'Check PATCHBAY_API_KEY: the raw key, without "Bearer". No row was given up; run the same command again.',
  serviceUnreachable: 'Check PATCHBAY_BASE_URL and the network. Nothing is lost; run the same command again.',
  serviceFailing: 'The service has a problem of its own. Nothing is lost; run the same command again later.',
  serviceAnswersOddly: 'Check PATCHBAY_BASE_URL: what answers there does not speak the interface of the service.',
  rateLimited: 'Another tool uses up the rate of this key. Lower PATCHBAY_RATE or try again later.',
  strangersReturned: 'The service ignores the filter of a look-up; nothing was written. Check PATCHBAY_BASE_URL.',
  requestRefused:
    'The service says no to a request that it should know. Check PATCHBAY_BASE_URL and the rights of the key.',
  pageTokenNotText: oddPages,
  pageTokenRepeated: oddPages,
  tooManyPages: oddPages,
  apiKeyFileOpen: 'Make it readable by its owner only: chmod 600 FILE.',
  redisUrlInvalid: 'Set REDIS_URL to redis://host:6379, or leave it out to use the embedded queue.',
  ledgerBusy:
    'Another process has locked the ledger for a long time, perhaps a backup. Nothing is lost; run the same command again.',
  ledgerIoFails: 'Check the disk of the data folder. Nothing is lost; run the same command again.',
  diskFull: 'Make room on the disk of the data folder. Nothing is lost; run the same command again.',
  embeddedQueueCommand: queueStopped,
  embeddedQueueDied: queueStopped,
  embeddedQueueExit: queueStopped,
  mappingNotFound:
    'Check the path. Mappings that come with Patchbay are in config/mappings; --mapping takes their names too.',
  mappingUnreadable: 'A mapping is a small text file in YAML: see config/mappings/generic.yaml.',
  tickTooLong: 'Look into the log with: patchbay logs --level warn. The next time tries again.',
  noSuchSchedule: 'See the names with: patchbay schedule ls',
  notStopped: 'See the runs that are stopped with: patchbay runs ls',
  notCancellable: 'See how the runs ended with: patchbay runs ls',
  portTaken: 'Set PORT to another port, or stop the program that has it.',
  unexpected:
    'This should not happen. Nothing is lost: the ledger knows what is to be done. LOG_LEVEL=debug shows more.',
  invariant:
    'This should not happen. Nothing is lost: the ledger knows what is to be done. LOG_LEVEL=debug shows more.',
};

/** An invariant of ours that does not hold: whichever it is, the reader can do the same. */
export function adviceOfKind(kind: ErrorKind): string | null {
  return kind === 'bug' ? adviceFor('unexpected') : null;
}

export function adviceFor(code: string): string | null {
  return advice[code] ?? null;
}
