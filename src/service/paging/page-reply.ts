/** A page of a listing as replies show it (4.6). */
import { z } from 'zod';

export function pageReply<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    totalItems: z.int().min(0).meta({ description: 'Not the true total. Do not rely on it (4.6).' }),
    nextPageToken: z
      .string()
      .nullable()
      .meta({ description: 'Send it as pageToken for the next page; null when there is none (4.6).' }),
  });
}
