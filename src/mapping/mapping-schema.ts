/**
 * The mapping language: how the columns of one kind of export become a contact. Written in YAML, one file per
 * export under `config/mappings`; `config/mappings/generic.yaml` shows every key. What a value is: `value-schema.ts`.
 *
 * Each key has its description here; unknown keys are errors.
 */

import { z } from 'zod';
import {
  country,
  customField,
  eachKeyOnce,
  eachOnce,
  email,
  fields,
  itemPolicyChoice,
  keepCondition,
  onBlank,
  onInvalid,
  optional,
  phone,
  rowCondition,
} from './entry-schema.ts';
import { isDelimiter, isEncoding } from './file-reading.ts';
import { readSource } from './source-label.ts';
import {
  column,
  columnName,
  columnsMax,
  exactlyOneOf,
  onlyBeside,
  plainText,
  singleChecks,
  valueShape,
  valueSources,
} from './value-schema.ts';

const conditionsMax = 100;
const fixturesMax = 200;

const derivedKey = z
  .strictObject({
    ...valueShape,
    hashLong: z
      .boolean('write true or false')
      .optional()
      .describe(
        'true: a key that is too long becomes 40 hex digits of its SHA-256. By default such a row is rejected.',
      ),
  })
  .check(...singleChecks);

const key = z
  .union([column, derivedKey], 'a key is a column, or an object such as { firstOf: [Id, E-mail] }')
  .describe('The externalId, which identifies a person from file to file: a column, or a value made of several.');

// The part `recognise` of a preset: what files of one export are known by (`docs/exports.md`). A closed set, so that a preset
// is data.

const cellsMax = 10;

const cellRule = z
  .strictObject({
    column: columnName.describe('A header, or the path of a JSON member.'),
    beginsWith: plainText.optional().describe('Every filled cell begins with this.'),
    equals: plainText.optional().describe('Every filled cell is this.'),
    lengths: z
      .array(z.int('a length is a whole number').min(1).max(1_000), 'lengths is a list of numbers')
      .min(1, 'a length is needed')
      .max(cellsMax)
      .optional()
      .describe('Every filled cell has one of these numbers of characters.'),
  })
  .describe('What the filled cells of a column are like, in the first rows. At least one must be filled.');

const names = (of: string) =>
  z.array(columnName, `${of} is a list of names`).min(1, `${of} needs at least one name`).max(columnsMax);

const recognition = z
  .strictObject({
    headers: names('headers').optional().describe('A table is recognised when all of these headers are there.'),
    members: names('members')
      .optional()
      .describe('JSON is recognised when its records have all of these members, written as paths.'),
    format: z
      .enum(['csv', 'json', 'ndjson', 'xlsx', 'vcf'], 'format is csv, json, ndjson, xlsx or vcf')
      .optional()
      .describe('Files of this format are recognised.'),
    without: names('without').optional().describe('Not when one of these is there: it belongs to another export.'),
    wrapper: columnName.optional().describe('The member of the document that holds the records, such as results.'),
    cells: z
      .array(cellRule, 'cells is a list')
      .min(1)
      .max(cellsMax)
      .optional()
      .describe('What cells are like, where headers alone do not tell.'),
    footer: z
      .array(plainText, 'footer is a list of texts')
      .min(1)
      .max(cellsMax)
      .optional()
      .describe('One of the last lines of the table begins with one of these.'),
  })
  .check(
    exactlyOneOf(['headers', 'members', 'format'], 'a way to recognise files'),
    onlyBeside('wrapper', ['members']),
    onlyBeside('footer', ['headers']),
    onlyBeside('without', ['headers', 'members']),
    onlyBeside('cells', ['headers', 'members']),
  );

const ignoredProblem = z.strictObject({
  code: z
    .string('a code is needed, such as cellCount')
    .regex(/^[a-z][A-Za-z]*$/, 'a code is one word, such as cellCount: patchbay dead ls shows them')
    .describe('The code of the problem, as patchbay dead ls shows it.'),
  column: columnName.optional().describe('The column that has the problem; by default whichever it is.'),
});

/** One way to recognise the files of an export: all that it names must be so. */
export type Signature = z.infer<typeof recognition>;

// Fixtures of a mapping: rows, and what becomes of them. `patchbay map --test` checks them; so does the test of every preset.

const textOrNull = z.union([z.string(), z.null()], 'a text is needed, or null for a value that is removed');
const items = z
  .array(
    z.strictObject({
      name: z.string('a label is a text').optional().describe('The label.'),
      value: z.string('a value is a text').describe('The address or number, as it is written to the contact.'),
    }),
    'a list such as [{ name: work, value: ada@example.com }] is needed',
  )
  .max(500, 'at most 500 items are allowed');

const fixture = z
  .strictObject({
    row: z
      .record(z.string(), z.json(), 'a row is a list of pairs, such as { Email: ada@example.com }')
      .describe('The cells by their columns, or a JSON record.'),
    contact: z
      .strictObject({
        externalId: z.string('an externalId is a text').describe('The key, with its prefix.'),
        firstName: textOrNull.optional().describe('First name.'),
        lastName: textOrNull.optional().describe('Last name.'),
        company: textOrNull.optional().describe('Company.'),
        role: textOrNull.optional().describe('Role.'),
        sourceUrl: textOrNull.optional().describe('Link to the person.'),
        source: z.string('a source label is a text').optional().describe('Source label.'),
        emails: items.optional().describe('E-mail addresses.'),
        phones: items.optional().describe('Phone numbers.'),
        customFields: z
          .record(z.string(), z.json(), 'customFields is a list of pairs, such as { since: 2026-03-05 }')
          .optional()
          .describe('Custom fields by their keys.'),
      })
      .optional()
      .describe('The contact that the row becomes.'),
    problems: z
      .array(z.string('a problem is named by its code'), 'problems is a list of codes, such as [keyMissing]')
      .min(1, 'at least one code is needed')
      .optional()
      .describe('The codes of the problems that reject the row.'),
    skipped: z
      .literal(true, 'write true, or leave the key out')
      .optional()
      .describe('The row is left out by skipRows or keepRows.'),
    warnings: z
      .array(z.string('a warning is named by its code'), 'warnings is a list of codes')
      .optional()
      .describe('The codes of the warnings that the row causes; not checked where this is not given.'),
  })
  .check(exactlyOneOf(['contact', 'problems', 'skipped'], 'a fixture'));

/** A row, and the contact, the problems or the silence that it becomes. */
export type Fixture = z.infer<typeof fixture>;

// The whole mapping.

export const mappingSchema = z.strictObject({
  name: z
    .string('a text is needed')
    .regex(/^[a-z0-9][a-z0-9_-]{0,59}$/i, 'a name has 1 to 60 letters, digits, - or _')
    .describe('The name of the mapping in reports and on the command line.'),
  key,
  title: z
    .string('a text is needed')
    .trim()
    .min(1, 'a title is needed')
    .max(100, 'a title has at most 100 characters')
    .optional()
    .describe('What people call the export, such as HubSpot contacts.'),
  recognise: z
    .array(recognition, 'recognise is a list of ways to recognise a file')
    .min(1, 'at least one way is needed')
    .max(conditionsMax, `at most ${conditionsMax} ways are allowed`)
    .optional()
    .describe('Presets only: what a file is recognised by. Any one of these is enough.'),
  sheet: z
    .string('a text is needed')
    .trim()
    .min(1, 'the name of a sheet is needed')
    .max(100, 'the name of a sheet has at most 100 characters')
    .optional()
    .describe('The sheet of an Excel workbook; by default the first visible one that is not empty.'),
  encoding: z
    .string('a text is needed')
    .trim()
    .refine(isEncoding, 'no encoding is called that; write utf-8, windows-1252, shift_jis, gb18030 and so on')
    .optional()
    .describe('The encoding of text files that are not UTF-8; by default it is detected. --encoding overrides it.'),
  delimiter: z
    .string('a delimiter is a text, such as ";"')
    .refine(isDelimiter, 'write one character, or tab')
    .optional()
    .describe(
      'What separates the cells of a CSV file: one character, or tab; by default it is detected. --delimiter overrides it.',
    ),
  optional: optional
    .optional()
    .describe("true: files may lack every column but the key's. The optional of one column wins over it."),
  keyPrefix: z
    .string('a text is needed')
    .max(40, 'a prefix has at most 40 characters')
    .regex(/^(?!\s)[^\p{Cc}]*$/u, 'a prefix does not begin with a space and holds no control characters')
    .optional()
    .describe(
      'A prefix for every key, so that the 101 of two systems are two people. It counts towards the 75 characters.',
    ),
  defaultCountry: country.optional(),
  onBlank: onBlank.default('keep'),
  onInvalid: onInvalid.optional(),
  duplicateKeys: z
    .enum(['dead', 'lastWins', 'firstWins'], 'write dead, lastWins or firstWins')
    .default('dead')
    .describe('What to do when a key occurs twice in a file with different contents.'),
  source: z
    .string('a text is needed')
    .superRefine((text, context) => {
      const reading = readSource(text);
      if (!reading.ok) context.addIssue({ code: 'custom', message: reading.flaw.message });
    })
    .transform((text) => text.normalize('NFC').trim())
    .optional()
    .describe("The source label of contacts that are created; by default the feed's."),
  fields: fields.default({}).describe('The single-valued fields of a contact.'),
  emails: z
    .array(email, 'a list is needed, such as [{ column: E-mail, label: work }]')
    .max(columnsMax, `at most ${columnsMax} entries are allowed`)
    .check(eachOnce)
    .default([])
    .describe('E-mail addresses.'),
  phones: z
    .array(phone, 'a list is needed, such as [{ column: Phone, label: work }]')
    .max(columnsMax, `at most ${columnsMax} entries are allowed`)
    .check(eachOnce)
    .default([])
    .describe('Phone numbers.'),
  items: itemPolicyChoice
    .optional()
    .describe('Which e-mails and phones leave a contact: one policy for both lists, or one for each.'),
  customFields: z
    .array(customField, 'a list is needed, such as [{ column: Since, key: since }]')
    .max(columnsMax, `at most ${columnsMax} entries are allowed`)
    .check(eachKeyOnce)
    .default([])
    .describe('Custom fields of the workspace.'),
  ignore: z
    .array(columnName, 'a list of columns is needed, such as [Notes]')
    .max(columnsMax, `at most ${columnsMax} columns are allowed`)
    .optional()
    .describe('Columns to ignore: they cause no note, no pattern matches them, and none stops a file.'),
  skipRows: z
    .array(rowCondition, 'a list of conditions is needed, such as [{ column: Deleted, equals: yes }]')
    .max(conditionsMax, `at most ${conditionsMax} conditions are allowed`)
    .optional()
    .describe('Rows to leave out: those for which any of these conditions holds. They are counted and reported.'),
  keepRows: z
    .array(keepCondition, 'a list of conditions is needed, such as [{ column: Type, equals: Person }]')
    .max(conditionsMax, `at most ${conditionsMax} conditions are allowed`)
    .optional()
    .describe('Rows to keep: those for which all of these conditions hold. The others are counted and reported.'),
  ignoreRejected: z
    .array(ignoredProblem, 'a list of rules is needed, such as [{ code: cellCount }]')
    .max(conditionsMax, `at most ${conditionsMax} rules are allowed`)
    .optional()
    .describe(
      'Rejected rows to leave alone: those of which a rule fits every problem are skipped and counted, and leave no dead letter.',
    ),
  fixtures: z
    .array(fixture, 'a list is needed')
    .max(fixturesMax, `at most ${fixturesMax} fixtures are allowed`)
    .optional()
    .describe('Rows, and what becomes of them: checked by patchbay map --test.'),
});

/** A mapping after validation: names trimmed and in NFC, defaults filled in. */
export type Mapping = z.infer<typeof mappingSchema>;

/** The keys that are allowed at a place of a mapping, for "did you mean". Empty where any key is allowed. */
export function keysAt(path: readonly PropertyKey[]): readonly string[] {
  return [...new Set(objectsAt(mappingSchema, path).flatMap((object) => Object.keys(object.shape)))];
}

/** The objects that a schema takes at a path: several where one of several forms may stand. */
function objectsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly z.ZodObject[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => objectsAt(one, path));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return objectsAt(schema.unwrap(), path);
  if (schema instanceof z.ZodPipe) return objectsAt(schema.def.in, path);
  if (schema instanceof z.ZodLazy) return objectsAt(schema.unwrap(), path);
  const [step, ...rest] = path;
  if (schema instanceof z.ZodArray) return typeof step === 'number' ? objectsAt(schema.element, rest) : [];
  if (!(schema instanceof z.ZodObject)) return [];
  if (step === undefined) return [schema];
  const inner = schema.shape[String(step)];
  return inner === undefined ? [] : objectsAt(inner, rest);
}

// The JSON Schema of mapping files, for editors that complete and check YAML: `config/mapping.schema.json`.

/** JSON Schema 2020-12 of what may be written in a mapping. */
export function mappingJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(mappingSchema, {
    io: 'input',
    reused: 'ref',
    override: ({ jsonSchema }) => {
      const { properties } = jsonSchema;
      if (properties === undefined || !valueSources.every((name) => name in properties)) return;
      jsonSchema.oneOf = valueSources.map((name) => ({ required: [name] }));
    },
  });
  return { ...schema, title: 'Patchbay mapping' };
}

/** The text of the file. */
export function mappingSchemaText(): string {
  return `${JSON.stringify(mappingJsonSchema(), null, 2)}\n`;
}
