/** Job: the queue's scheduler says that something may be due. What is due, the ledger tells. */
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
