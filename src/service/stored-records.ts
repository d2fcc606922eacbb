/** A contact as the store keeps it (2.1 to 2.3). Names and types of custom fields stand with their definitions. */
import { z } from 'zod';
import type { CustomFieldType, CustomFieldValue } from '#src/wire/contact.ts';
import { e164, text } from './text-schemas.ts';

export interface StoredItem {
  readonly id: string;
  readonly name: string;
  readonly value: string;
}

export interface StoredCustomField {
  readonly id: string;
  readonly key: string;
  /** Never null: a field without a value is not kept. */
  readonly value: NonNullable<CustomFieldValue>;
}

export interface StoredDefaultFields {
  readonly company: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly role: string | null;
  readonly emails: readonly StoredItem[];
  readonly phoneNumbers: readonly StoredItem[];
}

export interface StoredContact {
  readonly id: string;
  readonly externalId: string | null;
  readonly source: string | null;
  readonly sourceUrl: string | null;
  readonly defaultFields: StoredDefaultFields;
  readonly customFields: readonly StoredCustomField[];
  /** ISO 8601 in UTC, to the millisecond. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly createdByUserId: string;
}

/** A custom field as the workspace defines it (`docs/facts.md`, "Custom fields": no option lists). */
export interface CustomFieldDefinition {
  readonly key: string;
  readonly name: string;
  readonly type: CustomFieldType;
}

export type CustomFieldDefinitions = ReadonlyMap<string, CustomFieldDefinition>;

/** A phone number of the workspace (2.4; members that may be null and values: `docs/facts.md`, "Phone numbers"). */
export interface WorkspaceUser {
  readonly id: string;
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly role: 'owner' | 'admin' | 'member';
  readonly groupId: string;
}

// 2.4, other values of a restriction: not shown.
type Restriction = 'restricted' | 'unrestricted';
type Regions = { readonly CA: Restriction; readonly Intl: Restriction; readonly US: Restriction };

export interface PhoneNumber {
  readonly id: string;
  readonly groupId: string;
  readonly portRequestId: string | null;
  readonly formattedNumber: string | null;
  readonly forward: string | null;
  readonly name: string;
  readonly number: string;
  /** 2.4, values other than `completed`: not shown. */
  readonly portingStatus: string | null;
  readonly symbol: string | null;
  readonly users: readonly WorkspaceUser[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly restrictions: { readonly calling: Regions; readonly messaging: Regions };
}

/**
 * Who owns a phone number. Section 9, 1.0.1, "the phone number owner, not the workspace owner": not shown how it is
 * decided. The first of the number's users, whatever their role in the workspace; of a number without users, the
 * workspace owner.
 */
export function numberOwnerId({ users }: PhoneNumber, workspaceOwnerUserId: string): string {
  return users[0]?.id ?? workspaceOwnerUserId;
}

/**
 * A call as replies show it. Section 2.4, fields of call records: not shown; those of
 * `docs/facts.md` ("Calls, recordings, messages") and four that the public description has beside them.
 */
const instant = z.iso.datetime({ offset: true });
const userId = text.regex(/^US/);

const callStatuses = [
  'queued',
  'initiated',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'failed',
  'no-answer',
  'canceled',
  'missed',
  'answered',
  'forwarded',
  'abandoned',
] as const;

export const storedCall = z
  .object({
    id: text.regex(/^AC/),
    direction: z.enum(['incoming', 'outgoing']),
    status: z.enum(callStatuses),
    duration: z.int().min(0).meta({ description: 'Seconds from the answer to the end; 0 without an answer.' }),
    participants: z
      .array(e164)
      .min(1)
      .max(2)
      .meta({ description: 'The other party, then the number of this workspace.' }),
    phoneNumberId: z.string().regex(/^PN/),
    userId: userId.meta({ description: 'The user who placed or received the call.' }),
    initiatedBy: userId.nullable().meta({ description: 'The user who placed it; null for an incoming call.' }),
    answeredBy: userId.nullable().meta({ description: 'The user who answered it; null if it was not answered.' }),
    answeredAt: instant.nullable(),
    completedAt: instant.nullable(),
    callRoute: text.nullable().meta({
      description: 'How an incoming call came: by the number itself or through a phone menu; null for an outgoing one.',
      examples: ['phone-number', 'phone-menu'],
    }),
    aiHandled: text.nullable().meta({
      description: 'What answered in the place of a person; null where nothing did.',
      examples: ['ai-agent'],
    }),
    forwardedFrom: text.nullable(),
    forwardedTo: text.nullable(),
    createdAt: instant,
    updatedAt: instant.nullable(),
  })
  .meta({ id: 'Call' });

export type StoredCall = Readonly<z.infer<typeof storedCall>>;

/** A call as a store or a workspace file may hold it: those of before lack two members. */
export const keptCall = storedCall.partial({ callRoute: true, aiHandled: true });

export type KeptCall = Readonly<z.infer<typeof keptCall>>;

/** Calls of before came by the number itself, and people answered them: this service knew nothing else. */
export function callAsShown(kept: KeptCall): StoredCall {
  const { callRoute = kept.direction === 'incoming' ? 'phone-number' : null, aiHandled = null } = kept;
  return { ...kept, callRoute, aiHandled };
}

/**
 * A call recording. Section 2.4, fields of recording records: not shown; those of `docs/facts.md` ("Calls, recordings,
 * messages"). The store keeps the call beside it, replies do not show it.
 */
export const recordingReply = z
  .object({
    id: text.min(1),
    duration: z.int().min(0).nullable().meta({ description: 'Seconds.' }),
    startTime: z.iso.datetime({ offset: true }).nullable(),
    status: z
      .enum(['absent', 'completed', 'deleted', 'failed', 'in-progress', 'paused', 'processing', 'stopped', 'stopping'])
      .nullable(),
    type: text.nullable().meta({ description: 'The media type.' }),
    url: text.nullable().meta({ format: 'uri-reference' }),
  })
  .meta({ id: 'CallRecording' });

export const storedRecording = recordingReply.extend({ callId: z.string().regex(/^AC/) });

export type StoredRecording = Readonly<z.infer<typeof storedRecording>>;

/**
 * A text message as replies show it. Section 2.4, fields of message records: not shown;
 * those of `docs/facts.md` ("Calls, recordings, messages").
 *
 * The user of an incoming message: not shown. The owner of the number that received it: the public description calls
 * the member a text that begins with `US`, always there.
 */
export const storedMessage = z
  .object({
    id: text.regex(/^AC/),
    to: z.array(e164).min(1),
    from: e164,
    text,
    phoneNumberId: z.string().regex(/^PN/),
    direction: z.enum(['incoming', 'outgoing']),
    userId: z
      .string()
      .regex(/^US/)
      .meta({ description: 'The sender; of an incoming message the owner of the number.' }),
    status: z
      .enum(['queued', 'sent', 'delivered', 'undelivered', 'received'])
      .meta({ description: 'Of an incoming message `received`.' }),
    createdAt: instant,
    updatedAt: instant,
    conversationId: z
      .string()
      .regex(/^CN/)
      .meta({ description: 'The same for all messages of the number with the same others.' }),
  })
  .meta({ id: 'Message' });

export type StoredMessage = Readonly<z.infer<typeof storedMessage>>;

/** A message as a store or a workspace file may hold it: those of before name no conversation. */
export const keptMessage = storedMessage.partial({ conversationId: true });

export type KeptMessage = Readonly<z.infer<typeof keptMessage>>;

/** Incoming messages of before were `delivered`. */
export function messageAsShown(kept: KeptMessage, conversationId: string): StoredMessage {
  return { ...kept, status: kept.direction === 'incoming' ? 'received' : kept.status, conversationId };
}
