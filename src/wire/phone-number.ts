/**
 * A phone number of the workspace as a reply holds it (`docs/interface.md`, 2.4; nullable members: `docs/facts.md`).
 *
 * A reply is meaningless without ids alone: by them numbers are told apart. Every other member may be null, absent, or of
 * a form that this version does not know; it is kept as it came, and its readers look at its form first.
 */
import { z } from 'zod';

const phoneNumberReply = z.looseObject({ id: z.string().min(1) });
export type PhoneNumberReply = z.infer<typeof phoneNumberReply>;

/** Paging is optional: a reader follows a token where there is one and accepts its absence (`docs/facts.md`). */
export const phoneNumberListEnvelope = z.object({
  data: z.array(phoneNumberReply),
  nextPageToken: z.unknown().optional(),
});

/** A phone number with all that the reply held. */
export type PhoneNumber = PhoneNumberReply;

/** The text members that the interface names, other than the id. */
export const phoneNumberTexts = [
  'number',
  'formattedNumber',
  'name',
  'symbol',
  'forward',
  'groupId',
  'portRequestId',
  'portingStatus',
] as const;
export type PhoneNumberText = (typeof phoneNumberTexts)[number];

/** A user of a number. More members are kept, as with the number itself. */
const phoneNumberUser = z.looseObject({
  id: z.string().min(1),
  email: z.string().nullish(),
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  role: z.string().nullish(),
  groupId: z.string().nullish(),
});
export type PhoneNumberUser = z.infer<typeof phoneNumberUser>;

/** Users in the form of the interface. */
export const phoneNumberUsers = z.array(phoneNumberUser);

/** A text of the number; null where it is absent or no text. */
export function textOf(number: PhoneNumber, member: PhoneNumberText): string | null {
  const value = number[member];
  return typeof value === 'string' ? value : null;
}
