/**
 * Custom field items of a body, checked against the workspace's definitions (2.3, section 7).
 *
 * 2.3, per-type shape of `value`: not shown. The five shapes of `facts.md`; null is allowed for each and means no
 * value. All problems are reported together, under the title that section 7 gives.
 */
import { z } from 'zod';
import { unreachable } from '#src/errors.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import type { CustomFieldType } from '#src/wire/custom-field.ts';
import type { CustomFieldDefinitions } from '../custom-fields/definition.ts';
import { invalidCustomFieldItem, type RequestProblem } from '../http/refusal.ts';
import { listOf, text } from './field-schemas.ts';

export interface CustomFieldItem {
  readonly key: string;
  /** Given on update only, if at all. */
  readonly id: string | null;
  readonly value: CustomFieldValue;
}

const itemShape = z.object({ key: z.string(), id: z.string().optional(), value: z.unknown() });
const textList = listOf(text);
const dateTime = z.iso.datetime({ offset: true });

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
  const shape = itemShape.safeParse(item);
  if (!shape.success) return { member: '', message: 'must be an object with key and value' };
  const { key, id, value } = shape.data;
  const definition = definitions.get(key);
  if (definition === undefined) return { member: '.key', message: 'no custom field has this key' };
  // 2.3, one key twice in a body: not shown. Refused, since one of the two values would be lost.
  if (seenKeys.has(key)) return { member: '.key', message: 'the key stands in the body twice' };
  seenKeys.add(key);
  const typed = valueOfType(definition.type, value);
  if (typed === undefined) return { member: '.value', message: `must be ${wanted[definition.type]}, or null` };
  return { key, id: id ?? null, value: typed };
}

const wanted: Readonly<Record<CustomFieldType, string>> = {
  address: 'a text',
  boolean: 'true or false',
  date: 'a date-time with an offset, as 2026-11-21T00:00:00Z',
  'multi-select': 'an array of texts',
  number: 'a number',
  string: 'a text',
  url: 'a text',
};

/** The value, where it is of the type; undefined where it is not. */
function valueOfType(type: CustomFieldType, value: unknown): CustomFieldValue | undefined {
  if (value === null) return null;
  switch (type) {
    // 2.3, whether a url field is checked to be one: not shown. Its shape is a text (`facts.md`).
    case 'address':
    case 'string':
    case 'url':
      return text.safeParse(value).data;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    // A number beyond the range of a double arrives as infinite and could not be given back.
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
    // A date-time is kept in the writer's own spelling and given back unchanged.
    case 'date':
      return dateTime.safeParse(value).data;
    // 2.3, permitted choices: not shown. Any text is one, as no option list can be read (`facts.md`).
    case 'multi-select':
      return textList.safeParse(value).data;
    default:
      return unreachable(type);
  }
}
