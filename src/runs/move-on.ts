/** The end of staging: the guards decide, and a newer file takes the place of one that they had stopped. */
import type { RunRecord } from '#src/ledger/runs.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { inStep } from '#src/steps.ts';
import { fileHistory, isFullFile } from './file-before.ts';
import { guardReason } from './guard-reason.ts';
import { checkGuards, type GuardVerdict, type StagedTally } from './guards.ts';
import { leftOutVerdict, newlyLeftOut } from './left-out-before.ts';
import type { RunParts } from './parts.ts';
import { stopRun } from './stop-run.ts';

/** Moves a run that is staged to its end on: to `applying` or `stopped`. */
export async function moveOn(
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
