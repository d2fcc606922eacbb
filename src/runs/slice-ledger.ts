/**
 * A slice of a run and the ledger: what is asked about its keys, beyond what their feed said; and how the slice is written, in one
 * transaction, or in few where many of its rows are rejected; with what the log says of it.
 */

import type { Clock } from '#src/clock.ts';
import { partOf } from '#src/contacts/desired.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { heldEvent } from '#src/ledger/rules/events.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type DeadRow, eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { keyHash, type Logger } from '#src/log.ts';
import type { StageItem, Told, Verdict } from './compare.ts';
import type { FeedMemory } from './feed-memory.ts';
import type { KeyTrace, SliceContent } from './slice.ts';

export interface SliceReads {
  readonly ledger: Pick<Ledger, 'runs' | 'contacts'>;
  readonly run: RunRecord;
  readonly memory: FeedMemory;
  /** What the first of several rows with one key says, of the first keys of which rows were rejected so. */
  readonly collided: Map<string, NonNullable<KeyTrace['desired']>>;
}

const collidedMax = 1_000;

/** Keeps what the rejected rows of these say, for what is said of later ones with their keys. */
export function noteCollided({ collided }: SliceReads, traces: readonly KeyTrace[]): void {
  for (const { key, kind, desired } of traces)
    if (kind === 'dead' && desired !== undefined && collided.size < collidedMax) collided.set(key, desired);
}

/** A row whose hash the memory knows. */
export interface KnownRow {
  readonly place: number;
  readonly line: number;
  /** Its place among the items of the slice; between two of them where its cells were not read. */
  readonly order: number;
  /** Null where its cells were not read. */
  readonly item: StageItem | null;
}

/** Adds what the ledger says of their keys to `told`, and the places of these to `placeByKey`. */
export async function unchangedVerdicts(
  { memory, run, ledger: { runs } }: SliceReads,
  rows: readonly KnownRow[],
  told: Map<string, Told>,
  placeByKey: Map<string, number>,
): Promise<readonly { readonly order: number; readonly verdict: Verdict }[]> {
  if (rows.length === 0) return [];
  const keyByNumber = await runs.keysAt([...new Set(rows.map(({ place }) => memory.numberAt(place)))]);
  for (const [key, record] of await runs.saidOf(
    run.feed,
    [...keyByNumber.values()].filter((key) => !told.has(key)),
  ))
    told.set(key, record);
  return rows.flatMap(({ place, line, order, item }) => {
    const key = keyByNumber.get(memory.numberAt(place));
    if (key === undefined) return [];
    placeByKey.set(key, place);
    const record = told.get(key);
    const row = item?.row ?? null;
    const letterId = item?.letterId ?? null;
    const sequence = item?.kind === 'row' ? item.sequence : run.sequence;
    const common = { line, row, letterId, key, sequence, isKnown: true, warnings: [], newRowHash: null } as const;
    const heldCount = record?.heldCount ?? 0;
    return [{ order, verdict: { kind: 'unchanged', ...common, fingerprint: record?.fingerprint ?? '', heldCount } }];
  });
}

/** What earlier slices have met of these keys. */
export async function tracesOf(
  { memory, run, collided, ledger: { runs } }: SliceReads,
  placeByKey: ReadonlyMap<string, number>,
  told: ReadonlyMap<string, Told>,
): Promise<ReadonlyMap<string, KeyTrace>> {
  const traces = new Map<string, KeyTrace>();
  const staged = new Map<string, number>();
  for (const [key, place] of placeByKey) {
    const met = memory.metOf(place, key);
    if (met?.kind === 'staged') staged.set(key, met.at);
    else if (met !== null) {
      const fingerprint = met.kind === 'dead' ? '' : (told.get(key)?.fingerprint ?? '');
      const desired = met.kind === 'dead' ? collided.get(key) : undefined;
      traces.set(key, {
        ...{ key, line: met.at, fingerprint, kind: met.kind },
        ...(desired === undefined ? {} : { desired }),
      });
    }
  }
  if (staged.size === 0) return traces;
  for (const { key, line, fingerprint, position, desired } of await runs.stagedAt(run.id, [...staged.values()])) {
    if (staged.get(key) !== position) continue;
    const ofPart = partOf(desired) === null ? {} : { isPart: true as const };
    traces.set(key, { key, line, fingerprint, kind: 'staged', position, desired, ...ofPart });
  }
  // Two keys may share the bits by which they are remembered.
  for (const key of staged.keys()) if (!traces.has(key) && placeByKey.get(key) === -1) memory.mistook(key);
  return traces;
}

/** Unchanged rows with fields that wait for a person are reported in every run: from the ledger, without a request. */
export async function heldEvents(
  { run, ledger: { runs, contacts } }: SliceReads,
  byKey: ReadonlyMap<string, number>,
  byNumber: ReadonlyMap<number, number>,
): Promise<readonly RunEvent[]> {
  if (byKey.size + byNumber.size === 0) return [];
  const lines = new Map(byKey);
  const keys = byNumber.size === 0 ? new Map<number, string>() : await runs.keysAt([...byNumber.keys()]);
  for (const [number, key] of keys) lines.set(key, byNumber.get(number) ?? 0);
  const held = await contacts.held({ feed: run.feed, keys: [...lines.keys()], limit: eventsPerRunMax });
  return held.map((one) => heldEvent(one.key, lines.get(one.key) ?? one.line, one));
}

/** Those of the keys that are bound to a contact, by whichever feed. */
export async function boundKeys({ ledger }: SliceReads, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const contacts = keys.length === 0 ? new Map() : await ledger.contacts.get(keys);
  return new Set(keys.filter((key) => (contacts.get(key)?.contactId ?? null) !== null));
}

interface SliceParts {
  readonly ledger: Ledger;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly rowsPerBatch: number;
  /** When the reading of the run's file began. */
  readonly readSinceMs?: number;
}

/** Letters are wide: more of them in one transaction would hold the ledger for too long. */
const rejectedAtOnceMax = 150;

/** Many rejected rows go in transactions of their own, before the others: a run that dies between them is staged anew. */
export async function writeSlice(
  { ledger, clock, rowsPerBatch, readSinceMs }: SliceParts,
  run: RunRecord,
  content: Partial<SliceContent['slice']>,
): ReturnType<Ledger['runs']['stage']> {
  // With a rate of its own a run is one batch: a single job, whose pace is the run's.
  const batch = { rowsPerBatch: run.options.rate === null ? rowsPerBatch : Number.MAX_SAFE_INTEGER };
  const empty = { runId: run.id, feed: run.feed, ...batch, records: [], dead: [], events: [], counts: {} };
  // Letters of one reading have one instant, so that lists have them in the order of their lines.
  const moment = readSinceMs === undefined ? { atMs: clock.nowMs() } : { atMs: readSinceMs, readSinceMs };
  let { withdrawnRows = [], dead = [] } = content;
  // Ends with few enough left: each turn takes some away. Withdrawn rows first, as in one transaction.
  while (withdrawnRows.length + dead.length > rejectedAtOnceMax) {
    const part = { withdrawnRows: withdrawnRows.slice(0, rejectedAtOnceMax), dead: dead.slice(0, 0) };
    if (part.withdrawnRows.length === 0) part.dead = dead.slice(0, rejectedAtOnceMax);
    withdrawnRows = withdrawnRows.slice(part.withdrawnRows.length);
    dead = dead.slice(part.dead.length);
    await ledger.runs.stage({ ...empty, ...part, ...moment });
  }
  // A run that looks only moves nothing of what its feed said, and closes no letter.
  const moves = run.options.verify ? { refreshed: [], spoken: [], answered: [] } : {};
  return ledger.runs.stage({ ...empty, ...content, ...moves, withdrawnRows, dead, ...moment });
}

/** Of each slice; the report has the others. */
const rejectedLoggedMax = 20;

export function logRejected({ log }: { readonly log: Logger }, run: RunRecord, dead: readonly DeadRow[]): void {
  for (const { line, key, class: of, code } of dead.slice(0, rejectedLoggedMax)) {
    const hash = key === null ? {} : { key: keyHash(key) };
    log.warn({ run: run.id, feed: run.feed, line, ...hash, class: of, code }, 'row rejected');
  }
  const more = dead.length - rejectedLoggedMax;
  if (more > 0) log.warn({ run: run.id, feed: run.feed, more }, 'further rows rejected');
}
