/**
 * The fields of a contact's body as they must be (2.1, 2.2, section 8). Lengths are counted in code points.
 */
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { checkShape } from '#src/service/http/check-request.ts';
import { boundedText, e164, lengthOf, text } from '#src/service/text-schemas.ts';
import { type ReservedSources, reservedSourceProblem } from './reserved-sources.ts';

/** Section 8. Lengths in code points. */
export const fieldLimits = {
  externalIdLengthMax: 75,
  sourceOnCreateLengthMax: 72,
  sourceLengthMax: 75,
  sourceUrlLengthMax: 200,
  /** Section 8, number of items: not shown. A limit of ours, so that a contact cannot grow for ever. */
  itemsPerListMax: 200,
  /**
   * 2.2, lengths of names and labels: not shown. UTF-16 units of a whole contact as JSON, of which none takes more than three bytes:
   * so that a contact that grows update by update can be loaded again from a dump (`workspace-file/scan-sections.ts`).
   */
  contactLengthMax: 8 * 1024 * 1024,
} as const;

export const externalId = boundedText(fieldLimits.externalIdLengthMax);

/** 2.1, which URIs: not shown. Any with a scheme, as RFC 3986 writes them. */
export const sourceUrl = boundedText(fieldLimits.sourceUrlLengthMax)
  .refine(isUri, {
    error:
      'must be an absolute URI by RFC 3986 with something behind its scheme: ASCII alone, anything else percent-encoded',
  })
  .meta({ format: 'uri' });

const emailLengthMax = 320;

/** 2.2, validation of e-mail addresses: not shown. Plausible: something, an at sign, a domain with a dot. */
export const emailValue = text
  .regex(/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/, { error: 'must be an e-mail address, as name@example.com' })
  .refine((value) => lengthOf(value) <= emailLengthMax, { error: `must be at most ${emailLengthMax} characters long` })
  .meta({ maxLength: emailLengthMax });

/** Who created a contact. Kept as given, as long as it is not empty; see `createBodySchema`. */
export const creatorId = text.min(1, { error: 'must not be empty' });

const itemName = text.meta({ description: 'Label, as work or mobile.' });

/** 2.2, null: not shown. Null clears a scalar (`docs/facts.md`, "scalars"). An empty text is kept as it is. */
export const scalar = text.nullable();

export function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .max(fieldLimits.itemsPerListMax, { error: `must hold at most ${fieldLimits.itemsPerListMax} items` });
}

// What a URI is (2.1, which ones: not shown): the grammar of RFC 3986, appendix A. Text outside of ASCII is in one
// percent-encoded.

/** Unreserved characters, `sub-delims` and escapes: what every part may contain. */
const common = "(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})";
const userInfo = `(?:${common}|:)*`;
/** Numbers in brackets, which are looked at below, or those of a later kind, or a name. */
const host = `(?:\\[(?<numbers>[0-9A-Fa-f:.]+)\\]|\\[v[0-9A-Fa-f]+\\.(?:[A-Za-z0-9\\-._~!$&'()*+,;=:])+\\]|${common}*)`;
const authority = `//(?:${userInfo}@)?${host}(?::[0-9]*)?`;
const character = `(?:${common}|[:@])`;
const rootedPath = `(?:/${character}*)*`;
const otherPath = `(?:/(?:${character}+${rootedPath})?|${character}+${rootedPath})`;
const rest = `(?:${character}|[/?])*`;

const form = new RegExp(
  `^[A-Za-z][A-Za-z0-9+.-]*:(?:${authority}${rootedPath}|${otherPath})(?:\\?${rest})?(?:#${rest})?$`,
);

/**
 * Whether a text is a URI with a scheme and something behind it. The grammar would let that be empty, as in `tel:`, but
 * checkers of the format `uri`, by which replies are described, do not. A port may be any number.
 */
export function isUri(text: string): boolean {
  const parts = form.exec(text);
  return parts !== null && isIPv6(parts.groups?.numbers ?? '::');
}

// The body of create (4.1).
//
// Required: `defaultFields`, and in it the key `firstName`, whose value may be null (`docs/facts.md`). Items have no id;
// one that is sent is ignored, as every unknown member is.

/** 2.2, an item with a null value on create: not shown. Refused, since there is nothing to remove. */
const newEmailItem = z.object({ name: itemName, value: emailValue });
const newPhoneItem = z.object({ name: itemName, value: e164 });

export function createBodySchema(reserved: ReservedSources) {
  const source = boundedText(fieldLimits.sourceOnCreateLengthMax)
    .superRefine((value, context) => {
      const problem = reservedSourceProblem(value, reserved);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .meta({
      description: [
        'Where the contact comes from; `public-api` where it is left out.',
        `Reserved words, without regard to case: ${reserved.words.join(', ')}.`,
        `Reserved prefixes: ${reserved.prefixes.join(', ')}.`,
      ].join(' '),
    });
  return z.object({
    defaultFields: z.object({
      firstName: scalar,
      lastName: scalar.optional(),
      company: scalar.optional(),
      role: scalar.optional(),
      emails: listOf(newEmailItem).optional(),
      phoneNumbers: listOf(newPhoneItem).optional(),
    }),
    // Items are checked against the definitions, and refused under a title of their own.
    customFields: listOf(z.unknown()).optional(),
    // 4.1, whether such a user must exist: not shown. Kept as given (`docs/facts.md`).
    createdByUserId: creatorId
      .meta({ description: 'Kept as given; the owner of the workspace by default.' })
      .optional(),
    // 4.1 allows null for externalId alone.
    source: source.optional(),
    sourceUrl: sourceUrl.optional(),
    externalId: externalId
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

// The body of update (4.3): every member optional. Reserved words are not looked at here: section 8 names them for
// create only.

/** `name` and `value` are required even to remove (`docs/facts.md`, "PATCH, items"). */
const itemId = text.meta({ description: 'Of the item to change; without it the item is added.' }).optional();
const removal = { description: 'Null removes the item.' };
const updatedEmailItem = z.object({
  id: itemId,
  name: itemName,
  value: emailValue.nullable().meta(removal),
});
const updatedPhoneItem = z.object({ id: itemId, name: itemName, value: e164.nullable().meta(removal) });

export const updateBodySchema = z.object({
  externalId: externalId.nullable().optional(),
  source: boundedText(fieldLimits.sourceLengthMax).nullable().optional(),
  sourceUrl: sourceUrl.nullable().optional(),
  defaultFields: z
    .object({
      firstName: scalar.optional(),
      lastName: scalar.optional(),
      company: scalar.optional(),
      role: scalar.optional(),
      emails: listOf(updatedEmailItem).optional(),
      phoneNumbers: listOf(updatedPhoneItem).optional(),
    })
    .optional(),
  customFields: listOf(z.unknown()).optional(),
});

export type UpdateBody = z.infer<typeof updateBodySchema>;
export type UpdateItem = z.infer<typeof updatedEmailItem>;

/** Throws `Refusal` 400. */
export function parseUpdateBody(body: unknown): UpdateBody {
  return checkShape(updateBodySchema, body);
}

const externalIdsMax = 20;
/** 4.5, how many sources: not shown. As many as externalIds: each costs a look into the index. */
const sourcesMax = 20;
const maxResultsMax = 50;
const maxResultsDefault = 10;

export const contactListQuerySchema = z.object({
  externalIds: z
    .array(boundedText(fieldLimits.externalIdLengthMax))
    .max(externalIdsMax, { error: `must hold at most ${externalIdsMax} ids` })
    .meta({
      description: 'Contacts that have one of these externalIds. Compare the externalId of every contact you get.',
    })
    .optional(),
  sources: z
    .array(boundedText(fieldLimits.sourceLengthMax))
    .max(sourcesMax, { error: `must hold at most ${sourcesMax} sources` })
    .meta({ description: 'Contacts that have one of these sources; with externalIds, both must hold.' })
    .optional(),
  maxResults: z
    .int()
    .min(1, { error: `must be a number from 1 to ${maxResultsMax}` })
    .max(maxResultsMax, { error: `must be a number from 1 to ${maxResultsMax}` })
    .default(maxResultsDefault)
    .meta({ description: 'The most contacts of one page.' }),
  pageToken: z
    .string()
    .meta({ description: 'The nextPageToken of the page before. Send the filters with it again.' })
    .optional(),
});
