/**
 * Where values go, as a mapping writes it: single-valued fields, e-mail addresses, phone numbers and custom fields, each a
 * value (`value-schema.ts`) with its options; and the conditions under which a row or a value is left out.
 */
import { z } from 'zod';
import { fieldPolicies, itemPolicies } from '#src/contacts/policies.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import { isPattern, placeholdersOf } from './column-pattern.ts';
import { readCountry } from './phone-cell.ts';
import { transformsSchema as transforms } from './transform-schema.ts';
import {
  type Check,
  type ColumnRef,
  column,
  exactlyOneOf,
  isObject,
  itemChecks,
  listChecks,
  plainText,
  singleChecks,
  valueShape,
  valueWanted,
} from './value-schema.ts';

export const onBlank = z
  .enum(['keep', 'clear'], 'write keep or clear')
  .describe(
    'What a blank cell does: keep leaves the contact alone, clear removes the value. #CLEAR in a cell always clears.',
  );

export const onInvalid = z
  .enum(['reject', 'drop'], 'write reject or drop')
  .describe(
    'What a value does that cannot be read: reject (the default) rejects its row, drop leaves the value out, with a warning.',
  );

const countryCode = z
  .string('a country is its code, such as DE')
  .refine(
    (text) => readCountry(text) !== null,
    'not a country code: use the two letters of ISO 3166-1, e.g. DE, AT or GB',
  )
  .transform((text) => readCountry(text) ?? text)
  .describe('The country (ISO 3166-1 alpha-2) of phone numbers that are written without + and country code.');

const countryColumn = z
  .strictObject({
    column: column.describe(
      'The column with the country: a code of ISO 3166-1, or a name in English, German, French or Spanish.',
    ),
    others: z
      .array(column)
      .optional()
      .describe(
        'More columns with countries, of other addresses, which the file may lack. Where they name different ones, none is taken.',
      ),
    default: countryCode.optional().describe('The country where all these cells are blank.'),
  })
  .describe('A country for each row.');
export const country = z
  .union([countryCode, countryColumn], 'a country is its code, such as DE, or { column: Country, default: DE }')
  .describe('The country of phone numbers that are written without + and country code: a code, or a column.');
/** A country code, or the columns that hold the country of each row. */
export type CountryChoice = z.infer<typeof country>;

export function columnsOfCountry(choice: CountryChoice | undefined): readonly ColumnRef[] {
  return typeof choice === 'object' ? [choice.column, ...(choice.others ?? [])] : [];
}

export const optional = z
  .boolean('write true or false')
  .describe('true: a file may lack the columns, or all of its records the members. By default such a file is refused.');

const policy = z
  .enum(fieldPolicies, 'write shared, source, fill, seed or app')
  .describe(
    'Who decides about the field of a contact that exists. shared (the default): who changed it; what both changed waits for a ' +
      'person. source: the file. fill: the file, where the app holds nothing. seed: the app; the file only when the contact is ' +
      'created. app: the app, once the field was changed there.',
  );

const itemPolicy = z
  .enum(itemPolicies, 'write owned, all or none')
  .describe(
    'What leaves a list of e-mails or phones. owned (the default): what Patchbay wrote and the file no longer names. all: whatever the ' +
      'file does not name. none: nothing.',
  );

export const itemPolicyChoice = z.union(
  [
    itemPolicy,
    z.strictObject({
      emails: itemPolicy.optional().describe('Of e-mail addresses.'),
      phones: itemPolicy.optional().describe('Of phone numbers.'),
    }),
  ],
  'write owned, all or none, or { emails: all, phones: none }',
);

const labelText = z
  .string('a label is a text')
  .trim()
  .min(1, 'a label is needed')
  .max(75, 'a label has at most 75 characters');

const labelColumn = z.strictObject({
  column: column.describe('The column with the label. In the entry of a pattern it may hold the same {n}.'),
  transform: transforms.optional().describe('What is done with the label, step by step.'),
  values: z
    .record(z.string(), labelText, 'values is a list of pairs, such as { Mobile: mobile }')
    .optional()
    .describe('A table of labels: the text in the file, and what it becomes. Case makes no difference.'),
  default: labelText.optional().describe('The label where the cell is blank.'),
});
const label = z
  .union([labelText, labelColumn], 'a label is a text, or an object such as { column: Type, default: phone }')
  .describe('The label that the item gets on the contact, such as work or mobile.');

/** `Column` means `{ column: Column }`. */
function columnOr<Options extends z.ZodType>(options: Options) {
  const short = column.transform((named) => ({ column: named }) as z.infer<Options>);
  return z.union([short, options], valueWanted);
}

const targetShape = { onInvalid: onInvalid.optional(), optional: optional.optional() };
const writtenShape = { onBlank: onBlank.optional(), ...targetShape };

const field = columnOr(
  z.strictObject({ ...valueShape, ...writtenShape, policy: policy.optional() }).check(...singleChecks),
);
const sourceField = columnOr(z.strictObject({ ...valueShape, ...targetShape }).check(...singleChecks));

export const fields = z.strictObject({
  firstName: field.optional().describe('First name.'),
  lastName: field.optional().describe('Last name.'),
  company: field.optional().describe('Company.'),
  role: field.optional().describe('Role, job title.'),
  sourceUrl: field
    .optional()
    .describe('Link to the person in the system that the file comes from: http or https, at most 200 characters.'),
  source: sourceField.optional().describe('Column with a source label per row; written on create only.'),
});

// Conditions: a closed set of questions about one cell, without regard to case and outer spaces.

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
const valueCondition = z.strictObject(conditionShape).check(aboutCell);

/** One question about a cell. A text that is a list is met by any of its texts. */
export type Condition = z.infer<typeof rowCondition>;

const skip = valueCondition.describe(
  'The value is left out where this holds. Without a column it is about the value itself.',
);
const itemShape = {
  ...valueShape,
  skip: skip.optional(),
  ...writtenShape,
  policy: z
    .never(
      'e-mails and phones have one policy for the whole list: items: { emails: all, phones: none }, beside emails and phones',
    )
    .optional()
    .describe('Refused here: e-mails and phones have one policy for the whole list, in items.'),
};

export const email = z
  .strictObject({ ...itemShape, label: label.default('email') })
  .check(...itemChecks, patternsAgree());

export const phone = z
  .strictObject({ ...itemShape, label: label.default('phone'), country: country.optional() })
  .check(...itemChecks, patternsAgree());

export const customField = z
  .strictObject({
    ...valueShape,
    key: z
      .string('a key is a text')
      // Kept as it is written: there may be a field whose key ends with a space.
      .regex(/\S/, 'a key is needed')
      .max(200, 'a key has at most 200 characters')
      .describe("The custom field's key in the workspace; case matters."),
    ...writtenShape,
    policy: policy.optional(),
  })
  .check(...listChecks);

/** An entry of `emails`. */
export type EmailEntry = z.infer<typeof email>;
/** An entry of `phones`. */
export type PhoneEntry = z.infer<typeof phone>;
export type BlankRule = z.infer<typeof onBlank>;
export type InvalidRule = z.infer<typeof onInvalid>;

/** Two entries of a list that read the same value would be the same slot. */
export function eachOnce(this: void, payload: z.core.ParsePayload<readonly EmailEntry[]>): void {
  const identityOf = (entry: EmailEntry): string => {
    const {
      column: reference,
      firstOf,
      join,
      with: glue,
      template,
      constant,
      part,
      separator,
      transform,
      skip: skipped,
    } = entry;
    const named = typeof reference === 'string' ? normaliseHeader(reference) : reference;
    return JSON.stringify([named, firstOf, join, glue, template, constant, part, separator, transform, skipped]);
  };
  const seen = new Set<string>();
  payload.value.forEach((entry, index) => {
    const identity = identityOf(entry);
    if (seen.has(identity)) {
      const path = entry.column === undefined ? [index] : [index, 'column'];
      const message = entry.column === undefined ? 'the same value' : `"${entry.column}"`;
      payload.issues.push({ code: 'custom', input: entry, path, message: `${message} occurs twice in this list` });
    }
    seen.add(identity);
  });
}

/** A custom field has one value. */
export function eachKeyOnce(this: void, payload: z.core.ParsePayload<readonly { readonly key: string }[]>): void {
  const seen = new Set<string>();
  payload.value.forEach((entry, index) => {
    if (seen.has(entry.key)) {
      const message = `"${entry.key}" occurs twice in this list`;
      payload.issues.push({ code: 'custom', input: entry, path: [index, 'key'], message });
    }
    seen.add(entry.key);
  });
}

/** A placeholder occurs once in a pattern, and beside the pattern only those that it has. */
function patternsAgree(): Check {
  return z.superRefine((entry: unknown, context) => {
    const { column: own, label: labelled, country: from, skip: skipped } = entry as Partial<PhoneEntry>;
    const known: readonly string[] = own !== undefined && isPattern(own) ? placeholdersOf(own) : [];
    if (new Set(known).size < known.length) {
      context.addIssue({ code: 'custom', path: ['column'], message: 'a pattern holds {n} and {label} once each' });
    }
    const others: readonly (readonly [string, ColumnRef | undefined])[] = [
      ['label', typeof labelled === 'object' ? labelled.column : undefined],
      ...columnsOfCountry(from).map((column) => ['country', column] as const),
      ['skip', skipped?.column],
    ];
    for (const [name, reference] of others) {
      if (reference === undefined || !isPattern(reference)) continue;
      const unknown = placeholdersOf(reference).find((placeholder) => !known.includes(placeholder));
      if (unknown === undefined) continue;
      const message = `{${unknown}} needs a pattern in the column of the entry, such as Phone {${unknown}}`;
      context.addIssue({ code: 'custom', path: [name, 'column'], message });
    }
  });
}
