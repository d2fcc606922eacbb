/** The conditions of the mapping language: a closed set of questions about one cell, without regard to case and outer spaces. */
import { z } from 'zod';
import { exactlyOneOf, isObject, plainText } from './schema-checks.ts';
import { column } from './value-schema.ts';

const textsMax = 200;

const text = plainText.refine((one) => one.trim() !== '', 'a text is needed; for blank cells write isBlank: true');
const texts = z.union(
  [text, z.array(text).min(1, 'a text is needed').max(textsMax, `at most ${textsMax} texts are allowed`)],
  'a text, or a list of texts, is needed',
);
const yes = z.literal(true, 'write true, or leave the key out');

const tests = ['equals', 'beginsWith', 'contains', 'isBlank', 'isFilled'] as const;

const conditionShape = {
  column: column
    .optional()
    .describe(
      'The column that is looked at. Without one: the first filled cell of the row, or the value itself in skip.',
    ),
  equals: texts.optional().describe('The cell is this text, or one of these.'),
  beginsWith: texts.optional().describe('The cell begins with this text, or one of these.'),
  contains: texts.optional().describe('The cell contains this text, or one of these.'),
  isBlank: yes.optional().describe('The cell is empty.'),
  isFilled: yes.optional().describe('The cell is not empty.'),
};

interface Asked {
  readonly column?: unknown;
  readonly isBlank?: unknown;
}

const aboutCell = exactlyOneOf(tests, 'a condition');

/** Of a row: without a column it is the first filled cell that is looked at. */
export const rowCondition = z
  .strictObject({
    ...conditionShape,
    isAlone: yes.optional().describe('No other cell of the row is filled. Beside one of the others.'),
    why: plainText
      .optional()
      .describe('Which rows these are, in words for the note on what was skipped: people who have left.'),
  })
  .check(
    aboutCell,
    z.refine((one: Asked) => one.column !== undefined || one.isBlank === undefined, {
      when: ({ value }) => isObject(value),
      path: ['isBlank'],
      error: 'isBlank needs a column',
    }),
  );

/** Of a row that is kept: a column is needed. */
export const keepCondition = z.strictObject(conditionShape).check(
  aboutCell,
  z.refine((one: Asked) => one.column !== undefined, {
    when: ({ value }) => isObject(value),
    error: 'a condition in keepRows needs a column',
  }),
);

/** Of one value. */
export const valueCondition = z.strictObject(conditionShape).check(aboutCell);

/** One question about a cell. A text that is a list is met by any of its texts. */
export type Condition = z.infer<typeof rowCondition>;
