/** Which dead letters a person chooses for an act: by their ids, by what fits, or all; and why nothing can be done for those that are not open. */

import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { DeadLetter, LettersOfFeed } from '#src/ledger/letters.ts';
import { isNoticeId } from './dead-notices.ts';

/** Which open letters and notices: these ids, or all that fit code, run and feed, or all. */
export interface LetterSelection {
  readonly ids: readonly string[];
  readonly code?: string;
  /** By its id or the end of it. */
  readonly run?: string;
  readonly feed?: string;
  readonly all?: boolean;
}

/** @throws PatchbayError `usage` `nothingChosen`. */
export function requireChosen({ ids, code, run, feed, all }: LetterSelection): void {
  if (ids.length > 0 || code !== undefined || run !== undefined || feed !== undefined || all === true) return;
  throw new PatchbayError('usage', 'nothingChosen', 'no dead letters were chosen', {
    hint: 'Name ids, or use --code CODE, --run RUN, --feed FEED or --all. List them first: patchbay dead ls',
  });
}

/** Those ids that are not of notices. */
export function lettersNamed({ ids }: Pick<LetterSelection, 'ids'>): readonly string[] {
  return ids.filter((id) => !isNoticeId(id));
}

/** The same for the ledger. @param selection its run is a whole id. */
export function chosenLetters(selection: LetterSelection): LettersOfFeed {
  return { ...(selection.ids.length === 0 ? {} : { ids: lettersNamed(selection) }), ...fitting(selection) };
}

/** What letters are to fit, for the ledger. @param selection its run is a whole id. */
export function fitting({ code, run, feed }: Omit<LetterSelection, 'ids'>): Omit<LettersOfFeed, 'ids'> {
  return {
    ...(code === undefined ? {} : { code }),
    ...(run === undefined ? {} : { runId: run }),
    ...(feed === undefined ? {} : { feed }),
  };
}

/** How many letters an act names. */
const idsOfActMax = 20;

/** What an act says of the ids that were named. */
export function idsInAct(ids: readonly string[]): { readonly ids?: readonly string[] } {
  return ids.length === 0 ? {} : { ids: ids.slice(0, idsOfActMax) };
}

/**
 * For each of these ids, of letters and notices, that names no open letter, in their order, why: `usage` `noSuchDeadLetter` |
 * `letterNotOpen` | `notALetter`.
 */
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
