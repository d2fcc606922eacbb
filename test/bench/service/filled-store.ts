/** Fills a new store with contacts that another system made: `filled-store.ts STORE COUNT`. */
import { isoInstant } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import { createContactIds, newItemId } from '#src/service/contacts/contact-changes.ts';
import { openStore } from '#src/service/store/open-store.ts';
import { externalIdOf } from './traffic.ts';

const [path, count] = process.argv.slice(2);
invariant(path !== undefined && count !== undefined, 'a store and a count are named');
const createdMs = Date.UTC(2026, 0, 1);
const createdAt = isoInstant(createdMs);
openStore(path, ({ contacts }) => {
  const nextContactId = createContactIds();
  for (let index = 0; index < Number(count); index += 1) {
    contacts.insert({
      id: nextContactId(createdMs + index),
      externalId: externalIdOf(index),
      source: 'crm-sync',
      sourceUrl: `https://crm.example.com/people/${index}`,
      defaultFields: {
        company: 'Fennel & Sons',
        firstName: `Ada ${index}`,
        lastName: 'Abbot',
        role: 'Buyer',
        emails: [{ id: newItemId(), name: 'work', value: `ada.abbot.${index}@example.com` }],
        phoneNumbers: [{ id: newItemId(), name: 'mobile', value: '+14155550100' }],
      },
      customFields: [],
      createdAt,
      updatedAt: createdAt,
      createdByUserId: 'US0000000000',
    });
  }
  return 'US0000000000';
}).close();
