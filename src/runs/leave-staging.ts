/**
 * The end of staging: contacts that the workspace may have already are looked for, and the guards decide whether the run goes on to
 * `applying` or is `stopped` (`docs/rules.md`, "Guards").
 */
import { invariant } from '#src/errors.ts';
import { eachRun } from '#src/ledger/paged-lists.ts';
import { appliesAllRows, type RunRecord } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { inStep } from '#src/steps.ts';
import type { CountryAdviceParts } from './country-advice.ts';
import { fileHistory, isFullFile, isWholeFile, leftOutVerdict, newlyLeftOut } from './feed-history.ts';
import type { FinishParts } from './finish-run.ts';
import { guardNotes, guardReason } from './guard-reason.ts';
import {
  checkGuards,
  checkLook,
  checkTakenOver,
  type GuardVerdict,
  noOthersValues,
  type OthersValues,
  type StagedTally,
} from './guards.ts';
import { loneCardNotes, loneCardVerdict } from './lone-card.ts';
import { lookAtNewKeys } from './look/look.ts';
import { findGone } from './look/made-again.ts';
import { findTakenOver } from './look/taken-over.ts';
import { countOthersValues, type OthersValuesParts } from './others-values.ts';
import { plannedStop, withPlannedStop } from './planned-stop.ts';
import { stopRun } from './stop-run.ts';

export interface LeaveParts extends FinishParts, CountryAdviceParts, OthersValuesParts {
  /** The run is one of a draft: what would become of others is noted, and not done. */
  readonly isDraft?: true;
  readonly asked?: AskedKeys;
}

/** Keys that are asked about: those that no row of the file has are noted, as those of `--only`. */
export interface AskedKeys {
  readonly keys: readonly string[];
  /** Told once the file was read to its end: those of them whose rows are unchanged. */
  readonly onUnchanged: (keys: readonly string[]) => void;
}

/** A file that was read to its end. */
interface Staged {
  readonly tally: StagedTally;
  /** How many keys the feed knew when the file was read. */
  readonly knownKeys: number;
  readonly leftOut: readonly ContactColumn[];
  /** Whether contacts that are there already are taken over without asking. */
  readonly adopt: boolean;
  readonly writeEvents: (events: readonly RunEvent[]) => Promise<void>;
}

/** The guards decide whether the run goes on to `applying` or is `stopped`. */
export async function leaveStaging(
  parts: LeaveParts,
  run: RunRecord,
  staged: Staged,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, clock, log } = parts;
  const { tally, adopt, writeEvents } = staged;
  // The mapping may have been recognised while the file was read.
  const read = (await ledger.runs.get(run.id)) ?? run;
  const again = await findGone(parts, read, signal);
  // The run was cancelled while contacts were looked up.
  if (again === null) return;
  const isFull = isFullFile(parts.feeds, read);
  const found = await lookAtNewKeys(parts, read, { creates: tally.creates, again, isFull, adopt }, signal);
  // The run was cancelled while the workspace was listed.
  if (found === null) return;
  const taken = tally.updates > 0 ? await findTakenOver(ledger, read, signal) : { count: 0, base: 0, events: [] };
  await writeEvents([...found.events, ...taken.events]);
  await ledger.runs.record(run.id, { notes: found.notes, ...(found.look === null ? {} : { look: found.look }) });
  await replaceStopped(parts, run);
  const current = (await ledger.runs.get(run.id)) ?? run;
  const others = run.kind === 'file' ? await countOthersValues(parts, current, signal) : noOthersValues;
  // The run was cancelled while contacts were looked up.
  if (others === null) return;
  // A person has already looked at each row of a fix-file or a redrive: no guard counts them. One that makes contacts is asked.
  const verdicts = [
    ...checkLook(found, run, adopt),
    ...checkTakenOver(taken, run),
    ...(run.kind === 'file' ? await verdictsOn(parts, current, staged, { others, again: again.length }) : []),
  ];
  const planned = await plannedStop(ledger, run);
  if (verdicts.length === 0) await ledger.runs.record(run.id, { notes: loneCardNotes(current, tally) });
  if (run.options.verify) {
    // There is no write to stop before.
    await ledger.runs.record(run.id, { notes: guardNotes(verdicts) });
  } else if (verdicts.length > 0 || planned !== null) {
    const { serviceName } = parts;
    const now = verdicts.length > 0 ? guardReason(verdicts, current, serviceName) : null;
    const reason = planned === null ? now : withPlannedStop(now, planned, current, serviceName);
    invariant(reason !== null, 'a run is stopped for a reason');
    if (!(await stopRun(parts, current, 'staging', reason))) return;
    log.warn(
      { run: run.id, feed: run.feed, guards: verdicts.map((verdict) => verdict.guard), code: reason.code },
      'run stopped by a guard',
    );
    return;
  }
  const change = { atMs: clock.nowMs(), reason: null };
  const goesOn = await inStep('startApplying', () => ledger.runs.move(run.id, ['staging'], 'applying', change));
  // Else it was cancelled.
  if (goesOn) log.info({ run: run.id, feed: run.feed, ...tally }, 'run staged');
}

async function verdictsOn(
  { ledger, feeds }: LeaveParts,
  run: RunRecord,
  { tally, knownKeys, leftOut }: Staged,
  found: { readonly others: OthersValues; readonly again: number },
): Promise<readonly GuardVerdict[]> {
  const { guards } = feeds.rulesOf(run.feed);
  const history = await fileHistory(ledger, feeds, run);
  const verdicts = checkGuards({ ...tally, knownKeys, ...found }, guards, run.options, history);
  const isCounted = verdicts.some(({ guard }) => guard === 'updates');
  return [
    ...verdicts,
    ...(isCounted ? [] : loneCardVerdict(run, tally, guards, history)),
    ...leftOutVerdict(await newlyLeftOut(ledger, run, leftOut), run),
  ];
}

/**
 * A stopped run does not block its feed: a newer full file that was read to its end takes its place, and so does the same file in any feed, and
 * both runs say so. One that applies some rows only, or none, does not.
 * The note is added again where an interrupted staging of this run has already replaced the other.
 */
async function replaceStopped({ ledger, clock, log, feeds, isDraft }: LeaveParts, run: RunRecord): Promise<void> {
  const isWhole = isWholeFile(feeds, run);
  if (!isWhole && !appliesAllRows(run.options)) return;
  const states = ['stopped', 'cancelling', 'cancelled'] as const;
  for await (const old of eachRun(ledger.runs, { states, feed: run.feed })) {
    if (old.kind !== 'file' || old.sequence >= run.sequence) continue;
    const isSame = old.sha256 === run.sha256;
    if (!isWhole && !isSame) continue;
    const isReplaced = old.reason?.code === 'replaced' && old.reason.facts.by === run.id;
    if (old.state !== 'stopped' && !isReplaced) continue;
    if (isDraft) {
      const notes = [`importing this file takes the place of run ${old.id}, which is stopped`];
      await ledger.runs.record(run.id, { notes });
      continue;
    }
    const message = `run ${run.id} read ${isSame ? 'the same file again' : 'a newer file of the feed'} and took its place`;
    const reason = { code: 'replaced', message, hint: null, facts: { by: run.id } };
    await ledger.runs.move(old.id, ['stopped'], 'cancelling', { atMs: clock.nowMs(), reason });
    await ledger.runs.record(run.id, { notes: [`takes the place of run ${old.id}, which was stopped`] });
    log.info({ run: old.id, feed: run.feed, by: run.id }, 'stopped run replaced by a newer file');
  }
}
