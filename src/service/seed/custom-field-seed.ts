/** The custom fields of a new workspace: one of each of the seven types (`contract.md`, "Service"). */
import type { CustomFieldDefinition } from '../custom-fields/definition.ts';

export const seededCustomFields: readonly CustomFieldDefinition[] = [
  { key: 'office_address', name: 'Office address', type: 'address' },
  { key: 'newsletter', name: 'Newsletter', type: 'boolean' },
  { key: 'customer_since', name: 'Customer since', type: 'date' },
  { key: 'interests', name: 'Interests', type: 'multi-select' },
  { key: 'seats', name: 'Seats', type: 'number' },
  { key: 'account_manager', name: 'Account manager', type: 'string' },
  { key: 'portal', name: 'Portal', type: 'url' },
];
