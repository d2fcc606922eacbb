/** Which runs have found keys unchanged, from the bitmaps that they left behind. */
import { hasBit } from './rules/bitmap.ts';
import type { Tables } from './tables.ts';

interface AskedKey {
  readonly key: string;
  /** Null for a key that no bitmap can have. */
  readonly number: number | null;
  /** Of the row that asks: runs behind it count. */
  readonly sequence: number;
}

/** A bitmap of a million keys has 125 KB. */
const bitmapsAtOnce = 8;

/**
 * By key, the newest run of the feed behind the asking row that found the key unchanged; without those that none did. Most
 * rows are of the newest run, and cost one statement that finds nothing.
 */
export async function confirmedSince(
  { runs }: Pick<Tables, 'runs'>,
  feed: string,
  asked: readonly AskedKey[],
): Promise<ReadonlyMap<string, number>> {
  const confirmed = new Map<string, number>();
  let left = asked.flatMap(({ number, ...one }) => (number === null ? [] : [{ ...one, number }]));
  let to = Number.MAX_SAFE_INTEGER;
  // Ends when no key is left, or no run: each turn asks for older ones.
  while (left.length > 0) {
    const from = Math.min(...left.map(({ sequence }) => sequence)) + 1;
    const page = await runs.bitmaps(feed, 'unchanged', from, to, bitmapsAtOnce);
    for (const { sequence: run, bits } of page) {
      for (const { key, number, sequence } of left) {
        if (run > sequence && hasBit(bits, number) && !confirmed.has(key)) confirmed.set(key, run);
      }
    }
    const last = page.at(-1);
    if (last === undefined || page.length < bitmapsAtOnce) break;
    to = last.sequence - 1;
    left = left.filter(({ key }) => !confirmed.has(key));
  }
  return confirmed;
}
