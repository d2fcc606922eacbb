/**
 * The parts of the mapping language that say what a value is: columns, patterns, values, transforms and conditions. A closed
 * set: no code and no regular expressions of users.
 *
 * A *value* is a column, or an object with exactly one source (`column`, `firstOf`, `join`, `template`, `constant`) and what
 * is done with it: `part`, then `transform`.
 */
import { z } from 'zod';
import { normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { isPattern } from './column-pattern.ts';
import { transformsSchema as transforms } from './transform-schema.ts';

export const columnsMax = 500;
/** Nested `firstOf` and `join`. */
const valueDepthMax = 4;
/** In one value, those inside of it included. */
const valuesMax = 50;
const textCharactersMax = 1_000;

// Checks that several parts of the mapping language share. Their messages are the words that users read.

/** A text that a mapping holds; YAML reads `5` and `true` without quotes as other kinds. */
export const plainText = z
  .union([z.string(), z.number().transform(String), z.boolean().transform(String)], 'a text is needed')
  .refine((text) => text.length <= textCharactersMax, `a text has at most ${textCharactersMax} characters`);

export type Check = Parameters<z.ZodType['check']>[0];

/** Exactly one of these keys must be there. Checked even where another mistake was found, so that all are named at once. */
export function exactlyOneOf(keys: readonly string[], subject: string): Check {
  const listed = `${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`;
  const given = (value: unknown) => (isObject(value) ? keys.filter((key) => value[key] !== undefined) : []);
  return z.refine((value) => given(value).length === 1, {
    when: ({ value }) => isObject(value),
    error: ({ input }) => {
      const [first, second] = given(input);
      if (second === undefined) return `${subject} needs one of ${listed}`;
      return `${first} and ${second} exclude each other: ${subject} has exactly one of ${listed}`;
    },
  });
}

/** A key that has a meaning beside another one only. */
export function onlyBeside(key: string, others: readonly string[]): Check {
  return z.refine(
    (value) => !isObject(value) || value[key] === undefined || others.some((other) => value[other] !== undefined),
    {
      when: ({ value }) => isObject(value),
      path: [key],
      error: `${key} is used only together with ${others.join(' or ')}`,
    },
  );
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// What a value is.

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

// Templates: a text with columns in braces, such as `{First Name} {Last Name}`. `{{` and `}}` are braces of the text.

/** A piece is a text as it stands, or a column. */
type TemplatePiece = { readonly text: string } | { readonly column: string };

type Template =
  | { readonly ok: true; readonly pieces: readonly TemplatePiece[]; readonly columns: readonly string[] }
  | { readonly ok: false; readonly message: string };

const templateColumnsMax = 50;

/** Reads a template. A message says what is wrong with it. */
export function parseTemplate(text: string): Template {
  const pieces: TemplatePiece[] = [];
  const columns: string[] = [];
  let rest = text;
  // Each turn takes at least one character off the rest.
  while (rest !== '') {
    const plain = /^(?:[^{}]|\{\{|\}\})+/.exec(rest)?.[0];
    if (plain !== undefined) {
      pieces.push({ text: plain.replaceAll('{{', '{').replaceAll('}}', '}') });
      rest = rest.slice(plain.length);
      continue;
    }
    const braced = /^\{([^{}]*)\}/.exec(rest);
    const name = braced?.[1] ?? null;
    if (braced === null || name === null)
      return bad('a brace is not closed, or not opened; write {{ for a brace of the text');
    if (normaliseHeader(name) === '') return bad('between { and } the name of a column is needed');
    pieces.push({ column: tidyHeader(name) });
    columns.push(tidyHeader(name));
    rest = rest.slice(braced[0].length);
  }
  if (columns.length === 0)
    return bad('a template holds at least one column in braces, such as {Name}; without one, write constant');
  if (columns.length > templateColumnsMax) return bad(`a template holds at most ${templateColumnsMax} columns`);
  return { ok: true, pieces, columns };
}

function bad(message: string): Template {
  return { ok: false, message };
}
