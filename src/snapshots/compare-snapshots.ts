/**
 * Two snapshots of a series, compared: numbers that were added, removed or changed (`rules.md`, "Snapshots"). Pure.
 *
 * Terms: the changes of a number are named by field, as `name`, `restrictions.calling.US`, `users.US1` (from null: joined,
 * to null: left) and `users.US1.role`.
 */
import { unreachable } from '#src/errors.ts';
import type { FieldChanges, NumberChange } from '#src/ledger/snapshot-record.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { type NumberDifference, numberDifferences } from './number-differences.ts';
import { sameValue } from './same-value.ts';

export interface Comparison {
  /** In the service's order; what was removed stands last. */
  readonly changes: readonly NumberChange[];
  /**
   * The numbers as they are now. One that did not change is as it was, so that it costs no copy: even where its `updatedAt`
   * moved.
   */
  readonly numbers: readonly PhoneNumber[];
}

/** Ids are unique in each. Both are the same size as what comes out. */
export function compareSnapshots(before: readonly PhoneNumber[], after: readonly PhoneNumber[]): Comparison {
  const old = new Map(before.map((number) => [number.id, number]));
  const changes: NumberChange[] = [];
  const numbers = after.map((number) => {
    const known = old.get(number.id);
    old.delete(number.id);
    const change: NumberChange | null = known === undefined ? { kind: 'added', number } : changeOf(known, number);
    if (change === null) return known ?? number;
    changes.push(change);
    return number;
  });
  for (const number of old.values()) changes.push({ kind: 'removed', number });
  return { changes, numbers };
}

/** Null where nothing changed. */
function changeOf(before: PhoneNumber, after: PhoneNumber): NumberChange | null {
  if (sameValue(before, after)) return null;
  const differences = numberDifferences(before, after);
  return differences.length === 0 ? null : { kind: 'changed', before, after, changes: fieldChanges(differences) };
}

function fieldChanges(differences: readonly NumberDifference[]): FieldChanges {
  return Object.fromEntries(differences.map(fieldChange));
}

function fieldChange(difference: NumberDifference): [string, { readonly from: unknown; readonly to: unknown }] {
  switch (difference.kind) {
    case 'field':
      return [difference.field, fromTo(difference)];
    case 'restriction':
      return [`restrictions.${difference.path}`, fromTo(difference)];
    case 'porting':
      return ['portingStatus', fromTo(difference)];
    case 'joined':
      return [`users.${difference.user.id}`, { from: null, to: difference.user }];
    case 'left':
      return [`users.${difference.user.id}`, { from: difference.user, to: null }];
    case 'user':
      return [`users.${difference.user.id}.${difference.field}`, fromTo(difference)];
    default:
      return unreachable(difference);
  }
}

function fromTo({ from, to }: { readonly from: unknown; readonly to: unknown }) {
  return { from, to };
}

/** How many numbers were added, removed and changed. */
export function changeCounts(changes: readonly NumberChange[]): {
  readonly added: number;
  readonly removed: number;
  readonly changedNumbers: number;
} {
  const count = (kind: NumberChange['kind']): number => changes.filter((change) => change.kind === kind).length;
  return { added: count('added'), removed: count('removed'), changedNumbers: count('changed') };
}
