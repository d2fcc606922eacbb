/**
 * Plans: what a file, or a stopped run, would write. Make one, look at one, and get ready to carry one out
 * (`docs/plans.md`, "Plans").
 */

import { resolve } from 'node:path';
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import type { PlannedContact } from '#src/contacts/planned.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { PatchbayError } from '#src/errors.ts';
import { fieldWithoutValue } from '#src/journal/changes.ts';
import type { PlanReading, PlanRecord } from '#src/ledger/plans.ts';
import { plansKeptMax } from '#src/ledger/plans.ts';
import { noOptions, type RunOptions, type RunReason, type RunRecord } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { draftFile, type ReadingParts } from '#src/plans/draft-file.ts';
import { type MadePlan, makePlan, type PlanParts, type PlanProgress, readKeptPlan } from '#src/plans/make-plan.ts';
import { hasWrites } from '#src/plans/plan-totals.ts';
import { firstShown, type ViewOptions } from '#src/plans/show/plan-view.ts';
import { readingOfFile } from '#src/runs/choose-feed.ts';
import type { NamedFile, SubmitChoice } from '#src/runs/enter-run.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { asksForLinks } from '#src/runs/guard-reason.ts';
import { importFlags } from '#src/runs/import-flags.ts';
import { operands } from '#src/shell-words.ts';
import { hashFile } from '#src/sources/check-out.ts';
import { chooseTarget } from './import.ts';
import { withoutValues } from './run-document.ts';

/** What plans are made with (`src/engine/job-context.ts`). */
export interface PlanService {
  readonly reading: ReadingParts;
  readonly plan: PlanParts;
}

export interface PlanRequest {
  readonly file: NamedFile;
  /** Whether the file is standard input, which cannot be read again. */
  readonly isInput: boolean;
  readonly options: RunOptions;
  readonly choice: SubmitChoice;
  /** The mapping as it was named; null where it is the feed's. */
  readonly mappingNamed: string | null;
  /** Keys to plan; null: all. */
  readonly only: readonly string[] | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PlanProgress) => void;
  readonly onWait?: (ms: number) => void;
}

/** How its making is followed. */
export type PlanFollowing = Pick<PlanRequest, 'signal' | 'onProgress' | 'onWait'>;

/**
 * What importing the file would write. Nothing is written, to the service or anywhere else, but the plan itself.
 * @throws PatchbayError `file` where it cannot be read; `auth`, `unreachable`; the signal's reason.
 */
export async function planFile(
  { reading, plan }: PlanService,
  { file, isInput, options, choice, mappingNamed, only, ...following }: PlanRequest,
): Promise<MadePlan> {
  const drafted = await draftFile(reading, plan.draftsFolder, file, options, choice, only ?? [], following.signal);
  try {
    const { run, ledger, unchangedKeys } = drafted;
    const kept = {
      runId: null,
      undoes: null,
      path: isInput ? null : file.path,
      reading: await readingAs(reading, { path: run.claimedPath, name: run.fileName }, options, choice),
      mappingNamed,
    };
    const made = await makePlan(plan, {
      run,
      ledger,
      only: keySet(only),
      unchangedKeys,
      kept,
      ...following,
    });
    return withAdvice(withRequestsOf(run, made));
  } finally {
    await drafted.close();
  }
}

function keySet(keys: readonly string[] | null): ReadonlySet<string> | null {
  return keys === null ? null : new Set(keys);
}

/** Reading the file has sent requests, too: the workspace was listed, or contacts were read for drift. */
function withRequestsOf({ requests }: RunRecord, made: MadePlan): MadePlan {
  const { get, retried, rateLimited } = requests;
  const sum = (kind: 'get' | 'retried' | 'rateLimited', before: number) => (made.sent[kind] ?? 0) + before;
  const sent = {
    get: sum('get', get),
    retried: sum('retried', retried),
    rateLimited: sum('rateLimited', rateLimited),
  };
  return { ...made, sent };
}

/** How the file is read, before its layout was recognised: that follows from the file. */
async function readingAs(
  parts: ReadingParts,
  file: NamedFile,
  options: RunOptions,
  choice: SubmitChoice,
): Promise<PlanReading> {
  const {
    mapping,
    sourceLabel,
    options: chosen,
  } = await readingOfFile(parts, file, options, {
    kind: 'feed',
    ...choice,
  });
  const { defaultCountry, onBlank } = parts;
  return {
    mapping,
    sourceLabel: sourceLabel ?? null,
    options: { ...chosen, path: null },
    defaults: { defaultCountry, onBlank },
  };
}

/** A run that a guard has stopped: what it would write if it were approved. @param only keys to plan; null: all. */
export async function planStoppedRun(
  { plan }: Pick<PlanService, 'plan'>,
  run: RunRecord,
  following: PlanFollowing,
  only: readonly string[] | null = null,
): Promise<MadePlan> {
  if (run.state !== 'stopped') {
    throw new PatchbayError('usage', 'notStopped', `run ${run.id} is not stopped: no approval is waited for`, {
      hint: `Look at it: patchbay runs show ${run.id}`,
    });
  }
  const kept = { runId: run.id, undoes: null, path: null, reading: null, mappingNamed: null };
  return makePlan(plan, { run, ledger: plan.ledger, only: keySet(only), kept, ...following });
}

/** The stop of a plan has no run to approve: it says how to import the file all the same. */
function withAdvice(made: MadePlan): MadePlan {
  const { plan, isKept } = made;
  if (plan.stop === null) return made;
  return { ...made, plan: { ...plan, stop: { ...plan.stop, hint: adviceOn(plan, plan.stop, isKept) } } };
}

function adviceOn(plan: PlanRecord, stop: RunReason, isKept: boolean): string {
  if (asksForLinks(stop)) {
    const [link, create] = ['--adopt', '--create-anyway'].map((choice) => commandOn('plan', plan, [choice]));
    return `Importing the file stops here and asks. To plan it with these contacts linked: ${link}\nTo plan it with them created a second time: ${create}`;
  }
  if (stop.code === 'guardAdoptions') return stop.hint ?? 'Check the file.';
  const command = isKept ? `${carryOut(plan)} --accept` : commandOn('import', plan, ['--accept']);
  return `Importing the file stops here. If this is expected: ${command}`;
}

/** What to type to carry a plan of a file or of a stopped run out. A run that waits for a choice takes no approval without one. */
export function carryOut({ id, path, runId, stop }: Pick<PlanRecord, 'id' | 'path' | 'runId' | 'stop'>): string {
  if (runId !== null) {
    const approve = `patchbay runs approve ${runId}`;
    if (stop === null || !asksForLinks(stop)) return approve;
    return `${approve} --create-anyway; or, to link these contacts instead: ${approve} --adopt`;
  }
  return path === null ? `patchbay import - --plan ${id}` : `patchbay import --plan ${id}`;
}

/** What to type to plan or import the file again, as the plan has it. @param more flags. */
function commandOn(
  command: 'plan' | 'import',
  { feed, mappingNamed, reading, path }: Pick<PlanRecord, 'feed' | 'mappingNamed' | 'reading' | 'path'>,
  more: readonly string[] = [],
): string {
  const words = [
    ...importFlags({ feed, mappingNamed, options: reading?.options ?? noOptions }),
    ...more,
    operands(path ?? '-'),
  ];
  return `patchbay ${command} ${words.join(' ')}`;
}

/** A kept plan by its id, or by the end of the id. @throws PatchbayError `usage` `noSuchPlan`. */
async function findPlan({ ledger }: Pick<Home, 'ledger'>, id: string): Promise<PlanRecord> {
  const exact = await ledger.plans.get(id);
  if (exact !== null) return exact;
  const plans = id.length < idEndCharsMin ? [] : await ledger.plans.list({ limit: plansKeptMax });
  const fitting = plans.filter((plan) => plan.id.endsWith(id));
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  throw new PatchbayError('usage', 'noSuchPlan', `there is no plan ${id}`, {
    hint: 'Plans are kept for data.keepFiles, the last twenty of them. Make a new one with: patchbay plan FILE',
  });
}

const idEndCharsMin = 4;

export interface PlannedImport {
  readonly file: NamedFile;
  readonly options: RunOptions;
  readonly choice: SubmitChoice;
}

/**
 * What carrying a plan out needs: the file that it was made of, read as it was read then.
 * @param file the file that was named; null: where it was then. `given`: limits that are raised once, and the reason; without them those of the plan hold.
 * @throws PatchbayError `usage` `noSuchPlan` | `planOfRun` | `planFileMissing`; `guard` `planMoved` where file, mapping or settings are
 *   others by now.
 */
export async function planToImport(
  home: Pick<Home, 'ledger' | 'feeds' | 'folders' | 'config'>,
  planId: string,
  file: NamedFile | null,
  given: RunOptions,
): Promise<PlannedImport> {
  const plan = await findPlan(home, planId);
  if (plan.reading === null) {
    const { id, runId, undoes } = plan;
    const what = undoes === null ? `is of run ${runId}, which waits for its approval` : `undoes run ${undoes}`;
    // Whether it deletes is not part of a plan: with --plan the command shows what it would do.
    const use = undoes === null ? carryOut(plan) : `patchbay runs undo ${undoes} --plan`;
    throw new PatchbayError('usage', 'planOfRun', `plan ${id} ${what}`, { hint: `Use: ${use}` });
  }
  if (file === null && plan.path === null) {
    throw new PatchbayError('usage', 'planFileMissing', `plan ${plan.id} was made of standard input`, {
      hint: `Give the same content again: patchbay import - --plan ${plan.id} < FILE`,
    });
  }
  const named = file ?? { path: resolve(plan.path ?? ''), name: plan.fileName };
  const moved = (why: string, cause?: unknown) => planMoved(plan, plan.path === null ? null : named.path, why, cause);
  const sha256 = await hashFile(named.path).catch((error: unknown) => {
    throw moved(`${named.name} is not there any more`, error);
  });
  if (sha256 !== plan.sha256) throw moved(`${named.name} has other content than when the plan was made`);
  const { accept, acceptReason, maxChange, maxDead } = given;
  const planned = plan.reading.options;
  const options: RunOptions = {
    ...planned,
    accept: accept || planned.accept,
    acceptReason: acceptReason ?? planned.acceptReason,
    maxChange: maxChange ?? planned.maxChange,
    maxDead: maxDead ?? planned.maxDead,
    planId: plan.id,
  };
  const target = { feed: plan.feed, ...(plan.mappingNamed === null ? {} : { mapping: plan.mappingNamed }) };
  const { choice } = await chooseTarget(home, target);
  const { defaultCountry, onBlank } = home.config.mapping;
  const parts = { ledger: home.ledger, feeds: home.feeds };
  const today = await readingOfFile(parts, named, plan.reading.options, { kind: 'feed', ...choice });
  const isSame =
    today.feed === plan.feed &&
    JSON.stringify([today.mapping, today.sourceLabel ?? null, { defaultCountry, onBlank }]) ===
      JSON.stringify([plan.reading.mapping, plan.reading.sourceLabel, plan.reading.defaults]);
  if (!isSame)
    throw moved(`the file is read in another way now: mapping, label or defaults of feed ${plan.feed} have changed`);
  return { file: named, options, choice };
}

function planMoved(plan: PlanRecord, path: string | null, why: string, cause?: unknown): PatchbayError {
  return new PatchbayError('guard', 'planMoved', `plan ${plan.id} was not carried out: ${why}`, {
    hint: `Nothing was written. Make a new plan with: ${commandOn('plan', { ...plan, path })}`,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Where the stop of a run is a choice that was not made, it has none: what would be written depends on it. */
export function hasPlan({ state, reason }: RunRecord): boolean {
  return state === 'stopped' && (reason === null || !asksForLinks(reason));
}

/** The newest plan that is kept of the run; null where there is none. */
export async function keptPlanOf({ ledger }: Pick<Home, 'ledger'>, run: RunRecord): Promise<MadePlan | null> {
  const [plan] = await ledger.plans.list({ runId: run.id, limit: 1 });
  return plan === undefined ? null : await readKeptPlan(ledger.plans, plan);
}

/** How a plan ends for a script. With `--verify` drift is a difference. @param asksForChanges `--exit-code`. */
export function exitCodeOfPlan(
  { plan, problemCount, drift }: Pick<MadePlan, 'plan' | 'problemCount' | 'drift'>,
  asksForChanges: boolean,
): number {
  const { changed = 0, gone = 0, doubled = 0 } = drift ?? {};
  if (plan.reading?.options.verify === true && changed + gone + doubled > 0) return exitCodes.differs;
  if (asksForChanges && hasWrites(plan.totals)) return exitCodes.differs;
  return problemCount > 0 ? exitCodes.dead : exitCodes.done;
}

/**
 * `plan --json` (`docs/contract.md`). Contacts and problems are lists that are read as they are written. @param exitCode absent where the
 * plan is part of another document.
 */
export function planDocument(made: MadePlan, { limit, values }: ViewOptions, exitCode?: number): object {
  const { plan, isKept, contacts, contactCount, problems, outcomes, notes, drift, missing, unsure, sent } = made;
  const { id, feed, runId, undoes, fileName, service, totals, stop, checksum, createdAtMs } = plan;
  const { rows, ...counts } = totals;
  return {
    plan: isKept ? id : null,
    ...(runId === null ? {} : { run: runId }),
    ...(undoes === null ? {} : { undoes }),
    feed,
    file: fileName,
    service,
    madeAt: isoInstant(createdAtMs),
    checksum,
    ...rows,
    ...counts,
    pending: unsure,
    drift,
    missing,
    stop: stop === null ? null : { code: stop.code, message: stop.message, hint: stop.hint },
    contacts: firstShown(contacts, limit, (one) => contactDocument(one, values)),
    contactsComplete: contactCount <= limit,
    problems: firstShown(problems, Number.POSITIVE_INFINITY, (one) =>
      values ? one : { ...one, value: null, hint: withoutQuotedCells(one.hint) },
    ),
    outcomes: outcomes.slice(0, limit).map((event: RunEvent) => (values ? event : withoutValues(event))),
    notes,
    sent: { ...zeroSent, ...sent },
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

const zeroSent = { get: 0, retried: 0, rateLimited: 0 };

/** Without values: which fields of which line, and nothing else. */
export function contactDocument(contact: PlannedContact, values: boolean): object {
  const { key, line, name, contactId, deed, changes, held, notes } = contact;
  const fieldOf = (field: string) => (values ? field : fieldWithoutValue(field));
  return {
    key: values ? key : null,
    name: values ? name : null,
    line,
    contact: contactId,
    do: deed,
    changes: changes.map(({ field, from, to, why }) => ({
      field: fieldOf(field),
      ...(values ? { from, to } : { from: null, to: null }),
      why,
    })),
    held: held.map(({ field, said, ours, theirs, namedBy }) => ({
      field: fieldOf(field),
      ...(values ? { said, file: ours, app: theirs } : { said: null, file: null, app: null }),
      ...(namedBy === undefined ? {} : { namedBy }),
    })),
    notes: notes.map(({ field, code, message }) => ({ field: fieldOf(field), code, message: values ? message : code })),
  };
}
