/**
 * The fields of a contact's body as they must be (2.1, 2.2, section 8). Lengths are counted in code points.
 */
import { z } from 'zod';
import { boundedText, lengthOf, text } from '../text-schemas.ts';
import { isUri } from './is-uri.ts';

/** Section 8. Lengths in code points. */
export const fieldLimits = {
  externalIdLengthMax: 75,
  sourceOnCreateLengthMax: 72,
  sourceLengthMax: 75,
  sourceUrlLengthMax: 200,
  /** Section 8, number of items: not shown. A limit of ours, so that a contact cannot grow for ever. */
  itemsPerListMax: 200,
} as const;

export const externalId = boundedText(fieldLimits.externalIdLengthMax);

/** 2.1, which URIs: not shown. Any with a scheme, as RFC 3986 writes them. */
export const sourceUrl = boundedText(fieldLimits.sourceUrlLengthMax)
  .refine(isUri, {
    error: 'must be an absolute URI by RFC 3986: ASCII alone, anything else percent-encoded',
  })
  .meta({ format: 'uri' });

const emailLengthMax = 320;

/** 2.2, validation of e-mail addresses: not shown. Plausible: something, an at sign, a domain with a dot. */
export const emailValue = text
  .regex(/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/, { error: 'must be an e-mail address, as name@example.com' })
  .refine((value) => lengthOf(value) <= emailLengthMax, { error: `must be at most ${emailLengthMax} characters long` })
  .meta({ maxLength: emailLengthMax });

/** Who created a contact. Kept as given, as long as it names somebody; see `create-body.ts`. */
export const creatorId = text.min(1, { error: 'must not be empty' });

export const itemName = text.meta({ description: 'Label, as work or mobile.' });

/** 2.2, null: not shown. Null clears a scalar (`facts.md`, "scalars"). An empty text is kept as it is. */
export const scalar = text.nullable();

export function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .max(fieldLimits.itemsPerListMax, { error: `must hold at most ${fieldLimits.itemsPerListMax} items` });
}
