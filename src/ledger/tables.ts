/**
 * What a database has to provide for the ledger: its tables, in four groups, and transactions.
 *
 * Tables are thin: they read and write rows, many at once, and decide nothing. What a row's change means is decided by the pure
 * rules in `rules/`; the subjects of the ledger (`runs.ts`, `contacts.ts`, `letters.ts`…) read rows, ask a rule, and write what it
 * says, in one transaction, and are the same over every database.
 */
import type { DeskTables } from './tables/desk.ts';
import type { KeyTables } from './tables/keys.ts';
import type { LetterTables } from './tables/letters.ts';
import type { RunTables } from './tables/runs.ts';

export type * from './tables/desk.ts';
export type { KeyTables, LetterTables, RunTables };

export interface Tables {
  readonly runs: RunTables;
  readonly keys: KeyTables;
  readonly letters: LetterTables;
  /** Schedules, ticks, snapshots, takes, deliveries, audits, presence. */
  readonly desk: DeskTables;
}

/** `durable`: synced to disk before the transaction returns; it survives a power cut. */
export type Durability = 'durable' | 'quick';

export interface Store {
  /** Reads outside a transaction: each sees what was committed when it was asked for. A write throws. */
  readonly reads: Tables;
  /**
   * Runs the closure as one transaction, one writer at a time; a throw rolls back and passes through. The closure awaits nothing
   * but the tables it is given, and takes less than 50 ms: what runs over many rows goes in slices.
   */
  transact<Result>(work: (tables: Tables) => Promise<Result>, durability?: Durability): Promise<Result>;
}
