/** A phone number of the workspace as a reply holds it (`interface.md`, 2.4; nullable members: `facts.md`). */
import { z } from 'zod';

/** Only the id is relied on here; everything else is kept as it came. */
export const phoneNumberReply = z.looseObject({ id: z.string().min(1) });
export type PhoneNumberReply = z.infer<typeof phoneNumberReply>;

/** Paging is optional: a reader follows a token where there is one and accepts its absence (`facts.md`). */
export const phoneNumberListEnvelope = z.object({
  data: z.array(phoneNumberReply),
  nextPageToken: z.unknown().optional(),
});
