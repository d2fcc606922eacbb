/**
 * What a PATCH makes of the custom fields (2.3, 4.3). Pure. Items are matched by key; null removes.
 */
import { invalidCustomFieldItem, type RequestProblem } from '../http/refusal.ts';
import type { CustomFieldItem } from './custom-field-items.ts';
import type { StoredCustomField } from './stored-contact.ts';
import type { UpdateFacts } from './update-facts.ts';

/** `given` is null where the body has no custom fields. Throws `Refusal` 400 for an id that is not the item's. */
export function applyCustomFields(
  stored: readonly StoredCustomField[],
  given: readonly CustomFieldItem[] | null,
  { mode, newItemId }: Pick<UpdateFacts, 'mode' | 'newItemId'>,
): readonly StoredCustomField[] {
  // 4.3, omitted custom fields: not shown; see `applyUpdate`.
  if (given === null) return mode === 'merge' ? stored : [];
  refuseForeignIds(stored, given);
  const byKey = new Map(given.map((item) => [item.key, item.value]));
  const kept = stored.flatMap((field): StoredCustomField[] => {
    const value = byKey.get(field.key);
    if (value === undefined) return mode === 'merge' ? [field] : [];
    return value === null ? [] : [{ ...field, value }];
  });
  const storedKeys = new Set(stored.map((field) => field.key));
  const added = given.flatMap(({ key, value }): StoredCustomField[] =>
    storedKeys.has(key) || value === null ? [] : [{ id: newItemId(), key, value }],
  );
  return [...kept, ...added];
}

/** 4.3, the meaning of an item's id beside its key: not shown. It may be left out; given, it must be the item's. */
function refuseForeignIds(stored: readonly StoredCustomField[], given: readonly CustomFieldItem[]): void {
  const idByKey = new Map(stored.map((field) => [field.key, field.id]));
  const problems = given.flatMap(({ key, id }, index): RequestProblem[] =>
    id === null || id === idByKey.get(key)
      ? []
      : [{ path: `customFields.${index}.id`, message: 'is not the id of this field in this contact', type: 'string' }],
  );
  if (problems.length > 0) throw invalidCustomFieldItem(problems);
}
