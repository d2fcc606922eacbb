/** To which feed a file belongs and how its rows are read. It stands in the run's record, so that it holds for all of the run. */
import { expectedFeedName } from '#src/config/feed-schema.ts';
import { PatchbayError } from '#src/errors.ts';
import { type FeedSettings, type Feeds, feedNameOf } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { NewRun, RunOptions, RunReason, RunRecord } from '#src/ledger/runs.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import type { SourceItem } from '#src/sources/row.ts';
import { fixFileReading, isFixFile, letterIdOf } from './fix-file.ts';
import { refusedFolder } from './run-files.ts';

/** What is known of a file from where it came. */
export type FeedChoice =
  /** `mapping` is there where a person named one for this file; null is the generic layout. */
  | { readonly kind: 'feed'; readonly feed: FeedSettings; readonly mapping?: Mapping | null }
  /** It cannot be read: its folder is no feed, or the feed's mapping is broken. */
  | { readonly kind: 'refused'; readonly feed: string; readonly refusal: RunReason };

/** What the record of its run says of it. */
type FileReading = Pick<NewRun, 'feed' | 'kind' | 'options' | 'mapping' | 'sourceLabel' | 'refusal'>;

/**
 * The feed of a folder in an import folder as it is now; null is the import folder itself. What is wrong with it makes the
 * file fail, not the intake.
 */
export async function chooseFeed(feeds: Feeds, folder: string | null): Promise<FeedChoice> {
  try {
    return { kind: 'feed', feed: folder === null ? await feeds.get(mainFeed) : await feeds.ofFolder(folder) };
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.kind !== 'usage') throw error;
    const { code, message, hint, facts } = error;
    if (code !== 'feedRefused') {
      const feed = folder === null ? mainFeed : feedNameOf(folder);
      return { kind: 'refused', feed, refusal: { code, message, hint: withDropAgain(hint), facts } };
    }
    // There is no such feed: the file fails in the feed that everybody has.
    const told = folder === refusedFolder ? `its folder cannot be a feed: a feed needs ${expectedFeedName}` : message;
    return { kind: 'refused', feed: mainFeed, refusal: { code, message: told, hint, facts } };
  }
}

/** What is wrong with a mapping is told in the same words where no file waits for it. */
function withDropAgain(hint: string | null): string {
  const again = 'Then drop the file again.';
  if (hint === null) return `Fix the mapping. ${again}`;
  return hint.endsWith(again) ? hint : `${hint} ${again}`;
}

/**
 * A fix-file belongs to the feed of the run that wrote it, and is read as that run read its file: with what the feed's
 * mapping is today, or with the mapping that a person had named for the run.
 */
export async function readingOfFile(
  { ledger, feeds }: { readonly ledger: Ledger; readonly feeds: Feeds },
  file: { readonly path: string; readonly name: string },
  options: RunOptions,
  choice: FeedChoice,
): Promise<FileReading> {
  const fix = await readFixFile(ledger, file.path, file.name);
  const named = choice.kind === 'feed' ? choice.mapping : undefined;
  if (fix !== null && fix.origin !== null) {
    const { feed: origin } = fix.origin;
    const today = await chooseFeed(feeds, origin === mainFeed ? null : origin);
    return readingOfFixFile(fix.origin, today, options, named);
  }
  const kind = fix === null ? 'file' : 'fixFile';
  if (choice.kind === 'refused') {
    return { feed: choice.feed, kind, options, mapping: null, sourceLabel: null, refusal: choice.refusal };
  }
  const { feed } = choice;
  const mapping = named === undefined ? feed.mapping : named;
  return { feed: feed.name, kind, options, mapping, sourceLabel: feed.ownSource, refusal: null };
}

function readingOfFixFile(
  origin: RunRecord,
  today: FeedChoice,
  options: RunOptions,
  named: Mapping | null | undefined,
): FileReading {
  const { feed, sourceLabel } = origin;
  const { defaultCountry, onBlank } = origin.options;
  const common = { feed, kind: 'fixFile', sourceLabel, refusal: null } as const;
  if (named !== undefined) return { ...common, options, mapping: named };
  if (today.kind === 'refused') return { ...common, options, mapping: null, refusal: today.refusal };
  const { mapping } = today.feed;
  return {
    ...common,
    mapping: mapping?.name === origin.mapping?.name ? mapping : origin.mapping,
    options: {
      ...options,
      defaultCountry: options.defaultCountry ?? defaultCountry,
      onBlank: options.onBlank ?? onBlank,
    },
  };
}

/**
 * Which run wrote a fix-file that was dropped in again. Its rows belong to that run's feed, wherever they are dropped, and
 * are read as that run read them: same mapping, same label, same country, same rule for blank cells (`rules.md`, "Dead
 * letters").
 */
interface FixFile {
  /** Null where no dead letter of its first rows is known here. */
  readonly origin: RunRecord | null;
}

/** Null where the file is none. What is wrong with a file is told when it is read. */
async function readFixFile(ledger: Ledger, path: string, fileName: string): Promise<FixFile | null> {
  if (!/\.(csv|tsv|txt|ndjson|jsonl)$/i.test(fileName)) return null;
  let source: OpenSource | null = null;
  try {
    source = await openSource(path, { name: fileName, ...fixFileReading });
    for await (const [first, ...others] of source.slices()) {
      if (first === undefined || !isFixFile(first.row)) return null;
      return { origin: await originOf(ledger, [first, ...others]) };
    }
    return null;
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'file') return null;
    throw error;
  } finally {
    await source?.close();
  }
}

/** Of the first row whose letter is known: somebody may have emptied a cell. */
async function originOf(ledger: Ledger, items: readonly SourceItem[]): Promise<RunRecord | null> {
  for (const { row } of items) {
    const id = letterIdOf(row);
    const letter = id === '' ? null : await ledger.deadLetters.get(id);
    if (letter !== null) return await ledger.runs.get(letter.runId);
  }
  return null;
}
