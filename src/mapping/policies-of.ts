/** Who decides about the fields of a contact, as a mapping says it (`src/contacts/policies.ts`). */
import { customFieldName, type FieldName, scalarNames } from '#src/contacts/desired.ts';
import { type FieldPolicy, type Policies, usualPolicies } from '#src/contacts/policies.ts';
import type { Mapping } from './mapping-schema.ts';

type Fields = readonly (readonly [FieldName, { readonly policy?: FieldPolicy | undefined } | undefined])[];

/** @param mapping null for the generic layout, which has no policies of its own. */
export function policiesOf(mapping: Mapping | null): Policies {
  if (mapping === null) return usualPolicies;
  const { fields, customFields, items = 'owned' } = mapping;
  const named: Fields = [
    ...scalarNames.map((name) => [name, fields[name]] as const),
    ...customFields.flatMap((entry) => {
      const tidy = entry.key.trim();
      // It means the field without the spaces around the key where none has it exactly so, and no other entry names that one.
      const isOfOther = customFields.some(({ key }) => key === tidy);
      return [...(isOfOther ? [] : [tidy]), entry.key].map((key) => [customFieldName(key), entry] as const);
    }),
  ];
  const chosen = named.flatMap(([field, entry]) =>
    entry?.policy === undefined ? [] : [[field, entry.policy] as const],
  );
  const lists = typeof items === 'string' ? { emails: items, phones: items } : items;
  return { fields: new Map(chosen), emails: lists.emails ?? 'owned', phones: lists.phones ?? 'owned' };
}
