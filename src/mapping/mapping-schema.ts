/**
 * The mapping language: how the columns of one kind of export become a contact. Written in YAML, one file per
 * export under `config/mappings`; `config/mappings/generic.yaml` shows every key.
 *
 * Each key has its description here; unknown keys are errors. A setting that does not work yet is refused.
 */
import { z } from 'zod';
import { readSource } from './cell.ts';
import { normaliseHeader, tidyHeader } from './header.ts';
import { readCountry } from './phone-cell.ts';

const columnsMax = 500;

const positionWanted = `a column is its header, or as a number its position, from 1 to ${columnsMax}`;
const columnName = z
  .string()
  .transform(tidyHeader)
  .refine((name) => normaliseHeader(name) !== '', 'a column name is needed');
const columnPosition = z
  .number(positionWanted)
  .refine((position) => Number.isInteger(position) && position >= 1 && position <= columnsMax, positionWanted);

/** A number is a position; a text is a name, even one of digits. */
const column = z
  .union([columnName, columnPosition])
  .describe(
    "The column's header in CSV, or the member's name in JSON; case, spaces, _ and - make no difference. A number picks " +
      'the column of a CSV file by its position, from 1; a header that is a number is put in quotes.',
  );
/** How a mapping points at a column: by its name, or by its position from 1. */
export type ColumnRef = z.infer<typeof column>;

const onBlank = z
  .enum(['keep', 'clear'])
  .describe(
    'What a blank cell does: keep leaves the contact alone, clear removes the value. #CLEAR in a cell always clears.',
  );

const country = z
  .string()
  .refine(
    (text) => readCountry(text) !== null,
    'not a country code: use the two letters of ISO 3166-1, e.g. DE, AT or GB',
  )
  .transform((text) => readCountry(text) ?? text)
  .describe('The country (ISO 3166-1 alpha-2) of phone numbers that are written without + and country code.');

const optional = z
  .boolean()
  .describe('true: a file may lack the column, or all of its records the member. By default such a file is refused.');

const policy = z
  .enum(['shared', 'source', 'fill', 'seed'])
  .refine((name) => name === 'shared', 'this policy is not available yet: remove policy, or write shared')
  .describe(
    'Which value wins when both the file and the app changed a field: shared writes only what one side changed.',
  );

const label = z
  .string()
  .trim()
  .min(1, 'a label is needed')
  .max(75, 'a label has at most 75 characters')
  .describe('The label that the item gets on the contact, such as work or mobile.');

/** `Column`, or `{ column: Column }` with options. */
const fieldOptions = z.strictObject({
  column,
  onBlank: onBlank.optional(),
  optional: optional.optional(),
  policy: policy.optional(),
});
const field = z.union([column.transform((named): z.infer<typeof fieldOptions> => ({ column: named })), fieldOptions]);

const sourceOptions = z.strictObject({ column, optional: optional.optional() });
const sourceField = z.union([
  column.transform((named): z.infer<typeof sourceOptions> => ({ column: named })),
  sourceOptions,
]);

const fields = z.strictObject({
  firstName: field.optional().describe('First name.'),
  lastName: field.optional().describe('Last name.'),
  company: field.optional().describe('Company.'),
  role: field.optional().describe('Role, job title.'),
  sourceUrl: field
    .optional()
    .describe('Link to the person in the system that the file comes from: http or https, at most 200 characters.'),
  source: sourceField.optional().describe('Column with a source label per row; written on create only.'),
});

const emailColumn = z.strictObject({
  column,
  label: label.default('email'),
  onBlank: onBlank.optional(),
  optional: optional.optional(),
});

const phoneColumn = z.strictObject({
  column,
  label: label.default('phone'),
  country: country.optional(),
  onBlank: onBlank.optional(),
  optional: optional.optional(),
});

const customColumn = z.strictObject({
  column,
  key: z
    .string()
    .trim()
    .min(1, 'a key is needed')
    .max(200)
    .describe("The custom field's key in the workspace; case matters."),
  onBlank: onBlank.optional(),
  optional: optional.optional(),
});

export const mappingSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,59}$/i, 'a name has 1 to 60 letters, digits, - or _')
    .describe('The name of the mapping in reports and on the command line.'),
  key: column.describe('The column with the externalId, which identifies a person from file to file.'),
  keyPrefix: z
    .string()
    .max(40, 'a prefix has at most 40 characters')
    .regex(/^(?!\s)[^\p{Cc}]*$/u, 'a prefix does not begin with a space and holds no control characters')
    .optional()
    .describe(
      'A prefix for every key, so that the 101 of two systems are two people. It counts towards the 75 characters.',
    ),
  defaultCountry: country.optional(),
  onBlank: onBlank.default('keep'),
  duplicateKeys: z
    .enum(['dead', 'lastWins', 'firstWins'])
    .default('dead')
    .describe('What to do when a key occurs twice in a file with different contents.'),
  source: z
    .string()
    .superRefine((text, context) => {
      const reading = readSource(text);
      if (!reading.ok) context.addIssue({ code: 'custom', message: reading.flaw.message });
    })
    .transform((text) => text.normalize('NFC').trim())
    .optional()
    .describe("The source label of contacts that are created; by default the feed's."),
  fields: fields.default({}).describe('The single-valued fields of a contact.'),
  emails: z
    .array(emailColumn)
    .max(columnsMax)
    .superRefine(eachOnce('column'))
    .default([])
    .describe('Columns that hold e-mail addresses.'),
  phones: z
    .array(phoneColumn)
    .max(columnsMax)
    .superRefine(eachOnce('column'))
    .default([])
    .describe('Columns that hold phone numbers.'),
  customFields: z
    .array(customColumn)
    .max(columnsMax)
    .superRefine(eachOnce('key'))
    .default([])
    .describe('Columns that hold custom fields of the workspace.'),
  ignore: z
    .array(columnName)
    .max(columnsMax)
    .optional()
    .describe('Columns to ignore: they cause no note, and none stops a file.'),
});

/** A mapping after validation: names trimmed and in NFC, defaults filled in. */
export type Mapping = z.infer<typeof mappingSchema>;
export type BlankRule = z.infer<typeof onBlank>;

/** The name under which a column's items are remembered. That of a position has a space, a normalised header has none. */
export function slotOf(reference: ColumnRef): string {
  return typeof reference === 'number' ? `column ${reference}` : normaliseHeader(reference);
}

/** The column's name is the slot's name, and a custom field has one value: neither may occur twice in a list. */
function eachOnce<Name extends 'column' | 'key'>(name: Name) {
  return (entries: readonly { readonly [N in Name]: ColumnRef }[], context: z.RefinementCtx): void => {
    const seen = new Set<string>();
    entries.forEach((entry, index) => {
      const identity = name === 'column' ? slotOf(entry[name]) : String(entry[name]);
      if (seen.has(identity)) {
        context.addIssue({
          code: 'custom',
          path: [index, name],
          message: `"${entry[name]}" occurs twice in this list`,
        });
      }
      seen.add(identity);
    });
  };
}

/** The keys that are allowed at a place of a mapping, for "did you mean". Empty where any key is allowed. */
export function keysAt(path: readonly PropertyKey[]): readonly string[] {
  const [section] = path;
  if (section === undefined) return Object.keys(mappingSchema.shape);
  if (section === 'fields') {
    if (path.length === 1) return Object.keys(fields.shape);
    return Object.keys(path[1] === 'source' ? sourceOptions.shape : fieldOptions.shape);
  }
  if (section === 'emails') return Object.keys(emailColumn.shape);
  if (section === 'phones') return Object.keys(phoneColumn.shape);
  return section === 'customFields' ? Object.keys(customColumn.shape) : [];
}
