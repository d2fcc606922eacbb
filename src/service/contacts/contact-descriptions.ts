/**
 * The operations on contacts for the public description (4.1 to 4.3, 4.5): what replies look like,
 * and what each operation says of itself. A reply holds nothing that its schema does not name.
 */
import { z } from 'zod';
import { badRequest, invalidCustomFieldItem } from '#src/service/http/refusal.ts';
import type { OperationDescription, PathId } from '#src/service/operations/operation.ts';
import { pageReply } from '#src/service/paging.ts';
import { boundedText, e164 } from '#src/service/text-schemas.ts';
import { contactListQuerySchema, createBodySchema, fieldLimits, updateBodySchema } from './contact-bodies.ts';
import { conflictRefusal, type PatchMode } from './contact-changes.ts';
import { contactExamples } from './contact-examples.ts';
import { describedItems } from './custom-field-values.ts';
import type { ReservedSources } from './reserved-sources.ts';

const instant = z.iso.datetime();
const items = (value: z.ZodType, named: string) =>
  z.array(
    z
      .object({
        id: z.string().meta({ description: 'Send it on update to change or remove this item.' }),
        name: z.string().meta({ description: 'Label.' }),
        value,
      })
      .meta({ id: named }),
  );

const defaultFields = z
  .object({
    company: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    role: z.string().nullable(),
    emails: items(z.string(), 'EmailItem'),
    phoneNumbers: items(e164, 'PhoneItem'),
  })
  .meta({ id: 'DefaultFields' });

/** 2.3: create and read replies carry an id in a custom field item, the update reply does not. */
function customFieldOptions(id: Readonly<Record<string, z.ZodType>>) {
  const option = <Type extends z.ZodType, Value extends z.ZodType>(type: Type, value: Value) =>
    z.object({
      name: z.string().meta({ description: 'Display name.' }),
      key: z.string(),
      ...id,
      type,
      value: value.nullable(),
    });
  return z.union([
    option(z.literal('multi-select'), z.array(z.string())),
    option(z.enum(['address', 'string', 'url']), z.string()),
    option(z.literal('boolean'), z.boolean()),
    option(z.literal('date'), z.iso.datetime({ offset: true })),
    option(z.literal('number'), z.number()),
  ]);
}

const customField = customFieldOptions({
  id: z.string().meta({ description: 'Identifier of the item in this contact.' }),
}).meta({ id: 'ContactCustomField' });
const updatedCustomField = customFieldOptions({}).meta({
  id: 'UpdatedContactCustomField',
  description: 'As ContactCustomField, without the id, which the reply of an update does not carry.',
});

function contactWith<CustomField extends z.ZodType>(field: CustomField) {
  return z.object({
    id: z.string().min(1).meta({ description: 'Assigned by the service.' }),
    externalId: boundedText(fieldLimits.externalIdLengthMax).nullable(),
    source: boundedText(fieldLimits.sourceLengthMax).nullable(),
    sourceUrl: boundedText(fieldLimits.sourceUrlLengthMax).meta({ format: 'uri' }).nullable(),
    defaultFields,
    customFields: z.array(field),
    createdAt: instant,
    updatedAt: instant,
    createdByUserId: z.string(),
  });
}

const contactReply = contactWith(customField).meta({ id: 'Contact' });
const updatedContact = contactWith(updatedCustomField).meta({ id: 'UpdatedContact' });

const contactReplySchema = z.object({ data: contactReply });
const updatedContactReplySchema = z.object({ data: updatedContact });
const contactListReplySchema = pageReply(contactReply).meta({ id: 'ContactPage' });

const tag = 'Contacts';
const pathId: PathId = {
  name: 'id',
  schema: z.string().meta({ description: 'Identifier of the contact.', examples: ['019aa6f3c1d20000a1b2c3d4'] }),
};
const absent = 'No contact has this identifier.';
const taken = 'Another contact has this externalId. The message does not name the field.';
const malformed =
  'The body is not valid; or, titled Invalid Custom Field Item, a custom field item is not (section 7). Every problem of the one kind is listed; of more than 50 the first ones, with the count of all.';
const refusalExamples = [
  badRequest([{ path: 'externalId', message: 'must be 1 to 75 characters long', type: 'string' }]),
  conflictRefusal(),
  invalidCustomFieldItem([{ path: 'customFields.0.key', message: 'no custom field has this key', type: 'string' }]),
];

export type ContactOperationName = 'create' | 'get' | 'list' | 'update' | 'delete';

/** `reserved` and `mode` show: the description shows what the service was started with. */
export function contactDescriptions(
  reserved: ReservedSources,
  mode: PatchMode,
): Readonly<Record<ContactOperationName, OperationDescription>> {
  const examples = contactExamples(mode);
  return {
    create: createDescription(reserved, examples),
    list: listDescription(examples),
    get: getDescription(examples),
    update: updateDescription(mode, examples),
    delete: deleteDescription,
  };
}

type Examples = ReturnType<typeof contactExamples>;

function createDescription(reserved: ReservedSources, examples: Examples): OperationDescription {
  return {
    operationId: 'createContact',
    tag,
    summary: 'Create a contact',
    about:
      'Section 4.1. There is no idempotency key: give an externalId, and look it up with list contacts before you try again.',
    pathId: null,
    query: null,
    body: {
      schema: createBodySchema(reserved)
        .extend({ customFields: describedItems.new.optional() })
        .meta({ id: 'CreateContact' }),
      example: examples.createBody,
    },
    reply: { status: 201, about: 'The new contact.', schema: contactReplySchema, example: examples.createReply },
    refusals: { 400: malformed, 409: taken },
    refusalExamples,
  };
}

function listDescription(examples: Examples): OperationDescription {
  return {
    operationId: 'listContacts',
    tag,
    summary: 'List contacts',
    about:
      'Section 4.5. In order of creation. An array is the repeated plain key, as externalIds=a&externalIds=b; any other spelling is an unknown parameter, and those are ignored.',
    pathId: null,
    query: contactListQuerySchema,
    body: null,
    reply: {
      status: 200,
      about: 'A page of contacts.',
      schema: contactListReplySchema,
      example: examples.listReply,
    },
    refusals: { 400: 'A parameter is not valid, or the page token is none that this listing gave.' },
  };
}

function getDescription(examples: Examples): OperationDescription {
  return {
    operationId: 'getContact',
    tag,
    summary: 'Get a contact',
    about: 'Section 4.2.',
    pathId,
    query: null,
    body: null,
    reply: { status: 200, about: 'The contact.', schema: contactReplySchema, example: examples.getReply },
    refusals: { 404: absent },
  };
}

const omitted: Readonly<Record<PatchMode, string>> = {
  merge: 'What the body leaves out stays; an empty list names no item and changes nothing.',
  replace:
    'E-mails, phone numbers and custom fields that the body leaves out are removed; scalars that a given defaultFields leaves out become null; externalId, source and sourceUrl stay.',
};

function updateDescription(mode: PatchMode, examples: Examples): OperationDescription {
  return {
    operationId: 'updateContact',
    tag,
    summary: 'Update a contact',
    about: `Section 4.3. ${omitted[mode]} An e-mail or phone item with an id changes that item, with the value null it removes it, and without an id it is added. Custom fields are matched by key.`,
    pathId,
    query: null,
    body: {
      schema: updateBodySchema.extend({ customFields: describedItems.known.optional() }).meta({ id: 'UpdateContact' }),
      example: examples.updateBody,
    },
    reply: {
      status: 200,
      about: 'The contact as it is now.',
      schema: updatedContactReplySchema,
      example: examples.updateReply,
    },
    refusals: { 400: malformed, 404: absent, 409: taken },
    refusalExamples,
  };
}

const deleteDescription: OperationDescription = {
  operationId: 'deleteContact',
  tag,
  summary: 'Delete a contact',
  about: 'Beyond the interface. The externalId is free again.',
  pathId,
  query: null,
  body: null,
  reply: { status: 204, about: 'The contact is gone.', schema: null },
  refusals: { 404: absent },
};
