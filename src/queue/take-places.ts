/**
 * Which feeds may be looked at at once, so that none waits for servers that are slow or dead: files have places of their own, and no host has
 * all places of downloads. The ticks at work, as the ledger has them, hold them. Pure.
 */
import { startableTicks } from '#src/ledger/rules/ticks.ts';
import type { TickRecord } from '#src/ledger/schedules.ts';

const filesAtOnceMax = 4;
const downloadsAtOnceMax = 4;
const downloadsOfHostMax = 3;

/** Places of all takes. */
export const takesAtOnceMax = filesAtOnceMax + downloadsAtOnceMax;

/** The host that the feed's files are downloaded from; null where they lie on a disk. */
export type HostOf = (feed: string) => string | null;

/** The ticks that may begin now, oldest first; of takes those that have a place. @param open as `startableTicks`. */
export function ticksWithPlace(open: readonly TickRecord[], hostOf: HostOf): readonly TickRecord[] {
  const held = new Map<string, number>();
  const placesOf = ({ schedule }: TickRecord): readonly (readonly [string, number])[] => {
    const host = hostOf(schedule);
    if (host === null) return [['files', filesAtOnceMax]];
    return [
      ['downloads', downloadsAtOnceMax],
      [`downloads from ${host}`, downloadsOfHostMax],
    ];
  };
  const hold = (tick: TickRecord): void => {
    for (const [place] of placesOf(tick)) held.set(place, (held.get(place) ?? 0) + 1);
  };
  const isTake = ({ work }: TickRecord): boolean => work === 'take';
  for (const tick of open) if (tick.state === 'working' && isTake(tick)) hold(tick);
  return startableTicks(open).filter((tick) => {
    if (!isTake(tick)) return true;
    const isFree = placesOf(tick).every(([place, max]) => (held.get(place) ?? 0) < max);
    if (isFree) hold(tick);
    return isFree;
  });
}
