/**
 * The body of update (4.3): every member optional. Reserved words are not looked at here: section 8 names them for
 * create only.
 */
import { z } from 'zod';
import * as fields from './field-schemas.ts';
import { parseContactBody } from './parse-contact-body.ts';

/** `name` and `value` are required even to remove (`facts.md`, "PATCH, items"). */
const emailItem = z.object({ id: fields.text.optional(), name: fields.text, value: fields.emailValue.nullable() });
const phoneItem = z.object({ id: fields.text.optional(), name: fields.text, value: fields.phoneValue.nullable() });

const updateBodySchema = z.object({
  externalId: fields.externalId.nullable().optional(),
  source: fields.boundedText(fields.fieldLimits.sourceLengthMax).nullable().optional(),
  sourceUrl: fields.sourceUrl.nullable().optional(),
  defaultFields: z
    .object({
      firstName: fields.scalar.optional(),
      lastName: fields.scalar.optional(),
      company: fields.scalar.optional(),
      role: fields.scalar.optional(),
      emails: fields.listOf(emailItem).optional(),
      phoneNumbers: fields.listOf(phoneItem).optional(),
    })
    .optional(),
  customFields: fields.listOf(z.unknown()).optional(),
});

export type UpdateBody = z.infer<typeof updateBodySchema>;
export type UpdateItem = z.infer<typeof emailItem>;

/** Throws `Refusal` 400. */
export function parseUpdateBody(body: unknown): UpdateBody {
  return parseContactBody(updateBodySchema, body);
}
