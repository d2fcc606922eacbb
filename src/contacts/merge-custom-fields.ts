/**
 * The custom fields of one contact: the complete list for the body, and why. Policy: `decide-field.ts`.
 *
 * Invariant: each custom field that holds a value is in the list, so that a service that replaces loses none; one that
 * is null and stays null is left out.
 */

import type { Base } from '#src/contacts/base.ts';
import { type Change, fieldChange, type HeldField } from '#src/contacts/change.ts';
import { decideField, type FieldDecision } from '#src/contacts/decide-field.ts';
import type { DesiredCustomField } from '#src/contacts/desired.ts';
import { customFieldName } from '#src/contacts/field-name.ts';
import { customValueOrNull, sameCustomValue } from '#src/contacts/same-value.ts';
import type { Contact, ContactCustomField, CustomFieldValue, UpdateCustomField } from '#src/wire/contact.ts';

export interface MergedCustomFields {
  readonly sent: readonly UpdateCustomField[];
  readonly changes: readonly Change[];
  readonly held: readonly HeldField[];
  /** Keys of the fields that the plan writes, cleared ones among them. */
  readonly writtenKeys: readonly string[];
}

export function mergeCustomFields(
  base: Base,
  theirs: Contact,
  ours: readonly DesiredCustomField[],
): MergedCustomFields {
  const sent: UpdateCustomField[] = [];
  const changes: Change[] = [];
  const held: HeldField[] = [];
  const writtenKeys: string[] = [];
  const wantedByKey = new Map(ours.map((field) => [field.key, field.value]));
  const newKeys = [...wantedByKey.keys()].filter((key) => customFieldOf(theirs, key) === undefined);
  const slots: readonly Pick<ContactCustomField, 'id' | 'key' | 'value'>[] = [
    ...theirs.customFields,
    ...newKeys.map((key) => ({ id: null, key, value: null })),
  ];
  for (const { id, key, value } of slots) {
    const there = customValueOrNull(value);
    const wanted = wantedByKey.get(key);
    // A key that a service lists twice is decided at its first place; the second is kept as it is.
    wantedByKey.delete(key);
    const said = base.said?.customFields.find((field) => field.key === key)?.value;
    const decision = decide(base, theirs, key, { ours: wanted, said, theirs: there });
    if (wanted !== undefined && decision === 'write') {
      sent.push({ ...(id === null ? {} : { id }), key, value: wanted });
      changes.push(fieldChange(customFieldName(key), there, wanted));
      writtenKeys.push(key);
      continue;
    }
    if (there !== null) sent.push({ ...(id === null ? {} : { id }), key, value: there });
    if (wanted !== undefined && decision === 'hold') {
      held.push({ field: customFieldName(key), said: said ?? null, theirs: there, ours: wanted });
    }
  }
  // By name: a service may list its fields in another order each time, and a hold is shown in run after run.
  held.sort((left, right) => (left.field < right.field ? -1 : 1));
  return { sent, changes, held, writtenKeys };
}

function decide(
  base: Base,
  theirs: Contact,
  key: string,
  values: { ours: CustomFieldValue | undefined; said: CustomFieldValue | undefined; theirs: CustomFieldValue },
): FieldDecision {
  const seen = base.seen === null ? undefined : customFieldOf(base.seen, key);
  const type = customFieldOf(theirs, key)?.type ?? seen?.type ?? null;
  return decideField({
    ...values,
    seen: base.seen === null ? undefined : (seen?.value ?? null),
    wasHeld: base.said?.held.includes(customFieldName(key)) ?? false,
    same: (left, right) => sameCustomValue(type, left, right),
  });
}

function customFieldOf(contact: Contact, key: string): ContactCustomField | undefined {
  return contact.customFields.find((field) => field.key === key);
}
