/**
 * The part `recognise` of a preset: what files of one export are known by (`docs/exports.md`). A closed set, so that a preset
 * is data.
 */
import { z } from 'zod';
import { exactlyOneOf, onlyBeside, plainText } from './schema-checks.ts';
import { columnName, columnsMax } from './value-schema.ts';

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

export const recognition = z
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

/** One way to recognise the files of an export: all that it names must be so. */
export type Signature = z.infer<typeof recognition>;
