/** How many records each list of a workspace has. */
import type { ListSectionName } from './sections.ts';

export function noRecords(): Record<ListSectionName, number> {
  return { users: 0, customFields: 0, phoneNumbers: 0, contacts: 0, calls: 0, recordings: 0, messages: 0 };
}
