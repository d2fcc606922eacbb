/**
 * Staging: a file is read to its end and compared with what its feed knows, slice by slice, and its changed rows are stored in the
 * ledger. Then the guards decide. Nothing is sent before (`docs/design.md`, "Stage, then apply").
 *
 * Most rows are known and *alone*: no other row of the slice, and none before it, has their key. They are counted, and nothing else.
 * The ledger is asked for the keys of changed rows, and of rows that meet another one with their key. What is decided is pure
 * (`compare.ts`, `slice.ts`).
 *
 * Invariant: a run leaves `staging` either with every row of the file counted, or as `failed` with nothing staged. After an
 * interruption it is staged anew.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MissingRule } from '#src/contacts/missing.ts';
import { PatchbayError } from '#src/errors.ts';
import type { ColumnFill, RunReason, RunRecord, RunState } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import { type IgnoresRow, ignoredRows } from '#src/mapping/conditions.ts';
import type { RecordLook } from '#src/sources/format-reader.ts';
import { type HashWords, hashName, hashOfName, seedOf } from '#src/sources/record-hash.ts';
import { inStep } from '#src/steps.ts';
import { inWork, type Works } from '#src/telemetry.ts';
import { type BeyondRows, keysAmong, type StageBeyond, stageBeyondRows } from './beyond-rows.ts';
import { createFillCount, type FillCount } from './column-fill.ts';
import { type ColumnWarnings, columnNote, createColumnWarnings } from './column-warnings.ts';
import {
  type CompareRules,
  compareRow,
  hashRow,
  hasStanding,
  isBare,
  keysOf,
  type StageItem,
  toldOf,
  type Verdict,
} from './compare.ts';
import { type CountryAdvice, createCountryAdvice } from './country-advice.ts';
import { fillOfFile, headerNote, isFullFile } from './feed-history.ts';
import { type FeedMemory, type Met, readFeedMemory } from './feed-memory.ts';
import { finishFailed, outcomesOf, publishRows, tidyFinished } from './finish-run.ts';
import { addTally, noTally, type StagedTally } from './guards.ts';
import { type HeldRules, heldRulesOf, readsHeld } from './held-again.ts';
import { type StagedRows, stageLateDead, stageMoved } from './late-rows.ts';
import { type LeaveParts, leaveStaging } from './leave-staging.ts';
import { missingRuleOf } from './missing-people.ts';
import { resumeRestored } from './read-before.ts';
import {
  createRowReader,
  gathered,
  type HashedItem,
  type MappedSlice,
  type RowReader,
  readAhead,
} from './row-reader.ts';
import type { RunFolders } from './run-files.ts';
import { seenKeys } from './seen-keys.ts';
import { createSelection, keysSpokenFor, type Selection } from './selection.ts';
import { contentOf, type LateDead, refreshedOf, resolveDuplicates, type SliceContent, warningEvent } from './slice.ts';
import {
  boundKeys,
  heldEvents,
  type KnownRow,
  logRejected,
  noteCollided,
  type SliceReads,
  tracesOf,
  unchangedVerdicts,
  writeSlice,
} from './slice-ledger.ts';
import type { OpenSupply, RowSupply } from './supply.ts';

/** What runs are staged with. */
export interface StageParts extends LeaveParts {
  readonly rowsPerBatch: number;
  /** Where files of runs are. */
  readonly folders: RunFolders;
  /** The most rows that are mapped here before a thread must do it (`row-reader.ts`): fewer only in a test. */
  readonly rowsMappedHereMax?: number;
  /** When this reading of the file began. */
  readonly readSinceMs?: number;
}

/**
 * Stages the run and moves it on: to `applying`, `stopped` or `failed`.
 * @throws PatchbayError `auth` or `unreachable` where the service had to be asked; the run stays in `staging`.
 */
export async function stageRun(
  parts: StageParts,
  run: RunRecord,
  openSupply: OpenSupply,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, clock } = parts;
  const readSinceMs = clock.nowMs();
  if (!(await ledger.runs.beginStaging(run.id, readSinceMs))) return;
  // What it is compared with: an earlier file of the feed may have ended in a process that died then.
  if (parts.isDraft !== true) await tidyFinished(parts, run.feed);
  const known: Works['staging'] = { run: run.id, feed: run.feed, rowCount: null };
  await inWork('staging', known, (found) => stageFile({ ...parts, readSinceMs }, run, openSupply, signal, found));
}

async function stageFile(
  parts: StageParts,
  run: RunRecord,
  openSupply: OpenSupply,
  signal: AbortSignal,
  known: Works['staging'],
): Promise<void> {
  const { ledger, log } = parts;
  let supply: RowSupply | null = null;
  try {
    if (run.refusal !== null) throw refusedBefore(run.refusal);
    if (parts.isDraft !== true) await resumeRestored(parts, run);
    supply = await openSupply(run);
    await ledger.runs.record(run.id, { shape: supply.shape, mapping: supply.mapping });
    const rows = await stageRows(parts, run, supply, signal);
    if (rows === null) return;
    known.rowCount = rows.tally.rows;
    const { leftOut } = supply.compiled;
    const changed = await headerNote(ledger, run, supply.shape.columns);
    if (changed !== null) await ledger.runs.record(run.id, { notes: [changed] });
    const read = { ...rows.told, filled: rows.filled, leftOut: leftOut.map(({ column }) => column) };
    await ledger.runs.record(run.id, { shape: { ...supply.shape, ...read, rows: rows.tally.rows } });
    const writeEvents = async (events: readonly RunEvent[]): Promise<void> => {
      await writeSlice(parts, run, { events });
    };
    const staged = await outcomesOf(ledger, run.id);
    await leaveStaging(parts, run, { ...rows, leftOut, writeEvents }, signal);
    publishRows(run.feed, staged);
  } catch (error) {
    // A folder that takes no note of a stop says nothing of the file: it waits.
    if (!(error instanceof PatchbayError) || error.code === 'folderUnusable') throw error;
    if (error.kind !== 'file' && error.kind !== 'usage') throw error;
    const { code, message, hint, facts } = error;
    known.refused = code;
    if (await fail(parts, run, { code, message, hint, facts }))
      log.warn({ run: run.id, feed: run.feed, code }, 'file refused');
  } finally {
    await supply?.close();
  }
}

function refusedBefore({ code, message, hint, facts }: RunReason): PatchbayError {
  return new PatchbayError('file', code, message, { facts, ...(hint === null ? {} : { hint }) });
}

/**
 * Forgets what was staged before the file turned out to be unreadable; nothing of it was sent.
 * @returns whether the run has failed: not where it was cancelled in the meantime.
 */
async function fail(parts: StageParts, run: RunRecord, found: RunReason): Promise<boolean> {
  const { ledger, clock } = parts;
  const atMs = clock.nowMs();
  if (!(await ledger.runs.beginStaging(run.id, atMs))) return false;
  // After a crash the file may already be in `_failed`: the reason why it went there stays the reason.
  const reason = found.code === 'fileMissing' ? (run.reason ?? found) : found;
  await ledger.runs.move(run.id, ['staging'], 'staging', { atMs, reason });
  const emptied = await ledger.runs.get(run.id);
  return emptied?.state === 'staging' && (await finishFailed(parts, emptied, atMs));
}

interface StagedFile {
  readonly tally: StagedTally;
  readonly knownKeys: number;
  readonly told: BeyondRows['told'];
  readonly filled: readonly ColumnFill[];
  /** Whether contacts that are there already are taken over without asking. */
  readonly adopt: boolean;
}

/** Null where the run was cancelled meanwhile, or is no longer ours to stage. */
async function stageRows(
  parts: StageParts,
  run: RunRecord,
  supply: RowSupply,
  signal: AbortSignal,
): Promise<StagedFile | null> {
  const { ledger, clock } = parts;
  const held = await heldRulesOf(parts, run);
  const advice = createCountryAdvice(parts, run, signal);
  const memory = await readFeedMemory(ledger.runs, run.feed, readsHeld(held));
  const selection = createSelection(
    run.options,
    await ledger.forgetting.forgottenPeople(),
    supply.compiled,
    parts.asked?.keys,
  );
  const missingRule = await missingRuleOf(parts, run);
  const from = { file: ledger.runs.saidFile, feed: run.feed };
  const reader = createRowReader({ mapping: supply.compiled, ...held, missingRule }, from, parts.rowsMappedHereMax);
  const isIgnored = ignoredRows(supply.mapping);
  const columnWarnings = createColumnWarnings();
  const fill = isFullFile(parts.feeds, run) ? createFillCount(supply.shape.mapped ?? []) : null;
  const given = {
    ...{ memory, advice, held, isIgnored, reader, fill, selection, missingRule, columnWarnings },
    ...{ mapping: supply.compiled, meaning: supply.meaning },
  };
  const fold = createFold(parts, run, given);
  let [tally, leftOutCount] = [noTally, 0];
  const lateDead: LateDead[] = [];
  try {
    for await (const slice of readAhead(
      gathered(supply.items(fold.look), fold.leftCount),
      fold.read,
      reader.slicesAhead,
    )) {
      signal.throwIfAborted();
      leftOutCount += slice.left.places.length;
      const staged = await fold.stage(slice);
      if (staged.state !== 'staging') {
        // This slice was staged after the cancellation gave the other rows their outcome.
        if (staged.state === 'cancelling' || staged.state === 'cancelled')
          await ledger.runs.skipPending(run.id, 'cancelled', clock.nowMs());
        return null;
      }
      lateDead.push(...staged.lateDead);
      tally = addTally(tally, staged.tally);
      // Staging is synchronous work on one thread: timers and lock renewals get their turn between slices.
      await nextTurn();
    }
  } finally {
    await reader.close();
  }
  supply.refuseLacking();
  const moved = await stageMoved(fold.stageAgain, supply, await memory.moved(ledger.runs, run.feed));
  lateDead.push(...moved.lateDead);
  tally = addTally(tally, moved.tally);
  const lateCount =
    lateDead.length === 0 ? 0 : await stageLateDead((content) => writeSlice(parts, run, content), supply, lateDead);
  const keys = memory.keysOfFile(isFullFile(parts.feeds, run));
  await ledger.runs.confirm(run.id, await keysSpokenFor(ledger.runs, run, keys));
  if (parts.asked !== undefined) {
    const unchanged = await keysAmong(ledger.runs, run.feed, keys.unchanged, parts.asked.keys);
    parts.asked.onUnchanged([...unchanged]);
  }
  const beyondWith = { keys, missingRule, policies: supply.compiled.policies, selection };
  const makeAgain = async (numbers: readonly number[]): Promise<StagedRows> =>
    stageMoved(fold.stageAgain, supply, await fold.toBeMade(numbers));
  const beyond = await stageBeyondRows(parts, run, beyondWith, { ...fold, makeAgain }, signal);
  tally = addTally(tally, beyond.tally);
  const ofColumns = columnWarnings.list();
  const columnNotes = ofColumns.map(columnNote);
  await ledger.runs.record(run.id, { notes: [...supply.notes(), ...columnNotes, ...beyond.notes, ...advice.notes()] });
  const warnings = selection.ofFile([...supply.warnings(), ...ofColumns]);
  await writeSlice(parts, run, {
    events: warnings.map((warning) => warningEvent(null, warning)),
    counts: { warnings: warnings.length },
  });
  const creates = selection.makesContacts ? tally.creates : 0;
  const all = { ...tally, creates, dead: tally.dead + lateCount };
  const filled = fill === null ? [] : await fillOfFile(parts, run, fill, leftOutCount);
  return { tally: all, knownKeys: memory.keyCount, told: beyond.told, filled, adopt: held.adopt };
}

/** What became of a slice. */
interface StagedSlice extends StagedRows {
  /** Of the run. */
  readonly state: RunState;
}

/** What the rows of a run are compared with, and how. */
interface FoldWith {
  readonly memory: FeedMemory;
  readonly reader: RowReader;
  readonly advice: CountryAdvice;
  readonly held: HeldRules;
  readonly isIgnored: IgnoresRow;
  readonly mapping: CompiledMapping;
  readonly selection: Selection;
  readonly missingRule: MissingRule;
  readonly columnWarnings: ColumnWarnings;
  /** Null where no file is compared with this one. */
  readonly fill: FillCount | null;
  /** What decides, besides its text, what a record is; null where records are not known by their text. */
  readonly meaning: string | null;
}

interface Fold extends Omit<StageBeyond, 'makeAgain'> {
  /** To be given to the reader: it leaves out what is known, and the next `stage` counts it. Null where nothing can be left out. */
  readonly look: RecordLook | null;
  /** How many records the reader has left out since the last `read`. */
  leftCount(): number;
  /** Begins to map what is not known; takes what the reader has left out since the slice before. */
  read(items: readonly StageItem[]): ReadSlice;
  /** Compares a slice, and writes what follows in one transaction. In the order in which they were read. */
  stage(slice: ReadSlice): Promise<StagedSlice>;
  /**
   * The rows of these keys once more, which were taken for unchanged, and are compared with the ledger now.
   * @param places of their keys; those that were found are taken out of it.
   */
  stageAgain(items: readonly StageItem[], places: Set<number>): Promise<StagedRows>;
  /**
   * The contacts of these unchanged rows are gone: from now on the rows count as changed.
   * @param numbers of their keys. @returns the lines of the rows, by the places of their keys.
   */
  toBeMade(numbers: readonly number[]): Promise<ReadonlyMap<number, number>>;
}

/** A slice of the file that is being mapped. */
interface ReadSlice {
  readonly hashed: readonly { readonly item: StageItem; readonly place: number }[];
  /** Known records that the reader has left out. */
  readonly left: { readonly places: readonly number[]; readonly lines: readonly number[] };
  /** Those that are not known, in their order. */
  readonly mapped: MappedSlice;
  readonly isAgain: boolean;
}

function createFold(parts: StageParts, run: RunRecord, given: FoldWith): Fold {
  const { memory, advice, held, isIgnored, reader, mapping, meaning, selection, missingRule, fill, columnWarnings } =
    given;
  const { runs } = parts.ledger;
  const asked: SliceReads = { ledger: parts.ledger, run, memory, collided: new Map() };
  const toBeMade = new Set<string>();
  /** How many fields of unchanged rows were counted as held, by the keys of these. */
  const heldCounts = new Map<string, number>();
  const rules: CompareRules = { mapping, ...held, isIgnored, missingRule, toBeMade };
  const seeds = { text: seedOf(`text\n${mapping.version}\n${meaning}`), content: seedOf(`row\n${mapping.version}`) };
  const words: HashWords = { a: 0, b: 0, c: 0, d: 0 };
  /** Known records that the reader has left out since the last slice. */
  let left: { readonly places: number[]; readonly lines: number[] } = { places: [], lines: [] };

  /** Of rows that are read once more. What a repair writes, which is in no line, leaves held fields as they are. */
  const takeHeldCounts = (verdicts: readonly Verdict[]): number => {
    let count = 0;
    for (const { kind, key, line } of verdicts) {
      if (key === null || line === 0 || (kind !== 'changed' && kind !== 'unchanged')) continue;
      count += heldCounts.get(key) ?? 0;
      heldCounts.delete(key);
    }
    return count;
  };

  const look: RecordLook = {
    seed: seeds.text,
    keepsHashes: true,
    find: (hash) => memory.find(hash),
    meet: (place, line) => {
      left.places.push(place);
      left.lines.push(line);
    },
  };

  const read = (items: readonly StageItem[], isAgain: boolean): ReadSlice => {
    const before = left;
    left = { places: [], lines: [] };
    if (fill !== null && !isAgain) for (const item of items) if (item.kind === 'row') fill.note(item.row);
    const unknown: HashedItem[] = [];
    const hashed = items.map((item) => {
      hashRow(item, seeds, words);
      const place = item.kind === 'row' && !isAgain ? memory.find(words) : -1;
      if (place < 0) unknown.push({ item, hash: hashName(words) });
      return { item, place };
    });
    return { hashed, left: before, mapped: reader.read(unknown), isAgain };
  };

  const stage = async ({ hashed, left: { places, lines }, mapped, isAgain }: ReadSlice): Promise<StagedSlice> => {
    const rows = await mapped();
    const keys = keysOf(rows);
    const said = await runs.saidOf(run.feed, keysOf(rows.filter((row) => !hasStanding(row))));
    const told = toldOf(rows, said);
    const bare = rows.flatMap((row) => (isBare(row, said) ? (row.key ?? []) : []));
    const bound = await boundKeys(asked, bare);
    const placeOf = (key: string): number => {
      const number = told.get(key)?.number ?? null;
      return number === null ? -1 : memory.placeOf(number);
    };

    // Known rows alone are counted; those that meet another row with their key are looked at with it.
    const contested = keys.map(placeOf).filter((place) => place >= 0);
    memory.contest(contested);
    const others: KnownRow[] = [];
    const waiting = new Map<number, number>();
    let aloneCount = 0;
    const take = (place: number, line: number, order: number, item: StageItem | null): void => {
      if (memory.hasMet(place) || item?.letterId !== undefined) {
        others.push({ place, line, order, item });
        return;
      }
      aloneCount++;
      memory.meetUnchanged(place, line);
      if (memory.isHeld(place)) waiting.set(memory.numberAt(place), line);
    };
    let next = 0;
    for (let index = 0; index < hashed.length; index++) {
      const { item, place } = hashed[index] as (typeof hashed)[number];
      for (; next < lines.length && (lines[next] as number) < item.row.line; next++)
        take(places[next] as number, lines[next] as number, index - 0.5, null);
      if (place >= 0) take(place, item.row.line, index, item);
    }
    for (; next < lines.length; next++) take(places[next] as number, lines[next] as number, hashed.length, null);
    memory.release(contested);

    const placeByKey = new Map(keys.map((key) => [key, placeOf(key)]));
    const met = await unchangedVerdicts(asked, others, told, placeByKey);
    const orders = hashed.flatMap(({ place }, index) => (place < 0 ? [index] : []));
    const compared = rows.map((row, index) => {
      return { order: orders[index] ?? 0, verdict: compareRow(row, { said, bound }, rules) };
    });
    for (const { number } of (await runs.saidOf(run.feed, seenKeys(hashed, rows, compared, mapping))).values())
      memory.see(number);
    const judged = [...compared, ...met].toSorted((one, two) => one.order - two.order).map(({ verdict }) => verdict);
    const traces = await tracesOf(asked, placeByKey, told);
    const verdicts = selection.select(judged, (key) => traces.has(key)).map(columnWarnings.take);
    const resolution = resolveDuplicates(verdicts, traces, mapping.duplicateKeys);
    noteCollided(asked, resolution.traces);
    const content = contentOf(verdicts, resolution, traces);
    const againCount = isAgain ? hashed.length : 0;
    const state = await write(content, aloneCount, againCount, waiting, refreshedOf(verdicts, mapping.version));

    for (const verdict of verdicts) {
      if (verdict.kind !== 'unchanged' || verdict.newRowHash === null) continue;
      const place = placeByKey.get(verdict.key) ?? -1;
      if (place >= 0) memory.refresh(place, hashOfName(verdict.newRowHash));
    }
    const alone = { ...noTally, rows: aloneCount, known: aloneCount, shared: aloneCount };
    const counted = { ...noTally, rows: -againCount, known: -againCount, shared: -againCount };
    logRejected(parts, run, content.slice.dead);
    const stagedKeys = content.slice.records.map(({ key }) => key);
    return { tally: addTally(addTally(content.tally, alone), counted), lateDead: content.lateDead, stagedKeys, state };

    /** Meets, once it is written, what the slice leaves of each key. */
    async function write(
      { slice, waitingLines }: SliceContent,
      alone: number,
      again: number,
      held: ReadonlyMap<number, number>,
      refreshed: NonNullable<Parameters<typeof writeSlice>[2]['refreshed']>,
    ): Promise<RunState> {
      const events = await heldEvents(asked, waitingLines, held);
      const dead = await advice.advise(slice.dead, slice.events);
      const counts = {
        ...slice.counts,
        rows: (slice.counts.rows ?? 0) + alone - again,
        unchanged: (slice.counts.unchanged ?? 0) + alone - again,
        heldFields: events.length - (isAgain ? takeHeldCounts(verdicts) : 0),
      };
      const { first, state } = await inStep('stageSlice', () =>
        writeSlice(parts, run, { ...slice, dead, refreshed, events: [...slice.events, ...events], counts }),
      );
      for (const { key } of events) if (key !== null) heldCounts.set(key, (heldCounts.get(key) ?? 0) + 1);
      const positions = new Map(slice.records.map(({ key }, index) => [key, first + index]));
      for (const { key, kind, line } of resolution.traces) {
        const now: Met = { kind, at: kind === 'staged' ? (positions.get(key) ?? 0) : line };
        memory.meet(placeByKey.get(key) ?? -1, key, now, told.get(key)?.number ?? null);
      }
      for (const { kind, key, line, isKnown } of verdicts) {
        // The file has the key, and nothing of it is settled: as where its row is rejected.
        if (kind !== 'left' || key === null || !isKnown || memory.metOf(placeByKey.get(key) ?? -1, key) !== null)
          continue;
        memory.meet(placeByKey.get(key) ?? -1, key, { kind: 'dead', at: line }, told.get(key)?.number ?? null);
      }
      return state;
    }
  };

  return {
    look: meaning === null ? null : look,
    leftCount: () => left.places.length,
    read: (items) => read(items, false),
    stage,
    stageAgain: (items, places) => {
      const again = items.filter((item) => {
        if (item.kind !== 'row') return false;
        hashRow(item, seeds, words);
        const place = memory.find(words);
        if (place < 0 || !places.delete(place)) return false;
        memory.forget(place);
        return true;
      });
      return stage(read(again, true));
    },
    toBeMade: async (numbers) => {
      const lines = new Map<number, number>();
      for (const [number, key] of await runs.keysAt(numbers)) {
        const place = memory.placeOf(number);
        const met = place < 0 ? null : memory.metOf(place, key);
        if (met?.kind !== 'unchanged') continue;
        toBeMade.add(key);
        lines.set(place, met.at);
      }
      return lines;
    },
    stageItems: (items) => stage(read(items, false)),
    restage: (items) => {
      for (const { number } of items) memory.forget(memory.placeOf(number));
      return stage(read(items, true));
    },
    write: async (events) => void (await writeSlice(parts, run, { events })),
  };
}
