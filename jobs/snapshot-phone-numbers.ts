/** Job: take a snapshot of the phone numbers, for one tick of their schedule. */
import { z } from 'zod';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { carryOutTick } from '#src/schedules/carry-out-tick.ts';
import type { SnapshotParts } from '#src/snapshots/parts.ts';
import { takeSnapshot } from '#src/snapshots/take-snapshot.ts';
import { walkLimits } from '#src/snapshots/walk-numbers.ts';

const payload = z.object({ tickId: z.string() });

/** What comes after the walk is work on the own disk. */
const afterWalkMs = 300_000;

export const snapshotPhoneNumbers: JobDefinition<z.infer<typeof payload>, { readonly snapshots: SnapshotParts }> = {
  name: 'snapshot-phone-numbers',
  schema: payload,
  concurrency: 1,
  about: async () => ({ feed: 'phone-numbers' }),
  process: async ({ tickId }, { snapshots }, signal) => {
    const limits = { signal, limitMs: walkLimits.walkMs + afterWalkMs };
    await carryOutTick(snapshots, tickId, limits, async ({ user }, untilStopped) => {
      const { end } = await takeSnapshot(snapshots, { user }, untilStopped);
      return end;
    });
  },
};
