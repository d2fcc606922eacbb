/**
 * Compares two snapshots of a series: numbers that were added, removed or changed (`docs/rules.md`, "Snapshots"). Pure.
 *
 * The changes of a number are named by field, as `name`, `restrictions.calling.US`, `users.US1` (from null: joined, to null:
 * left) and `users.US1.role`. Users are compared by their id and restrictions by their path, in any order. A value that does not
 * have the form of the interface is compared as a whole, so that no change is lost. `updatedAt` is no change.
 */
import { unreachable } from '#src/errors.ts';
import type { FieldChanges, NumberChange } from '#src/ledger/snapshots.ts';
import { type PhoneNumber, type PhoneNumberUser, phoneNumberTexts, phoneNumberUsers } from '#src/wire/phone-number.ts';

interface Comparison {
  /** In the service's order; removed numbers come last. */
  readonly changes: readonly NumberChange[];
  /**
   * The numbers as they are now. An unchanged one is the earlier object, so that it costs no copy, even if its `updatedAt` moved.
   */
  readonly numbers: readonly PhoneNumber[];
}

/** Ids are unique in each. */
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

/** Null if nothing changed. */
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
      return [difference.field, pairOf(difference)];
    case 'restriction':
      return [`restrictions.${difference.path}`, pairOf(difference)];
    case 'porting':
      return ['portingStatus', pairOf(difference)];
    case 'joined':
      return [`users.${difference.user.id}`, { from: null, to: difference.user }];
    case 'left':
      return [`users.${difference.user.id}`, { from: difference.user, to: null }];
    case 'user':
      return [`users.${difference.user.id}.${difference.field}`, pairOf(difference)];
    default:
      return unreachable(difference);
  }
}

function pairOf({ from, to }: { readonly from: unknown; readonly to: unknown }) {
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

/** Null also means absent. */
interface FromTo {
  readonly from: unknown;
  readonly to: unknown;
}

export type NumberDifference =
  | ({ readonly kind: 'field'; readonly field: string } & FromTo)
  /** `path` as `calling.US`. */
  | ({ readonly kind: 'restriction'; readonly path: string } & FromTo)
  | ({ readonly kind: 'porting' } & FromTo)
  | { readonly kind: 'joined' | 'left'; readonly user: PhoneNumberUser }
  /** `user`: as it is now. */
  | ({ readonly kind: 'user'; readonly user: PhoneNumberUser; readonly field: string } & FromTo);

/** Compared separately, or not at all. */
const notFields: ReadonlySet<string> = new Set(['id', 'updatedAt', 'users', 'restrictions', 'portingStatus']);
const notUserFields: ReadonlySet<string> = new Set(['id', 'updatedAt']);
/** Deeper restrictions are compared as a whole. */
const depthMax = 4;

/** Users first, then restrictions, the porting status, the fields that the interface names, and all others. */
export function numberDifferences(before: PhoneNumber, after: PhoneNumber): readonly NumberDifference[] {
  const named = new Set<string>(phoneNumberTexts);
  const names = namesOf(before, after).filter((name) => !notFields.has(name));
  const ordered = [...phoneNumberTexts.filter((name) => names.includes(name)), ...names.filter((n) => !named.has(n))];
  const porting = fromTo(before.portingStatus, after.portingStatus);
  return [
    ...userDifferences(before.users, after.users),
    ...restrictionDifferences(before.restrictions, after.restrictions),
    ...(porting === null ? [] : [{ kind: 'porting', ...porting } as const]),
    ...ordered.flatMap((field) => fieldDifference(field, before[field], after[field])),
  ];
}

function userDifferences(before: unknown, after: unknown): readonly NumberDifference[] {
  if (sameValue(before, after)) return [];
  const [old, now] = [usersOf(before), usersOf(after)];
  if (old === null || now === null) return fieldDifference('users', before, after);
  return [
    ...[...now.values()].flatMap((user): readonly NumberDifference[] => {
      const known = old.get(user.id);
      return known === undefined ? [{ kind: 'joined', user }] : oneUserDifferences(known, user);
    }),
    ...[...old.values()].filter(({ id }) => !now.has(id)).map((user) => ({ kind: 'left', user }) as const),
  ];
}

function oneUserDifferences(before: PhoneNumberUser, after: PhoneNumberUser): readonly NumberDifference[] {
  return namesOf(before, after).flatMap((field) => {
    const change = notUserFields.has(field) ? null : fromTo(before[field], after[field]);
    return change === null ? [] : [{ kind: 'user', user: after, field, ...change } as const];
  });
}

/** By id; null if they do not have the form of the interface. */
export function usersOf(value: unknown): ReadonlyMap<string, PhoneNumberUser> | null {
  const parsed = phoneNumberUsers.safeParse(value ?? []);
  if (!parsed.success) return null;
  const users = new Map(parsed.data.map((user) => [user.id, user]));
  return users.size === parsed.data.length ? users : null;
}

function restrictionDifferences(before: unknown, after: unknown): readonly NumberDifference[] {
  if (!isObject(before ?? {}) || !isObject(after ?? {})) return fieldDifference('restrictions', before, after);
  const [old, now] = [leavesOf(before, '', depthMax), leavesOf(after, '', depthMax)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const change = fromTo(old.get(path), now.get(path));
    return change === null ? [] : [{ kind: 'restriction', path, ...change } as const];
  });
}

/** The values of restrictions by path. */
export function restrictionsOf(number: PhoneNumber): ReadonlyMap<string, unknown> {
  return isObject(number.restrictions) ? leavesOf(number.restrictions, '', depthMax) : new Map();
}

/** Ends: each step goes one deeper, down to `depth`. */
function leavesOf(value: unknown, path: string, depth: number): ReadonlyMap<string, unknown> {
  if (!isObject(value) || depth === 0) return (value ?? null) === null ? new Map() : new Map([[path, value]]);
  return new Map(
    Object.entries(value as JsonObject).flatMap(([name, member]) => [
      ...leavesOf(member, path === '' ? name : `${path}.${name}`, depth - 1),
    ]),
  );
}

function fieldDifference(field: string, before: unknown, after: unknown): readonly NumberDifference[] {
  const change = fromTo(before, after);
  return change === null ? [] : [{ kind: 'field', field, ...change }];
}

function fromTo(before: unknown, after: unknown): FromTo | null {
  return sameValue(before, after) ? null : { from: before ?? null, to: after ?? null };
}

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values of replies are equal. Absent equals null (`docs/facts.md`), and the order of members does not matter. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if ((one ?? null) === null || (other ?? null) === null) return (one ?? null) === (other ?? null);
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, place) => sameValue(item, other[place]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  return namesOf(one, other).every((name) => sameValue(one[name], other[name]));
}

/** The names of the members of both, each once: first those of the first. */
function namesOf(one: JsonObject, other: JsonObject): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}
