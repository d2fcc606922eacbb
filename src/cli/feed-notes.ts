/** What commands note of a feed that is not known: perhaps its name is misspelt. */
import type { Home } from '#src/app.ts';
import { unknownFeedText } from '#src/operations/feed-names.ts';
import type { ImportTarget } from '#src/operations/import.ts';
import { type Output, printable } from './output.ts';

/** Behind the note that a feed is new: `; did you mean hubspot?`, or nothing. */
export function perhapsMeant({ meant }: NonNullable<ImportTarget['newFeed']>): string {
  return meant === null ? '' : `; did you mean ${printable(meant)}?`;
}

/** Of a `--feed` that chooses among what is there: no error, since there is nothing of a feed before its first file. */
export async function noteUnknownFeed(home: Home, output: Output, feed: string | undefined): Promise<void> {
  const text = feed === undefined ? null : await unknownFeedText(home, feed);
  if (text !== null) output.note(printable(text));
}
