/** A dead letter in the shape of `dead ls --json` (`contract.md`). Pure. */
import { isoInstant } from '#src/clock.ts';
import type { DeadLetter, DeadLetterState } from '#src/ledger/dead-letter.ts';

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
  /** How often it was tried again. */
  readonly attempts: number;
  /** How many runs met it. */
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
