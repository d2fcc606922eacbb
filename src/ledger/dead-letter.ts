/** A dead letter: a row given up, with its reason (`rules.md`, "Dead letters"). One per feed, key and code. */
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { DeadClass } from '#src/contacts/outcome.ts';
import type { Row } from '#src/sources/row.ts';
import type { ServiceAnswer } from './staged-record.ts';

export type DeadLetterState = 'open' | 'redriven' | 'closed' | 'dropped';

export interface DeadLetter {
  readonly id: string;
  readonly runId: string;
  readonly feed: string;
  readonly file: string;
  readonly line: number;
  readonly key: string | null;
  readonly class: DeadClass;
  readonly code: string;
  readonly field: string | null;
  readonly message: string;
  readonly hint: string;
  readonly row: Row | null;
  readonly desired: DesiredContact | null;
  readonly answer: ServiceAnswer | null;
  /** How often it was tried again. */
  readonly attempts: number;
  /** How many runs met it. */
  readonly seenCount: number;
  readonly state: DeadLetterState;
  /** The run that tries it again, while state is `redriven`. */
  readonly redriveRunId: string | null;
  /** Sequence of the run that met it last. */
  readonly sequence: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** All letters that fit what is there. */
export interface LetterChoice {
  readonly ids?: readonly string[];
  readonly code?: string;
  /** The run that met it last. */
  readonly runId?: string;
}

export interface DeadLetterFilter extends LetterChoice {
  readonly states?: readonly DeadLetterState[];
  /** At most so many, newest first. */
  readonly limit: number;
}
