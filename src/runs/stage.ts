/**
 * Staging: a file is read to its end, compared with the ledger, and its changed rows wait there; nothing was sent yet
 * (`design.md`, "Stage, then apply"). Then the guards decide.
 *
 * Invariant: a run leaves `staging` only with every row of the file counted, or as `failed` with nothing staged to be
 * sent. Interrupted, it is begun anew.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fingerprint } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import type { RunReason, RunRecord } from '#src/ledger/runs.ts';
import type { StagedSlice } from '#src/ledger/staging.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { inStep } from '#src/steps.ts';
import { rowHasher, type StageItem } from './compare.ts';
import { fileHistory, isFullFile, leftOutVerdict, newlyLeftOut } from './feed-history.ts';
import { finishFailed } from './finish-run.ts';
import { checkGuards, type GuardVerdict, guardReason, type StagedTally } from './guards.ts';
import type { RunParts } from './parts.ts';
import { deadDuplicate, warningEvent } from './slice-draft.ts';
import { type LateDead, stageSlice } from './stage-slice.ts';
import { stopRun } from './stop-run.ts';
import type { OpenSupply, RowSupply } from './supply.ts';

/**
 * Stages the run and moves it on: to `applying`, `stopped` or `failed`.
 * @throws PatchbayError `auth` or `unreachable` where the service had to be asked; the run stays to be staged.
 */
export async function stageRun(
  parts: RunParts,
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
    await ledger.runs.setShape(run.id, supply.shape);
    const tally = await stageRows(parts, run, supply, signal);
    if (tally === null) return;
    const { leftOut } = supply.compiled;
    await ledger.runs.setShape(run.id, { ...supply.shape, leftOut: leftOut.map(({ column }) => column) });
    await moveOn(parts, run, tally, leftOut);
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

/** What was staged before the file turned out to be unreadable is forgotten: nothing of it was sent. */
async function fail(parts: RunParts, run: RunRecord, found: RunReason): Promise<void> {
  const { ledger, clock } = parts;
  const atMs = clock.nowMs();
  // A run that was cancelled meanwhile has its end already.
  if (!(await ledger.runs.beginStaging(run.id, atMs))) return;
  // A crash after the file was moved to `_failed`: why it went there was told before, and stays true.
  const reason = found.code === 'fileMissing' ? (run.reason ?? found) : found;
  await ledger.runs.move(run.id, ['staging'], 'staging', { atMs, reason });
  const emptied = (await ledger.runs.get(run.id)) ?? run;
  await finishFailed(parts, emptied, atMs);
  await ledger.runs.move(run.id, ['staging'], 'failed', { atMs, reason });
}

const tallied = ['rows', 'known', 'shared', 'updates', 'creates', 'clears', 'dead'] as const;

/** Null where the run was cancelled meanwhile, or taken out of our hands. */
async function stageRows(
  parts: RunParts,
  run: RunRecord,
  supply: RowSupply,
  signal: AbortSignal,
): Promise<StagedTally | null> {
  const { ledger, clock } = parts;
  const tally = { rows: 0, known: 0, shared: 0, updates: 0, creates: 0, clears: 0, dead: 0 };
  const lateDead: LateDead[] = [];
  const adopt = run.options.adopt || parts.feeds.rulesOf(run.feed).adopt;
  const context = { parts, run, compiled: supply.compiled, hash: rowHasher(supply.compiled.version), adopt };
  for await (const items of supply.items()) {
    signal.throwIfAborted();
    const state = (await ledger.runs.get(run.id))?.state;
    // A slice may have come in after the end that the others were given.
    if (state === 'cancelling' || state === 'cancelled')
      await ledger.staging.skipPending(run.id, 'cancelled', clock.nowMs());
    if (state !== 'staging') return null;
    const slice = await stageSlice(context, items);
    lateDead.push(...slice.lateDead);
    for (const name of tallied) tally[name] += slice.tally[name];
    // Staging is synchronous work on one thread: timers and lock renewals get their turn between slices.
    await nextTurn();
  }
  supply.refuseLacking();
  if (lateDead.length > 0) await stageLateDead(parts, run, supply, lateDead, tally);
  await ledger.runs.addNotes(run.id, supply.notes());
  await stageNoRecords(parts, run, {
    events: supply.warnings().map((warning) => warningEvent(null, warning)),
    counts: { warnings: supply.warnings().length },
  });
  return tally;
}

/** Unchanged rows are not kept. Those that turned out to be duplicates are read once more, for the fix-file. */
async function stageLateDead(
  parts: RunParts,
  run: RunRecord,
  supply: RowSupply,
  lateDead: readonly LateDead[],
  tally: { dead: number },
): Promise<void> {
  const byLine = Map.groupBy(lateDead, (late) => late.line);
  for await (const items of supply.itemsAgain()) {
    const dead = items.flatMap((item) => {
      const late = takeLate(byLine.get(item.row.line) ?? [], item, supply.compiled);
      return late === null ? [] : [deadDuplicate(late.key, item.row, late.problem)];
    });
    if (dead.length === 0) continue;
    tally.dead += dead.length;
    await stageNoRecords(parts, run, { dead, counts: { dead: dead.length } });
  }
}

/** Stages a slice that holds no records. */
async function stageNoRecords(
  { ledger, clock, rowsPerBatch }: RunParts,
  { id, feed }: RunRecord,
  given: Partial<Pick<StagedSlice, 'dead' | 'events' | 'counts'>>,
): Promise<void> {
  const nothing = { records: [], traces: [], dead: [], withdrawn: [], events: [], counts: {} };
  await ledger.staging.stage({ runId: id, feed, rowsPerBatch, ...nothing, ...given, atMs: clock.nowMs() });
}

/** The one of these that this row is. It is taken out: the same row may stand beside it once more. */
function takeLate(ofLine: LateDead[], item: StageItem, compiled: CompiledMapping): LateDead | null {
  if (ofLine.length === 0 || item.kind === 'broken') return null;
  const mapped = item.kind === 'desired' ? item : compiled.mapRow(item.row);
  if (mapped.kind !== 'desired') return null;
  const { desired } = mapped;
  const index = ofLine.findIndex((late) => late.key === desired.key && late.fingerprint === fingerprint(desired));
  return index < 0 ? null : (ofLine.splice(index, 1)[0] ?? null);
}

// The end of staging: the guards decide, and a newer file takes the place of one that they had stopped.

/** Moves a run that is staged to its end on: to `applying` or `stopped`. */
async function moveOn(
  parts: RunParts,
  run: RunRecord,
  tally: StagedTally,
  leftOut: readonly ContactColumn[] = [],
): Promise<void> {
  const { ledger, clock, log } = parts;
  await replaceStopped(parts, run);
  const current = (await ledger.runs.get(run.id)) ?? run;
  // Dead letters that a person mends or tries again were looked at one by one: no guard counts them.
  const verdicts = run.kind === 'file' ? await verdictsOn(parts, current, tally, leftOut) : [];
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
  parts: RunParts,
  run: RunRecord,
  tally: StagedTally,
  leftOut: readonly ContactColumn[],
): Promise<readonly GuardVerdict[]> {
  const { guards } = parts.feeds.rulesOf(run.feed);
  const knownKeys = await parts.ledger.staging.knownKeyCount(run.feed);
  return [
    ...checkGuards({ ...tally, knownKeys }, guards, run.options, await fileHistory(parts, run)),
    ...leftOutVerdict(await newlyLeftOut(parts, run, leftOut), run),
  ];
}

/** More never wait: each full file that can be read replaces the one before it. */
const stoppedMax = 50;

/**
 * A stopped run does not block its feed: a newer full file, now read to its end, takes its place, and both say so. One that
 * an interrupted reading has replaced already is told again.
 */
async function replaceStopped(parts: RunParts, run: RunRecord): Promise<void> {
  const { ledger, clock, log } = parts;
  if (!isFullFile(parts, run)) return;
  const states = ['stopped', 'cancelling', 'cancelled'] as const;
  for (const old of await ledger.runs.list({ states, feed: run.feed, limit: stoppedMax })) {
    if (old.kind !== 'file' || old.sequence >= run.sequence) continue;
    const isReplaced = old.reason?.code === 'replaced' && old.reason.facts.by === run.id;
    if (old.state !== 'stopped' && !isReplaced) continue;
    const message = `run ${run.id} read a newer file of the feed and took its place`;
    const reason = { code: 'replaced', message, hint: null, facts: { by: run.id } };
    await ledger.runs.move(old.id, ['stopped'], 'cancelling', { atMs: clock.nowMs(), reason });
    await ledger.runs.addNotes(run.id, [`takes the place of run ${old.id}, which was stopped`]);
    log.info({ run: old.id, feed: run.feed, by: run.id }, 'stopped run replaced by a newer file');
  }
}
