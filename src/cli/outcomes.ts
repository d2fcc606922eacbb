/**
 * What a command prints of the runs that it follows, and of files that have none: one line, or one JSON document, for each
 * (`docs/contract.md`, "import --json").
 *
 * Invariant: a run is printed once, as soon as it rests or is followed no longer, and a command that is cut off prints the others: what comes
 * later takes no outcome away.
 */
import type { Home } from '#src/app.ts';
import type { AuditEnd, FollowEnd } from '#src/ledger/follow.ts';
import { isFinal, type RunRecord } from '#src/ledger/runs.ts';
import { type AuditResult, firstAuditOf, readAuditEnd, runAuditOf } from '#src/operations/audits.ts';
import type { ErrorDocument } from '#src/operations/error-document.ts';
import type { Patiently } from '#src/operations/import.ts';
import { interruptedDocument, leftOf, notesIn, runDocument } from '#src/operations/run-document.ts';
import { type RunDetail, readRun, readRunEnd, viewRun } from '#src/operations/runs.ts';
import { worstExitCode } from '#src/runs/exit-code.ts';
import { errorLines } from './exit.ts';
import { withNotesOf } from './handed-over.ts';
import { type Output, printable } from './output.ts';
import { auditLines } from './present-audit.ts';
import { presentRun } from './present-run.ts';

export interface OutcomesOptions {
  readonly output: Output;
  /** `--audit`: the first audit of each run belongs to its outcome. */
  readonly audit?: boolean;
  /** Files that could not be entered; filled while the others are. They are printed last. */
  readonly refused: readonly ErrorDocument[];
}

/** What ended a command before its runs had ended. */
interface CutOff {
  readonly exitCode: number;
  /** Null: a signal. */
  readonly error: ErrorDocument['error'] | null;
}

export interface Outcomes {
  /** A run of the command, as it is now. */
  see(run: RunRecord): void;
  /** What was said of a run when it was handed over to a running engine. */
  noteOf(run: RunRecord, notes: readonly string[]): void;
  /** Prints a run that is followed no longer. @throws what `patiently` throws; then it is not printed. */
  end(end: FollowEnd, audit: AuditEnd | null, patiently: Patiently): Promise<void>;
  /** Prints the files that could not be entered. */
  refused(): void;
  /**
   * Prints all that was not printed: runs at rest as they are, the others as cut off. A ledger that does not answer is not waited for: then
   * they are as they were seen last. Never rejects.
   * @returns how many runs, or audits that belong to them, it cut off.
   */
  cutOff(cut: CutOff): Promise<number>;
  /** The same at once, for a process that leaves: all of it as it was seen last. */
  leave(cut: CutOff): void;
  /** The worst of all that was printed. */
  exitCode(): number;
}

export function startOutcomes(home: Home, { output, audit: isAudited = false, refused }: OutcomesOptions): Outcomes {
  /** Runs that are to be printed, in the order of their entry, as they were seen last. */
  const open = new Map<string, RunRecord>();
  const ended = new Set<string>();
  const noted = new Map<string, readonly string[]>();
  const codes: number[] = [];
  let refusedCount = 0;

  const printed = ({ id }: RunRecord, exitCode: number): void => {
    open.delete(id);
    ended.add(id);
    codes.push(exitCode);
  };

  const printEnd = (detail: RunDetail, result: AuditResult | null, cut: ErrorDocument | null): void => {
    const exitCode = worstExitCode([detail.summary.exitCode, result?.exitCode ?? 0, cut?.exitCode ?? 0]);
    const notes = noted.get(detail.record.id) ?? [];
    if (output.json) {
      const document = { ...runDocument(detail, output.values, notes), exitCode };
      const reason = result?.reason ?? (detail.reason === null ? cut?.error : null) ?? null;
      const error = reason === null ? {} : { error: reason };
      output.document(
        isAudited ? { ...document, audit: result === null ? null : runAuditOf(result), ...error } : document,
      );
    } else {
      output.line(presentRun(output, withNotesOf(output, detail, notes)));
      for (const line of result === null ? [] : auditLines(output, result.document)) output.line(line);
      const hint = result?.reason?.hint ?? cut?.error.hint ?? null;
      if (hint !== null) output.line(output.paste(`  ${printable(hint)}`));
    }
    printed(detail.record, exitCode);
  };

  const printCutOff = (detail: RunDetail, { exitCode, error }: CutOff): void => {
    const { summary } = detail;
    const notes = noted.get(detail.record.id) ?? [];
    if (output.json) {
      const stopped = { ...summary, state: 'stopped', exitCode };
      output.document(
        error === null
          ? { ...interruptedDocument(summary, exitCode), ...notesIn(notes) }
          : runDocument({ ...detail, summary: stopped, reason: error }, output.values, notes),
      );
    } else {
      const how = error === null ? '; run the same command again to continue' : '';
      output.note(`${printable(summary.file)}: interrupted ${leftOf(summary)}${how}`);
    }
    printed(detail.record, exitCode);
  };

  const printRefusedFiles = (): void => {
    for (; refusedCount < refused.length; refusedCount += 1) {
      const document = refused[refusedCount];
      if (document === undefined) continue;
      printRefused(output, document);
      codes.push(document.exitCode);
    }
  };

  return {
    see: (run) => {
      if (!ended.has(run.id)) open.set(run.id, run);
    },
    noteOf: ({ id }, notes) => {
      noted.set(id, notes);
    },
    end: async (end, audit, patiently) => {
      const detail = await patiently(() => readRunEnd(home, end));
      const result = audit === null ? null : await patiently(() => readAuditEnd(home, audit, output.values));
      printEnd(detail, result, null);
    },
    refused: printRefusedFiles,
    cutOff: async (cut) => {
      let cutCount = 0;
      const answered = whileItAnswers();
      for (const seen of [...open.values()]) {
        const run = (await answered(() => home.ledger.runs.get(seen.id), seen)) ?? seen;
        const detail = await answered(() => readRun(home, run), detailOf(home, run));
        if (!isAtRest(run)) {
          printCutOff(detail, cut);
          cutCount += 1;
          continue;
        }
        const isWaitedFor = isAudited && isFinal(run.state);
        // Undefined: not known.
        const audit = isWaitedFor ? await answered(() => firstAuditOf(home, run.id), undefined) : null;
        const result =
          audit?.state === 'done'
            ? await answered(() => readAuditEnd(home, { kind: 'done', audit }, output.values), null)
            : null;
        const isAuditCut = audit !== null && result === null;
        printEnd(detail, result, isAuditCut ? auditCutOff(run, cut) : null);
        cutCount += isAuditCut ? 1 : 0;
      }
      printRefusedFiles();
      return cutCount;
    },
    leave: (cut) => {
      for (const run of [...open.values()]) {
        if (isAtRest(run))
          printEnd(detailOf(home, run), null, isAudited && isFinal(run.state) ? auditCutOff(run, cut) : null);
        else printCutOff(detailOf(home, run), cut);
      }
      printRefusedFiles();
    },
    exitCode: () => worstExitCode(codes),
  };
}

/** Why a file could not be entered. */
export function printRefused(output: Output, document: ErrorDocument): void {
  if (output.json) output.document(document);
  else process.stderr.write(`${errorLines(document)}\n`);
}

function isAtRest({ state }: RunRecord): boolean {
  return isFinal(state) || state === 'stopped';
}

/** The run has ended, and the audit that belongs to its outcome has not. */
function auditCutOff({ id }: RunRecord, { exitCode, error }: CutOff): ErrorDocument {
  const hint = `The next engine continues the audit, and so does: patchbay audit ${id}`;
  const { code, message } = error ?? { code: 'interrupted', message: 'interrupted before its audit had ended' };
  return { error: { code, message, hint }, exitCode };
}

/** What the record alone shows, without report and ledger. */
function detailOf(home: Home, run: RunRecord): RunDetail {
  return {
    ...viewRun(home, run),
    ...{ problems: [], outcomes: [], held: [], matches: [], problemCount: 0, rejectedRowsUnread: 0 },
    ...{ problemsKnown: 'gone', notes: run.notes, reason: run.reason },
    ...{ hasReport: false, isReportCut: false, isFixFileGone: false, failedFile: null, isInterrupted: false },
  };
}

/** Reads until one fails: from then on what is known must do, since each read may take its time to fail. */
function whileItAnswers(): <Answer, Known>(read: () => Promise<Answer>, known: Known) => Promise<Answer | Known> {
  let isAway = false;
  return async (read, known) => {
    if (isAway) return known;
    try {
      return await read();
    } catch {
      isAway = true;
      return known;
    }
  };
}
