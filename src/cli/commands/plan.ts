/** `patchbay plan FILE`: what an import would write, or a run that a guard has stopped, and nothing is written. */
import { rm } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { SingleBar } from 'cli-progress';
import type { Home } from '#src/app.ts';
import { formatDuration } from '#src/config/forms.ts';
import { planParts } from '#src/engine/job-context.ts';
import { openReadingSession, type ReadingOptions } from '#src/engine/reading-session.ts';
import { PatchbayError } from '#src/errors.ts';
import { jsonPieces, printableJson } from '#src/json/json-pieces.ts';
import { pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import {
  checkImportOptions,
  chooseTarget,
  type ImportOptions,
  readStandardInput,
  requirePath,
} from '#src/operations/import.ts';
import {
  exitCodeOfPlan,
  type PlanFollowing,
  type PlanService,
  planDocument,
  planFile,
  planStoppedRun,
} from '#src/operations/plan.ts';
import { findRun } from '#src/operations/runs.ts';
import type { MadePlan, PlanProgress } from '#src/plans/make-plan.ts';
import { htmlListMax, planHtml, planMarkdown } from '#src/plans/show/plan-files.ts';
import { planView } from '#src/plans/show/plan-view.ts';
import type { NamedFile } from '#src/runs/enter-run.ts';
import type { InputFormat } from '#src/sources/file-name.ts';
import { requireWritable, writeAsAsked, writeWholeFile } from '#src/whole-file.ts';
import { perhapsMeant } from '../feed-notes.ts';
import { type Interrupt, listenForInterrupt, reportInterrupted } from '../interrupt.ts';
import { patienceOf } from '../one-shot.ts';
import type { GlobalOptions } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { planLines, presentPlan } from '../present-plan.ts';
import { type ReadingWaits, tellReadingWaits } from '../reading-waits.ts';
import { openPatiently } from '../waiting.ts';

interface PlanOptions extends GlobalOptions, ImportOptions {
  readonly feed?: string;
  readonly mapping?: string;
  readonly format?: InputFormat;
  /** A stopped run, instead of a file. */
  readonly run?: string;
  readonly only?: readonly string[];
  readonly limit?: number;
  readonly full?: boolean;
  readonly output?: string;
  readonly exitCode?: boolean;
  readonly sameWorkspace?: boolean;
  readonly wait?: string;
}

/** Contacts of each group, unless `--limit` or `--full` says otherwise. */
const contactsShown = 20;
const everyContact = Number.POSITIVE_INFINITY;

export async function plan(options: PlanOptions, file: string | undefined): Promise<number> {
  requireSense(options, file);
  const patienceMs = patienceOf(options.wait);
  const write = options.output === undefined ? null : await planWriter(options.output);
  const home = await openPatiently(options, options.run === undefined ? 'import' : 'act', patienceMs);
  const output = createOutput(options);
  const bar = createBar(output);
  const interrupt = listenForInterrupt(() => bar.clear());
  let isMade = false;
  try {
    await using made = await make(home, output, options, file, { patienceMs, interrupt, onProgress: bar.update });
    isMade = true;
    bar.clear();
    const { values } = output;
    const limit =
      options.full === true ? everyContact : (options.limit ?? (output.json ? everyContact : contactsShown));
    const exitCode = exitCodeOfPlan(made, options.exitCode === true);
    const writeFile = async (): Promise<void> => {
      if (write !== null) output.note(`written to ${printable(await write(made, exitCode, values))}`);
    };
    if (output.json) {
      // Where the file cannot be written, the error is the one document on stdout.
      await writeFile();
      await output.longDocument(planDocument(made, { limit, values }, exitCode));
    } else {
      await output.lines(planLines(output, made, { limit, values }));
      await writeFile();
    }
    return exitCode;
  } catch (error) {
    bar.clear();
    const code = interrupt.exitCode();
    if (code === null) throw error;
    if (isMade) {
      output.note('interrupted; the plan was made, and is not shown whole');
      return code;
    }
    return reportInterrupted(output, 'interrupted; no plan was made, and nothing was written', code);
  } finally {
    interrupt.dispose();
    await home.close();
  }
}

/** @throws PatchbayError `usage` `planNothing` | `planBoth` | `planRunOptions`. */
function requireSense({ run, ...options }: PlanOptions, file: string | undefined): void {
  if (run !== undefined && file !== undefined) {
    throw new PatchbayError('usage', 'planBoth', 'a plan is of a file or of a stopped run, not of both', {
      hint: 'Leave out the file, or --run.',
    });
  }
  const { feed, mapping, delimiter, encoding, format, defaultCountry, onBlank } = options;
  const { adopt, createAnyway, createOnly, updateOnly, verify, repair, onGone } = options;
  const { maxChange, maxDead, accept, reason } = options;
  const ofReading = [feed, mapping, delimiter, encoding, format, defaultCountry, onBlank];
  const ofRows = [adopt, createAnyway, createOnly, updateOnly, verify, repair, onGone];
  const ofGuards = [maxChange, maxDead, accept, reason];
  if (run !== undefined && [...ofReading, ...ofRows, ...ofGuards].some((one) => one !== undefined)) {
    const message = 'the file of a stopped run has been read and judged already: how cannot be chosen any more';
    throw new PatchbayError('usage', 'planRunOptions', message, {
      hint: 'Give --run with --only, --limit, --full, --output or --exit-code alone; or plan the file: patchbay plan FILE',
    });
  }
  if (run === undefined && (file === undefined || file === '')) {
    throw new PatchbayError('usage', 'planNothing', 'no file was named', {
      hint: 'Name one: patchbay plan FILE. Or a stopped run: patchbay plan --run RUN',
    });
  }
}

interface Making {
  readonly patienceMs: number;
  readonly interrupt: Interrupt;
  readonly onProgress: (progress: PlanProgress) => void;
}

async function make(
  home: Home,
  output: Output,
  options: PlanOptions,
  file: string | undefined,
  { patienceMs, interrupt, onProgress }: Making,
): Promise<MadePlan> {
  const { signal } = interrupt;
  const waits = tellReadingWaits(home, output);
  const following: PlanFollowing = { signal, onProgress: untilShown(waits, onProgress), onWait: waitNote(output) };
  // They choose what is shown: a plan is made of the whole file. With --verify no other contact is read.
  const { only: shown, limit: _limit, ...reading } = options;
  const isVerify = options.verify === true;
  const runOptions = checkImportOptions({ ...reading, ...(isVerify && shown !== undefined ? { only: shown } : {}) });
  const run = options.run === undefined ? null : await findRun(home, options.run);
  const input = file === '-' ? await readStandardInput(home, options.format ?? null, signal) : null;
  const session = { patienceMs, signal, sameWorkspace: options.sameWorkspace === true };
  try {
    if (run !== null)
      return await withService(home, waits, session, (service) => planStoppedRun(service, run, following, shown));
    const { choice, newFeed } = await chooseTarget(home, options);
    if (newFeed !== null)
      output.note(
        `"${printable(choice.feed.name)}" would be a new feed (no configuration or folder found)${perhapsMeant(newFeed)}`,
      );
    const named = input ?? namedFile(file ?? '');
    return await withService(home, waits, session, (service) =>
      planFile(service, {
        file: named,
        isInput: input !== null,
        options: runOptions,
        choice,
        mappingNamed: options.mapping ?? null,
        only: isVerify ? null : (shown ?? null),
        ...following,
      }),
    );
  } finally {
    if (input !== null) await rm(input.path, { force: true });
  }
}

/** Reads may not show for some seconds what was written. */
export function waitNote(output: Output): (ms: number) => void {
  return (ms) =>
    output.note(`contacts of it were written a moment ago: waiting ${formatDuration(ms)} for what reads show then`);
}

/** @throws PatchbayError `file` `addressNotTaken`. */
function namedFile(file: string): NamedFile {
  requirePath(file, 'plan');
  const path = resolve(file);
  return { path, name: path.split(/[\\/]/).at(-1) ?? file };
}

/** A bar says more than that something is waited for. */
export function untilShown(
  waits: ReadingWaits,
  onProgress: (progress: PlanProgress) => void,
): (progress: PlanProgress) => void {
  return (progress) => {
    waits.end();
    onProgress(progress);
  };
}

/** Reads from the service while `work` goes on. */
export async function withService<Result>(
  home: Home,
  waits: ReadingWaits,
  options: Omit<ReadingOptions, 'onStage'>,
  work: (service: PlanService) => Promise<Result>,
): Promise<Result> {
  try {
    const session = await openReadingSession(home, { ...options, onStage: waits.begin });
    try {
      waits.begin('workspace');
      return await work(await planParts(home, session.workspace));
    } finally {
      waits.end();
      await session.close();
    }
  } finally {
    waits.end();
  }
}

/** @throws PatchbayError `usage`: `outputUnknown` where the ending says nothing; `outputNotWritten` where it cannot be written. */
async function planWriter(file: string) {
  const path = resolve(file);
  const ending = extname(path).toLowerCase();
  const contents: Readonly<
    Record<string, (made: MadePlan, exitCode: number, values: boolean) => AsyncIterable<string>>
  > = {
    '.html': (made, _, values) => planHtml(planView(made, { limit: htmlListMax, values })),
    '.md': (made, _, values) => planMarkdown(planView(made, { limit: everyContact, values })),
    '.json': (made, exitCode, values) =>
      jsonPieces(planDocument(made, { limit: everyContact, values }, exitCode), printableJson, '\n'),
  };
  const content = contents[ending];
  if (content === undefined) {
    throw new PatchbayError('usage', 'outputUnknown', `--output ${file} names no kind of file`, {
      hint: 'End it with .html, .md or .json.',
    });
  }
  await requireWritable(path);
  return async (made: MadePlan, exitCode: number, values: boolean): Promise<string> => {
    await writeAsAsked(path, () => writeWholeFile(path, content(made, exitCode, values)));
    return path;
  };
}

/** A bar on a terminal, and nothing elsewhere. */
export function createBar({ quiet, json }: Output): {
  update(progress: PlanProgress): void;
  clear(): void;
} {
  if (quiet || json || process.stderr.isTTY !== true) return { update: () => undefined, clear: () => undefined };
  let bar: SingleBar | null = null;
  return {
    update: ({ done, total }) => {
      if (bar === null) {
        const format = 'comparing with the service {bar} {value}/{total} contacts';
        bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true, hideCursor: true, barsize: 30 });
        bar.start(total, 0);
      }
      bar.setTotal(Math.max(total, done));
      bar.update(done);
    },
    clear: () => {
      bar?.stop();
      bar = null;
    },
  };
}

/** Few enough to be looked up while a person waits: a hundred requests. */
const plannedAtOnceMax = 2_000;
/** Contacts of each group, beside all that is said of the run. */
const contactsWithRunShown = 10;

/**
 * What a run that a guard has stopped would write, for `runs show` and before an approval: makes a plan of it now, and keeps it; null
 * where the run is too large for that while a person waits.
 * @throws PatchbayError as `planStoppedRun`.
 */
export async function planNow(
  home: Home,
  output: Output,
  run: RunRecord,
  patienceMs: number,
): Promise<MadePlan | null> {
  if (pendingCount(run.counts) > plannedAtOnceMax) return null;
  const interrupt = listenForInterrupt(() => undefined);
  try {
    const { signal } = interrupt;
    const waits = tellReadingWaits(home, output);
    const onProgress = untilShown(waits, () => undefined);
    return await withService(home, waits, { patienceMs, signal, sameWorkspace: false }, (service) =>
      planStoppedRun(service, run, { signal, onProgress, onWait: waitNote(output) }),
    );
  } finally {
    interrupt.dispose();
  }
}

/** Why the run stopped is said with the run. */
export function presentStoppedPlan(output: Output, made: MadePlan): Promise<string> {
  const plan = { ...made.plan, stop: null };
  return presentPlan(output, { ...made, plan }, { limit: contactsWithRunShown, values: output.values });
}
