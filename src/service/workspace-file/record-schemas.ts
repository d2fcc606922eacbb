/**
 * The records of a workspace file as they must be: in the interface's own shapes, with its limits (section 8).
 *
 * Stricter than the interface in one thing: an unknown member is a problem, since a slip in a name would lose a value.
 * Laxer in two: reserved sources are allowed, as a workspace holds contacts that other integrations made; and a contact
 * may leave out what the service would make (ids, instants, the creator), a scalar, or a list.
 */
import { z } from 'zod';
import { isoInstant } from '#src/clock.ts';
import { customFieldTypes } from '#src/wire/custom-field.ts';
import { storedCall } from '../calls/stored-call.ts';
import * as fields from '../contacts/field-schemas.ts';
import { storedMessage } from '../messages/stored-message.ts';
import { phoneNumberSchema, userId } from '../numbers/phone-number-schema.ts';
import { storedRecording } from '../recordings/stored-recording.ts';
import { boundedText, e164, text } from '../text-schemas.ts';

/** An id stands in paths and queries. */
const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be an id: 1 to 64 letters, digits, - or _' });

/** Kept in UTC, to the millisecond. */
const instant = z.iso
  .datetime({ offset: true, error: 'must be a date-time with an offset, as 2026-11-21T00:00:00Z' })
  .transform((value) => isoInstant(Date.parse(value)));

const itemOf = (value: z.ZodType<string>) => z.strictObject({ id: id.optional(), name: text, value });

export const contactRecord = z.strictObject({
  id: id.optional(),
  externalId: fields.externalId.nullable().optional(),
  source: boundedText(fields.fieldLimits.sourceLengthMax).nullable().optional(),
  sourceUrl: fields.sourceUrl.nullable().optional(),
  defaultFields: z.strictObject({
    company: fields.scalar.optional(),
    firstName: fields.scalar.optional(),
    lastName: fields.scalar.optional(),
    role: fields.scalar.optional(),
    emails: fields.listOf(itemOf(fields.emailValue)).optional(),
    phoneNumbers: fields.listOf(itemOf(e164)).optional(),
  }),
  // Items are checked against the definitions; name and type, as replies show them, are not looked at.
  customFields: z.array(z.unknown()).optional(),
  createdAt: instant.optional(),
  updatedAt: instant.optional(),
  createdByUserId: text.optional(),
});
export type ContactRecord = z.infer<typeof contactRecord>;

const format = z.int().min(1).optional();
export const workspaceFormat = z.object({ format });
export const workspaceRecord = z.strictObject({
  format,
  ownerUserId: userId.optional(),
});

export const customFieldRecord = z.strictObject({
  key: boundedText(200),
  name: text,
  type: z.enum(customFieldTypes),
});

const { users, restrictions } = phoneNumberSchema.shape;
export const userRecord = users.element.strict();
export const phoneNumberRecord = phoneNumberSchema.strict().extend({
  users: z.array(userRecord),
  restrictions: z.strictObject({
    calling: restrictions.shape.calling.strict(),
    messaging: restrictions.shape.messaging.strict(),
  }),
});
export const callRecord = storedCall.strict();
export const recordingRecord = storedRecording.strict();
export const messageRecord = storedMessage.strict();
