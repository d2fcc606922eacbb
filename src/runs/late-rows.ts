/** Rows that are read once more: they were known, so that their cells were not read, and now something has to be said of them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DesiredContact, fingerprint } from '#src/contacts/desired.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { StageItem } from './compare.ts';
import { addTally, noTally, type StagedTally } from './guards.ts';
import { deadDuplicate, type LateDead, type SliceContent } from './slice.ts';
import type { RowSupply } from './supply.ts';

/** What rows that were staged are counted as. */
export interface StagedRows {
  readonly tally: StagedTally;
  readonly lateDead: readonly LateDead[];
  /** Of rows that are to be applied: those that the modes of the run leave out are none of them. */
  readonly stagedKeys: readonly string[];
}

/**
 * Rows that were unchanged when the feed's memory was read, and may not be any more: another run, or a person, has changed what the
 * feed knows of their keys. They are read once more and compared with the ledger itself.
 * So are rows whose contacts are gone, and are made again.
 * @param moved the lines of the rows, by the places of their keys.
 */
export async function stageMoved(
  stageAgain: (items: readonly StageItem[], places: Set<number>) => Promise<StagedRows>,
  supply: Pick<RowSupply, 'itemsAgain'>,
  moved: ReadonlyMap<number, number>,
): Promise<StagedRows> {
  let tally = noTally;
  const lateDead: LateDead[] = [];
  const stagedKeys: string[] = [];
  if (moved.size === 0) return { tally, lateDead, stagedKeys };
  const places = new Set(moved.keys());
  for await (const items of supply.itemsAgain(new Set(moved.values()))) {
    const again = await stageAgain(items, places);
    lateDead.push(...again.lateDead);
    stagedKeys.push(...again.stagedKeys);
    tally = addTally(tally, again.tally);
    await nextTurn();
  }
  return { tally, lateDead, stagedKeys };
}

/**
 * Unchanged rows are not stored. Those that turned out to be duplicates are read once more, for the fix-file.
 * @returns how many were found.
 */
export async function stageLateDead(
  write: (content: Pick<SliceContent['slice'], 'dead' | 'counts'>) => Promise<unknown>,
  supply: Pick<RowSupply, 'compiled' | 'itemsAgain'>,
  lateDead: readonly LateDead[],
): Promise<number> {
  let count = 0;
  const nameOf = (line: number, key: string, print: string): string => `${line} ${print} ${key}`;
  // The same row may appear several times on one line of JSON.
  const waiting = Map.groupBy(lateDead, (late) => nameOf(late.line, late.key, late.fingerprint));
  const find = (line: number, { key, ...rest }: DesiredContact): LateDead | undefined =>
    (waiting.get(nameOf(line, key, fingerprint({ key, ...rest }))) ?? waiting.get(nameOf(line, key, '')))?.pop();
  const lines = new Set(lateDead.map(({ line }) => line));
  for await (const items of supply.itemsAgain(lines)) {
    const dead = items.flatMap((item) => {
      const desired = lines.has(item.row.line) ? desiredOf(item, supply.compiled) : null;
      const late = desired === null ? undefined : find(item.row.line, desired);
      if (late === undefined) return [];
      const { row, letterId = null } = item;
      return [deadDuplicate(late.key, { row, letterId }, late.problem)];
    });
    if (dead.length === 0) continue;
    count += dead.length;
    await write({ dead, counts: { dead: dead.length } });
  }
  return count;
}

function desiredOf(item: StageItem, { mapRow }: CompiledMapping): DesiredContact | null {
  if (item.kind === 'broken') return null;
  const mapped = item.kind === 'desired' ? item : mapRow(item.row);
  return mapped.kind === 'desired' ? mapped.desired : null;
}
