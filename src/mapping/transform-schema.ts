/** The keys of a transform in a mapping file, with their limits (`docs/mapping.md`, "Transforms"). */

import { z } from 'zod';
import { closestName } from '#src/sources/column-name.ts';
import { formatFlaw } from './date-format.ts';
import { comparedForm, plainTransforms } from './transforms.ts';

/** The transforms that take something, and what each may have with it. */
const companions: Readonly<Record<string, readonly string[]>> = {
  before: [],
  after: [],
  withoutPrefix: [],
  withoutSuffix: [],
  replace: ['with'],
  values: ['otherwise'],
  date: [],
};
const argumentNames = Object.keys(companions);

const textLengthMax = 200;
const valuesMax = 1_000;
const formatsMax = 20;
const transformsMax = 20;

const literal = z.string().min(1, 'a text is needed').max(textLengthMax, `at most ${textLengthMax} characters`);
const replacement = z.string().max(textLengthMax, `at most ${textLengthMax} characters`);
/** YAML reads `Yes: true` and `VIP: 1` as what they look like; an empty value is blank. */
const mapped = z
  .union([replacement, z.number(), z.boolean(), z.null()], { error: 'expected a text, a number, true or false' })
  .transform((value) => (value === null ? '' : String(value)));

const dateFormat = z.string().superRefine((format, context) => {
  const flaw = formatFlaw(format);
  if (flaw !== null) context.addIssue({ code: 'custom', message: `"${format}" ${flaw}` });
});

const withArgument = z
  .strictObject({
    before: literal
      .optional()
      .describe('What is before the first occurrence of this text; all of it where there is none.'),
    after: literal
      .optional()
      .describe('What is after the first occurrence of this text; all of it where there is none.'),
    withoutPrefix: literal.optional().describe('Without this text at the beginning.'),
    withoutSuffix: literal.optional().describe('Without this text at the end.'),
    replace: literal.optional().describe('Replaces each occurrence of this text.'),
    with: replacement.optional().describe('What replace writes instead; empty removes the text.'),
    values: z
      .record(z.string().max(textLengthMax), mapped)
      .refine((map) => Object.keys(map).length <= valuesMax, `at most ${valuesMax} values`)
      .refine(
        (map) => new Set(Object.keys(map).map(comparedForm)).size === Object.keys(map).length,
        'a value occurs twice',
      )
      .optional()
      .describe('Texts and what each becomes; case and spaces around them make no difference.'),
    otherwise: replacement
      .optional()
      .describe('What becomes of a text that values lacks: keep (the default), blank, or a text of your own.'),
    date: z
      .union(
        [
          dateFormat,
          z
            .array(dateFormat)
            .min(1, 'a date format is needed')
            .max(formatsMax, `at most ${formatsMax} formats are allowed`),
        ],
        'a date format is a text such as DD.MM.YYYY, or a list of them',
      )
      .optional()
      .describe(
        'Reads a date in this format, such as DD.MM.YYYY, or the first of several that it fits; the result is an ISO date. ' +
          'A date that fits none is invalid.',
      ),
  })
  .superRefine((transform, context) => {
    const given = Object.keys(transform).filter((name) => transform[name as keyof typeof transform] !== undefined);
    const [name, second] = given.filter((one) => argumentNames.includes(one));
    const message =
      name === undefined
        ? `expected one of ${argumentNames.join(', ')}`
        : second !== undefined
          ? `write "${name}" and "${second}" as two transforms, one after the other`
          : foreignCompanion(name, given);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

function foreignCompanion(name: string, given: readonly string[]): string | null {
  if (name === 'replace' && !given.includes('with')) return 'replace needs "with"; with: "" removes the text';
  const foreign = given.find((one) => one !== name && companions[name]?.includes(one) !== true);
  return foreign === undefined ? null : `"${foreign}" does not go with "${name}"`;
}

function unknownTransform(input: unknown): string {
  const close = typeof input === 'string' ? closestName(input, [...plainTransforms, ...argumentNames]) : null;
  if (close === null)
    return `not a transform: use ${plainTransforms.join(', ')}, or { ${argumentNames.join(': … }, { ')}: … }`;
  return argumentNames.includes(close)
    ? `${close} takes a value: write { ${close}: … }`
    : `not a transform; did you mean "${close}"?`;
}

/** One transform: a word, or an object with what it takes. */
export const transformSchema = z.union([
  z.enum(plainTransforms, { error: ({ input }) => unknownTransform(input) }),
  withArgument,
]);

/** The transforms of a value, in order. */
export const transformsSchema = z
  .array(transformSchema)
  .max(transformsMax, `at most ${transformsMax} transforms`)
  .describe('What is done to the text, in order, before it is read.');

/** The keys of a transform that is an object, for "did you mean". */
export const transformKeys: readonly string[] = Object.keys(withArgument.shape);
