/** What to do next about an error whose thrower could not know (house style, point 6). */

const advice: Readonly<Record<string, string>> = {
  keyRefused: 'Check PATCHBAY_API_KEY: the raw key, without "Bearer". No row was given up; run the same command again.',
  serviceUnreachable: 'Check PATCHBAY_BASE_URL and the network. Nothing is lost; run the same command again.',
  serviceFailing: 'The service has a problem of its own. Nothing is lost; run the same command again later.',
  serviceAnswersOddly: 'Check PATCHBAY_BASE_URL: what answers there does not speak the interface of the service.',
  rateLimited: 'Another tool uses up the rate of this key. Lower PATCHBAY_RATE or try again later.',
  strangersReturned: 'The service ignores the filter of a look-up; nothing was written. Check PATCHBAY_BASE_URL.',
  portTaken: 'Set PORT to another port, or stop the program that has it.',
  unexpected:
    'This should not happen. Nothing is lost: what was to be done stands in the ledger. LOG_LEVEL=debug tells more.',
  invariant:
    'This should not happen. Nothing is lost: what was to be done stands in the ledger. LOG_LEVEL=debug tells more.',
};

export function adviceFor(code: string): string | null {
  return advice[code] ?? null;
}
