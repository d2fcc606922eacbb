/**
 * The text in which the store keeps a contact: the contact as a read shows it (2.1 to 2.3), names and types of its
 * custom fields included. A read hands the text out as it is; only a change takes it apart.
 */
import { contactReplyData } from '../contacts/contact-reply.ts';
import type { StoredContact } from '../contacts/stored-contact.ts';
import type { CustomFieldDefinition } from '../custom-fields/definition.ts';
import type { CustomFieldTable } from './custom-field-table.ts';

export interface ContactDocuments {
  readonly write: (contact: StoredContact) => string;
  /** `document` is what `write` made, and nothing else. */
  readonly read: (document: string) => StoredContact;
}

export function createContactDocuments(customFields: Pick<CustomFieldTable, 'all'>): ContactDocuments {
  // A definition never changes, but a store that is being filled gets more of them.
  let definitions: ReadonlyMap<string, CustomFieldDefinition> = new Map();
  return {
    write: (contact) => {
      if (contact.customFields.some(({ key }) => !definitions.has(key))) {
        definitions = new Map(customFields.all().map((one) => [one.key, one]));
      }
      return JSON.stringify(contactReplyData(contact, definitions, 'read'));
    },
    read: (document) => {
      const contact = JSON.parse(document) as StoredContact;
      return { ...contact, customFields: contact.customFields.map(({ id, key, value }) => ({ id, key, value })) };
    },
  };
}
