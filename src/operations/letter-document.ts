/** Dead letters as JSON (`docs/contract.md`), with what people wrote in them or without. */
import { isoInstant } from '#src/clock.ts';
import { distinctProblems } from '#src/contacts/outcome.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import type { DeadLetter, DeadLetterState } from '#src/ledger/letters.ts';
import type { ServiceAnswer } from '#src/ledger/staging.ts';
import { recordOf } from '#src/sources/row.ts';

/** A letter in the shape of `dead ls --json` (`docs/contract.md`). */
export interface LetterDocument {
  readonly id: string;
  readonly run: string;
  readonly feed: string;
  readonly file: string;
  readonly line: number;
  /** Only where several records share the line, as in JSON without line breaks. */
  readonly record?: number;
  readonly key: string | null;
  readonly class: string;
  readonly code: string;
  readonly field: string | null;
  readonly message: string;
  /** Retries. */
  readonly attempts: number;
  /** Runs in which the row was rejected. */
  readonly seen: number;
  readonly state: DeadLetterState;
  readonly firstAt: string;
  readonly lastAt: string;
}

export function letterDocument(letter: DeadLetter): LetterDocument {
  const { id, feed, file, line, key, class: reasonClass, code, field, message, attempts, state } = letter;
  return {
    id,
    run: letter.runId,
    feed,
    file,
    line,
    ...recordOf(letter.row),
    key,
    class: reasonClass,
    code,
    field,
    message,
    attempts,
    seen: letter.seenCount,
    state,
    firstAt: isoInstant(letter.firstAtMs),
    lastAt: isoInstant(letter.lastAtMs),
  };
}

/** For `--no-values`: without the key and the service's words, which may repeat what it was sent. */
export function letterWithoutValues(letter: DeadLetter): LetterDocument {
  const document = letterDocument(letter);
  const { answer, code } = letter;
  return {
    ...document,
    key: null,
    message: answer === null ? document.message : `the service's answer led to ${code}`,
  };
}

/** The service's answer, without its words. */
function answerWithoutValues({ answer }: DeadLetter): ServiceAnswer | null {
  return answer === null ? null : { ...answer, title: null, message: null };
}

/** `dead show --json`: the letter with its hint, the answer of the service, its cells and what they were mapped to. */
export function letterDetailDocument(letter: DeadLetter, values: boolean) {
  return {
    ...(values ? letterDocument(letter) : letterWithoutValues(letter)),
    hint: values ? letter.hint : withoutQuotedCells(letter.hint),
    problems: distinctProblems(letter.problems.map((problem) => problemDocument(letter, problem, values))),
    answer: values ? letter.answer : answerWithoutValues(letter),
    cells: values ? cellsOf(letter) : {},
    mapped: values ? letter.desired : null,
  };
}

/** The service's words may repeat what it was sent. */
function problemDocument(
  { answer }: DeadLetter,
  { field, code, value, message, hint }: DeadLetter['problems'][number],
  values: boolean,
) {
  if (values) return { field, code, value, message, hint };
  const told = answer === null ? message : `the service's answer led to ${code}`;
  return { field, code, value: null, message: told, hint: withoutQuotedCells(hint) };
}

/** By column; a cell without a column is called `cell 7`. */
function cellsOf({ row }: DeadLetter): Readonly<Record<string, string>> {
  if (row === null) return {};
  const entries: [string, string][] =
    row.kind === 'cells'
      ? row.cells.map((cell, index) => [row.columns[index] ?? `cell ${index + 1}`, cell])
      : Object.entries(row.object).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]);
  return Object.fromEntries(entries);
}
