/** Job: take a snapshot of the phone numbers, for one tick of their schedule. */
import { z } from 'zod';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { carryOutTick, type TickParts, tickLimitMs } from '#src/schedules/carry-out-tick.ts';
import { type SnapshotParts, takeSnapshot } from '#src/snapshots/take-snapshot.ts';

const payload = z.object({ tickId: z.string() });

interface SnapshotContext {
  readonly schedules: TickParts;
  readonly snapshots: SnapshotParts;
}

export const snapshotPhoneNumbers: JobDefinition<z.infer<typeof payload>, SnapshotContext> = {
  name: 'snapshot-phone-numbers',
  schema: payload,
  concurrency: 1,
  about: async ({ tickId }, { schedules }) => {
    const tick = await schedules.ledger.schedules.tick(tickId);
    return tick === null ? {} : { feed: tick.schedule };
  },
  process: async ({ tickId }, { schedules, snapshots }, signal) => {
    const limits = { signal, limitMs: tickLimitMs.snapshot };
    await carryOutTick(schedules, tickId, limits, async ({ user }, untilStopped) => {
      const { end } = await takeSnapshot(snapshots, { user }, untilStopped);
      return end;
    });
  },
};
