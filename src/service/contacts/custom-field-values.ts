/**
 * Custom field items of a body, checked against the workspace's definitions (2.3, section 7).
 *
 * The definition of an item's key names the option (below) that the item must fit. All problems are reported together,
 * under the title that section 7 gives.
 */
import { z } from 'zod';
import { issuesWorthTelling, problemOf } from '#src/service/http/check-request.ts';
import { invalidCustomFieldItem, type RequestProblem } from '#src/service/http/refusal.ts';
import type { CustomFieldDefinitions } from '#src/service/stored-records.ts';
import { text } from '#src/service/text-schemas.ts';
import type { CustomFieldType, CustomFieldValue } from '#src/wire/contact.ts';
import { listOf } from './contact-bodies.ts';

/**
 * Whether items may name the id that they have in their contact: those of an update (`known`) and of a workspace file do, those
 * of a create (`new`) have none, and one that is sent is ignored, as every unknown member is.
 */
export type ItemKind = 'new' | 'known';

export interface CustomFieldItem {
  readonly key: string;
  /** Null of new ones, and where it was not given. */
  readonly id: string | null;
  readonly value: CustomFieldValue;
}

const itemKey = z.object({ key: z.string() });

/** Throws `Refusal` 400, `Invalid Custom Field Item`. A body without the member gives null. */
export function checkCustomFieldItems(
  items: readonly unknown[] | undefined,
  kind: ItemKind,
  definitions: CustomFieldDefinitions,
): readonly CustomFieldItem[] | null {
  if (items === undefined) return null;
  const problems: RequestProblem[] = [];
  const seenKeys = new Set<string>();
  const checked: CustomFieldItem[] = [];
  for (const [index, item] of items.entries()) {
    const outcome = checkItem(item, kind, definitions, seenKeys);
    if (outcome.kind === 'item') checked.push(outcome.item);
    else for (const problem of outcome.problems) problems.push(inItem(index, problem));
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

function checkItem(
  item: unknown,
  kind: ItemKind,
  definitions: CustomFieldDefinitions,
  seenKeys: Set<string>,
): ItemOutcome {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return misfit({ path: '', message: 'must be an object with key and value', type: 'object' });
  }
  const named = itemKey.safeParse(item, { reportInput: true });
  if (!named.success) return misfit(...issuesWorthTelling(named.error).map((issue) => problemOf(itemKey, issue)));
  const { key } = named.data;
  const definition = definitions.get(key);
  if (definition === undefined) return misfit(ofKey('no custom field has this key'));
  // 2.3, one key twice in a body: not shown. Refused, since one of the two values would be lost.
  if (seenKeys.has(key)) return misfit(ofKey('the key is in the body twice'));
  seenKeys.add(key);
  const { type } = definition;
  const option = itemOptions[type][kind];
  const typed = option.safeParse(item, { reportInput: true });
  if (!typed.success) {
    return { kind: 'misfit', problems: issuesWorthTelling(typed.error).map(problemOfType(type, option)) };
  }
  return { kind: 'item', item: { key, id: typed.data.id ?? null, value: typed.data.value } };
}

/** Where the value as a whole is of another kind, the words of its type say more than its shape. */
function problemOfType(type: CustomFieldType, option: z.ZodType): (issue: z.core.$ZodIssue) => RequestProblem {
  return (issue) => {
    const problem = problemOf(option, issue);
    const isMisfit = issue.code === 'invalid_type' || issue.code === 'invalid_format';
    if (problem.path !== 'value' || !isMisfit || issue.input === undefined) return problem;
    // 1e400 is read as infinite.
    if (type === 'number' && typeof issue.input === 'number') return { ...problem, message: outOfRange.error };
    return { ...problem, message: `must be ${wantedValues[type]}, or null` };
  };
}

function ofKey(message: string): RequestProblem {
  return { path: 'key', message, type: 'string' };
}

function misfit(...problems: readonly RequestProblem[]): ItemOutcome {
  return { kind: 'misfit', problems };
}

/**
 * The five shapes of a custom field item in a body (2.3, "Option 1 to Option 5"). 2.3, per-type shape of `value`: not
 * shown. They are those of `docs/facts.md` ("Custom fields"); null is allowed for each and means no value.
 */
const key = z.string().meta({ description: 'Identifying key of the custom field.', examples: ['seats'] });
const id = z.string().meta({ description: 'Identifier of the item in this contact.' }).optional();

function option<Value extends z.ZodType>(title: string, value: Value) {
  return {
    new: z.object({ key, value: value.nullable() }).meta({ title }),
    known: z.object({ key, id, value: value.nullable() }).meta({ title }),
  } as const satisfies Readonly<Record<ItemKind, z.ZodType>>;
}

// 2.3, permitted choices: not shown. Any text is one, as no option list can be read (`docs/facts.md`).
const choices = option('Option 1: multi-select', listOf(text));
// 2.3, whether a url field is checked to be one: not shown. Its shape is a text (`docs/facts.md`).
const texts = option('Option 2: address, string or url', text);
const truth = option('Option 3: boolean', z.boolean());
// A date-time is kept in the writer's own spelling and given back unchanged. No clock counts finer than nanoseconds: a
// longer fraction is no instant but a text of any length.
const fractionTooLong = { error: 'must have at most 9 digits behind the second' };
const instant = z.iso
  .datetime({ offset: true, abort: true })
  .refine((value) => !/\.\d{10}/.test(value), fractionTooLong)
  .meta({ description: 'With an offset, and at most 9 digits behind the second.' });
const date = option('Option 4: date', instant);
// 2.3, the range of a number: not shown. A double holds every whole number up to 2^53 - 1 in size; one beyond may have
// lost digits on its way, and could not be given back. Fractions lie inside of that range.
const integerMax = Number.MAX_SAFE_INTEGER;
const outOfRange = { error: `must lie between -${integerMax} and ${integerMax}; a greater number would lose digits` };
const number = option('Option 5: number', z.number().min(-integerMax, outOfRange).max(integerMax, outOfRange));

interface ReadItem {
  readonly id?: string | undefined;
  readonly value: CustomFieldValue;
}

/** The options for each type of field. */
const itemOptions: Readonly<Record<CustomFieldType, Readonly<Record<ItemKind, z.ZodType<ReadItem>>>>> = {
  address: texts,
  boolean: truth,
  date,
  'multi-select': choices,
  number,
  string: texts,
  url: texts,
};

/** What a value must be, in words. */
const wantedValues: Readonly<Record<CustomFieldType, string>> = {
  address: 'a text',
  boolean: 'true or false',
  date: 'a date-time with an offset, as 2026-11-21T00:00:00Z',
  'multi-select': 'a list of texts',
  number: 'a number',
  string: 'a text',
  url: 'a text',
};

/**
 * The list as the description shows it. A body's list is first read as a list of anything, then item by item against
 * the option that its definition names: a misfit is then told under the title of section 7.
 */
export const describedItems = {
  new: listOfItems('new', 'NewCustomFieldItem'),
  known: listOfItems('known', 'CustomFieldItem'),
} as const;

/** `name`: of the component in the description. */
function listOfItems(kind: ItemKind, name: string) {
  return listOf(
    z.union([choices[kind], texts[kind], truth[kind], date[kind], number[kind]]).meta({
      id: name,
      description: 'The type of the definition that has this key says which option is right. Each key at most once.',
    }),
  );
}
