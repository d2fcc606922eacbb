/** A tick that failed, as the error that the work itself would have thrown: so every command exits alike (`exit.ts`). */
import { type ErrorKind, PatchbayError } from '#src/errors.ts';
import type { TickRecord } from '#src/ledger/schedule-record.ts';

/** The ledger keeps an error's code, not its kind. What is not here is answered by `unreachable`: the source did not serve. */
const kinds: Readonly<Record<string, ErrorKind>> = {
  keyRefused: 'auth',
  apiKeyMissing: 'auth',
  userInvalid: 'usage',
  noSuchFeed: 'usage',
  unexpected: 'bug',
  invariant: 'bug',
  unreachableCase: 'bug',
};

export function tickFailure(tick: TickRecord, hint?: string): PatchbayError {
  const code = tick.code ?? 'unexpected';
  const message = tick.message ?? `the schedule ${tick.schedule} could not be carried out`;
  return new PatchbayError(kinds[code] ?? 'unreachable', code, message, {
    facts: { tick: tick.id },
    ...(hint === undefined ? {} : { hint }),
  });
}
