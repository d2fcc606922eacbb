/**
 * Whether writes get through at all. An attempt counts against a row only while other writes succeed: an outage burns
 * none (`rules.md`, "One contact per key", step 5).
 */
import type { Clock } from '#src/clock.ts';

export interface WriteHealth {
  succeeded(): void;
  /** Whether any write of this process succeeded since that monotonic moment. */
  succeededSince(monotonicMs: number): boolean;
}

export function createWriteHealth(clock: Clock): WriteHealth {
  let lastSuccessMs = Number.NEGATIVE_INFINITY;
  return {
    succeeded: () => {
      lastSuccessMs = clock.monotonicMs();
    },
    succeededSince: (monotonicMs) => lastSuccessMs >= monotonicMs,
  };
}
