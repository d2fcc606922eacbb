/**
 * The mapping language: how the columns of one kind of export become a contact. Written in YAML, one file per
 * export under `config/mappings`; `config/mappings/generic.yaml` shows every key. What a value is: `value-schema.ts`.
 *
 * Each key has its description here; unknown keys are errors.
 */
import { z } from 'zod';
import { readSource } from './cell.ts';
import { keepCondition, rowCondition } from './condition-schema.ts';
import {
  country,
  customField,
  eachKeyOnce,
  eachOnce,
  email,
  fields,
  onBlank,
  onInvalid,
  optional,
  phone,
} from './entry-schema.ts';
import { fixture } from './fixture-schema.ts';
import { recognition } from './recognition-schema.ts';
import { column, columnName, columnsMax, singleChecks, valueShape } from './value-schema.ts';

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
/** Where the key comes from: a column, or a value with its options. */
export type KeyChoice = z.infer<typeof key>;

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
    .describe('The sheet of an .xlsx file; by default the first.'),
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
    .describe('Columns to ignore: they cause no note, and none stops a file.'),
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
