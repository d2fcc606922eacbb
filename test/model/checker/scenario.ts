/**
 * A scenario: what is in ledger and service at the beginning, what may happen besides the two workers, and what must be
 * true at the end, whatever the schedule.
 */

import type { Contact } from '#src/wire/contact.ts';
import type { Fields, ModelService } from './model-service.ts';
import type { Tables } from './tables.ts';

/** Something that others do, at any moment of a schedule or never. */
export interface OutsideEvent {
  readonly words: string;
  /** Answers false where there is nothing to do it to. */
  readonly happen: (service: ModelService) => boolean;
}

export interface KeyPromise {
  readonly key: string;
  /** What the newest run says of the key: it stands at the end. Null where nothing may be written (a conflict). */
  readonly newest: Fields | null;
  /** How many contacts of the key others may have made. */
  readonly madeByOthers: number;
  /** Whether it was bound at the beginning: then no run creates it. */
  readonly known: boolean;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** The service refuses a second contact of a key with 409. Else it really makes one. */
  readonly unique: boolean;
  /** Each batch is delivered to both workers, as a queue does that redelivers. Else to one at a time. */
  readonly redelivered: boolean;
  /** A dead worker's leases are seen to be dead, since it ran on the same machine. Else they last until their end. */
  readonly sameHost: boolean;
  /** So many writes at the beginning are lost without a trace, and no other write succeeds. */
  readonly outageWrites: number;
  readonly events: readonly OutsideEvent[];
  readonly keys: readonly KeyPromise[];
  /** Codes of dead letters that are right here. */
  readonly mayDie: readonly string[];
  readonly tables: Tables;
  /** There at the beginning, and seen in lists. */
  readonly contacts: readonly Contact[];
}
