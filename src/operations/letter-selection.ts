/** Which dead letters a person chooses for an act: by their ids, by what fits, or all. */
import { PatchbayError } from '#src/errors.ts';
import type { LettersOfFeed } from '#src/ledger/letters.ts';
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
