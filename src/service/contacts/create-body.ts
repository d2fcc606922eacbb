/**
 * The body of create (4.1).
 *
 * Required: `defaultFields`, and in it the key `firstName`, whose value may be null (`facts.md`). Items have no id;
 * one that is sent is ignored, as every unknown member is.
 */
import { z } from 'zod';
import { checkShape } from '../http/check-shape.ts';
import { boundedText, e164 } from '../text-schemas.ts';
import * as fields from './field-schemas.ts';
import { type ReservedSources, reservedSourceProblem } from './reserved-sources.ts';

/** 2.2, an item with a null value on create: not shown. Refused, since there is nothing to remove. */
const emailItem = z.object({ name: fields.itemName, value: fields.emailValue });
const phoneItem = z.object({ name: fields.itemName, value: e164 });

export function createBodySchema(reserved: ReservedSources) {
  const source = boundedText(fields.fieldLimits.sourceOnCreateLengthMax)
    .superRefine((value, context) => {
      const problem = reservedSourceProblem(value, reserved);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .meta({
      description: [
        'Where the contact comes from; `public-api` where it is left out.',
        `Reserved words, without regard to case: ${reserved.words.join(', ') || 'none'}.`,
        `Reserved prefixes: ${reserved.prefixes.join(', ') || 'none'}.`,
      ].join(' '),
    });
  return z.object({
    defaultFields: z.object({
      firstName: fields.scalar,
      lastName: fields.scalar.optional(),
      company: fields.scalar.optional(),
      role: fields.scalar.optional(),
      emails: fields.listOf(emailItem).optional(),
      phoneNumbers: fields.listOf(phoneItem).optional(),
    }),
    // Items are checked against the definitions, and refused under a title of their own.
    customFields: fields.listOf(z.unknown()).optional(),
    // 4.1, whether such a user must exist: not shown. Kept as given (`facts.md`).
    createdByUserId: fields.creatorId
      .meta({ description: 'Kept as given; the owner of the workspace by default.' })
      .optional(),
    // 4.1 allows null for externalId alone.
    source: source.optional(),
    sourceUrl: fields.sourceUrl.optional(),
    externalId: fields.externalId
      .nullable()
      .meta({ description: 'Identifier in another system. One contact of the workspace at a time may have it.' })
      .optional(),
  });
}

export type CreateBody = z.infer<ReturnType<typeof createBodySchema>>;

/** Answers the check of create bodies. The check throws `Refusal` 400. */
export function createBodyParser(reserved: ReservedSources): (body: unknown) => CreateBody {
  const schema = createBodySchema(reserved);
  return (body) => checkShape(schema, body);
}
