/** Job: the queue's scheduler reports that something may be due. The ledger decides what is. */
import { z } from 'zod';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import type { SchedulesContext } from '#src/schedules/carry-out-tick.ts';

const payload = z.object({ slot: z.number().int() });

export const wakeSchedules: JobDefinition<z.infer<typeof payload>, { readonly schedules: SchedulesContext }> = {
  name: 'wake-schedules',
  schema: payload,
  concurrency: 1,
  process: async (_payload, { schedules }) => {
    await schedules.tickDue();
    schedules.wake();
  },
};
