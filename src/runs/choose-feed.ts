/**
 * The feed that a file belongs to, and how its rows are read. The run's record holds both, so that they are the same for all of
 * the run.
 *
 * A fix-file belongs to the feed of the run that wrote it, wherever it is dropped, and is read as that run read its file: same
 * mapping, same label, same country, same rule for blank cells (`docs/rules.md`, "Dead letters"). `_id` tells what it is: a person may
 * have removed the other columns that a fix-file adds.
 */
import { expectedFeedName } from '#src/config/feed-schema.ts';
import { PatchbayError } from '#src/errors.ts';
import { type FeedSettings, type Feeds, feedNameOf } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { NewRun, RunOptions, RunReason, RunRecord } from '#src/ledger/runs.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import type { Row } from '#src/sources/row.ts';
import { fixFileColumnsOf, letterIdOf, readingOfFixFile } from './fix/fix-file.ts';
import { refusedFolder } from './run-files.ts';

/** What the place of a file says about it. */
export type FeedChoice =
  /** `mapping` is present if a person named one for this file; null is the generic layout. */
  | {
      readonly kind: 'feed';
      readonly feed: FeedSettings;
      readonly mapping?: Mapping | null;
      readonly mappingNamed?: string;
    }
  /** It cannot be read: its folder cannot be a feed, or the feed's mapping is broken. */
  | { readonly kind: 'refused'; readonly feed: string; readonly refusal: RunReason };

/** What the record of its run says about reading it. */
export type FileReading = Pick<NewRun, 'feed' | 'kind' | 'options' | 'mapping' | 'sourceLabel' | 'refusal'>;

/**
 * The feed of a folder in an import folder, as it is now. A broken feed makes the file fail, not the intake.
 * @param folder null is the import folder itself.
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
    // There is no such feed: the file fails in the feed that always exists.
    const why = folder === refusedFolder ? `its folder cannot be a feed: a feed needs ${expectedFeedName}` : message;
    return { kind: 'refused', feed: mainFeed, refusal: { code, message: why, hint, facts } };
  }
}

/** The same hint is also given where no file waits for the mapping. */
function withDropAgain(hint: string | null): string {
  const again = 'Then drop the file again.';
  if (hint === null) return `Fix the mapping. ${again}`;
  return hint.endsWith(again) ? hint : `${hint} ${again}`;
}

/**
 * How the file is read. A fix-file is read with its feed's mapping as it is now, or with the mapping that a person named for
 * the run that wrote it.
 */
export async function readingOfFile(
  { ledger, feeds }: { readonly ledger: Ledger; readonly feeds: Feeds },
  file: { readonly path: string; readonly name: string },
  options: RunOptions,
  choice: FeedChoice,
): Promise<FileReading> {
  const fix = await readFixFile(ledger, file, options);
  const named = choice.kind === 'feed' ? choice.mapping : undefined;
  const mappingNamed = choice.kind === 'feed' ? (choice.mappingNamed ?? null) : null;
  if (fix?.kind === 'fixFile' && fix.origin !== null) {
    const { feed: origin } = fix.origin;
    const today = await chooseFeed(feeds, origin === mainFeed ? null : origin);
    return asItsRunRead(fix.origin, today, { ...options, mappingNamed }, named);
  }
  const kind = fix?.kind === 'fixFile' ? 'fixFile' : 'file';
  if (choice.kind === 'refused') {
    return { feed: choice.feed, kind, options, mapping: null, sourceLabel: null, refusal: choice.refusal };
  }
  if (fix?.kind === 'withoutId') {
    const refusal = withoutId(fix.columns);
    return { feed: choice.feed.name, kind, options, mapping: null, sourceLabel: null, refusal };
  }
  const { feed } = choice;
  const mapping = named === undefined ? feed.mapping : named;
  const recognise = named === undefined && feed.recognise;
  const { name, ownSource } = feed;
  return {
    feed: name,
    kind,
    options: { ...options, recognise, mappingNamed },
    mapping,
    sourceLabel: ownSource,
    refusal: null,
  };
}

function asItsRunRead(
  origin: RunRecord,
  today: FeedChoice,
  options: RunOptions,
  named: Mapping | null | undefined,
): FileReading {
  const { feed, sourceLabel } = origin;
  const { defaultCountry, onBlank } = origin.options;
  const common = { feed, kind: 'fixFile', sourceLabel, refusal: null } as const;
  if (named !== undefined) return { ...common, options: { ...options, recognise: false }, mapping: named };
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

type FixFile =
  /** `origin`: the run that wrote it; null if the ledger knows no dead letter of its first rows. */
  | { readonly kind: 'fixFile'; readonly origin: RunRecord | null }
  /** Nothing tells whose its rows are. `columns`: those of a fix-file that it has. */
  | { readonly kind: 'withoutId'; readonly columns: readonly string[] };

/** Three of its four columns make a fix-file; two without `_id` are what is left of one. One alone may be a column of any export. */
const [columnsMin, othersMin] = [3, 2];

/** Null if the file is no fix-file, in whichever form it comes. A file that cannot be read is reported when its rows are read. */
async function readFixFile(
  ledger: Ledger,
  { path, name }: { readonly path: string; readonly name: string },
  options: RunOptions,
): Promise<FixFile | null> {
  let source: OpenSource | null = null;
  try {
    source = await openSource(path, { name, ...readingOfFixFile(options) });
    for await (const slice of source.slices())
      return await whichFixFile(
        ledger,
        slice.map(({ row }) => row),
      );
    return null;
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'file') return null;
    throw error;
  } finally {
    await source?.close();
  }
}

/** @param rows the first ones. */
async function whichFixFile(ledger: Ledger, rows: readonly Row[]): Promise<FixFile | null> {
  const columns = fixFileColumnsOf(rows);
  if (!columns.includes('_id')) return columns.length < othersMin ? null : { kind: 'withoutId', columns };
  const origin = await originOf(ledger, rows);
  return origin === null && columns.length < columnsMin ? null : { kind: 'fixFile', origin };
}

/** By the first row whose letter is known: the cell with its id may have been emptied. */
async function originOf({ deadLetters, runs }: Ledger, rows: readonly Row[]): Promise<RunRecord | null> {
  const ids = [...new Set(rows.map(letterIdOf))].filter((id) => id !== '');
  const letters = ids.length === 0 ? [] : await deadLetters.list({ ids, limit: ids.length });
  const runOf = new Map(letters.map(({ id, runId }) => [id, runId]));
  const known = ids.find((id) => runOf.has(id));
  return known === undefined ? null : runs.get(runOf.get(known) ?? '');
}

function withoutId(columns: readonly string[]): RunReason {
  const names = columns.join(', ');
  const message = `the columns ${names} are those of a fix-file, and its column _id is missing, which tells whose rows these are`;
  const hint = `Put _id back as the fix-file had it; or remove ${names}, too, so that the rows go in as those of any file. Then drop the file again.`;
  return { code: 'fixFileWithoutId', message, hint, facts: { columns: names } };
}
