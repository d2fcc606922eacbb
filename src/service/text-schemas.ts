/** Texts as every resource of the interface takes them. Lengths are counted in code points, as JSON Schema counts. */

import { randomFillSync } from 'node:crypto';
import { z } from 'zod';

/** The longest text whose length the interface limits: the content of a message (`docs/facts.md`). */
const countedLengthMax = 1_600;

/**
 * Any text that can be kept and given back unchanged. 2.2, lengths of names and labels: not shown; no limit but the
 * body's. A lone surrogate has no UTF-8 form, and a NUL ends a text for many a reader.
 */
export const text = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes('\0'), { error: 'holds a lone surrogate or a NUL' });

export function boundedText(lengthMax: number) {
  return text
    .refine((value) => value.length > 0 && lengthOf(value) <= lengthMax, {
      error: `must be 1 to ${lengthMax} characters long`,
    })
    .meta({ minLength: 1, maxLength: lengthMax });
}

/** Section 8, "characters": not shown whether bytes, UTF-16 units or code points. Code points. */
export function lengthOf(value: string): number {
  // A text has at least half as many code points as UTF-16 units: no need to count a huge one.
  return value.length > 2 * countedLengthMax ? value.length : [...value].length;
}

/** Section 7, "validated as E.164": a pattern, not a numbering plan (`docs/facts.md`). */
export const e164 = z.string().regex(/^\+[1-9]\d{1,14}$/, { error: 'must be in E.164 format, as +14155550100' });

/**
 * Random hex digits, for ids. Asking the system for each of them costs as much as the rest of a create: it is asked for
 * many at once, and no byte is used twice.
 */
const pool = Buffer.alloc(8 * 1024);
let usedCount = pool.byteLength;

/** Two digits for each byte; at most 64 bytes. */
export function randomHex(byteCount: number): string {
  if (usedCount + byteCount > pool.byteLength) {
    randomFillSync(pool);
    usedCount = 0;
  }
  usedCount += byteCount;
  return pool.toString('hex', usedCount - byteCount, usedCount);
}
