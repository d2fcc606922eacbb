/**
 * Staging: a file is read to its end and compared with the ledger, slice by slice, and its changed rows are stored there.
 * Then the guards decide. Nothing is sent before (`docs/design.md`, "Stage, then apply").
 *
 * Invariant: a run leaves `staging` either with every row of the file counted, or as `failed` with nothing staged. After an
 * interruption it is staged anew.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DesiredContact, fingerprint } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { heldEvent } from '#src/ledger/rules/events.ts';
import type { RunReason, RunRecord } from '#src/ledger/runs.ts';
import { type DeadRow, eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { keyHash } from '#src/log.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { inStep } from '#src/steps.ts';
import { compareRow, hashRow, isBare, keyOf, readRow, type StageItem } from './compare.ts';
import { type CountryAdvice, type CountryAdviceParts, createCountryAdvice } from './country-advice.ts';
import { fileHistory, headerNote, isFullFile, leftOutVerdict, newlyLeftOut } from './feed-history.ts';
import { type FinishParts, finishFailed } from './finish-run.ts';
import { checkGuards, checkLook, type GuardVerdict, guardReason, type StagedTally } from './guards.ts';
import { lookAtNewKeys } from './look.ts';
import {
  contentOf,
  deadDuplicate,
  type LateDead,
  resolveDuplicates,
  type SliceContent,
  warningEvent,
} from './slice.ts';
import { stopRun } from './stop-run.ts';
import type { OpenSupply, RowSupply } from './supply.ts';

/** What runs are staged with. */
export interface StageParts extends FinishParts, CountryAdviceParts {
  readonly rowsPerBatch: number;
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
  const { ledger, clock, log } = parts;
  if (!(await ledger.runs.beginStaging(run.id, clock.nowMs()))) return;
  let supply: RowSupply | null = null;
  try {
    if (run.refusal !== null) throw refusedBefore(run.refusal);
    supply = await openSupply(run);
    await ledger.runs.record(run.id, { shape: supply.shape, mapping: supply.mapping });
    const tally = await stageRows(parts, run, supply, signal);
    if (tally === null) return;
    const { leftOut } = supply.compiled;
    const changed = await headerNote(ledger, run, supply.shape.columns);
    if (changed !== null) await ledger.runs.record(run.id, { notes: [changed] });
    await ledger.runs.record(run.id, { shape: { ...supply.shape, leftOut: leftOut.map(({ column }) => column) } });
    await moveOn(parts, run, tally, leftOut, signal);
  } catch (error) {
    if (!(error instanceof PatchbayError) || (error.kind !== 'file' && error.kind !== 'usage')) throw error;
    const { code, message, hint, facts } = error;
    await fail(parts, run, { code, message, hint, facts });
    log.warn({ run: run.id, feed: run.feed, code }, 'file refused');
  } finally {
    await supply?.close();
  }
}

function refusedBefore({ code, message, hint, facts }: RunReason): PatchbayError {
  return new PatchbayError('file', code, message, { facts, ...(hint === null ? {} : { hint }) });
}

/** Forgets what was staged before the file turned out to be unreadable; nothing of it was sent. */
async function fail(parts: StageParts, run: RunRecord, found: RunReason): Promise<void> {
  const { ledger, clock } = parts;
  const atMs = clock.nowMs();
  // A run that was cancelled in the meantime has already ended.
  if (!(await ledger.runs.beginStaging(run.id, atMs))) return;
  // After a crash the file may already be in `_failed`: the reason why it went there stays the reason.
  const reason = found.code === 'fileMissing' ? (run.reason ?? found) : found;
  await ledger.runs.move(run.id, ['staging'], 'staging', { atMs, reason });
  const emptied = (await ledger.runs.get(run.id)) ?? run;
  await finishFailed(parts, emptied, atMs);
  await ledger.runs.move(run.id, ['staging'], 'failed', { atMs, reason });
}

/** Null where the run was cancelled meanwhile, or is no longer ours to stage. */
async function stageRows(
  parts: StageParts,
  run: RunRecord,
  supply: RowSupply,
  signal: AbortSignal,
): Promise<StagedTally | null> {
  const { ledger, clock, log, rowsPerBatch } = parts;
  const adopt = adopts(parts, run);
  const advice = createCountryAdvice(parts, signal);
  const target = { ledger, clock, log, run, rowsPerBatch, advice };
  let tally: StagedTally = { rows: 0, known: 0, shared: 0, updates: 0, creates: 0, clears: 0, dead: 0, lossy: 0 };
  const lateDead: LateDead[] = [];
  for await (const items of supply.items()) {
    signal.throwIfAborted();
    const state = (await ledger.runs.get(run.id))?.state;
    // A slice may have been staged after the cancellation gave the other rows their outcome.
    if (state === 'cancelling' || state === 'cancelled')
      await ledger.runs.skipPending(run.id, 'cancelled', clock.nowMs());
    if (state !== 'staging') return null;
    const staged = await stageSlice(target, items, supply.compiled, adopt);
    lateDead.push(...staged.lateDead);
    tally = sumOf(tally, staged.tally);
    // Staging is synchronous work on one thread: timers and lock renewals get their turn between slices.
    await nextTurn();
  }
  supply.refuseLacking();
  const lateCount = lateDead.length === 0 ? 0 : await stageLateDead(target, supply, lateDead);
  await ledger.runs.record(run.id, { notes: [...supply.notes(), ...advice.notes()] });
  const warnings = supply.warnings();
  await writeSlice(target, {
    events: warnings.map((warning) => warningEvent(null, warning)),
    counts: { warnings: warnings.length },
  });
  return { ...tally, dead: tally.dead + lateCount };
}

/** Whether contacts that are there already are taken over without asking. */
function adopts({ feeds }: Pick<StageParts, 'feeds'>, { feed, options }: RunRecord): boolean {
  return options.adopt || feeds.rulesOf(feed).adopt;
}

function sumOf(left: StagedTally, right: StagedTally): StagedTally {
  return {
    rows: left.rows + right.rows,
    known: left.known + right.known,
    shared: left.shared + right.shared,
    updates: left.updates + right.updates,
    creates: left.creates + right.creates,
    clears: left.clears + right.clears,
    dead: left.dead + right.dead,
    lossy: left.lossy + right.lossy,
  };
}

/** Where the slices of a run go. */
interface StageTarget extends Pick<StageParts, 'ledger' | 'clock' | 'log' | 'rowsPerBatch'> {
  readonly run: RunRecord;
  readonly advice: CountryAdvice;
}

/** Reads what the ledger knows of some rows, compares them, and writes what follows in one transaction. */
async function stageSlice(
  target: StageTarget,
  items: readonly StageItem[],
  mapping: CompiledMapping,
  adopt: boolean,
): Promise<Pick<SliceContent, 'tally' | 'lateDead'>> {
  const { ledger, run } = target;
  const { runs } = ledger;
  const rules = { mapping, adopt };
  const hashes = items.map(({ row }) => hashRow(mapping.version, row));
  const settled = await runs.settledRows(run.feed, hashes);
  const read = items.map((item, index) => {
    const hash = hashes[index] ?? '';
    return readRow(item, hash, settled.get(hash) ?? null, rules);
  });
  const keys = [...new Set(read.flatMap((row) => keyOf(row) ?? []))];
  const said = await runs.saidOf(run.feed, keys);
  const bare = read.filter((row) => isBare(row, said)).flatMap((row) => keyOf(row) ?? []);
  const bound = await boundKeys(ledger, bare);
  const verdicts = read.map((row) => compareRow(row, { said, bound }, rules));

  const met = await runs.metBefore(run.id, keys);
  const resolution = resolveDuplicates(verdicts, met.traces, mapping.duplicateKeys);
  const { slice, waitingLines, lateDead, tally } = contentOf(verdicts, resolution, met);
  const held = await heldEvents(ledger, run.feed, waitingLines);
  const refreshed = verdicts.flatMap((verdict) =>
    verdict.kind === 'unchanged' && verdict.newRowHash !== null
      ? [{ key: verdict.key, rowHash: verdict.newRowHash, mappingVersion: mapping.version }]
      : [],
  );
  const dead = await target.advice.advise(slice.dead, slice.events);
  await inStep('stageSlice', () =>
    writeSlice(target, {
      ...slice,
      dead,
      refreshed,
      events: [...slice.events, ...held],
      counts: { ...slice.counts, heldFields: held.length },
    }),
  );
  logRejected(target, slice.dead);
  return { tally, lateDead };
}

async function boundKeys(ledger: Ledger, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const contacts = keys.length === 0 ? new Map() : await ledger.contacts.get(keys);
  return new Set(keys.filter((key) => (contacts.get(key)?.contactId ?? null) !== null));
}

/** Unchanged rows with fields that wait for a person are reported in every run: from the ledger, without a request. */
async function heldEvents(
  ledger: Ledger,
  feed: string,
  waitingLines: ReadonlyMap<string, number>,
): Promise<readonly RunEvent[]> {
  if (waitingLines.size === 0) return [];
  const held = await ledger.contacts.held({ feed, keys: [...waitingLines.keys()], limit: eventsPerRunMax });
  return held.map((one) => heldEvent(one.key, waitingLines.get(one.key) ?? one.line, one));
}

async function writeSlice(
  { ledger, clock, run, rowsPerBatch }: Omit<StageTarget, 'log' | 'advice'>,
  content: Partial<SliceContent['slice']>,
): Promise<void> {
  const nothing = { records: [], traces: [], dead: [], withdrawn: [], events: [], counts: {} };
  const atMs = clock.nowMs();
  await ledger.runs.stage({ runId: run.id, feed: run.feed, rowsPerBatch, ...nothing, ...content, atMs });
}

/** Of each slice; the report has the others. */
const rejectedLoggedMax = 20;

function logRejected({ log, run }: StageTarget, dead: readonly DeadRow[]): void {
  for (const { line, key, class: of, code } of dead.slice(0, rejectedLoggedMax)) {
    const hash = key === null ? {} : { key: keyHash(key) };
    log.warn({ run: run.id, feed: run.feed, line, ...hash, class: of, code }, 'row rejected');
  }
  const more = dead.length - rejectedLoggedMax;
  if (more > 0) log.warn({ run: run.id, feed: run.feed, more }, 'further rows rejected');
}

/**
 * Unchanged rows are not stored. Those that turned out to be duplicates are read once more, for the fix-file.
 * @returns how many were found.
 */
async function stageLateDead(target: StageTarget, supply: RowSupply, lateDead: readonly LateDead[]): Promise<number> {
  let count = 0;
  const nameOf = (line: number, key: string, print: string): string => `${line} ${print} ${key}`;
  // The same row may appear several times on one line of JSON.
  const waiting = Map.groupBy(lateDead, (late) => nameOf(late.line, late.key, late.fingerprint));
  const lines = new Set(lateDead.map(({ line }) => line));
  for await (const items of supply.itemsAgain()) {
    const dead = items.flatMap((item) => {
      const desired = lines.has(item.row.line) ? desiredOf(item, supply.compiled) : null;
      const late =
        desired === null ? null : waiting.get(nameOf(item.row.line, desired.key, fingerprint(desired)))?.pop();
      return late ? [deadDuplicate(late.key, item.row, late.problem)] : [];
    });
    if (dead.length === 0) continue;
    count += dead.length;
    await writeSlice(target, { dead, counts: { dead: dead.length } });
  }
  return count;
}

function desiredOf(item: StageItem, { mapRow }: CompiledMapping): DesiredContact | null {
  if (item.kind === 'broken') return null;
  const mapped = item.kind === 'desired' ? item : mapRow(item.row);
  return mapped.kind === 'desired' ? mapped.desired : null;
}

/** The end of staging: the guards decide whether the run goes on to `applying` or is `stopped`. */
async function moveOn(
  parts: StageParts,
  run: RunRecord,
  tally: StagedTally,
  leftOut: readonly ContactColumn[],
  signal: AbortSignal,
): Promise<void> {
  const { ledger, clock, log } = parts;
  const adopt = adopts(parts, run);
  // The mapping may have been recognised while the file was read.
  const read = (await ledger.runs.get(run.id)) ?? run;
  const found = await lookAtNewKeys(parts, read, { creates: tally.creates, adopt }, signal);
  // The run was cancelled while the workspace was listed.
  if (found === null) return;
  await writeSlice({ ...parts, run }, { events: found.events });
  await ledger.runs.record(run.id, { notes: found.notes, ...(found.look === null ? {} : { look: found.look }) });
  await replaceStopped(parts, run);
  const current = (await ledger.runs.get(run.id)) ?? run;
  // A person has already looked at each row of a fix-file or a redrive: no guard counts them. One that makes contacts is asked.
  const verdicts = [
    ...checkLook(found, { accept: run.options.accept, adopt }),
    ...(run.kind === 'file' ? await verdictsOn(parts, current, tally, leftOut) : []),
  ];
  if (verdicts.length > 0) {
    const reason = guardReason(verdicts, run, parts.serviceName);
    if (!(await stopRun(parts, current, 'staging', reason))) return;
    log.warn(
      { run: run.id, feed: run.feed, guards: verdicts.map((verdict) => verdict.guard) },
      'run stopped by a guard',
    );
    return;
  }
  await inStep('startApplying', () =>
    ledger.runs.move(run.id, ['staging'], 'applying', { atMs: clock.nowMs(), reason: null }),
  );
  log.info({ run: run.id, feed: run.feed, ...tally }, 'run staged');
}

async function verdictsOn(
  { ledger, feeds }: StageParts,
  run: RunRecord,
  tally: StagedTally,
  leftOut: readonly ContactColumn[],
): Promise<readonly GuardVerdict[]> {
  const { guards } = feeds.rulesOf(run.feed);
  const knownKeys = await ledger.runs.knownKeyCount(run.feed);
  return [
    ...checkGuards({ ...tally, knownKeys }, guards, run.options, await fileHistory(ledger, feeds, run)),
    ...leftOutVerdict(await newlyLeftOut(ledger, run, leftOut), run),
  ];
}

/** There are never more: each full file that can be read replaces the one before it. */
const stoppedMax = 50;

/**
 * A stopped run does not block its feed: a newer full file that was read to its end takes its place, and both runs say so.
 * The note is added again where an interrupted staging of this run has already replaced the other.
 */
async function replaceStopped({ ledger, clock, log, feeds }: StageParts, run: RunRecord): Promise<void> {
  if (!isFullFile(feeds, run)) return;
  const states = ['stopped', 'cancelling', 'cancelled'] as const;
  for (const old of await ledger.runs.list({ states, feed: run.feed, limit: stoppedMax })) {
    if (old.kind !== 'file' || old.sequence >= run.sequence) continue;
    const isReplaced = old.reason?.code === 'replaced' && old.reason.facts.by === run.id;
    if (old.state !== 'stopped' && !isReplaced) continue;
    const message = `run ${run.id} read a newer file of the feed and took its place`;
    const reason = { code: 'replaced', message, hint: null, facts: { by: run.id } };
    await ledger.runs.move(old.id, ['stopped'], 'cancelling', { atMs: clock.nowMs(), reason });
    await ledger.runs.record(run.id, { notes: [`takes the place of run ${old.id}, which was stopped`] });
    log.info({ run: old.id, feed: run.feed, by: run.id }, 'stopped run replaced by a newer file');
  }
}
