/**
 * Ownership as it will be if a write lands whose reply we may never see.
 *
 * It is entered before the write is sent: else a lost reply would make the items that we wrote nobody's, and they would
 * never be removed again. Entries for values that did not land leave the list with the next settled read.
 */
import type { OwnedItem, Ownership } from '#src/contacts/base.ts';
import type { Written } from '#src/contacts/plan.ts';

export function claimWritten(owned: Ownership, feed: string, written: Written): Ownership {
  const items = (old: readonly OwnedItem[], values: readonly string[]): readonly OwnedItem[] => [
    ...old,
    ...values.filter((value) => !old.some((one) => one.value === value)).map((value) => ({ value, feed })),
  ];
  const keys = written.customFieldKeys.filter((key) => !owned.customFields.some((one) => one.key === key));
  return {
    emails: items(owned.emails, written.emails),
    phones: items(owned.phones, written.phones),
    customFields: [...owned.customFields, ...keys.map((key) => ({ key, feed }))],
  };
}
