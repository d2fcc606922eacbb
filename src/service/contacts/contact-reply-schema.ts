/** A contact as replies show it, as schemas (2.1 to 2.3). What they do not name is in no reply. */
import { z } from 'zod';
import { pageReply } from '../paging/page-reply.ts';
import { boundedText, e164 } from '../text-schemas.ts';
import { fieldLimits } from './field-schemas.ts';

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

const contact = contactWith(customField).meta({ id: 'Contact' });
const updatedContact = contactWith(updatedCustomField).meta({ id: 'UpdatedContact' });

export const contactReplySchema = z.object({ data: contact });
export const updatedContactReplySchema = z.object({ data: updatedContact });
export const contactListReplySchema = pageReply(contact).meta({ id: 'ContactPage' });
