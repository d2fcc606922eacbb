/**
 * The contact of `docs/interface.md`, section 2.1 to 2.3, as it travels.
 *
 * Replies are read leniently: unknown members are dropped, absent optional members become null or an empty list, so
 * that any implementation of the interface can be talked to. What the service accepts is stricter and is described in
 * `src/service`.
 */
import { z } from 'zod';

/** The value of a custom field: text, number, boolean, or several choices (2.3; `docs/facts.md`, "Custom fields"). */
const customFieldValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).nullable();
export type CustomFieldValue = z.infer<typeof customFieldValue>;

/** Absent is null. A default costs a fraction of a transform, and a contact has some twenty such members. */
const nullableText = z.string().nullable().default(null);

const itemReply = z.object({
  id: nullableText,
  name: nullableText,
  value: nullableText,
});
export type ContactItem = z.infer<typeof itemReply>;

const customFieldReply = z.object({
  id: nullableText,
  key: z.string(),
  name: nullableText,
  type: nullableText,
  value: customFieldValue.default(null),
});
export type ContactCustomField = z.infer<typeof customFieldReply>;

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

const contactMembers = z.object({
  id: z.string().min(1),
  externalId: nullableText,
  source: nullableText,
  sourceUrl: nullableText,
  defaultFields: z.object({
    firstName: nullableText,
    lastName: nullableText,
    company: nullableText,
    role: nullableText,
    emails: list(itemReply),
    phoneNumbers: list(itemReply),
  }),
  customFields: list(customFieldReply),
  createdAt: nullableText,
  updatedAt: nullableText,
  createdByUserId: nullableText,
});
/** The members of a contact that an update is planned from (2.1, 2.2). A contact without one of them is no picture. */
const promised = ['externalId', 'source', 'sourceUrl', 'defaultFields', 'customFields'] as const;
const promisedDefaults = ['firstName', 'lastName', 'company', 'role', 'emails', 'phoneNumbers'] as const;

/** A contact as a reply holds it. */
export type Contact = z.infer<typeof contactMembers> & {
  /** Names of the promised members that the reply did not have, or not so that it can be used; absent where it had them all. */
  readonly missing?: readonly string[];
};

export const contactReply = z.unknown().transform((raw, context): Contact => {
  const parsed = contactMembers.safeParse(raw);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  }
  const missing = missingMembers(raw, parsed.data);
  return missing.length === 0 ? parsed.data : { ...parsed.data, missing };
});

/** Whether a contact can be read and written by this id: a part of a path, as `..` is not, which would lead to another path. */
export function isContactId(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..' && id.isWellFormed();
}

/** A list that is null holds nothing; one that is absent says nothing. */
function missingMembers(raw: unknown, { id }: Pick<Contact, 'id'>): string[] {
  const has = (holder: unknown, name: string): boolean =>
    typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name);
  const defaults: unknown = has(raw, 'defaultFields') ? Reflect.get(Object(raw), 'defaultFields') : null;
  return [
    ...(isContactId(id) ? [] : ['id']),
    ...promised.filter((name) => !has(raw, name)),
    ...promisedDefaults.filter((name) => !has(defaults, name)).map((name) => `defaultFields.${name}`),
  ];
}

export const contactEnvelope = z.object({ data: contactReply });

/** List contacts (4.5, 4.6). `totalItems` is there and wrong by declaration: it is not even read. */
export const contactListEnvelope = z.object({
  data: z.array(contactReply),
  nextPageToken: z
    .string()
    .nullish()
    .transform((token) => token ?? null),
});

/** The body of create (4.1). */
export interface CreateContactBody {
  readonly externalId?: string;
  readonly source?: string;
  readonly sourceUrl?: string;
  readonly defaultFields: {
    readonly firstName: string | null;
    readonly lastName?: string;
    readonly company?: string;
    readonly role?: string;
    readonly emails?: readonly { readonly name: string; readonly value: string }[];
    readonly phoneNumbers?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly customFields?: readonly { readonly key: string; readonly value: CustomFieldValue }[];
}

/** An item in the body of update: `value: null` removes the item of that id (2.2, 4.3). */
export interface UpdateItem {
  readonly id?: string;
  readonly name: string;
  readonly value: string | null;
}

export interface UpdateCustomField {
  readonly id?: string;
  readonly key: string;
  readonly value: CustomFieldValue;
}

/** The body of update (4.3). */
export interface UpdateContactBody {
  /** Only where the contact has none yet. */
  readonly externalId?: string;
  readonly sourceUrl?: string | null;
  readonly defaultFields: {
    readonly firstName?: string | null;
    readonly lastName?: string | null;
    readonly company?: string | null;
    readonly role?: string | null;
    readonly emails: readonly UpdateItem[];
    readonly phoneNumbers: readonly UpdateItem[];
  };
  readonly customFields: readonly UpdateCustomField[];
}

/**
 * The seven types of custom fields (`GET /v1/contact-custom-fields`; `docs/facts.md`, "Custom fields"). An unknown type is read as
 * text.
 */
export const customFieldTypes = ['address', 'boolean', 'date', 'multi-select', 'number', 'string', 'url'] as const;
export type CustomFieldType = (typeof customFieldTypes)[number];

const customFieldDefinition = z.object({ key: z.string(), name: z.string().nullish(), type: z.string() });
export type CustomFieldDefinition = z.infer<typeof customFieldDefinition>;

export const customFieldDefinitionsEnvelope = z.object({ data: z.array(customFieldDefinition) });
