/**
 * The five shapes of a custom field item in a body (2.3, "Option 1 to Option 5"). 2.3, per-type shape of `value`: not
 * shown. They are those of `facts.md` ("Custom fields"); null is allowed for each and means no value.
 */
import { z } from 'zod';
import type { CustomFieldType } from '#src/wire/contact.ts';
import { text } from '../text-schemas.ts';
import { listOf } from './field-schemas.ts';

const key = z.string().meta({ description: 'Identifying key of the custom field.', examples: ['seats'] });
const id = z.string().meta({ description: 'Identifier of the item in this contact; on update only, optional.' });

function option<Value extends z.ZodType>(title: string, value: Value) {
  return z.object({ key, id: id.optional(), value: value.nullable() }).meta({ title });
}

// 2.3, permitted choices: not shown. Any text is one, as no option list can be read (`facts.md`).
const choices = option('Option 1: multi-select', listOf(text));
// 2.3, whether a url field is checked to be one: not shown. Its shape is a text (`facts.md`).
const texts = option('Option 2: address, string or url', text);
const truth = option('Option 3: boolean', z.boolean());
// A date-time is kept in the writer's own spelling and given back unchanged. Nobody counts finer than nanoseconds: a
// longer fraction is no instant but a text of any length.
const fractionTooLong = { error: 'must have at most 9 digits behind the second' };
const instant = z.iso
  .datetime({ offset: true, abort: true })
  .refine((value) => !/\.\d{10}/.test(value), fractionTooLong);
const date = option('Option 4: date', instant);
// 2.3, the range of a number: not shown. A double holds every whole number up to 2^53 - 1 in size; one beyond may have
// lost digits on its way, and could not be given back. Fractions lie inside of that range.
const integerMax = Number.MAX_SAFE_INTEGER;
const outOfRange = { error: `must lie between -${integerMax} and ${integerMax}; a greater number would lose digits` };
const number = option('Option 5: number', z.number().min(-integerMax, outOfRange).max(integerMax, outOfRange));

/** The option for each type of field. */
export const itemOptions = {
  address: texts,
  boolean: truth,
  date,
  'multi-select': choices,
  number,
  string: texts,
  url: texts,
} as const satisfies Readonly<Record<CustomFieldType, z.ZodType>>;

/** What a value must be, in words. */
export const wantedValues: Readonly<Record<CustomFieldType, string>> = {
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
export const describedItems = listOf(
  z.union([choices, texts, truth, date, number]).meta({
    id: 'CustomFieldItem',
    description: 'The type of the definition that has this key says which option is right. Each key at most once.',
  }),
);
