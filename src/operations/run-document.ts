/** The JSON of a run, as `import --json` and the lists have it (`docs/contract.md`). */
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { fieldWithoutValue } from '#src/journal/changes.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import type { ProblemLine, RunSummary } from '#src/runs/report.ts';
import { againHint, type RunDetail, type RunHome } from './runs.ts';

type RunDocument = RunSummary & {
  readonly problems: readonly ProblemLine[];
  readonly error?: NonNullable<RunDetail['reason']>;
  /** What the running engine that it was handed to follows otherwise; absent where that is nothing. */
  readonly notes?: readonly string[];
};

/** As a member of a document. */
export function notesIn(notes: readonly string[]): Pick<RunDocument, 'notes'> {
  return notes.length === 0 ? {} : { notes };
}

/** `import --json` (`docs/contract.md`); with `values: false` without cells. */
export function runDocument(
  { summary, problems, reason }: Pick<RunDetail, 'summary' | 'problems' | 'reason'>,
  values: boolean,
  notes: readonly string[] = [],
): RunDocument {
  const shown = values
    ? problems
    : problems.map((problem) => ({ ...problem, value: null, hint: withoutQuotedCells(problem.hint) }));
  const document = { ...summary, problems: shown, ...notesIn(notes) };
  if (reason === null) return document;
  const { code, message, hint } = reason;
  return { ...document, ...{ error: { code, message, hint } } };
}

/** A run that `--detach` leaves to the running engine, or the next one (`docs/contract.md`, "--detach --json"). */
export function detachedDocument(
  { serviceName }: Pick<RunHome, 'serviceName'>,
  run: RunRecord,
  notes: readonly string[] = [],
): object {
  const { id, feed, fileName, state } = run;
  return { run: id, feed, file: fileName, service: serviceName, state, ...notesIn(notes), exitCode: exitCodes.done };
}

/** What is left of a run that is cut off. While its file is read, no figure is known. */
export function leftOf({ state, pending }: Pick<RunSummary, 'state' | 'pending'>): string {
  const isRead = state !== 'queued' && state !== 'staging';
  return isRead ? `with ${pending === 1 ? '1 row' : `${pending} rows`} to go` : 'before its file was read to the end';
}

/** `import --json` of a run that a signal cut off. Its state is `stopped`, as of all that ended early; a problem of no line tells it from a guard's stop. */
export function interruptedDocument(summary: RunSummary, exitCode: number): RunDocument {
  const [code, hint] = ['interrupted', againHint];
  const problem = { line: 0, code, field: null, value: null, hint };
  return {
    ...summary,
    state: 'stopped',
    exitCode,
    problems: [problem],
    error: { code, message: `interrupted ${leftOf(summary)}`, hint },
  };
}

/** `import --json` with the outcomes, as the report has it. */
export function wholeRunDocument(
  detail: Pick<RunDetail, 'summary' | 'problems' | 'reason' | 'outcomes'>,
  values: boolean,
): object {
  return {
    ...runDocument(detail, values),
    outcomes: detail.outcomes.map((event) => (values ? event : withoutValues(event))),
  };
}

/** For `--no-values`: no key, no cell, and no address or number that names an item. */
export function withoutValues(event: RunEvent): RunEvent {
  const { fields, file: _file, app: _app, contact, ...rest } = event;
  return {
    ...rest,
    key: null,
    field: event.field === null ? null : fieldWithoutValue(event.field),
    ...(event.value === undefined ? {} : { value: null }),
    ...(event.hint === undefined ? {} : { hint: withoutQuotedCells(event.hint) }),
    ...(fields === undefined ? {} : { fields: fields.map(fieldWithoutValue) }),
    // There it is another key, not the id of a contact.
    ...(contact === undefined || event.code === 'matchKey' || event.code === 'samePhone' ? {} : { contact }),
    // In reports of an older version this message names the field, and with it perhaps an address or a number.
    message:
      event.code === 'replyDiffers' && event.field === null ? 'a field came back in another form' : event.message,
  };
}
