/**
 * vCards (`.vcf`, versions 2.1, 3.0 and 4.0) to rows: one card, one object.
 *
 * Our own reader, since those that exist read a whole text at once, and none reads 2.1 well, which phones and Outlook write.
 *
 * Invariant: at most one chunk of text, the rows it completed and one unfinished card without its photos are in memory.
 */
import { createTally, type FormatReader, itemsPerSliceMax } from './format-reader.ts';
import type { SourceItem } from './row.ts';
import { createCards, type VcfOptions } from './vcard/cards.ts';
import { type ContentLine, createContentLines } from './vcard/content-lines.ts';

/** Whether the text begins as a vCard does. */
export function looksLikeVcf(text: string): boolean {
  return /^\ufeff?\s*BEGIN:VCARD[ \t]*[\r\n]/i.test(text);
}

/** Its iterator throws PatchbayError `file` `cardNeverEnds`, `noCards`, `cardTooDeep`, `recordTooLong`, `tooManyRows`. */
export function readVcf(text: AsyncGenerator<string>, options: VcfOptions): FormatReader {
  const tally = createTally(options.name, options.limits.rowsMax);
  const lines = createContentLines(options.name, options.limits.recordBytesMax);
  const cards = createCards(options, tally);
  const slices = async function* (): AsyncGenerator<readonly SourceItem[]> {
    let slice: SourceItem[] = [];
    const take = function* (some: Iterable<ContentLine>): Generator<readonly SourceItem[]> {
      for (const line of some) {
        slice.push(...cards.take(line));
        if (slice.length < itemsPerSliceMax) continue;
        yield slice;
        slice = [];
      }
    };
    for await (const chunk of text) {
      yield* take(lines.push(chunk));
      if (slice.length > 0) yield slice;
      slice = [];
    }
    yield* take(lines.end());
    cards.end();
    if (slice.length > 0) yield slice;
  };
  return { head: { format: 'vcf', columns: null, delimiter: null }, slices, tail: () => cards.tail() };
}
