/**
 * Custom field items of a body, checked against the workspace's definitions (2.3, section 7).
 *
 * The definition of an item's key names the option of `custom-field-options.ts` that the item must fit. All problems
 * are reported together, under the title that section 7 gives.
 */
import { z } from 'zod';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import type { CustomFieldDefinitions } from '../custom-fields/definition.ts';
import { invalidCustomFieldItem, type RequestProblem } from '../http/refusal.ts';
import { itemOptions, wantedValues } from './custom-field-options.ts';

export interface CustomFieldItem {
  readonly key: string;
  /** Given on update only, if at all. */
  readonly id: string | null;
  readonly value: CustomFieldValue;
}

const itemKey = z.object({ key: z.string(), id: z.string().optional() });

/** Throws `Refusal` 400, `Invalid Custom Field Item`. A body without the member gives null. */
export function checkCustomFieldItems(
  items: readonly unknown[] | undefined,
  definitions: CustomFieldDefinitions,
): readonly CustomFieldItem[] | null {
  if (items === undefined) return null;
  const problems: RequestProblem[] = [];
  const seenKeys = new Set<string>();
  const checked: CustomFieldItem[] = [];
  for (const [index, item] of items.entries()) {
    const outcome = checkItem(item, definitions, seenKeys);
    if ('member' in outcome)
      problems.push({ path: `customFields.${index}${outcome.member}`, message: outcome.message });
    else checked.push(outcome);
  }
  if (problems.length > 0) throw invalidCustomFieldItem(problems);
  return checked;
}

interface ItemProblem {
  /** The member with its dot, or an empty text for the item as a whole. */
  readonly member: string;
  readonly message: string;
}

function checkItem(
  item: unknown,
  definitions: CustomFieldDefinitions,
  seenKeys: Set<string>,
): CustomFieldItem | ItemProblem {
  const named = itemKey.safeParse(item);
  if (!named.success) return { member: '', message: 'must be an object with key and value' };
  const { key } = named.data;
  const definition = definitions.get(key);
  if (definition === undefined) return { member: '.key', message: 'no custom field has this key' };
  // 2.3, one key twice in a body: not shown. Refused, since one of the two values would be lost.
  if (seenKeys.has(key)) return { member: '.key', message: 'the key stands in the body twice' };
  seenKeys.add(key);
  const typed = itemOptions[definition.type].safeParse(item);
  if (!typed.success) return { member: '.value', message: `must be ${wantedValues[definition.type]}, or null` };
  return { key, id: typed.data.id ?? null, value: typed.data.value };
}
