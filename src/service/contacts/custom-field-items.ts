/**
 * Custom field items of a body, checked against the workspace's definitions (2.3, section 7).
 *
 * The definition of an item's key names the option of `custom-field-options.ts` that the item must fit. All problems
 * are reported together, under the title that section 7 gives.
 */
import { z } from 'zod';
import type { CustomFieldType, CustomFieldValue } from '#src/wire/contact.ts';
import type { CustomFieldDefinitions } from '../custom-fields/definition.ts';
import { problemOf } from '../http/check-shape.ts';
import { invalidCustomFieldItem, type RequestProblem } from '../http/refusal.ts';
import { itemOptions, wantedValues } from './custom-field-options.ts';

export interface CustomFieldItem {
  readonly key: string;
  /** Given on update only, if at all. */
  readonly id: string | null;
  readonly value: CustomFieldValue;
}

const itemKey = z.object({ key: z.string() });

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
    if (outcome.kind === 'item') checked.push(outcome.item);
    else problems.push(...outcome.problems.map((problem) => inItem(index, problem)));
  }
  if (problems.length > 0) throw invalidCustomFieldItem(problems);
  return checked;
}

/** Paths of problems begin inside of the item. */
type ItemOutcome =
  | { readonly kind: 'item'; readonly item: CustomFieldItem }
  | { readonly kind: 'misfit'; readonly problems: readonly RequestProblem[] };

function inItem(index: number, { path, message, type }: RequestProblem): RequestProblem {
  return { path: `customFields.${index}${path === '' ? '' : `.${path}`}`, message, type };
}

function checkItem(item: unknown, definitions: CustomFieldDefinitions, seenKeys: Set<string>): ItemOutcome {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return misfit({ path: '', message: 'must be an object with key and value', type: 'object' });
  }
  const named = itemKey.safeParse(item, { reportInput: true });
  if (!named.success) return misfit(...named.error.issues.map((issue) => problemOf(itemKey, issue)));
  const { key } = named.data;
  const definition = definitions.get(key);
  if (definition === undefined) return misfit(ofKey('no custom field has this key'));
  // 2.3, one key twice in a body: not shown. Refused, since one of the two values would be lost.
  if (seenKeys.has(key)) return misfit(ofKey('the key stands in the body twice'));
  seenKeys.add(key);
  const { type } = definition;
  const typed = itemOptions[type].safeParse(item, { reportInput: true });
  if (!typed.success) return misfit(...typed.error.issues.slice(0, toldPerItemMax).map(problemOfType(type)));
  return { kind: 'item', item: { key, id: typed.data.id ?? null, value: typed.data.value } };
}

/** A list with a hundred wrong texts need not tell all of them. */
const toldPerItemMax = 10;

/** Where the value as a whole is of another kind, the words of its type say more than its shape. */
function problemOfType(type: CustomFieldType): (issue: z.core.$ZodIssue) => RequestProblem {
  return (issue) => {
    const problem = problemOf(itemOptions[type], issue);
    const isMisfit = issue.code === 'invalid_type' || issue.code === 'invalid_format';
    if (problem.path !== 'value' || !isMisfit || issue.input === undefined) return problem;
    return { ...problem, message: `must be ${wantedValues[type]}, or null` };
  };
}

function ofKey(message: string): RequestProblem {
  return { path: 'key', message, type: 'string' };
}

function misfit(...problems: readonly RequestProblem[]): ItemOutcome {
  return { kind: 'misfit', problems };
}
