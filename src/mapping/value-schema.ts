/**
 * The parts of the mapping language that say what a value is: columns, patterns, values, transforms and conditions. A closed
 * set: no code and no regular expressions of users.
 *
 * A *value* is a column, or an object with exactly one source (`column`, `firstOf`, `join`, `template`, `constant`) and what
 * is done with it: `part`, then `transform`.
 */
import { z } from 'zod';
import { isPattern } from './column-pattern.ts';
import { normaliseHeader, tidyHeader } from './header.ts';
import { type Check, exactlyOneOf, onlyBeside, plainText } from './schema-checks.ts';
import { parseTemplate } from './template.ts';
import { transformsSchema as transforms } from './transforms.ts';

export const columnsMax = 500;
/** Nested `firstOf` and `join`. */
export const valueDepthMax = 4;
/** In one value, those inside of it included. */
export const valuesMax = 50;
const textCharactersMax = 1_000;

const positionWanted = `a column is its header, or as a number its position, from 1 to ${columnsMax}`;
export const columnName = z
  .string(positionWanted)
  .transform(tidyHeader)
  .refine((name) => normaliseHeader(name) !== '', 'a column name is needed');
const columnPosition = z
  .number(positionWanted)
  .refine((position) => Number.isInteger(position) && position >= 1 && position <= columnsMax, positionWanted);

/** A number is a position; a text is a name, even one of digits. */
export const column = z
  .union([columnName, columnPosition], positionWanted)
  .describe(
    "The column's header in CSV, or the path of a member in JSON, such as properties.email or phones[].value; case, " +
      'spaces, _ and - make no difference. A number picks the column of a CSV file by its position, from 1; a header that ' +
      'is a number is put in quotes.',
  );
/** How a mapping points at a column: by its name, or by its position from 1. */
export type ColumnRef = z.infer<typeof column>;

interface ValueOptions {
  readonly part?: number | undefined;
  readonly separator?: string | undefined;
  readonly transform?: z.infer<typeof transforms> | undefined;
}

/** An object with exactly one of `column`, `firstOf`, `join`, `template` and `constant`. */
export interface ValueObject extends ValueOptions {
  readonly column?: ColumnRef | undefined;
  readonly firstOf?: readonly Value[] | undefined;
  readonly join?: readonly Value[] | undefined;
  readonly with?: string | undefined;
  readonly template?: string | undefined;
  readonly constant?: string | undefined;
}
export type Value = ColumnRef | ValueObject;

export const valueWanted =
  'a value is a column, or an object such as { column: Phone } or { firstOf: [Mobile, Phone] }';
const nested: z.ZodType<Value, unknown> = z.lazy(() => value);
const nestedList = z
  .array(nested, 'a list of values is needed')
  .min(1, 'a list of at least one value is needed')
  .max(valuesMax, `at most ${valuesMax} values are allowed`);

const separator = z
  .string('a separator is a text')
  .min(1, 'a separator has at least one character')
  .max(20, 'a separator has at most 20 characters')
  .describe('What stands between several values in one cell, besides what separates them anyway.');

/** Of every value, so that fields, items, custom fields and keys all take it. */
export const valueShape = {
  column: column.optional(),
  firstOf: nestedList
    .optional()
    .describe('Values in order; the first that is not blank counts. A file may lack all of their columns but one.'),
  join: nestedList.optional().describe('Values that are put together; blank ones are left out.'),
  with: z
    .string('a text is needed')
    .max(20, 'at most 20 characters are allowed')
    .optional()
    .describe('What join puts between its values; a space by default.'),
  template: z
    .string('a template is a text')
    .max(textCharactersMax, `a template has at most ${textCharactersMax} characters`)
    .superRefine((text, context) => {
      const template = parseTemplate(text);
      if (!template.ok) context.addIssue({ code: 'custom', message: template.message });
    })
    .optional()
    .describe(
      'A text with columns in braces: "{First Name} {Last Name}". {{ is a brace. Blank if all its columns are.',
    ),
  constant: plainText.optional().describe('The same text for every row.'),
  part: z
    .number('a part is a number')
    .refine(
      (part) => Number.isInteger(part) && part !== 0 && Math.abs(part) <= 100,
      'a part is 1 to 100, or -1 to -100',
    )
    .optional()
    .describe('One of the pieces between separators (without one: ";"): 1 is the first, -1 the last.'),
  separator: separator.optional(),
  transform: transforms.optional().describe('What is done with the text, step by step.'),
};

export const valueSources = ['column', 'firstOf', 'join', 'template', 'constant'] as const;

/** Depth and number of the values inside of a value. */
const withinLimits: Check = z.refine(
  (found) => depthOf(found as Value) <= valueDepthMax && countOf(found as Value) <= valuesMax,
  {
    error: `values are nested at most ${valueDepthMax} deep, and at most ${valuesMax} in one value`,
  },
);

function innerOf(one: Value): readonly Value[] {
  return typeof one === 'object' ? [...(one.firstOf ?? []), ...(one.join ?? [])] : [];
}
function depthOf(one: Value): number {
  const inner = innerOf(one);
  return inner.length === 0 ? 0 : 1 + Math.max(...inner.map(depthOf));
}
function countOf(one: Value): number {
  return innerOf(one).reduce((sum: number, each) => sum + countOf(each), 1);
}

/** `{n}` and `{label}` pick several columns, each an e-mail address or a phone number of its own. */
function withoutPatterns(isBarred: (reference: Reference) => boolean): Check {
  return z.superRefine((found, context) => {
    for (const one of referencesIn(found as Value)) {
      if (!isPattern(one.reference) || !isBarred(one)) continue;
      context.addIssue({ code: 'custom', path: [...one.path], message: patternElsewhere });
    }
  });
}
const patternElsewhere = 'a pattern with {n} or {label} belongs in the column of emails and phones only';

interface Reference {
  readonly reference: ColumnRef;
  readonly path: readonly PropertyKey[];
}

/** Every column that a value reads, with its place in the value. */
export function referencesIn(one: Value, path: readonly PropertyKey[] = []): readonly Reference[] {
  if (typeof one !== 'object') return [{ reference: one, path }];
  const inner = (key: 'firstOf' | 'join') =>
    (one[key] ?? []).flatMap((each, index) => referencesIn(each, [...path, key, index]));
  const template = one.template === undefined ? null : parseTemplate(one.template);
  return [
    ...(one.column === undefined ? [] : [{ reference: one.column, path: [...path, 'column'] }]),
    ...inner('firstOf'),
    ...inner('join'),
    ...(template?.ok === true
      ? template.columns.map((name) => ({ reference: name, path: [...path, 'template'] }))
      : []),
  ];
}

const sourceChecks: readonly Check[] = [
  exactlyOneOf(valueSources, 'a value'),
  onlyBeside('with', ['join']),
  withinLimits,
];
/** What holds for a value that is one text. */
export const singleChecks: readonly Check[] = [
  ...sourceChecks,
  onlyBeside('separator', ['part']),
  withoutPatterns(() => true),
];
/** What holds for a value that may be several texts. */
export const listChecks: readonly Check[] = [...sourceChecks, withoutPatterns(() => true)];
/** What holds for the values of e-mail addresses and phone numbers: `column` itself may be a pattern. */
export const itemChecks: readonly Check[] = [
  ...sourceChecks,
  withoutPatterns(({ path }) => path.join('.') !== 'column'),
];

const value: z.ZodType<Value, unknown> = z.union(
  [column, z.strictObject(valueShape).check(...singleChecks)],
  valueWanted,
);
