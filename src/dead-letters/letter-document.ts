/** A dead letter in the shape of `dead ls --json` (`contract.md`). Pure. */
import { isoInstant } from '#src/clock.ts';
import type { DeadLetter, DeadLetterState } from '#src/ledger/letters.ts';
import type { ServiceAnswer } from '#src/ledger/staging.ts';

export interface LetterDocument {
  readonly id: string;
  readonly run: string;
  readonly feed: string;
  readonly file: string;
  readonly line: number;
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
export function answerWithoutValues({ answer }: DeadLetter): ServiceAnswer | null {
  return answer === null ? null : { ...answer, title: null, message: null };
}
