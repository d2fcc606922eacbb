/**
 * Staging: a file is read to its end, compared with the ledger, and its changed rows wait there; nothing was sent yet
 * (`design.md`, "Stage, then apply"). Then the guards decide.
 *
 * Invariant: a run leaves `staging` only with every row of the file counted, or as `failed` with nothing staged to be
 * sent. Interrupted, it is begun anew.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PatchbayError } from '#src/errors.ts';
import type { FileShape, RunReason, RunRecord } from '#src/ledger/run-record.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import { finishFailed, reportStopped } from './finish-run.ts';
import { checkGuards, guardReason, type StagedTally } from './guards.ts';
import type { RunParts } from './parts.ts';
import { rowHasher } from './row-hash.ts';
import { deadDuplicate } from './slice-draft.ts';
import type { StageItem } from './stage-item.ts';
import { type LateDead, stageSlice } from './stage-slice.ts';

/** Where the rows of a run come from. */
export interface RowSupply {
  readonly shape: FileShape;
  readonly compiled: CompiledMapping;
  items(): AsyncIterable<readonly StageItem[]>;
  /** The same rows once more, for the few whose cells were not kept. */
  itemsAgain(): AsyncIterable<readonly StageItem[]>;
  /** Sentences worth a note, complete after the last row. */
  notes(): readonly string[];
  /** Warnings about the file as a whole. */
  warningCount(): number;
  close(): Promise<void>;
}

export type OpenSupply = (run: RunRecord) => Promise<RowSupply>;

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
    supply = await openSupply(run);
    await ledger.runs.setShape(run.id, supply.shape);
    const tally = await stageRows(parts, run, supply, signal);
    await moveOn(parts, run, tally);
  } catch (error) {
    if (!(error instanceof PatchbayError) || (error.kind !== 'file' && error.kind !== 'usage')) throw error;
    const { code, message, hint, facts } = error;
    await fail(parts, run, { code, message, hint, facts });
    log.warn({ run: run.id, feed: run.feed, code }, 'file refused');
  } finally {
    await supply?.close();
  }
}

/** What was staged before the file turned out to be unreadable is forgotten: nothing of it was sent. */
async function fail(parts: RunParts, run: RunRecord, reason: RunReason): Promise<void> {
  const { ledger, clock } = parts;
  await ledger.runs.beginStaging(run.id, clock.nowMs());
  const emptied = (await ledger.runs.get(run.id)) ?? run;
  await finishFailed(parts, { ...emptied, reason });
  await ledger.runs.move(run.id, ['staging'], 'failed', { atMs: clock.nowMs(), reason });
}

async function stageRows(
  parts: RunParts,
  run: RunRecord,
  supply: RowSupply,
  signal: AbortSignal,
): Promise<StagedTally> {
  const { ledger } = parts;
  const tally = { rows: 0, known: 0, updates: 0, creates: 0, clears: 0, dead: 0 };
  const lateDead = new Map<number, LateDead>();
  const context = { parts, run, compiled: supply.compiled, hash: rowHasher(supply.compiled.version) };
  for await (const items of supply.items()) {
    signal.throwIfAborted();
    const slice = await stageSlice(context, items);
    for (const late of slice.lateDead) lateDead.set(late.line, late);
    for (const name of ['rows', 'known', 'updates', 'creates', 'clears', 'dead'] as const)
      tally[name] += slice.tally[name];
    // Staging is synchronous work on one thread: timers and lock renewals get their turn between slices.
    await nextTurn();
  }
  if (lateDead.size > 0) await stageLateDead(parts, run, supply, lateDead, tally);
  await ledger.runs.addNotes(run.id, supply.notes());
  await ledger.runs.addCounts(run.id, { warnings: supply.warningCount() });
  return tally;
}

/** Unchanged rows are not kept. Those that turned out to be duplicates are read once more, for the fix-file. */
async function stageLateDead(
  parts: RunParts,
  run: RunRecord,
  supply: RowSupply,
  lateDead: Map<number, LateDead>,
  tally: { dead: number },
): Promise<void> {
  const { ledger, clock, rowsPerBatch } = parts;
  for await (const items of supply.itemsAgain()) {
    const dead = items.flatMap((item) => {
      const late = lateDead.get(item.row.line);
      return late === undefined ? [] : [deadDuplicate(late.key, item.row, late.problem)];
    });
    if (dead.length === 0) continue;
    tally.dead += dead.length;
    await ledger.staging.stage({
      runId: run.id,
      feed: run.feed,
      rowsPerBatch,
      records: [],
      traces: [],
      dead,
      withdrawn: [],
      events: [],
      counts: { dead: dead.length },
      atMs: clock.nowMs(),
    });
  }
}

async function moveOn(parts: RunParts, run: RunRecord, tally: StagedTally): Promise<void> {
  const { ledger, clock, log, guards } = parts;
  const current = (await ledger.runs.get(run.id)) ?? run;
  // Dead letters that a person tries again were looked at one by one: no guard counts them.
  const verdicts = run.kind === 'redrive' ? [] : checkGuards(tally, guards, current.options);
  const atMs = clock.nowMs();
  if (verdicts.length > 0) {
    const reason = guardReason(verdicts);
    await reportStopped(parts, { ...current, state: 'stopped', reason });
    await ledger.runs.move(run.id, ['staging'], 'stopped', { atMs, reason });
    log.warn(
      { run: run.id, feed: run.feed, guards: verdicts.map((verdict) => verdict.guard) },
      'run stopped by a guard',
    );
    return;
  }
  await ledger.runs.move(run.id, ['staging'], 'applying', { atMs, reason: null });
  log.info({ run: run.id, feed: run.feed, ...tally }, 'run staged');
}
