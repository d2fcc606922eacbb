/**
 * Reads all phone numbers of the workspace, or of one user (`rules.md`, "Snapshots").
 *
 * Invariant: it gives all of them, unique by id, or throws; never a part. `totalItems` is not read.
 */
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { sameValue } from './same-value.ts';

/** Far above any workspace; all of them are held in memory at once. */
export interface WalkLimits {
  readonly numbersMax: number;
  /** Of the numbers' JSON, in characters. */
  readonly charactersMax: number;
  readonly walkMs: number;
}
export const walkLimits: WalkLimits = { numbersMax: 100_000, charactersMax: 100_000_000, walkMs: 600_000 };

export interface Walk {
  /** In the service's order. */
  readonly numbers: readonly PhoneNumber[];
  readonly pages: number;
  /** Numbers that came more than once and differently: the list changed while it was walked. The later one counts. */
  readonly movedCount: number;
}

/** @throws PatchbayError what a read throws; `unreachable` `walkTooLong`, `phoneNumberListTooLarge`. */
export async function walkNumbers(
  { workspace, clock }: { readonly workspace: Pick<Workspace, 'listPhoneNumberPages'>; readonly clock: Clock },
  userId: string | null,
  signal: AbortSignal,
  limits: WalkLimits = walkLimits,
): Promise<Walk> {
  const overdue = new AbortController();
  const ended = new AbortController();
  clock.sleep(limits.walkMs, ended.signal).then(
    () => overdue.abort(tooLong(limits)),
    () => undefined,
  );
  try {
    return await walkAll(workspace, userId, AbortSignal.any([signal, overdue.signal]), limits);
  } finally {
    ended.abort();
  }
}

async function walkAll(
  workspace: Pick<Workspace, 'listPhoneNumberPages'>,
  userId: string | null,
  signal: AbortSignal,
  limits: WalkLimits,
): Promise<Walk> {
  const numbers = new Map<string, PhoneNumber>();
  const moved = new Set<string>();
  let pages = 0;
  let characters = 0;
  // Ends with the list: the walker bounds its pages, and each of them is bounded.
  for await (const page of workspace.listPhoneNumberPages({ userId, signal })) {
    signal.throwIfAborted();
    pages += 1;
    for (const number of page) {
      const earlier = numbers.get(number.id);
      if (earlier !== undefined && !sameValue(earlier, number)) moved.add(number.id);
      numbers.set(number.id, number);
      characters += JSON.stringify(number).length;
    }
    if (numbers.size > limits.numbersMax || characters > limits.charactersMax) throw tooLarge(limits);
  }
  return { numbers: [...numbers.values()], pages, movedCount: moved.size };
}

function tooLong({ walkMs }: WalkLimits): PatchbayError {
  const message = `The phone numbers could not be read within ${Math.round(walkMs / 60_000)} minutes.`;
  return new PatchbayError('unreachable', 'walkTooLong', message, {
    facts: { walkMs },
    hint: 'The last good snapshot stands. Try again later; where the rate is low, raise PATCHBAY_RATE.',
  });
}

function tooLarge({ numbersMax, charactersMax }: WalkLimits): PatchbayError {
  return new PatchbayError(
    'unreachable',
    'phoneNumberListTooLarge',
    `The service lists more than ${numbersMax} phone numbers, or more than ${charactersMax} characters of them.`,
    { facts: { numbersMax, charactersMax }, hint: 'The last good snapshot stands. Take them user by user: --user ID.' },
  );
}
