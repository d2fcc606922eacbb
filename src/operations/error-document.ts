/** From an error to what a script compares and a person reads: code, message, hint and exit code (`docs/contract.md`). */
import { type ErrorKind, messageOf, PatchbayError } from '#src/errors.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { isDiskFull } from '#src/whole-file.ts';

const codeOfKind: Record<ErrorKind, number> = {
  usage: exitCodes.usage,
  file: exitCodes.dead,
  auth: exitCodes.auth,
  guard: exitCodes.guard,
  unreachable: exitCodes.unreachable,
  transient: exitCodes.unreachable,
  // The command is right, and trying again does not help.
  damaged: exitCodes.unexpected,
  rejected: exitCodes.dead,
  bug: exitCodes.unexpected,
};

export interface ErrorDocument {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null };
  readonly exitCode: number;
}

/** Any value that was thrown. An error without a hint of its own gets the advice for its code. */
export function errorDocument(error: unknown): ErrorDocument {
  if (!(error instanceof PatchbayError)) {
    if (isDiskFull(error)) {
      const full = { code: 'diskFull', message: `a disk is full: ${messageOf(error)}`, hint: adviceFor('diskFull') };
      return { error: full, exitCode: codeOfKind.transient };
    }
    const hint = adviceFor('unexpected');
    return { error: { code: 'unexpected', message: messageOf(error), hint }, exitCode: exitCodes.unexpected };
  }
  const { code, message, hint, kind } = error;
  return {
    error: { code, message, hint: hint ?? adviceFor(code) ?? adviceOfKind(kind) },
    // A request that is refused as such: the service does not answer as its interface says.
    exitCode: code === 'requestRefused' ? exitCodes.unreachable : codeOfKind[kind],
  };
}

// What to do next about errors whose thrower does not know what the person is doing.

const oddPages =
  'The service does not page its lists as its interface says. Nothing was written; check PATCHBAY_BASE_URL.';
const queueStopped = 'Start again: nothing is lost, the ledger holds all work that is left.';
const defect =
  'This is a defect in Patchbay. Nothing is lost: the ledger holds all work that is left. Set LOG_LEVEL=debug for details.';

const advice: Readonly<Record<string, string>> = {
  keyRefused:
    'Check the key in PATCHBAY_API_KEY, or in the file that PATCHBAY_API_KEY_FILE or service.apiKeyFile names: the raw key, without "Bearer". Nothing is lost; run the same command again.',
  serviceUnreachable: 'Check PATCHBAY_BASE_URL and the network. Nothing is lost; run the same command again.',
  serviceFailing: 'The service has a problem of its own. Nothing is lost; run the same command again later.',
  serviceAnswersOddly:
    'Check PATCHBAY_BASE_URL: the server there does not answer as the interface of the service says.',
  rateLimited: 'Another tool uses up the rate limit of this key. Lower PATCHBAY_RATE or try again later.',
  strangersReturned: 'The service ignores the filter of a look-up; nothing was written. Check PATCHBAY_BASE_URL.',
  requestRefused:
    'The service refuses a request that its interface allows. Check PATCHBAY_BASE_URL and the rights of the key.',
  pageTokenNotText: oddPages,
  pageTokenRepeated: oddPages,
  tooManyPages: oddPages,
  apiKeyFileOpen: 'Make it readable for its owner only: chmod 600 FILE.',
  redisUrlInvalid: 'Set REDIS_URL to redis://host:6379, or leave it unset to use the embedded queue.',
  ledgerBusy: 'Another process keeps the ledger locked, perhaps a backup. Nothing is lost; run the same command again.',
  ledgerIoFails: 'Check the disk of the data folder. Nothing is lost; run the same command again.',
  ledgerAway:
    'Check DATABASE_URL, and that PostgreSQL runs there. Nothing is lost; run the same command again when it answers.',
  ledgerReadOnly:
    'The database may be a standby, or set to read-only; where the ledger is a file, check its rights and those of its folder. Nothing is lost; run the same command again.',
  ledgerSlow:
    'The database is overloaded, or a statement waits for a lock of another program. Run the same command again.',
  commitUnanswered: 'See what was recorded: patchbay status. Then run the same command again.',
  diskFails: 'Check that disk. Nothing is lost; run the same command again.',
  diskFull: 'Free some space on the disk of the data folder. Nothing is lost; run the same command again.',
  folderUnusable: 'Check the rights and the disk of that folder. Nothing is lost; run the same command again.',
  embeddedQueueCommand: queueStopped,
  embeddedQueueDied: queueStopped,
  embeddedQueueExit: queueStopped,
  mappingNotFound: 'Check the path. --mapping also takes the name of a mapping in config/mappings.',
  mappingUnreadable: 'A mapping is a small text file in YAML: see config/mappings/generic.yaml.',
  tickTooLong: 'Look at the log: patchbay logs --level warn. The next occurrence tries again.',
  ledgerMissing:
    'Check --data, and DATABASE_URL where it is set. A ledger is made by the first command that works: patchbay start',
  noSuchSchedule: 'List the schedules with: patchbay schedule ls',
  portTaken: 'Set PORT to another port, or stop the program that uses it.',
  unexpected: defect,
  invariant: defect,
};

/** For errors that are defects, whatever their code. */
export function adviceOfKind(kind: ErrorKind): string | null {
  return kind === 'bug' ? defect : null;
}

export function adviceFor(code: string): string | null {
  return advice[code] ?? null;
}
