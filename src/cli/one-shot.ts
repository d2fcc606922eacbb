/**
 * One-shot commands: enter runs, see to it that an engine works on them (`work-session.ts`), follow them, and print what became of
 * each.
 */
import type { Home } from '#src/app.ts';
import { parseDuration } from '#src/config/forms.ts';
import { PatchbayError } from '#src/errors.ts';
import { type AuditEnd, type FollowEnd, followAudit, followRun } from '#src/ledger/follow.ts';
import { activeRunStates, isFinal, pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import { unlessAway, waitOut } from '#src/ledger/wait-out.ts';
import { firstAuditOf } from '#src/operations/audits.ts';
import { errorDocument } from '#src/operations/error-document.ts';
import { worstExitCode } from '#src/runs/exit-code.ts';
import { printError } from './exit.ts';
import { openHandedOver } from './handed-over.ts';
import { finishingText, listenForInterrupt, nothingBegunHint, reportInterrupted } from './interrupt.ts';
import { type Outcomes, type OutcomesOptions, startOutcomes } from './outcomes.ts';
import type { Output } from './output.ts';
import { createProgress } from './progress.ts';
import { beginWork, type Enter, type WorkOptions, type WorkSession } from './work-session.ts';

/**
 * Enters the runs of a command, which are followed.
 * @param isEngine whether this process is the engine: no other works on its data folder then.
 * @param onEntered for one that enters several, one after the other: those that it has entered count where it fails then.
 */
export type Submit = (isEngine: boolean, onEntered: (run: RunRecord) => void) => Promise<readonly RunRecord[]>;

interface OneShotOptions extends WorkOptions {
  readonly onProgress: (run: RunRecord) => void;
  /** A running engine has the run. @param notes what was said of that. */
  readonly onHandedOver: (run: RunRecord, notes: readonly string[]) => void;
  /** @param audit null where it was not waited for, or the run has not ended. */
  readonly onEnd: (end: FollowEnd, audit: AuditEnd | null) => Promise<void>;
  /** Waits for the first audit of each run, too. */
  readonly audit: boolean;
}

const defaultPatienceMs = 600_000;
/** For runs of other commands, once its own have ended: the next engine continues them. */
const othersPatienceMs = 60_000;

/** In less time work that goes well shows no progress, either: a shorter wait, as `0s`, is one of a second. */
const patienceMsMin = 1_000;

/** `--wait`, or ten minutes. @throws PatchbayError `usage` `waitInvalid`. */
export function patienceOf(wait: string | undefined): number {
  if (wait === undefined) return defaultPatienceMs;
  const patienceMs = parseDuration(wait);
  if (patienceMs !== null) return Math.max(patienceMs, patienceMsMin);
  throw new PatchbayError('usage', 'waitInvalid', `--wait ${wait} is not a duration`, {
    hint: 'Write it as 30s, 10m or 1h.',
  });
}

/**
 * Enters runs with `submit` and follows each until it rests. An audit that is not waited for does not keep the engine alive:
 * the next one carries it out.
 * @throws PatchbayError what the engine's start and `submit` throw; after Ctrl-C `NothingEntered` or `AbortError`.
 */
async function workUntilRest(home: Home, options: OneShotOptions, submit: Enter<readonly RunRecord[]>): Promise<void> {
  const { interrupt, onProgress, onHandedOver, onEnd } = options;
  const { session, entered } = await beginWork(home, options, submit);
  try {
    const handedOver = session.isEngine() ? null : await openHandedOver(home, options.note);
    if (handedOver !== null) for (const run of entered) onHandedOver(run, handedOver.run(run));
    const ends: FollowEnd[] = [];
    for (const run of entered) {
      const end = await session.follow((following) => followRun({ ...following, runId: run.id, onProgress }));
      if (!options.audit) await onEnd(end, null);
      ends.push(end);
    }
    // Patience with an audit begins when it is due, and runs behind it may keep the engine busy for long: so they are followed first.
    if (options.audit) for (const end of ends) await onEnd(end, await firstAudit(home, options, session, end));
    if (session.isEngine() && ends.every((end) => end.kind === 'rest')) await restOfAll(home, options);
    interrupt.signal.throwIfAborted();
  } finally {
    await session.leave();
  }
}

async function firstAudit(
  home: Home,
  { patienceMs, interrupt }: OneShotOptions,
  session: WorkSession,
  { kind, run }: FollowEnd,
): Promise<AuditEnd | null> {
  if (kind !== 'rest' || !isFinal(run.state)) return null;
  const { clock } = home;
  const first = await waitOut({ clock, patienceMs, signal: interrupt.signal }, () => firstAuditOf(home, run.id));
  if (first === null) return null;
  return await session.follow((following) => followAudit({ ...following, auditId: first.id }));
}

/** An engine started by a one-shot ends when all runs have ended, those of other commands included; or when there is no progress. */
async function restOfAll(home: Home, { interrupt, patienceMs }: OneShotOptions): Promise<void> {
  const { clock, ledger } = home;
  let progress = '';
  let movedAtMs = clock.monotonicMs();
  for (;;) {
    // Runs of other hosts are theirs.
    const own = home.host === null ? {} : { hosts: [home.host.id] };
    const asked = { states: activeRunStates, ...own, limit: 1_000, oldestFirst: true };
    const active = await unlessAway(() => ledger.runs.list(asked), null);
    if (active?.length === 0) return;
    const seen = (active ?? [])
      .map(({ id, state, counts }) => `${id} ${state} ${counts.rows} ${pendingCount(counts)}`)
      .join(', ');
    if (active !== null && seen !== progress) {
      progress = seen;
      movedAtMs = clock.monotonicMs();
    }
    if (clock.monotonicMs() - movedAtMs > Math.min(patienceMs, othersPatienceMs)) return;
    if ((await unlessAway(() => ledger.pause(), null))?.code === 'auth') return;
    await clock.sleep(100, interrupt.signal);
  }
}

/** How a one-shot command ends: work, show progress, print what became of each run, choose the exit code. */
interface OneShotCommand extends OutcomesOptions {
  readonly patienceMs: number;
  readonly sameWorkspace: boolean;
}

/**
 * However it ends, each run that was entered has its line (`outcomes.ts`).
 * @throws what kept the command from entering its work.
 */
export async function finishOneShot(home: Home, command: OneShotCommand, submit: Submit): Promise<number> {
  const { output, patienceMs, sameWorkspace, audit = false } = command;
  const progress = createProgress(output);
  const outcomes = startOutcomes(home, command);
  let isEntered = false;
  let isAnyEntered = false;
  const see = (run: RunRecord): void => {
    isAnyEntered = true;
    outcomes.see(run);
  };
  const reportNothingBegan = (exitCode: number): number => {
    // Of several files some may have their runs, which say of themselves what becomes of them.
    const nextStep = isAnyEntered ? 'Run the same command again.' : nothingBegunHint;
    return reportInterrupted(output, nothingBegan, exitCode, undefined, nextStep);
  };
  const interrupt = listenForInterrupt(
    () => {
      progress.clear();
      output.note(finishingText);
    },
    (exitCode) => {
      progress.clear();
      outcomes.leave({ exitCode, error: null });
      if (!isEntered) reportNothingBegan(exitCode);
    },
  );
  const options: OneShotOptions = {
    ...{ sameWorkspace, patienceMs, interrupt, audit },
    note: (text) => {
      progress.clear();
      output.note(text);
    },
    onProgress: (run) => {
      outcomes.see(run);
      progress.update(run);
    },
    onHandedOver: outcomes.noteOf,
    onEnd: async (end, auditEnd) => {
      progress.clear();
      const { clock } = home;
      await outcomes.end(end, auditEnd, (read) => waitOut({ clock, patienceMs, signal: interrupt.signal }, read));
    },
  };
  try {
    await workUntilRest(home, options, async (isEngine) => {
      const entered = await submit(isEngine, see);
      for (const run of entered) see(run);
      isEntered = true;
      return entered;
    });
    outcomes.refused();
    return outcomes.exitCode();
  } catch (error) {
    progress.clear();
    const signalCode = interrupt.exitCode();
    if (signalCode === null) return await endByError(output, outcomes, isEntered, error);
    const cutCount = await outcomes.cutOff({ exitCode: signalCode, error: null });
    if (!isEntered) return reportNothingBegan(signalCode);
    if (cutCount === 0)
      output.note('interrupted after all of its own had ended; the next engine does what else is left');
    return signalCode;
  } finally {
    interrupt.dispose();
  }
}

const nothingBegan = 'interrupted before a run began';

/** @throws the error itself where not all of the work was entered: it is of what has no run. */
async function endByError(output: Output, outcomes: Outcomes, isEntered: boolean, error: unknown): Promise<number> {
  const document = errorDocument(error);
  const cutCount = await outcomes.cutOff(document);
  if (!isEntered) throw error;
  const { hint } = document.error;
  // With `--json` the documents of the runs that it cut off hold it.
  if (!output.json || cutCount === 0)
    printError(error, { ...document, error: { ...document.error, hint: hint === null ? null : output.paste(hint) } });
  return worstExitCode([document.exitCode, outcomes.exitCode()]);
}
