/**
 * The records of a workspace file as they must be: in the interface's own shapes, with its limits (section 8).
 *
 * Stricter than the interface in one thing: an unknown member is a problem, since a slip in a name would lose a value.
 * Laxer in two: reserved sources are allowed, as a workspace holds contacts that other integrations made; and a contact
 * may leave out what the service would make (ids, instants, the creator), a scalar, or a list.
 */
import { z } from 'zod';
import { isoInstant } from '#src/clock.ts';
import * as fields from '#src/service/contacts/contact-bodies.ts';
import { phoneNumberSchema, userId } from '#src/service/phone-numbers.ts';
import { keptCall, keptMessage, storedRecording } from '#src/service/stored-records.ts';
import { customFieldTypes } from '#src/wire/contact.ts';
import { boundedText, e164, text } from '../text-schemas.ts';

/** An id is a part of paths and queries. */
const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be an id: 1 to 64 letters, digits, - or _' });

const firstInstant = '1970-01-01T00:00:00.000Z';
const lastInstant = '9999-12-31T23:59:59.999Z';

/**
 * Listings count milliseconds from 1970, and a year of five digits cannot be written as every reader knows it: outside
 * of these bounds a record would be loaded, and then not be listed, or not be loaded again.
 */
function bounded(schema: z.ZodType<string, string>) {
  return schema.refine(isInBounds, { error: `must lie between ${firstInstant} and ${lastInstant}` });
}

function isInBounds(value: string): boolean {
  const ms = Date.parse(value);
  // A text that is no instant is reported as such already.
  return Number.isNaN(ms) || (ms >= Date.parse(firstInstant) && ms <= Date.parse(lastInstant));
}

/** Kept in UTC, to the millisecond. */
const instant = bounded(
  z.iso.datetime({ offset: true, error: 'must be a date-time with an offset, as 2026-11-21T00:00:00Z' }),
).transform((value) => isoInstant(Date.parse(value)));

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
  customFields: fields.listOf(z.unknown()).optional(),
  createdAt: instant.optional(),
  updatedAt: instant.optional(),
  createdByUserId: fields.creatorId.optional(),
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
  createdAt: bounded(phoneNumberSchema.shape.createdAt),
  updatedAt: bounded(phoneNumberSchema.shape.updatedAt),
  restrictions: z.strictObject({
    calling: restrictions.shape.calling.strict(),
    messaging: restrictions.shape.messaging.strict(),
  }),
});
const callTimes = keptCall.shape;
export const callRecord = keptCall.strict().extend({
  answeredAt: bounded(callTimes.answeredAt.unwrap()).nullable(),
  completedAt: bounded(callTimes.completedAt.unwrap()).nullable(),
  createdAt: bounded(callTimes.createdAt),
  updatedAt: bounded(callTimes.updatedAt.unwrap()).nullable(),
});
export const recordingRecord = storedRecording
  .strict()
  .extend({ startTime: bounded(storedRecording.shape.startTime.unwrap()).nullable() });
export const messageRecord = keptMessage.strict().extend({
  createdAt: bounded(keptMessage.shape.createdAt),
  updatedAt: bounded(keptMessage.shape.updatedAt),
});
