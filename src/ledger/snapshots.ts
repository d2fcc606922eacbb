/**
 * Snapshots of the phone numbers and what changed between two (`docs/rules.md`, "Snapshots").
 *
 * A *series* is what is compared with each other: the whole workspace, or one user's numbers. History holds a version
 * of each number once, however many snapshots show it: a snapshot that shows nothing new costs a reference.
 */
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import type { NewDelivery } from './deliveries.ts';

/** The series of the whole workspace; that of a user is the user's id. */
export const workspaceSeries = 'workspace';

export interface SnapshotRecord {
  readonly series: string;
  /** Its name: the instant when its walk ended. Unique within its series. */
  readonly takenAtMs: number;
  readonly count: number;
  readonly pages: number;
  /** Whether its numbers differ from the snapshot before; the first one does. */
  readonly changed: boolean;
  readonly added: number;
  readonly removed: number;
  readonly changedNumbers: number;
  /** The instant of the snapshot whose file shows the same numbers; its own where it changed. */
  readonly contentOfMs: number;
}

export type FieldChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** What one number did between two snapshots. `updatedAt` alone is no change. */
export type NumberChange =
  | { readonly kind: 'added' | 'removed'; readonly number: PhoneNumber }
  | {
      readonly kind: 'changed';
      readonly before: PhoneNumber;
      readonly after: PhoneNumber;
      readonly changes: FieldChanges;
    };

/** The part of the ledger that holds snapshots of the phone numbers. */
export interface NewSnapshot {
  readonly record: SnapshotRecord;
  /** All of them, unique by id, in the service's order. */
  readonly numbers: readonly PhoneNumber[];
  /** The notices of it; entered in the same transaction. */
  readonly deliveries: readonly NewDelivery[];
}

/** One version of a number and the snapshots that show it: from the first to the last, both included. */
export interface NumberVersion {
  readonly number: PhoneNumber;
  readonly fromMs: number;
  /** Null: the newest snapshot shows it. */
  readonly untilMs: number | null;
}

export interface DifferingNumbers {
  readonly before: readonly PhoneNumber[];
  readonly after: readonly PhoneNumber[];
}

export interface SnapshotLedger {
  /** All or nothing, durable. */
  publish(snapshot: NewSnapshot): Promise<void>;
  /** The newest, at or before that moment where one is given. */
  at(series: string, atMs?: number): Promise<SnapshotRecord | null>;
  /** The one before that one. */
  before(series: string, takenAtMs: number): Promise<SnapshotRecord | null>;
  /** Newest first. */
  list(series: string, limit: number, beforeMs?: number): Promise<readonly SnapshotRecord[]>;
  series(): Promise<readonly string[]>;
  /** The numbers that it shows, in the service's order. */
  numbersOf(series: string, takenAtMs: number): Promise<readonly PhoneNumber[]>;
  /**
   * What this snapshot and the one before it do not share: what ended with that one, and what begins with this one, each in
   * the service's order. As cheap as the change is small.
   */
  differing(series: string, takenAtMs: number): Promise<DifferingNumbers>;
  /** All versions of one number, oldest first. */
  versionsOf(series: string, id: string): Promise<readonly NumberVersion[]>;
  /** Forgets snapshots older than `beforeMs` and those beyond the `keepMax` newest; never the newest. @returns their instants. */
  forget(series: string, beforeMs: number, keepMax: number): Promise<readonly number[]>;
}
