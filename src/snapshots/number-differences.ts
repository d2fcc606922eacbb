/**
 * What differs between two readings of one phone number, as values. Pure.
 *
 * Users are compared by their id and restrictions by their path, whatever the order. What does not have the form that the
 * interface shows is compared as a whole, so that no change is lost. `updatedAt` is no change.
 */
import { type PhoneNumber, type PhoneNumberUser, phoneNumberTexts, phoneNumberUsers } from '#src/wire/phone-number.ts';
import { isObject, type JsonObject, namesOf, sameValue } from './same-value.ts';

/** Null stands for absent, too. */
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

/** Compared elsewhere, or not at all. */
const notFields: ReadonlySet<string> = new Set(['id', 'updatedAt', 'users', 'restrictions', 'portingStatus']);
const notUserFields: ReadonlySet<string> = new Set(['id', 'updatedAt']);
/** Restrictions that lie deeper are compared as a whole. */
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

/** By id; null where they do not have the form of the interface. */
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
