/**
 * Held fields: fields that file and app changed differently. List them, and decide for the file's or the app's value
 * (`src/contacts/take-held.ts`).
 *
 * A decision is one transaction for each feed. Where the file's values are to be written, it enters a run with them, so that
 * a crash leaves either nothing decided or work for the next engine. A run that is cancelled or ends with rejected rows takes
 * nothing back: the next import of the row writes what is still to be written.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import type { HeldSide } from '#src/contacts/take-held.ts';
import { PatchbayError } from '#src/errors.ts';
import type { HeldFilter, HeldRecord } from '#src/ledger/contacts.ts';
import type { ProcessIdentity } from '#src/ledger/process-identity.ts';
import { type NewRun, noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { importFolderOf, type SubmitParts } from '#src/runs/enter-run.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { operands, shellWord } from '#src/shell-words.ts';
import { writeCsvFile } from '#src/sources/csv-writer.ts';
import { writeAsAsked } from '#src/whole-file.ts';
import { actOf } from './acts.ts';

/** Fields that are decided at once at most: one transaction must not lock the ledger for long. */
export const heldPerDecisionMax = 20_000;
const fieldsPerPage = 1_000;
/** A run holds a key for as long as one request takes. */
const busyWaitMs = 60_000;
const busyLookMs = 100;

export type HeldChoice = Pick<HeldFilter, 'feed' | 'keys' | 'field' | 'runId'>;

/** A held field, and the file that said its value last; null where that run is kept no longer. */
export type HeldOfFile = HeldRecord & { readonly sourceFile: string | null };

export interface HeldTaken {
  readonly taken: readonly HeldRecord[];
  /** They changed since they were shown: nothing was decided about them. */
  readonly moved: readonly HeldRecord[];
  /** One for each feed, with the file's values; more where a run held a key at first. */
  readonly runs: readonly RunRecord[];
}

export interface HeldQuery extends HeldChoice {
  readonly limit?: number;
  /** The last field of the page before. */
  readonly after?: NonNullable<HeldFilter['after']>;
}

/**
 * The command that decides about one field.
 * @param values whether the key may be shown.
 * @param chosen those of which feed and of which run; where neither is given, of every feed that holds it.
 */
export function heldTakeCommand(
  side: HeldSide,
  { key, field }: Pick<HeldRecord, 'key' | 'field'>,
  values = true,
  { feed, runId }: Pick<HeldChoice, 'feed' | 'runId'> = {},
): string {
  const flags = { feed, run: runId, field };
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellWord(value)}`],
  );
  return ['patchbay held take', side, ...given, values ? operands(key) : 'KEY'].join(' ');
}

/** What a command about a listed field has to choose, so that it decides about that alone: what the list chose, else its feed where others hold it, too. */
export async function choiceOfListed(
  { ledger }: Pick<Home, 'ledger'>,
  { feed, key, field }: Pick<HeldRecord, 'feed' | 'key' | 'field'>,
  { feed: ofFeed, runId }: Pick<HeldChoice, 'feed' | 'runId'> = {},
): Promise<Pick<HeldChoice, 'feed' | 'runId'>> {
  const chosen = { ...(ofFeed === undefined ? {} : { feed: ofFeed }), ...(runId === undefined ? {} : { runId }) };
  if (ofFeed !== undefined || runId !== undefined) return chosen;
  return (await ledger.contacts.heldCount({ keys: [key], field })) > 1 ? { feed } : {};
}

/**
 * Of fields that are decided at once, those that several feeds hold with values of their own: each feed's is written, in this order, so that
 * the last one stays. Each is a list of two or more.
 */
export function heldBySeveral(shown: readonly HeldRecord[]): readonly (readonly HeldRecord[])[] {
  const byField = Map.groupBy(shown, ({ key, field }) => JSON.stringify([key, field]));
  return [...byField.values()].filter(([first, ...others]) =>
    others.some(({ ours }) => !isDeepStrictEqual(ours, first?.ours)),
  );
}

/** The held fields that fit, by feed, key and field. */
export async function listHeld(
  home: Pick<Home, 'ledger'>,
  { limit = heldPerDecisionMax, ...query }: HeldQuery,
): Promise<readonly HeldRecord[]> {
  return (await Array.fromAsync(recordPages(home, { ...query, limit }))).flat();
}

/** The same with their files, in pages that are not empty: a long list is never in memory as a whole. Without a limit all of them. */
export async function* heldPages(home: Pick<Home, 'ledger'>, query: HeldQuery): AsyncGenerator<readonly HeldOfFile[]> {
  for await (const page of recordPages(home, query)) yield await withFiles(home, page);
}

/** Ends with the first short page, or at the limit. */
async function* recordPages(
  { ledger }: Pick<Home, 'ledger'>,
  { limit: limitOfAll = Number.POSITIVE_INFINITY, after: cursor, ...choice }: HeldQuery,
): AsyncGenerator<readonly HeldRecord[]> {
  let after = cursor;
  for (let left = limitOfAll; left > 0; left -= fieldsPerPage) {
    const limit = Math.min(fieldsPerPage, left);
    const page = await ledger.contacts.held({ ...choice, limit, ...(after === undefined ? {} : { after }) });
    after = page.at(-1);
    if (after === undefined) return;
    yield page;
    if (page.length < limit) return;
    await nextTurn();
  }
}

export interface HeldPage {
  readonly held: readonly HeldOfFile[];
  /** How many more fit, beyond this page. */
  readonly moreCount: number;
}

export async function readHeldPage(
  { ledger }: Pick<Home, 'ledger'>,
  query: HeldQuery & { readonly limit: number },
): Promise<HeldPage> {
  const held = await withFiles({ ledger }, await listHeld({ ledger }, query));
  if (query.after !== undefined || held.length < query.limit) return { held, moreCount: 0 };
  const { limit: _, after: __, ...choice } = query;
  return { held, moreCount: (await ledger.contacts.heldCount(choice)) - held.length };
}

async function withFiles(
  { ledger }: Pick<Home, 'ledger'>,
  held: readonly HeldRecord[],
): Promise<readonly HeldOfFile[]> {
  const names = new Map<string, string | null>();
  for (const runId of new Set(held.map((one) => one.runId))) {
    names.set(runId, (await ledger.runs.get(runId))?.fileName ?? null);
  }
  return held.map((one) => ({ ...one, sourceFile: names.get(one.runId) ?? null }));
}

/** How many fields of each feed are held; feeds without any are left out. By name. */
export async function heldByFeed({
  ledger,
}: Pick<Home, 'ledger'>): Promise<readonly { readonly feed: string; readonly fields: number }[]> {
  const feeds = (await ledger.deliveries.standings()).map(({ feed }) => feed).toSorted();
  const counts = await Promise.all(
    feeds.map(async (feed) => ({ feed, fields: await ledger.contacts.heldCount({ feed }) })),
  );
  return counts.filter(({ fields }) => fields > 0);
}

const exportColumns = ['feed', 'key', 'field', 'file', 'app', 'since', 'source file', 'line', 'run'] as const;

/**
 * Writes the held fields that fit as a table, for a colleague; no cell is a formula.
 * @returns how many there are. @throws PatchbayError `usage`: `noHeldFields`, `outputNotWritten`.
 */
export async function exportHeld(home: Pick<Home, 'ledger'>, choice: HeldChoice, path: string): Promise<number> {
  const count = await home.ledger.contacts.heldCount(choice);
  if (count === 0) throw noHeldFields();
  const table = { columns: exportColumns, rows: exportRows(home, choice), delimiter: ',' };
  await writeAsAsked(path, () => writeCsvFile(path, table));
  return count;
}

async function* exportRows(
  home: Pick<Home, 'ledger'>,
  choice: HeldChoice,
): AsyncGenerator<readonly (readonly string[])[]> {
  for await (const page of heldPages(home, choice)) yield page.map(exportRow);
}

function exportRow({ feed, key, field, ours, theirs, sinceMs, sourceFile, line, runId }: HeldOfFile): string[] {
  const place = [sourceFile ?? '', line === 0 ? '' : `${line}`, runId];
  return [feed, key, field, cellOf(ours), cellOf(theirs), isoInstant(sinceMs), ...place];
}

function cellOf(value: HeldRecord['ours']): string {
  if (value === null) return '';
  return Array.isArray(value) ? value.join('; ') : String(value);
}

function noHeldFields(): PatchbayError {
  return new PatchbayError('usage', 'noHeldFields', 'no held field fits this choice', {
    hint: 'List the held fields with: patchbay held ls',
  });
}

/**
 * The fields that a decision would be about.
 * @returns also the keys of the choice that have no such field.
 * @throws PatchbayError `usage` `noHeldFields`.
 */
export async function chooseHeld(
  { ledger }: Pick<Home, 'ledger'>,
  choice: HeldChoice,
): Promise<{ readonly held: readonly HeldOfFile[]; readonly missingKeys: readonly string[] }> {
  const held = await withFiles({ ledger }, await listHeld({ ledger }, choice));
  if (held.length === 0) throw noHeldFields();
  const found = new Set(held.map(({ key }) => key));
  return { held, missingKeys: (choice.keys ?? []).filter((key) => !found.has(key)) };
}

/** What a decision needs of a data folder. */
export interface HeldHome extends Pick<Home, 'actor'> {
  readonly submit: SubmitParts;
  readonly identity: ProcessIdentity;
  readonly config: { readonly upsert: { readonly rowsPerBatch: number } };
}

/**
 * Decides about the fields as they were shown.
 * @param onEntered called for each run as it is entered: where an error ends the decision, those that were entered are known.
 * @throws PatchbayError `guard` `heldMoved` where none is as it was shown; `transient` `keysAtWork` where runs hold keys for a
 *   minute; what was decided until then is kept.
 */
export async function takeHeld(
  { submit: parts, identity, config, actor }: HeldHome,
  side: HeldSide,
  shown: readonly HeldRecord[],
  why: string | null = null,
  onEntered: (run: RunRecord) => void = () => undefined,
): Promise<HeldTaken> {
  const { ledger, clock, log } = parts;
  const { rowsPerBatch } = config.upsert;
  let done: HeldTaken = { taken: [], moved: [], runs: [] };
  const deadlineMs = clock.monotonicMs() + busyWaitMs;
  for (const [feed, ofFeed] of Map.groupBy(shown, (one) => one.feed)) {
    // Ends when no run holds a key any more, or with the deadline.
    for (let left: readonly HeldRecord[] = ofFeed; left.length > 0; ) {
      const decided = await ledger.contacts.decideHeld({
        feed,
        shown: left,
        write: side === 'app' ? null : { run: runFor(parts, feed), rowsPerBatch },
        nowMs: await ledger.nowMs(clock),
        isOwnerDead: identity.isDead,
        atMs: clock.nowMs(),
        act: await actOf({ ...parts, actor }, 'heldTake', why, { side }),
      });
      const { taken, moved, run } = decided;
      done = {
        taken: [...done.taken, ...taken],
        moved: [...done.moved, ...moved],
        runs: run === null ? done.runs : [...done.runs, run],
      };
      log.info({ feed, side, taken: taken.length, run: run?.id ?? null }, 'held fields decided');
      if (run !== null) onEntered(run);
      left = decided.busy;
      if (left.length === 0) break;
      if (clock.monotonicMs() > deadlineMs) throw keysAtWork(left.length);
      await clock.sleep(busyLookMs);
    }
  }
  if (done.taken.length > 0) return done;
  throw new PatchbayError('guard', 'heldMoved', 'the held fields have changed since they were read', {
    hint: 'Nothing was decided. List them again with: patchbay held ls',
  });
}

function runFor(parts: SubmitParts, feed: string): NewRun {
  const createdAtMs = parts.clock.nowMs();
  const id = newRunId(createdAtMs);
  return {
    id,
    feed,
    kind: 'held',
    fileName: 'held fields',
    claimedPath: '',
    host: parts.host,
    importFolder: importFolderOf(parts),
    sha256: createHash('sha256').update(`held ${id}`).digest('hex'),
    bytes: 0,
    options: noOptions,
    mapping: null,
    createdAtMs,
  };
}

function keysAtWork(count: number): PatchbayError {
  const fields = count === 1 ? '1 held field belongs to a contact' : `${count} held fields belong to contacts`;
  return new PatchbayError('transient', 'keysAtWork', `${fields} that a run is writing right now`, {
    hint: 'Nothing was decided about them. Run the same command again when the run has ended.',
  });
}

/** `held ls --json`; without values: no key and no values. */
export function heldDocument(held: HeldOfFile, values: boolean) {
  const { feed, key, field, ours, theirs, runId, line, sinceMs, sourceFile } = held;
  const shown = values ? { key, field, file: ours, app: theirs } : { key: null, field, file: null, app: null };
  return { feed, ...shown, since: isoInstant(sinceMs), run: runId, sourceFile, line };
}
