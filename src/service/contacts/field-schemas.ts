/**
 * The fields of a contact's body as they must be (2.1, 2.2, section 8). Lengths are counted in code points.
 */
import { z } from 'zod';

/** Section 8. Lengths in code points. */
export const fieldLimits = {
  externalIdLengthMax: 75,
  sourceOnCreateLengthMax: 72,
  sourceLengthMax: 75,
  sourceUrlLengthMax: 200,
  /** Section 8, number of items: not shown. A limit of ours, so that a contact cannot grow for ever. */
  itemsPerListMax: 200,
} as const;

/**
 * Any text that can be kept and given back unchanged. 2.2, lengths of names and labels: not shown; no limit but the
 * body's. A lone surrogate has no UTF-8 form, and a NUL ends a text for many a reader.
 */
export const text = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes('\0'), { error: 'holds a lone surrogate or a NUL' });

export function boundedText(lengthMax: number) {
  return text.refine((value) => value.length > 0 && lengthOf(value) <= lengthMax, {
    error: `must be 1 to ${lengthMax} characters long`,
  });
}

/** Section 8, "characters": not shown whether bytes, UTF-16 units or code points. Code points. */
export function lengthOf(value: string): number {
  // A text has at least half as many code points as UTF-16 units: no need to count a huge one.
  return value.length > 2 * fieldLimits.sourceUrlLengthMax ? value.length : [...value].length;
}

export const externalId = boundedText(fieldLimits.externalIdLengthMax);

/** 2.1, which URIs: not shown. Any absolute one without white space. */
export const sourceUrl = boundedText(fieldLimits.sourceUrlLengthMax).refine(
  (value) => /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(value) && URL.canParse(value),
  { error: 'must be an absolute URI' },
);

/** Section 7, "validated as E.164": a pattern, not a numbering plan (`facts.md`). */
export const phoneValue = z.string().regex(/^\+[1-9]\d{1,14}$/, { error: 'must be in E.164 format, as +14155550100' });

const emailLengthMax = 320;

/** 2.2, validation of e-mail addresses: not shown. Plausible: something, an at sign, a domain with a dot. */
export const emailValue = text.refine(
  (value) => value.length <= emailLengthMax && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(value),
  { error: 'must be an e-mail address, as name@example.com' },
);

/** 2.2, null: not shown. Null clears a scalar (`facts.md`, "scalars"). An empty text is kept as it is. */
export const scalar = text.nullable();

export function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .max(fieldLimits.itemsPerListMax, { error: `must hold at most ${fieldLimits.itemsPerListMax} items` });
}
