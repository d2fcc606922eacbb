/**
 * The body of an update that is right under both readings of the interface, merge and replace (`facts.md`,
 * "Consequence"): it says all that the contact will hold. A scalar that is null and stays null is left out: a service
 * that merges keeps it null, one that replaces makes it so.
 */

import type { ScalarName } from '#src/contacts/desired.ts';
import type { FieldVerdict } from '#src/contacts/merge-fields.ts';
import { scalarOf } from '#src/contacts/scalar-of.ts';
import type { Contact, UpdateContactBody, UpdateCustomField, UpdateItem } from '#src/wire/contact.ts';

export interface PatchParts {
  readonly theirs: Contact;
  /** The fields that are written. */
  readonly written: readonly FieldVerdict[];
  readonly emails: readonly UpdateItem[];
  readonly phones: readonly UpdateItem[];
  readonly customFields: readonly UpdateCustomField[];
}

export function patchBody({ theirs, written, emails, phones, customFields }: PatchParts): UpdateContactBody {
  // Undefined where the scalar is not written. A scalar's value is text or null.
  const newValue = (name: ScalarName): string | null | undefined => {
    const verdict = written.find(({ field }) => field === name);
    if (verdict === undefined) return undefined;
    return typeof verdict.ours === 'string' ? verdict.ours : null;
  };
  const named: { [Name in 'firstName' | 'lastName' | 'company' | 'role']?: string | null } = {};
  for (const name of ['firstName', 'lastName', 'company', 'role'] as const) {
    const there = scalarOf(theirs, name);
    const wanted = newValue(name);
    const value = wanted === undefined ? there : wanted;
    if (value !== null || there !== null) named[name] = value;
  }
  // Neither reading touches a sourceUrl that is left out, so it travels only when it is written.
  const sourceUrl = newValue('sourceUrl');
  return {
    ...(sourceUrl === undefined ? {} : { sourceUrl }),
    defaultFields: { ...named, emails, phoneNumbers: phones },
    customFields,
  };
}
