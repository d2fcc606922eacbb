/** Letters and notices that a person names by their ids, and for which nothing can be done: those that are not open. */
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';

/** For each of these ids that names no open letter, in their order, why: `usage` `noSuchDeadLetter` | `letterNotOpen` | `notALetter`. */
export async function lettersNotOpen(
  { ledger }: Pick<Home, 'ledger'>,
  ids: readonly string[],
): Promise<readonly PatchbayError[]> {
  const all: PatchbayError[] = [];
  for (const id of new Set(ids)) {
    const letter = await ledger.deadLetters.get(id);
    if (letter !== null && letter.state !== 'open') all.push(letterNotOpen(letter));
    if (letter === null) all.push(notOpenLetter(id, await ledger.deliveries.get(id)));
  }
  return all;
}

function notOpenLetter(id: string, notice: DeliveryRecord | null): PatchbayError {
  if (notice === null) return noSuchDeadLetter(id);
  return notice.state === 'dead' ? notALetter(id) : noticeNotOpen(id, notice.state);
}

/** @throws PatchbayError as `lettersNotOpen` says of the first, where letters are named and none of them is open. */
export async function requireAnyOpen(home: Pick<Home, 'ledger'>, ids: readonly string[]): Promise<void> {
  const [first, ...others] = await lettersNotOpen(home, ids);
  if (first !== undefined && others.length + 1 === new Set(ids).size) throw first;
}

export function noSuchDeadLetter(id: string): PatchbayError {
  return new PatchbayError('usage', 'noSuchDeadLetter', `there is no dead letter ${id}`, {
    hint: 'List the dead letters with: patchbay dead ls',
  });
}

export function notALetter(id: string): PatchbayError {
  return new PatchbayError('usage', 'notALetter', `${id} is a notice, and holds no row`, {
    hint: `Send it again: patchbay dead retry ${id}`,
  });
}

function noticeNotOpen(id: string, state: Exclude<DeliveryRecord['state'], 'dead'>): PatchbayError {
  const what = { waiting: 'still waits to be sent', delivered: 'was delivered', dropped: 'was dropped' };
  const next = state === 'waiting' ? 'The running engine tries it, or the next one' : 'Nothing is left to be done';
  return new PatchbayError('usage', 'letterNotOpen', `notice ${id} ${what[state]}`, {
    hint: `${next}. List what is open with: patchbay dead ls`,
  });
}

export function letterNotOpen({
  id,
  state,
  redriveRunId,
}: Pick<DeadLetter, 'id' | 'state' | 'redriveRunId'>): PatchbayError {
  const [what, hint] = endOf({ id, state, redriveRunId });
  return new PatchbayError('usage', 'letterNotOpen', `dead letter ${id} ${what}`, { hint });
}

function endOf({
  id,
  state,
  redriveRunId,
}: Pick<DeadLetter, 'id' | 'state' | 'redriveRunId'>): readonly [what: string, hint: string] {
  switch (state) {
    case 'redriven':
      return [
        `is being tried again by run ${redriveRunId}`,
        `To go on with it: patchbay dead retry ${id}\nTo see how far it is: patchbay runs show ${redriveRunId}`,
      ];
    case 'dropped':
      return [
        'was dropped: nothing is done for its row any more',
        'If the row is to go in after all, import a file that holds it: that opens the letter again.',
      ];
    case 'closed':
      return [
        'is closed: its row went in, or a later file no longer held it',
        'Nothing is left to be done. List what is open with: patchbay dead ls',
      ];
    case 'open':
      // It was opened again since.
      return ['has changed meanwhile', 'Run the same command again.'];
  }
}
