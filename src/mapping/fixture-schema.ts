/** Fixtures of a mapping: rows, and what becomes of them. `patchbay map --test` checks them; so does the test of every preset. */
import { z } from 'zod';
import { exactlyOneOf } from './schema-checks.ts';

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

export const fixture = z
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
