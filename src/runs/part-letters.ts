/**
 * Dead letters that no row of a file stands for: of held fields, of an undo, of a repair, and of people who left. What they want is in the
 * ledger, and no mapping reads it from their cells (`docs/rules.md`, "Dead letters").
 */
import { isOfNoRow } from '#src/contacts/desired.ts';
import { isStillSaid } from '#src/contacts/drift.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import { isUnsettled } from '#src/ledger/rules/letters.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { StageItem } from './compare.ts';

/** A letter that is tried again as it was ordered. */
export type PartItem = Extract<StageItem, { readonly kind: 'desired' }>;

/** By id, as what those of these letters that no row stands for are tried again. @param run the one that tries them. */
export async function partsAgain(
  { runs }: Pick<Ledger, 'runs'>,
  { feed, sequence }: Pick<RunRecord, 'feed' | 'sequence'>,
  letters: readonly DeadLetter[],
): Promise<ReadonlyMap<string, PartItem>> {
  const items = letters.flatMap(({ id, row, line, desired, sequence: met, state }): readonly PartItem[] => {
    if (row === null || !isOfNoRow(line, desired)) return [];
    // An undo that is still to be done goes by what the contact holds now, and is no older than the files that came meanwhile.
    const isToBeUndone = desired.undo !== undefined && isUnsettled(state);
    return [{ kind: 'desired', row, desired, sequence: isToBeUndone ? sequence : met, letterId: id }];
  });
  const said = await saidAgain(runs, feed, items);
  return new Map(items.map((item) => [item.letterId ?? '', { ...item, sequence: said.get(item) ?? item.sequence }]));
}

/** Repairs are as old as the newest file that still says the same: its run. Those that none has said since, or not all of it, are left out. */
async function saidAgain(
  runs: Pick<Ledger['runs'], 'saidOf' | 'confirmedSince'>,
  feed: string,
  items: readonly PartItem[],
): Promise<ReadonlyMap<PartItem, number>> {
  const repairs = items.filter(({ desired }) => desired.repairs === true);
  if (repairs.length === 0) return new Map();
  const known = await runs.saidOf(
    feed,
    repairs.map(({ desired }) => desired.key),
  );
  const since = await runs.confirmedSince(feed, Math.min(...repairs.map(({ sequence }) => sequence)));
  return new Map(
    repairs.flatMap((item): readonly [PartItem, number][] => {
      const now = known.get(item.desired.key);
      // The key may be unchanged since a row that said something else.
      if (now === undefined || !isStillSaid(now.said, item.desired)) return [];
      const newest = since.find(({ bits }) => hasBit(bits, now.number));
      return newest === undefined || newest.sequence < item.sequence ? [] : [[item, newest.sequence]];
    }),
  );
}
