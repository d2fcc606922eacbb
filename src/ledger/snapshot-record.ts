/**
 * Snapshots of the phone numbers and what changed between two (`rules.md`, "Snapshots").
 *
 * A *series* is what is compared with each other: the whole workspace, or one user's numbers. History holds a version
 * of each number once, however many snapshots show it: a snapshot that shows nothing new costs a reference.
 */
import type { PhoneNumber } from '#src/wire/phone-number.ts';

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
