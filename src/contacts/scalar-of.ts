/** Reads one scalar of a contact by its name: `sourceUrl` lives beside `defaultFields`, the others within. */

import type { ScalarName } from '#src/contacts/desired.ts';
import { textOrNull } from '#src/contacts/same-value.ts';
import type { Contact } from '#src/wire/contact.ts';

export function scalarOf(contact: Contact, name: ScalarName): string | null {
  return textOrNull(name === 'sourceUrl' ? contact.sourceUrl : contact.defaultFields[name]);
}
