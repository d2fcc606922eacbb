/**
 * People who left: those whom the feed knows and its newest full file lacks are listed, and their contacts cleared or tagged where
 * the feed says so (`docs/rules.md`, "People who left"). Nothing is ever deleted.
 *
 * In slices: a file may lack as many people as its feed knows.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isoInstant } from '#src/clock.ts';
import { customFieldName, fingerprint, scalarNames } from '#src/contacts/desired.ts';
import { contactOfMissing, type MissingRule } from '#src/contacts/missing.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Feeds } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { countBits, numbersIn } from '#src/ledger/rules/bitmap.ts';
import { baseFor, mainFeed } from '#src/ledger/rules/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { readCustomValue } from '#src/mapping/custom-cell.ts';
import { customFieldKind } from '#src/mapping/layout.ts';
import type { UpsertLimits } from '#src/upsert/chunk.ts';
import type { Workspace } from '#src/workspace/port.ts';
import type { StageItem } from './compare.ts';
import { isFullFile } from './feed-history.ts';
import { addTally, noTally, type StagedTally } from './guards.ts';
import type { StagedRows } from './late-rows.ts';

export interface MissingParts {
  readonly ledger: Ledger;
  readonly feeds: Feeds;
  readonly workspace: Pick<Workspace, 'listCustomFields'>;
  readonly upsert: { readonly limits: Pick<UpsertLimits, 'ownsItems'> };
}

const report: MissingRule = { kind: 'report' };

/**
 * What becomes of the people whom the run's file lacks; and which tag those lose who are back, also by a retry or a fix-file.
 * @throws PatchbayError `usage` `tagRefused`: the workspace has no such custom field, or it takes no such value.
 */
export async function missingRuleOf({ feeds, workspace }: MissingParts, run: RunRecord): Promise<MissingRule> {
  const { onMissing } = feeds.rulesOf(run.feed);
  const isFull = isFullFile(feeds, run);
  if (onMissing.kind !== 'tag') return isFull && onMissing.kind === 'clear' ? onMissing : report;
  const { field, value } = onMissing;
  if (run.feed === mainFeed) return report;
  const name = scalarNames.find((one) => one === field);
  if (name !== undefined) return { kind: 'tag', field: name, value };
  const key = field.slice('custom.'.length);
  const reading = readCustomValue(value, customFieldKind(key, await workspace.listCustomFields()));
  if (reading.ok) return { kind: 'tag', field: customFieldName(key), value: reading.value };
  // Nothing is tagged.
  if (!isFull) return report;
  // What it advises for a column does not help here.
  const isUnknown = reading.flaw.code === 'customFieldUnknown';
  const hint = isUnknown ? 'Create the custom field in the workspace, or correct ' : `${reading.flaw.hint} Correct `;
  throw new PatchbayError('usage', 'tagRefused', `onMissing of feed ${run.feed}: ${field}: ${reading.flaw.message}`, {
    facts: { feed: run.feed, field },
    hint: `${hint}feeds.${run.feed}.onMissing in the config file, then drop the file again.`,
  });
}

/** How many are listed one by one. */
const listedMax = 1_000;
const keysPerSlice = 200;

export interface MissingFound {
  readonly counts: { readonly count: number; readonly new: number };
  /** Of contacts that are to be cleared or tagged: for the guards. */
  readonly tally: StagedTally;
}

/**
 * @param missing their numbers, as a bitmap.
 * @param act how their contacts are staged; null where the run applies only chosen rows.
 * @param write enters events.
 */
export async function stageMissing(
  parts: MissingParts,
  run: RunRecord,
  { missing, rule }: { readonly missing: Uint8Array; readonly rule: MissingRule },
  act: ((items: readonly StageItem[]) => Promise<StagedRows>) | null,
  write: (events: readonly RunEvent[]) => Promise<void>,
): Promise<MissingFound> {
  const { ledger } = parts;
  const count = countBits(missing);
  let listed = 0;
  let known = 0;
  let tally = noTally;
  for (const numbers of numbersIn(missing, keysPerSlice)) {
    const keys = [...(await ledger.runs.keysAt(numbers)).values()];
    const before = new Map((await ledger.missing.of(run.feed, keys)).map((one) => [one.key, one.sinceMs]));
    known += before.size;
    const shown = keys.slice(0, Math.max(0, listedMax - listed));
    listed += shown.length;
    if (shown.length > 0) await write(shown.map((key) => missingEvent(key, before.get(key) ?? run.createdAtMs)));
    const items = act === null || rule.kind === 'report' ? [] : await itemsOf(parts, run, rule, keys);
    if (act !== null && items.length > 0) {
      const { updates, clears, cleared } = (await act(items)).tally;
      tally = addTally(tally, { ...noTally, updates, clears, cleared, gone: updates, goneCleared: cleared });
    }
    await nextTurn();
  }
  return { counts: { count, new: count - known }, tally };
}

function missingEvent(key: string, sinceMs: number): RunEvent {
  const since = isoInstant(sinceMs);
  const message = `not in the file any more, since ${since.slice(0, 10)}`;
  return { kind: 'missing', line: 0, key, code: 'missing', field: null, since, message };
}

/** The contacts that the rule changes, as rows of the run; those whose row was settled like this before are left out. */
async function itemsOf(
  { ledger: { runs, contacts, missing }, upsert: { limits } }: MissingParts,
  { feed, sequence }: RunRecord,
  rule: MissingRule,
  keys: readonly string[],
): Promise<readonly StageItem[]> {
  const said = await runs.saidOf(feed, keys);
  const records = await contacts.get(keys);
  const otherFeeds = new Set([...records.values()].flatMap(({ saids }) => saids.map((one) => one.feed)));
  otherFeeds.delete(feed);
  /** What a file said of people whom its feed lacks by now is in no file. */
  const missedBy = new Map<string, ReadonlySet<string>>();
  for (const other of otherFeeds) missedBy.set(other, new Set((await missing.of(other, keys)).map((one) => one.key)));
  return keys.flatMap((key): readonly StageItem[] => {
    const mine = said.get(key);
    const record = records.get(key);
    if (mine === undefined || record === undefined || record.contactId === null) return [];
    const others = baseFor(record, feed, limits.ownsItems).others.filter(
      (one) => missedBy.get(one.feed)?.has(key) !== true,
    );
    // A write that may have landed is looked up when the row is planned.
    const doubted = record.claim?.feed === feed ? record.claim.said : null;
    const desired = contactOfMissing(key, rule, { said: mine.said, doubted, others });
    if (desired === null || fingerprint(desired) === mine.fingerprint) return [];
    const row = { kind: 'cells', line: 0, record: 0, columns: ['externalId'], cells: [key] } as const;
    return [{ kind: 'desired', row, desired, sequence }];
  });
}
