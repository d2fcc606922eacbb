/** Takes the contacts of a workspace file: the shape of each, its custom fields, its ids. */
import { type Clock, isoInstant } from '#src/clock.ts';
import { createContactIds, newItemId } from '#src/service/contacts/contact-changes.ts';
import { type CustomFieldItem, checkCustomFieldItems } from '#src/service/contacts/custom-field-values.ts';
import type { CustomFieldDefinitions, StoredContact } from '#src/service/stored-records.ts';
import { Refusal } from '../http/refusal.ts';
import type { StoreTables } from '../store/open-store.ts';
import { checkRecord } from './check-record.ts';
import type { KeepRecord, TakeRecord } from './insert-record.ts';
import { type LoadedContactFacts, loadedContact } from './loaded-contact.ts';
import type { Problems, RecordPlace } from './problems.ts';
import { contactRecord } from './record-schemas.ts';
import type { WorkspaceDefinitions } from './workspace-definitions.ts';
import type { WorkspaceOwner } from './workspace-owner.ts';

export interface ContactParts {
  readonly tables: StoreTables;
  readonly problems: Problems;
  readonly keep: KeepRecord;
  readonly owner: WorkspaceOwner;
  readonly definitions: WorkspaceDefinitions;
  readonly clock: Clock;
}

/** Contacts that name no instant are all of the one in which the taking begins. */
export function takeContacts({ tables, problems, keep, owner, definitions, clock }: ContactParts): TakeRecord {
  const nextContactId = createContactIds();
  const loadedMs = clock.nowMs();
  const facts: LoadedContactFacts = {
    nextContactId: () => nextContactId(loadedMs),
    newItemId,
    loadedAt: isoInstant(loadedMs),
    ownerUserId: owner.id,
  };
  return (value, place) => {
    const contact = contactOf(value, place, problems, definitions.all(), facts);
    if (contact !== null) keep('contacts', place, () => tables.contacts.insert(contact));
  };
}

/** The contact, or null where the record has a problem. */
function contactOf(
  value: unknown,
  place: RecordPlace,
  problems: Problems,
  definitions: CustomFieldDefinitions,
  facts: LoadedContactFacts,
): StoredContact | null {
  const record = checkRecord(contactRecord, value, place, problems);
  if (record === null) return null;
  const items = customFieldItems(record.customFields, place, problems, definitions);
  if (items === null) return null;
  const contact = loadedContact(record, items, facts);
  return hasDistinctItems(contact, place, problems) ? contact : null;
}

/** The interface's own check; its problems are told in the file's words. */
function customFieldItems(
  items: readonly unknown[] | undefined,
  place: RecordPlace,
  problems: Problems,
  definitions: CustomFieldDefinitions,
): readonly CustomFieldItem[] | null {
  try {
    return checkCustomFieldItems(items, definitions) ?? [];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    for (const { path, message } of error.problems) {
      const parts = path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
      problems.add(place, parts, message);
    }
    return null;
  }
}

/** An update names an item by its id: two of a list must not share one (4.3). */
function hasDistinctItems({ defaultFields }: StoredContact, place: RecordPlace, problems: Problems): boolean {
  for (const list of ['emails', 'phoneNumbers'] as const) {
    const items = defaultFields[list];
    if (new Set(items.map((item) => item.id)).size === items.length) continue;
    problems.add(place, ['defaultFields', list], 'two items have the same id');
    return false;
  }
  return true;
}
