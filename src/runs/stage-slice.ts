/** Stages some hundred rows: maps them, compares them with the ledger, and writes the slice in one transaction. */
import { type DesiredContact, fingerprint, hasContent } from '#src/contacts/desired.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import { unreachable } from '#src/errors.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import { heldEvent } from '#src/ledger/rules/events.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type DeadRow, eventsPerRunMax, type RunEvent, type SettledRow } from '#src/ledger/staging.ts';
import { keyHash } from '#src/log.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { Row } from '#src/sources/row.ts';
import { inStep } from '#src/steps.ts';
import { countClears, isChange, type StageItem } from './compare.ts';
import type { StagedTally } from './guards.ts';
import type { RunParts } from './parts.ts';
import { SliceDraft } from './slice-draft.ts';

export interface StageContext {
  readonly parts: RunParts;
  readonly run: RunRecord;
  readonly compiled: CompiledMapping;
  readonly hash: (row: Row) => string;
  /** Whether the file wins over values that it never agreed on. */
  readonly adopt: boolean;
}

/** An unchanged row of an earlier slice that turned out to be a duplicate. */
export interface LateDead {
  readonly key: string;
  readonly line: number;
  /** Tells it from its neighbours where a whole JSON file is one line. */
  readonly fingerprint: string;
  readonly problem: Problem;
}

export interface StagedSliceResult {
  readonly tally: StagedTally;
  readonly lateDead: readonly LateDead[];
}

/** With the dead letter that it mends or tries again. */
type Mapped = MappedRow & { readonly letterId: string | null };

/** A row after mapping, or known without it. */
type MappedRow =
  | { readonly kind: 'settled'; readonly row: Row; readonly settled: SettledRow }
  | {
      readonly kind: 'desired';
      readonly row: Row;
      readonly rowHash: string;
      readonly sequence: number;
      readonly desired: DesiredContact;
      readonly fingerprint: string;
      readonly warnings: readonly Problem[];
    }
  | {
      readonly kind: 'dead';
      readonly row: Row;
      readonly key: string | null;
      readonly problems: readonly Problem[];
      readonly warnings: readonly Problem[];
    };

export async function stageSlice(context: StageContext, items: readonly StageItem[]): Promise<StagedSliceResult> {
  const { parts, run, compiled } = context;
  const { staging } = parts.ledger;
  const hashes = new Map(items.map((item) => [item, context.hash(item.row)]));
  const settledRows = await staging.settledRows(run.feed, [...hashes.values()]);
  const mapped = items.map((item): Mapped => {
    return { ...mapItem(context, item, hashes.get(item) ?? '', settledRows), letterId: item.letterId ?? null };
  });

  const keys = [...new Set(mapped.flatMap((one) => keyOf(one) ?? []))];
  const said = await staging.saidOf(run.feed, keys);
  const judged = await withoutNobodies(context, mapped, said);
  const traces = await staging.tracesOf(run.id, keys);
  const stagedBefore = traces.size === 0 ? new Map() : await staging.stagedByKey(run.id, [...traces.keys()]);
  const draft = new SliceDraft(traces, stagedBefore, compiled.duplicateKeys);

  const tally = { rows: 0, known: 0, shared: 0, updates: 0, creates: 0, clears: 0, dead: 0 };
  const answered: string[] = [];
  const waiting = new Map<string, number>();
  const refreshed: { key: string; rowHash: string; mappingVersion: string }[] = [];
  for (const one of judged) draftOne(context, one, said, draft, tally, refreshed, answered, waiting);
  if (waiting.size > 0) draft.addHeld(await heldEvents(context, waiting));

  const { records, traces: newTraces, dead, withdrawn, events, counts } = draft;
  const slice = {
    runId: run.id,
    feed: run.feed,
    rowsPerBatch: parts.rowsPerBatch,
    records,
    traces: newTraces,
    dead,
    withdrawn,
    unchanged: draft.unchangedKeys,
    answered,
    events,
    counts,
    atMs: parts.clock.nowMs(),
  };
  await inStep('stageSlice', () => staging.stage(slice));
  logDead(context, dead);
  if (refreshed.length > 0) await staging.refreshRowHashes(run.feed, refreshed);
  return { tally: { ...tally, rows: draft.rows, dead: draft.counts.dead ?? 0 }, lateDead: draft.lateDead };
}

/** So many of one slice: the rest is in the report. */
const deadLoggedMax = 20;

function logDead({ parts, run }: StageContext, dead: readonly DeadRow[]): void {
  for (const { line, key, class: of, code } of dead.slice(0, deadLoggedMax)) {
    const hash = key === null ? {} : { key: keyHash(key) };
    parts.log.warn({ run: run.id, feed: run.feed, line, ...hash, class: of, code }, 'row is dead');
  }
  const more = dead.length - deadLoggedMax;
  if (more > 0) parts.log.warn({ run: run.id, feed: run.feed, more }, 'further rows are dead');
}

function mapItem(
  context: StageContext,
  item: StageItem,
  rowHash: string,
  settledRows: ReadonlyMap<string, SettledRow>,
): MappedRow {
  const { row } = item;
  switch (item.kind) {
    case 'broken':
      return { kind: 'dead', row, key: null, problems: [item.problem], warnings: [] };
    case 'desired': {
      const { desired, sequence } = item;
      return { kind: 'desired', row, rowHash, sequence, desired, fingerprint: fingerprint(desired), warnings: [] };
    }
    case 'row': {
      const settled = settledRows.get(rowHash);
      if (settled !== undefined && !isWanted(context, settled)) return { kind: 'settled', row, settled };
      const result = context.compiled.mapRow(row);
      if (result.kind === 'dead') return { ...result, row };
      const { desired, warnings } = result;
      return {
        kind: 'desired',
        row,
        rowHash,
        sequence: item.sequence,
        desired,
        fingerprint: fingerprint(desired),
        warnings,
      };
    }
    default:
      return unreachable(item);
  }
}

/**
 * A row that holds nothing but its key is dead where a contact would be made from it: neither the feed nor the ledger knows
 * one. For a contact that is there such a row is fine: it keeps, or clears.
 */
async function withoutNobodies(
  { parts }: StageContext,
  mapped: readonly Mapped[],
  said: ReadonlyMap<string, SaidRecord>,
): Promise<readonly Mapped[]> {
  const isBare = (one: Mapped): boolean =>
    one.kind === 'desired' && !said.has(one.desired.key) && !hasContent(one.desired);
  const bare = mapped.filter(isBare);
  if (bare.length === 0) return mapped;
  const known = await parts.ledger.contacts.get(bare.flatMap((one) => keyOf(one) ?? []));
  return mapped.map((one): Mapped => {
    if (one.kind !== 'desired' || !isBare(one) || (known.get(one.desired.key)?.contactId ?? null) !== null) return one;
    const { row, warnings, letterId } = one;
    return { kind: 'dead', row, letterId, key: one.desired.key, problems: [contactEmpty(row.line)], warnings };
  });
}

function contactEmpty(line: number): Problem {
  const message = 'the row holds nothing but its key, and there is no contact of this key yet';
  const hint = 'Fill in a name, a phone number or another column that is mapped, or take the row out.';
  return { code: 'contactEmpty', line, field: null, value: null, message, hint };
}

function keyOf(mapped: Mapped): string | null {
  if (mapped.kind === 'settled') return mapped.settled.key;
  return mapped.kind === 'desired' ? mapped.desired.key : mapped.key;
}

function draftOne(
  context: StageContext,
  mapped: Mapped,
  said: ReadonlyMap<string, SaidRecord>,
  draft: SliceDraft,
  tally: { known: number; shared: number; updates: number; creates: number; clears: number },
  refreshed: { key: string; rowHash: string; mappingVersion: string }[],
  answered: string[],
  waiting: Map<string, number>,
): void {
  const { row } = mapped;
  const keyHere = keyOf(mapped);
  if (mapped.kind === 'settled' || (keyHere !== null && said.has(keyHere))) tally.shared += 1;
  const letter = mapped.letterId === null ? {} : { letterId: mapped.letterId };
  if (mapped.kind === 'settled') {
    const { key, fingerprint, heldCount } = mapped.settled;
    if (draft.add({ row, key, fingerprint, record: null })) {
      tally.known += 1;
      if (heldCount > 0) waiting.set(key, row.line);
    }
    if (mapped.letterId !== null) answered.push(mapped.letterId);
    return;
  }
  draft.addWarnings(keyHere, mapped.warnings);
  if (mapped.kind === 'dead') {
    const code = mapped.problems[0]?.code ?? 'invalid';
    const { key, problems } = mapped;
    draft.addDead({
      class: 'invalid',
      code,
      line: row.line,
      key,
      problems,
      row,
      ...letter,
      desired: null,
      answer: null,
    });
    return;
  }
  const { desired, rowHash, sequence } = mapped;
  const before = said.get(desired.key) ?? null;
  const mappingVersion = context.compiled.version;
  if (before?.fingerprint === mapped.fingerprint && !isWanted(context, before)) {
    refreshed.push({ key: desired.key, rowHash, mappingVersion });
    if (draft.add({ row, key: desired.key, fingerprint: mapped.fingerprint, record: null })) {
      tally.known += 1;
      if (before.heldCount > 0) waiting.set(desired.key, row.line);
    }
    if (mapped.letterId !== null) answered.push(mapped.letterId);
    return;
  }
  const record = {
    line: row.line,
    sequence,
    key: desired.key,
    rowHash,
    fingerprint: mapped.fingerprint,
    mappingVersion,
    desired,
    row,
    ...letter,
  };
  // A contact counts once, however often its row stands in the file.
  if (!draft.add({ row, key: desired.key, fingerprint: mapped.fingerprint, record })) return;
  if (before === null) tally.creates += 1;
  else {
    tally.known += 1;
    if (!isChange(before, desired, mapped.fingerprint)) return;
    tally.updates += 1;
    tally.clears += countClears(before.said, desired);
  }
}

/** Whether a row that says nothing new is to be applied all the same: the file is to win over what it never agreed on. */
function isWanted({ adopt }: StageContext, { heldCount }: Pick<SettledRow, 'heldCount'>): boolean {
  return adopt && heldCount > 0;
}

/** Unchanged rows with fields that wait for a person: told in every run, from the ledger and without a request. */
async function heldEvents({ parts, run }: StageContext, waiting: ReadonlyMap<string, number>): Promise<RunEvent[]> {
  const keys = [...waiting.keys()];
  const held = await parts.ledger.contacts.held({ feed: run.feed, keys, limit: eventsPerRunMax });
  return held.map((one) => heldEvent(one.key, waiting.get(one.key) ?? one.line, one));
}
