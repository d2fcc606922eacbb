/** Job: take what a feed's path, glob or URL holds. */
import { z } from 'zod';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { takesAtOnceMax } from '#src/queue/take-places.ts';
import { carryOutTick, type SchedulesContext, tickLimitMs } from '#src/schedules/carry-out-tick.ts';

const payload = z.object({ tickId: z.string() });

export const takeFiles: JobDefinition<z.infer<typeof payload>, { readonly schedules: SchedulesContext }> = {
  name: 'take-files',
  schema: payload,
  // The dispatcher hands out no more.
  concurrency: takesAtOnceMax,
  about: async ({ tickId }, { schedules }) => {
    const tick = await schedules.ledger.schedules.tick(tickId);
    return tick === null ? {} : { feed: tick.schedule };
  },
  process: async ({ tickId }, { schedules }, signal) => {
    await carryOutTick(schedules, tickId, { signal, limitMs: tickLimitMs.take }, (tick, inTime) =>
      schedules.take(tick.schedule, tick.trigger, inTime),
    );
    // Runs were entered.
    schedules.wake();
  },
};
