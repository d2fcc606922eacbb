/**
 * One-shot commands: enter runs, see to it that an engine works on them (`work-session.ts`), follow them, and print what became of
 * each.
 */
import { SingleBar } from 'cli-progress';
import type { Home } from '#src/app.ts';
import { type AuditEnd, followAudit } from '#src/audits/follow-audit.ts';
import { parseDuration } from '#src/config/forms.ts';
import { PatchbayError } from '#src/errors.ts';
import { activeRunStates, isFinal, pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import { unlessAway, waitOut } from '#src/ledger/wait-out.ts';
import { firstAuditOf, readAuditEnd, runAuditOf } from '#src/operations/audits.ts';
import type { ErrorDocument } from '#src/operations/error-document.ts';
import { interruptedDocument, leftOf, readRunEnd, runDocument, viewRun } from '#src/operations/runs.ts';
import { worstExitCode } from '#src/runs/exit-code.ts';
import { type FollowEnd, followRun } from '#src/runs/follow-run.ts';
import { errorLines } from './exit.ts';
import { finishingText, listenForInterrupt, reportInterrupted } from './interrupt.ts';
import { type Output, printable } from './output.ts';
import { auditLines } from './present-audit.ts';
import { presentRun, progressLine } from './present-run.ts';
import { beginWork, type Enter, type WorkOptions, type WorkSession } from './work-session.ts';

/** Enters the runs of a command, which are followed. @param isEngine whether this process is the engine: no other works on its data folder then. */
export type Submit = Enter<readonly RunRecord[]>;

interface OneShotOptions extends WorkOptions {
  readonly onProgress: (run: RunRecord) => void;
  readonly onEnd: (end: FollowEnd) => void;
  /** Waits for the first audit of each run, too. */
  readonly audit: boolean;
}

interface OneShotEnd {
  readonly end: FollowEnd;
  /** Null where it was not waited for, or the run has not ended. */
  readonly audit: AuditEnd | null;
}

const defaultPatienceMs = 600_000;
/** For runs of other commands, once its own have ended: the next engine continues them. */
const othersPatienceMs = 60_000;

/** `--wait`, or ten minutes. @throws PatchbayError `usage` `waitInvalid`. */
export function patienceOf(wait: string | undefined): number {
  if (wait === undefined) return defaultPatienceMs;
  const patienceMs = parseDuration(wait);
  if (patienceMs !== null) return patienceMs;
  throw new PatchbayError('usage', 'waitInvalid', `--wait ${wait} is not a duration`, {
    hint: 'Write it as 30s, 10m or 1h.',
  });
}

/**
 * Enters runs with `submit` and follows each until it rests. An audit that is not waited for does not keep the engine alive:
 * the next one carries it out.
 * @throws PatchbayError what the engine's start and `submit` throw; after Ctrl-C `NothingEntered` or `AbortError`.
 */
async function workUntilRest(home: Home, options: OneShotOptions, submit: Submit): Promise<readonly OneShotEnd[]> {
  const { interrupt, onProgress, onEnd } = options;
  const { session, entered } = await beginWork(home, options, submit);
  try {
    const ends: FollowEnd[] = [];
    for (const run of entered) {
      const end = await session.follow((following) => followRun({ ...following, runId: run.id, onProgress }));
      onEnd(end);
      ends.push(end);
    }
    const audited: OneShotEnd[] = [];
    for (const end of ends)
      audited.push({ end, audit: options.audit ? await firstAudit(home, options, session, end) : null });
    if (session.isEngine() && ends.every((end) => end.kind === 'rest')) await restOfAll(home, options);
    interrupt.signal.throwIfAborted();
    return audited;
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
interface OneShotCommand {
  readonly output: Output;
  readonly patienceMs: number;
  readonly sameWorkspace: boolean;
  /** `--audit`: waits for the first audit of each run. */
  readonly audit?: boolean;
  /** Files that could not be entered; filled by `submit`. */
  readonly refused: readonly ErrorDocument[];
}

export async function finishOneShot(home: Home, command: OneShotCommand, submit: Submit): Promise<number> {
  const { output } = command;
  const progress = createProgress(output);
  /** As they were seen last. */
  const followed = new Map<string, RunRecord>();
  const interrupt = listenForInterrupt(() => {
    progress.clear();
    output.note(finishingText);
  });
  try {
    const ends = await workUntilRest(
      home,
      {
        sameWorkspace: command.sameWorkspace,
        patienceMs: command.patienceMs,
        interrupt,
        note: (text) => {
          progress.clear();
          output.note(text);
        },
        onProgress: (run) => {
          followed.set(run.id, run);
          progress.update(run);
        },
        onEnd: progress.clear,
        audit: command.audit === true,
      },
      async (isEngine) => {
        const entered = await submit(isEngine);
        for (const run of entered) followed.set(run.id, run);
        return entered;
      },
    );
    const patience = { clock: home.clock, patienceMs: command.patienceMs };
    const codes = await printEnds(home, command, ends, (read) => waitOut(patience, read));
    for (const document of command.refused) printRefused(output, document);
    return worstExitCode([...codes, ...command.refused.map((document) => document.exitCode)]);
  } catch (error) {
    progress.clear();
    const code = interrupt.exitCode();
    if (code === null) throw error;
    await printInterrupted(home, output, [...followed.values()], code);
    return code;
  } finally {
    interrupt.dispose();
  }
}

async function printEnds(
  home: Home,
  { output, audit: isAudited }: OneShotCommand,
  ends: readonly OneShotEnd[],
  patiently: <Answer>(read: () => Promise<Answer>) => Promise<Answer>,
): Promise<number[]> {
  const codes: number[] = [];
  for (const { end, audit } of ends) {
    const detail = await patiently(() => readRunEnd(home, end));
    const result = audit === null ? null : await patiently(() => readAuditEnd(home, audit, output.values));
    const exitCode = worstExitCode([detail.summary.exitCode, result?.exitCode ?? 0]);
    if (output.json) {
      const document = { ...runDocument(detail, output.values), exitCode };
      const found = result === null ? null : runAuditOf(result);
      const error = result === null || result.reason === null ? {} : { error: result.reason };
      output.document(isAudited === true ? { ...document, audit: found, ...error } : document);
    } else {
      output.line(presentRun(output, detail));
      for (const line of result === null ? [] : auditLines(output, result.document)) output.line(line);
      if (result !== null && result.reason !== null) output.line(output.paste(`  ${printable(result.reason.hint)}`));
    }
    codes.push(exitCode);
  }
  return codes;
}

/** Why a file could not be entered. */
export function printRefused(output: Output, document: ErrorDocument): void {
  if (output.json) output.document(document);
  else process.stderr.write(`${errorLines(document)}\n`);
}

/** The ledger holds all that is left: the same command continues it. While it is away, what was seen last is said. */
async function printInterrupted(
  home: Home,
  output: Output,
  runs: readonly RunRecord[],
  exitCode: number,
): Promise<void> {
  for (const seen of runs) {
    const run = await unlessAway(() => home.ledger.runs.get(seen.id), seen);
    if (run === null) continue;
    const { summary } = viewRun(home, run);
    const ended = isFinal(run.state);
    const file = printable(summary.file);
    if (output.json)
      output.document(ended ? { ...summary, exitCode, problems: [] } : interruptedDocument(summary, exitCode));
    else if (ended) output.note(`${file}: done; the next engine does the rest of the audit`);
    else output.note(`${file}: interrupted ${leftOf(summary)}; run the same command again to continue`);
  }
  if (runs.length === 0) reportInterrupted(output, 'interrupted before a run began', exitCode);
}

/** Progress: a bar on a terminal, a plain line every few seconds elsewhere, nothing where quiet. */
export interface Progress {
  update(run: RunRecord): void;
  /** Takes the bar away, so that other lines can be written. */
  clear(): void;
}

const plainEveryMs = 5_000;

export function createProgress(output: Output): Progress {
  if (output.quiet) return { update: () => undefined, clear: () => undefined };
  return process.stderr.isTTY === true ? barProgress() : plainProgress(output);
}

function barProgress(): Progress {
  let bar: SingleBar | null = null;
  return {
    update: (run) => {
      if (run.counts.rows === 0) return;
      if (bar === null) {
        bar = new SingleBar({
          format: '{file} {bar} {value}/{total} rows  {phase}',
          stream: process.stderr,
          clearOnComplete: true,
          hideCursor: true,
          barsize: 30,
        });
        bar.start(run.counts.rows, 0, { file: printable(run.fileName), phase: run.state });
      }
      bar.setTotal(run.counts.rows);
      bar.update(run.counts.rows - pendingCount(run.counts), { file: printable(run.fileName), phase: run.state });
    },
    clear: () => {
      bar?.stop();
      bar = null;
    },
  };
}

function plainProgress(output: Output): Progress {
  let saidAtMs = performance.now();
  let said = '';
  return {
    update: (run) => {
      const line = progressLine(run);
      if (line === said || performance.now() - saidAtMs < plainEveryMs) return;
      saidAtMs = performance.now();
      said = line;
      output.note(line);
    },
    clear: () => undefined,
  };
}
