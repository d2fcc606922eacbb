/**
 * The body of update (4.3): every member optional. Reserved words are not looked at here: section 8 names them for
 * create only.
 */
import { z } from 'zod';
import { checkShape } from '../http/check-shape.ts';
import { boundedText, e164, text } from '../text-schemas.ts';
import * as fields from './field-schemas.ts';

/** `name` and `value` are required even to remove (`facts.md`, "PATCH, items"). */
const itemId = text.meta({ description: 'Of the item to change; without it the item is added.' }).optional();
const removal = { description: 'Null removes the item.' };
const emailItem = z.object({
  id: itemId,
  name: fields.itemName,
  value: fields.emailValue.nullable().meta(removal),
});
const phoneItem = z.object({ id: itemId, name: fields.itemName, value: e164.nullable().meta(removal) });

export const updateBodySchema = z.object({
  externalId: fields.externalId.nullable().optional(),
  source: boundedText(fields.fieldLimits.sourceLengthMax).nullable().optional(),
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
  return checkShape(updateBodySchema, body);
}
