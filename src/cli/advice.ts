/** What to do next about an error whose thrower could not know (house style, point 6). */

import type { ErrorKind } from '#src/errors.ts';

const oddPages =
  'The service pages its lists in a way that its interface does not know. Nothing was written; check PATCHBAY_BASE_URL.';
const queueStopped = 'Start again: everything that was to be done stands in the ledger.';

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
  apiKeyFileOpen: 'Let nobody else read it: chmod 600 FILE.',
  redisUrlInvalid: 'Set REDIS_URL to redis://host:6379, or leave it out to use the embedded queue.',
  ledgerBusy:
    'Another process holds the ledger for long, perhaps a backup. Nothing is lost; run the same command again.',
  ledgerIoFails: 'Check the disk of the data folder. Nothing is lost; run the same command again.',
  diskFull: 'Make room on the disk of the data folder. Nothing is lost; run the same command again.',
  embeddedQueueCommand: queueStopped,
  embeddedQueueDied: queueStopped,
  embeddedQueueExit: queueStopped,
  mappingNotFound: 'Check the path. Mappings that come along lie in config/mappings; --mapping takes their names too.',
  mappingUnreadable: 'A mapping is a small text file in YAML: see config/mappings/generic.yaml.',
  tickTooLong: 'Look into the log with: patchbay logs --level warn. The next time tries again.',
  noSuchSchedule: 'See the names with: patchbay schedule ls',
  notStopped: 'See the runs that are stopped with: patchbay runs ls',
  notCancellable: 'See how the runs ended with: patchbay runs ls',
  portTaken: 'Set PORT to another port, or stop the program that has it.',
  unexpected:
    'This should not happen. Nothing is lost: what was to be done stands in the ledger. LOG_LEVEL=debug tells more.',
  invariant:
    'This should not happen. Nothing is lost: what was to be done stands in the ledger. LOG_LEVEL=debug tells more.',
};

/** An invariant of ours that does not hold: whichever it is, the reader can do the same. */
export function adviceOfKind(kind: ErrorKind): string | null {
  return kind === 'bug' ? adviceFor('unexpected') : null;
}

export function adviceFor(code: string): string | null {
  return advice[code] ?? null;
}
