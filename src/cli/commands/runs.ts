/** `patchbay runs ls|show|approve|cancel`. */
import type { Home } from '#src/app.ts';
import type { AuditDocument } from '#src/audits/audit-document.ts';
import { startEngine } from '#src/engine/engine.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type EngineLock, isEngineRunning, takeEngineLock } from '#src/ledger/engine-presence.ts';
import { activeRunStates, isFinal, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import { hasPlan, keptPlanOf } from '#src/operations/plan.ts';
import { requireRestageable, restageRun } from '#src/operations/restage.ts';
import { approveRun, cancelRun, isUnderWayBy, untilCancelled, wasApprovedMeanwhile } from '#src/operations/run-acts.ts';
import { runDocument } from '#src/operations/run-document.ts';
import { changesOfRun, type RunStory, readStory, storyDocument } from '#src/operations/run-story.ts';
import { findRun, listRuns, type RunView, readRun } from '#src/operations/runs.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { shellWord } from '#src/shell-words.ts';
import type { Again } from '../describe.ts';
import { noteUnknownFeed } from '../feed-notes.ts';
import { openDetached } from '../handed-over.ts';
import { finishOneShot, patienceOf } from '../one-shot.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { auditLines } from '../present-audit.ts';
import { presentRun, stateText, tally } from '../present-run.ts';
import { actLine, changeLines, changesHeading, changesShown, presentStory } from '../present-story.ts';
import { askDecision, askWhy, type Question, terminalOf, whyQuestions } from '../questions.ts';
import { openPatiently, otherEntryNote } from '../waiting.ts';
import { planNow, presentStoppedPlan } from './plan.ts';

interface ListOptions extends GlobalOptions {
  readonly limit: number;
  readonly feed?: string;
  /** A state, or `active`: all that an engine works on. */
  readonly state?: RunState | 'active';
  readonly after?: string;
  readonly again: Again;
}

export async function runs(options: ListOptions): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const { state } = options;
    const states = state === undefined ? {} : { states: state === 'active' ? activeRunStates : [state] };
    const views = await listRuns(home, { ...options, ...states });
    if (views.length === 0) await noteUnknownFeed(home, output, options.feed);
    if (output.json) for (const { summary } of views) output.document(summary);
    else if (views.length === 0) output.line(noRunsText(home, options));
    else printRuns(output, views, options);
    return 0;
  } finally {
    await home.close();
  }
}

function noRunsText({ folders }: Home, { feed, state, after }: Pick<ListOptions, 'feed' | 'state' | 'after'>): string {
  if (state !== undefined || after !== undefined) return 'no such runs';
  if (feed !== undefined) return `feed ${printable(feed)} has no runs`;
  return `no runs yet: drop a file into ${folders.watched.at(-1)}`;
}

function printRuns(output: Output, views: readonly RunView[], { limit, again }: ListOptions): void {
  const rows = views.map(({ record, summary }) => [
    summary.run,
    summary.feed,
    summary.file,
    stateText(summary.state),
    record.startedAtMs === null ? '' : `${summary.seconds.toFixed(1)} s`,
    tally(summary),
  ]);
  output.line(output.table(['run', 'feed', 'file', 'state', 'time', 'rows'], rows));
  const last = views.at(-1);
  if (last !== undefined && views.length === limit)
    output.note(output.paste(`older runs: ${again({ after: last.record.id })}`));
}

interface ShowOptions extends GlobalOptions {
  readonly full?: boolean;
}

export async function showRun(options: ShowOptions, id: string): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const story = await readStory(home, await findRun(home, id), { values: output.values });
    await using planned = hasPlan(story.record) ? await planToShow(home, options, output, story.record) : null;
    if (output.json) {
      await output.longDocument(storyDocument(home, story, planned, { values: output.values }));
      return 0;
    }
    output.line(presentStory(output, story, options.full === true));
    for (const act of story.acts) output.line(`  ${actLine(output, act)}`);
    if (planned !== null) output.line(await presentStoppedPlan(output, planned));
    await printChanges(home, output, story, options.full === true);
    for (const audit of story.audits) output.line(auditLines(output, audit, auditLabel(audit)).join('\n'));
    return 0;
  } finally {
    await home.close();
  }
}

/** An outage of the service is not waited for: the rest of the story is shown without the plan. */
const planPatienceMs = 5_000;

/** The plan that is kept of the run, or one that is made now. Null where there is none: how to make one is among the run's hints. */
async function planToShow(
  looking: Home,
  options: GlobalOptions,
  output: Output,
  run: RunRecord,
): Promise<MadePlan | null> {
  const kept = await keptPlanOf(looking, run);
  if (kept !== null) return kept;
  try {
    // Looking keeps nothing, and a plan is kept, so that it is what an approval carries out.
    const home = await openCliHome(options, 'act');
    try {
      return await planNow(home, output, run, planPatienceMs);
    } finally {
      await home.close();
    }
  } catch (error) {
    output.note(`its plan could not be made now: ${messageOf(error)}`);
    return null;
  }
}

async function printChanges(home: Home, output: Output, story: RunStory, isFull: boolean): Promise<void> {
  const heading = changesHeading(output, story);
  if (heading === null) return;
  output.line(heading);
  let shown = 0;
  let isCut = false;
  for await (const page of changesOfRun(home, story, isFull ? Number.POSITIVE_INFINITY : changesShown + 1)) {
    const printed = isFull ? page : page.slice(0, changesShown);
    isCut = printed.length < page.length;
    shown += printed.length;
    if (printed.length > 0) output.line(printed.flatMap((change) => changeLines(output, change, isFull)).join('\n'));
  }
  const { created, updated, run } = story.summary;
  // A contact may have been written twice, and a run at work goes on.
  const more = isCut ? Math.max(1, created + updated - shown) : 0;
  if (more > 0) output.line(output.paste(`    … and ${more} more: patchbay runs show ${run} --full`));
  if (story.changesFile !== null) output.line(`  all changes as a table: ${shellWord(story.changesFile)}`);
}

function auditLabel({ finishedAt }: AuditDocument): string {
  return finishedAt === null ? 'audit' : `audit at ${finishedAt.slice(0, 19)}Z`;
}

interface ApproveOptions extends GlobalOptions {
  readonly adopt?: boolean;
  readonly createAnyway?: boolean;
  readonly reason?: string;
  readonly wait?: string;
  readonly detach?: boolean;
}

/** On a terminal the run is shown and the person is asked, unless `--yes` has answered. */
export async function approve(options: ApproveOptions, id: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openPatiently(options, 'act', patienceMs);
  try {
    const output = createOutput(options);
    const run = await findRun(home, id);
    const choice = options.adopt === true ? 'adopt' : options.createAnyway === true ? 'createAnyway' : null;
    // Where the stop is a choice that was not made, there is nothing to say yes to.
    const isAsked = run.state === 'stopped' && (choice !== null || hasPlan(run));
    const terminal = isAsked ? terminalOf(options) : null;
    const kept = choice === null && isAsked ? await keptPlanOf(home, run) : null;
    const isShownNow = choice === null && terminal !== null;
    await using shown = kept ?? (isShownNow ? await planNow(home, output, run, patienceMs) : null);
    const text = [
      presentRun(output, await readRun(home, run)),
      ...(isShownNow && shown !== null ? [await presentStoppedPlan(output, shown)] : []),
    ];
    const answer = await askDecision(terminal, approvalQuestion(text.join('\n'), options.reason));
    if (!answer.isYes) {
      output.note(`run ${run.id} stays stopped`);
      return exitCodes.guard;
    }
    const noteFollowed = () => output.note(`run ${run.id} was approved already: following it`);
    const isAgain = await isUnderWayBy(home, run, 'approve', choice);
    if (isAgain) noteFollowed();
    const approved = async () => {
      if (isAgain) return [run];
      try {
        await approveRun(home, run, answer.why, choice, shown?.isKept === true ? shown.plan : null);
      } catch (error) {
        if (!(error instanceof PatchbayError) || error.code !== 'notApproved') throw error;
        // Another person may have been faster, while an engine was waited for.
        if (!(await wasApprovedMeanwhile(home, run, choice))) throw error;
        noteFollowed();
      }
      return [run];
    };
    if (options.detach === true) {
      await approved();
      const print = await openDetached(home, output, output.note);
      print(await findRun(home, run.id), `run ${run.id} is continued by the running engine, or the next one`);
      return exitCodes.done;
    }
    return await finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, approved);
  } finally {
    await home.close();
  }
}

/** Exported for tests, which have no terminal. */
export function approvalQuestion(shown: string, given: string | undefined): Question {
  return { shown, question: 'Continue this run as shown?', whyQuestion: whyQuestions.report, given };
}

interface RestageOptions extends GlobalOptions {
  readonly reason?: string;
  readonly wait?: string;
  readonly detach?: boolean;
}

export async function restage(options: RestageOptions, id: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openPatiently(options, 'act', patienceMs);
  try {
    const output = createOutput(options);
    const run = await findRun(home, id);
    const isAgain = await isUnderWayBy(home, run, 'restage');
    if (isAgain) output.note(`run ${run.id} is being read anew already: following it`);
    else await requireRestageable(run, home.host?.id ?? null);
    const why = await askWhy(isAgain ? null : terminalOf(options), whyQuestions.acts, options.reason);
    const restaged = async () => [isAgain ? run : await restageRun(home, run, why)];
    if (options.detach === true) {
      await restaged();
      const print = await openDetached(home, output, output.note);
      print(await findRun(home, run.id), `run ${run.id} is read anew by the running engine, or the next one`);
      return exitCodes.done;
    }
    return await finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, restaged);
  } finally {
    await home.close();
  }
}

interface CancelOptions extends GlobalOptions {
  readonly reason?: string;
}

export async function cancel(options: CancelOptions, id: string): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const run = await findRun(home, id);
    const terminal = isFinal(run.state) || run.state === 'cancelling' ? null : terminalOf(options);
    await cancelRun(home, run, await askWhy(terminal, whyQuestions.acts, options.reason));
    await endCancelled(home, output, run.id);
    const detail = await readRun(home, (await home.ledger.runs.get(run.id)) ?? run);
    // What was asked for is done: the code is that of the command, not of its run.
    if (output.json) output.document({ ...runDocument(detail, output.values), exitCode: exitCodes.done });
    else output.line(presentRun(output, detail));
    return exitCodes.done;
  } finally {
    await home.close();
  }
}

/** The running engine ends it; where none runs, this process becomes the engine for it. Where that is refused, the run is cancelled all the same. */
async function endCancelled(home: Home, output: Output, id: string): Promise<void> {
  const isWithoutService = home.mode === 'real' && home.config.service.baseUrl === null;
  if (isWithoutService && !isEngineRunning(home)) {
    output.note('no service is configured here: the running engine ends the run, or the next one');
    return;
  }
  const lock = isWithoutService ? null : takeEngineLock(home.folders.lockFile);
  const engine = lock === null ? null : await engineToCancel(home, output, lock);
  if (lock !== null && engine === null) return;
  const isEnded = await untilCancelled(home, id);
  await engine?.stop();
  if (!isEnded)
    output.note(
      output.paste(
        `run ${id} is being cancelled still, and the running engine ends it, or the next one: patchbay runs show ${id}`,
      ),
    );
}

/** Null where its start is refused: a note says why. */
async function engineToCancel(home: Home, output: Output, lock: EngineLock) {
  const options = {
    ...({ sameWorkspace: false, waitFor: 'everything', runsSchedules: false } as const),
    onOtherEntry: otherEntryNote(output.note),
  };
  return startEngine(home, lock, options).catch((error: unknown) => {
    if (!(error instanceof PatchbayError) || error.kind === 'bug' || error.kind === 'damaged') throw error;
    output.note(`${error.message} [${error.code}]: the running engine ends the run, or the next one`);
    return null;
  });
}
