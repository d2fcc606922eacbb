/**
 * The body of an update that is right under both readings of the interface, merge and replace (`facts.md`,
 * "Consequence"): it says all that the contact will hold. A scalar that is null and stays null is left out: a service
 * that merges keeps it null, one that replaces makes it so.
 */

import type { MergedScalars } from '#src/contacts/merge-scalars.ts';
import { scalarOf } from '#src/contacts/scalar-of.ts';
import type { Contact, UpdateContactBody, UpdateCustomField, UpdateItem } from '#src/wire/contact.ts';

export interface PatchParts {
  readonly theirs: Contact;
  readonly scalars: MergedScalars;
  readonly emails: readonly UpdateItem[];
  readonly phones: readonly UpdateItem[];
  readonly customFields: readonly UpdateCustomField[];
}

export function patchBody({ theirs, scalars, emails, phones, customFields }: PatchParts): UpdateContactBody {
  const { values, changes } = scalars;
  const named: { [Name in 'firstName' | 'lastName' | 'company' | 'role']?: string | null } = {};
  for (const name of ['firstName', 'lastName', 'company', 'role'] as const) {
    if (values[name] !== null || scalarOf(theirs, name) !== null) named[name] = values[name];
  }
  // Neither reading touches a sourceUrl that is left out, so it travels only when it is written.
  const isUrlWritten = changes.some((change) => change.field === 'sourceUrl');
  return {
    ...(isUrlWritten ? { sourceUrl: values.sourceUrl } : {}),
    defaultFields: { ...named, emails, phoneNumbers: phones },
    customFields,
  };
}
