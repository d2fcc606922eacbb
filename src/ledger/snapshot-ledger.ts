/** The part of the ledger that holds snapshots of the phone numbers. */
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import type { NewDelivery } from './delivery-record.ts';
import type { SnapshotRecord } from './snapshot-record.ts';

export interface NewSnapshot {
  readonly record: SnapshotRecord;
  /** All of them, unique by id, in the service's order. */
  readonly numbers: readonly PhoneNumber[];
  /** What is to be told of it; entered in the same transaction. */
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
  latest(series: string): Promise<SnapshotRecord | null>;
  /** The newest at or before that moment. */
  at(series: string, atMs: number): Promise<SnapshotRecord | null>;
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
