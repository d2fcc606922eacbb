/** What the ports of a worker see of the world: what is shared, how to touch it, and the workers themselves. */
import type { UpsertParts } from '#src/upsert/chunk.ts';
import type { KeyEvent } from '../commands/chronicle.ts';
import type { DepartureKind } from './departure.ts';
import type { MemoryLedger } from './ledger-in-memory.ts';
import type { ModelService } from './model-service.ts';
import type { Time } from './model-time.ts';
import type { Scenario } from './scenario.ts';
import type { ViolationKind } from './violation.ts';

/**
 * `read`: a crash before it is no other than a crash after the effect before. `ledgerWrite`: a transaction that may fail.
 * `send`, `answer`: the two halves of a write to the service.
 */
export type EffectKind = 'read' | 'ledgerWrite' | 'send' | 'answer';

/** An effect that waits for its turn. */
export interface Parked {
  readonly name: () => string;
  readonly kind: EffectKind;
  readonly run: () => Promise<void>;
  readonly fail: (error: Error) => void;
}

export interface Worker {
  /** Which of the two it is; a process that replaces a dead one has its slot. */
  readonly slot: number;
  /** `w1.3`: in slot 1, the third process of the schedule. */
  readonly name: string;
  /** Made when it takes its first batch: many schedules need one worker only. */
  readonly parts: () => UpsertParts;
  readonly parked: Parked[];
  /** Batches with their generations that it has taken. */
  readonly taken: Set<string>;
  isAlive: boolean;
  /** Asks it to end its batch early. */
  stop: AbortController;
  /** The batch at work. */
  job: string | null;
  restUntilMs: number;
}

/** A write on its way, from its last check until its answer is taken. */
export interface Flight {
  readonly worker: Worker;
  readonly key: string;
  readonly sentAtMs: number;
}

export interface Stage {
  readonly scenario: Scenario;
  readonly ledger: MemoryLedger;
  readonly service: ModelService;
  readonly time: Time;
  readonly flights: Set<Flight>;
  /** What happened to each key, as it is seen at the wire. */
  readonly events: Map<string, readonly KeyEvent[]>;
  /** Writes of a key that ended in doubt: for what may be said of them at the end. */
  readonly doubts: Map<string, number>;
  /** The number of the newest write of each key. */
  readonly lastWrites: Map<string, number>;
  /** So many writes were sent to the service. */
  writeCount: number;
  /** A transaction of the ledger failed: a lease may then be left to its end. */
  ledgerFailed: boolean;
  /** Does the work when it is its turn; never, for a worker that died. */
  effect<Result>(
    worker: Worker,
    kind: EffectKind,
    name: () => string,
    work: () => Result | Promise<Result>,
  ): Promise<Result>;
  /** Which of these happens to a request, by the schedule; null is the plain course. */
  chooseFate<Kind extends DepartureKind>(kinds: readonly Kind[]): Kind | null;
  violate(kind: ViolationKind, message: string): void;
}
