/**
 * The passes that a process keeps in hand, so that a busy one does not ask Redis for each request.
 *
 * At most as many as were used within the time for which one is kept, and as the rate allows in a moment; so at low rates
 * none. Invariant: a pass that was not used in that time is given back.
 */
import type { Clock } from '#src/clock.ts';

/** How long a pass is kept. */
const keptMs = 50;
/** Of the rate above this one, the passes of `keptOfRateMs` may be kept; at this rate and below, none. */
const rateMin = 200;
const keptOfRateMs = 10;

export interface PassesInHand {
  /** The oldest one, given at `givenAtMs`; null if there is none that may still be used. */
  take(): { readonly number: number; readonly givenAtMs: number } | null;
  /** Keeps the passes from `first` on. */
  keep(first: number, count: number, givenAtMs: number): void;
  /** To be called once for each request that passes. */
  used(): void;
  /** How many more than there are callers should be asked for. */
  wantedCount(): number;
  /** Gives all back. */
  giveUp(): void;
}

interface PassesInHandOptions {
  readonly requestsPerSecond: number;
  readonly clock: Clock;
  readonly giveBack: (first: number, count: number) => void;
}

/** Passes with successive numbers, given at one time. */
interface Block {
  first: number;
  count: number;
  readonly givenAtMs: number;
}

export function createPassesInHand({ requestsPerSecond, clock, giveBack }: PassesInHandOptions): PassesInHand {
  const keptMax = Math.max(0, Math.floor(((requestsPerSecond - rateMin) * keptOfRateMs) / 1_000));
  /** The oldest first. */
  const blocks: Block[] = [];
  let timer: NodeJS.Timeout | null = null;
  let usedCount = 0;
  let usedSinceMs = 0;
  let usedPerKept = 0;

  const isOver = ({ givenAtMs }: Block): boolean => clock.monotonicMs() - givenAtMs > keptMs;
  /** Ends: each turn takes a block off the list. */
  function dropOld(): void {
    for (let oldest = blocks[0]; oldest !== undefined && isOver(oldest); oldest = blocks[0]) {
      blocks.shift();
      giveBack(oldest.first, oldest.count);
    }
  }
  function watch(): void {
    timer ??= setTimeout(() => {
      timer = null;
      dropOld();
      if (blocks.length > 0) watch();
    }, keptMs);
  }

  return {
    take: () => {
      dropOld();
      const [oldest] = blocks;
      if (oldest === undefined) return null;
      const number = oldest.first;
      oldest.first += 1;
      oldest.count -= 1;
      if (oldest.count === 0) blocks.shift();
      return { number, givenAtMs: oldest.givenAtMs };
    },
    keep: (first, count, givenAtMs) => {
      blocks.push({ first, count, givenAtMs });
      watch();
    },
    used: () => {
      usedCount += 1;
    },
    wantedCount: () => {
      if (keptMax === 0) return 0;
      const nowMs = clock.monotonicMs();
      const sinceMs = nowMs - usedSinceMs;
      if (sinceMs >= keptMs) {
        usedPerKept = Math.floor((usedCount * keptMs) / sinceMs);
        usedCount = 0;
        usedSinceMs = nowMs;
      }
      const heldCount = blocks.reduce((sum, { count }) => sum + count, 0);
      return Math.max(0, Math.min(usedPerKept, keptMax) - heldCount);
    },
    giveUp: () => {
      for (const { first, count } of blocks.splice(0)) giveBack(first, count);
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
