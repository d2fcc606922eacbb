/** What a seed draws for random kills: the two files, and what happens to processes and queue in between. */
import type { Chance } from './chance.ts';
import type { TwoFiles } from './judge.ts';
import type { Person } from './people.ts';

export type Action =
  | { readonly kind: 'kill'; readonly member: number }
  | { readonly kind: 'flush' }
  | { readonly kind: 'restart'; readonly awayMs: number }
  | { readonly kind: 'freezeQueue'; readonly forMs: number }
  | { readonly kind: 'freezeMember'; readonly member: number; readonly forMs: number };

/** How often what happens. Half of the freezes hit the queue, half a process. */
export interface ActionCounts {
  readonly kills: number;
  readonly flushes: number;
  readonly restarts: number;
  readonly freezes: number;
  readonly freezeMsMax: number;
  /** Beside the engine. */
  readonly workerCount: number;
}

/** The two files: shuffled, and a third of the keys stands in both. The second file is the newer one. */
export function filesOf(rows: number, chance: Chance): TwoFiles {
  const half = Math.floor(rows / 2);
  const key = (index: number): string => `k-${index + 1}`;
  const older = Array.from({ length: half }, (_, index): Person => ({ key: key(index), version: 'older' }));
  const start = Math.floor(half / 2);
  const newer = Array.from({ length: half }, (_, index): Person => ({ key: key(start + index), version: 'newer' }));
  return { first: chance.shuffled(older), second: chance.shuffled(newer) };
}

export function actionsOf(options: ActionCounts, chance: Chance): readonly Action[] {
  const member = (): number => chance.between(0, options.workerCount);
  const times = (count: number, make: (index: number) => Action): Action[] =>
    Array.from({ length: count }, (_, index) => make(index));
  return chance.shuffled([
    ...times(options.kills, () => ({ kind: 'kill', member: member() })),
    ...times(options.flushes, () => ({ kind: 'flush' })),
    ...times(options.restarts, () => ({ kind: 'restart', awayMs: chance.between(0, options.freezeMsMax) })),
    ...times(options.freezes, (index) => {
      const forMs = chance.between(500, options.freezeMsMax);
      return index % 2 === 0 ? { kind: 'freezeQueue', forMs } : { kind: 'freezeMember', member: member(), forMs };
    }),
  ]);
}
