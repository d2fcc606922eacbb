/** The operations on contacts for the public description (4.1 to 4.3, 4.5). */
import { z } from 'zod';
import { badRequest, invalidCustomFieldItem } from '../http/refusal.ts';
import type { OperationDescription } from '../operations/operation-description.ts';
import type { PatchMode } from '../service-options.ts';
import { conflictRefusal } from './conflict.ts';
import { contactExamples } from './contact-examples.ts';
import { contactListReplySchema, contactReplySchema, updatedContactReplySchema } from './contact-reply-schema.ts';
import { createBodySchema } from './create-body.ts';
import { describedItems } from './custom-field-options.ts';
import { contactListQuerySchema } from './list-query.ts';
import type { ReservedSources } from './reserved-sources.ts';
import { updateBodySchema } from './update-body.ts';

const tag = 'Contacts';
const pathId = z.string().meta({ description: 'Identifier of the contact.', examples: ['019aa6f3c1d20000a1b2c3d4'] });
const absent = 'No contact has this identifier.';
const taken = 'Another contact has this externalId. The message does not name the field.';
const malformed =
  'The body is not valid; or, titled Invalid Custom Field Item, a custom field item is not (section 7). Every problem is listed.';
const refusalExamples = [
  badRequest([{ path: 'externalId', message: 'must be 1 to 75 characters long', type: 'string' }]),
  conflictRefusal(),
  invalidCustomFieldItem([{ path: 'customFields.0.key', message: 'no custom field has this key', type: 'string' }]),
];

export type ContactOperationName = 'create' | 'get' | 'list' | 'update' | 'delete';

/** `reserved` and `mode` show: what the service was started with stands in its description. */
export function contactDescriptions(
  reserved: ReservedSources,
  mode: PatchMode,
): Readonly<Record<ContactOperationName, OperationDescription>> {
  return {
    create: createDescription(reserved),
    list: listDescription,
    get: getDescription,
    update: updateDescription(mode),
    delete: deleteDescription,
  };
}

function createDescription(reserved: ReservedSources): OperationDescription {
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
        .extend({ customFields: describedItems.optional() })
        .meta({ id: 'CreateContact' }),
      example: contactExamples.createBody,
    },
    reply: { status: 201, about: 'The new contact.', schema: contactReplySchema, example: contactExamples.reply },
    refusals: { 400: malformed, 409: taken },
    refusalExamples,
  };
}

const listDescription: OperationDescription = {
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
    example: contactExamples.listReply,
  },
  refusals: { 400: 'A parameter is not valid, or the page token is none that this listing gave.' },
};

const getDescription: OperationDescription = {
  operationId: 'getContact',
  tag,
  summary: 'Get a contact',
  about: 'Section 4.2.',
  pathId,
  query: null,
  body: null,
  reply: { status: 200, about: 'The contact.', schema: contactReplySchema, example: contactExamples.reply },
  refusals: { 404: absent },
};

const omitted: Readonly<Record<PatchMode, string>> = {
  merge: 'What the body leaves out stays; an empty list names no item and changes nothing.',
  replace:
    'E-mails, phone numbers and custom fields that the body leaves out are removed; scalars that a given defaultFields leaves out become null; externalId, source and sourceUrl stay.',
};

function updateDescription(mode: PatchMode): OperationDescription {
  return {
    operationId: 'updateContact',
    tag,
    summary: 'Update a contact',
    about: `Section 4.3. ${omitted[mode]} An e-mail or phone item with an id changes that item, with the value null it removes it, and without an id it is added. Custom fields are matched by key.`,
    pathId,
    query: null,
    body: {
      schema: updateBodySchema.extend({ customFields: describedItems.optional() }).meta({ id: 'UpdateContact' }),
      example: contactExamples.updateBody,
    },
    reply: {
      status: 200,
      about: 'The contact as it is now.',
      schema: updatedContactReplySchema,
      example: contactExamples.updatedReply,
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
