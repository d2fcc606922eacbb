/** Job: try one delivery to the webhook. */
import { z } from 'zod';
import type { Notices } from '#src/notices/deliver.ts';
import type { JobDefinition } from '#src/queue/job-definition.ts';

const payload = z.object({ deliveryId: z.string() });

/** Does not wait during a pause: the pause itself is a reason for notices. */
export const deliver: JobDefinition<z.infer<typeof payload>, { readonly notices: Notices }> = {
  name: 'deliver',
  schema: payload,
  concurrency: 4,
  process: async ({ deliveryId }, { notices }, signal) => notices.deliver(deliveryId, signal),
};
