/**
 * The changes of a snapshot as events: with all values for the file, without personal data for the webhook. Pure.
 *
 * The webhook gets ids, names of fields, and the values of restrictions and porting status (`docs/rules.md`, "Secrets and personal
 * data"), in one delivery per snapshot.
 */
import { isoInstant } from '#src/clock.ts';
import { unreachable } from '#src/errors.ts';
import type { NewDelivery } from '#src/ledger/deliveries.ts';
import { phoneNumbersSchedule } from '#src/ledger/schedules.ts';
import type { FieldChanges, NumberChange, SnapshotRecord } from '#src/ledger/snapshots.ts';
import type { PhoneNumber, PhoneNumberUser } from '#src/wire/phone-number.ts';
import { type NumberDifference, numberDifferences, usersOf } from './compare-snapshots.ts';
import { userOf } from './snapshot-files.ts';

interface FromTo {
  readonly from: unknown;
  readonly to: unknown;
}

/** `number`: as it is now; if it was removed, as it was. */
export type NumberEvent = { readonly number: PhoneNumber } & (
  | { readonly type: 'phoneNumber.added' | 'phoneNumber.removed' }
  /** Fields without an event of their own. */
  | { readonly type: 'phoneNumber.changed'; readonly changes: FieldChanges }
  | { readonly type: 'user.joined' | 'user.left'; readonly user: PhoneNumberUser }
  | { readonly type: 'user.changed'; readonly user: PhoneNumberUser; readonly changes: FieldChanges }
  /** `restriction` as `calling.US`. */
  | ({ readonly type: 'restriction.changed'; readonly restriction: string } & FromTo)
  | ({ readonly type: 'porting.changed' } & FromTo)
);

/** Events in one delivery; the others are counted. */
const postedEventsMax = 100;
/** Names and values of one event: longer ones are none of the interface's. */
const postedListMax = 50;
const postedTextMax = 100;

/** Always in the same order for the same change: the file counts its events (`change-file.ts`). */
export function eventsOf(change: NumberChange): readonly NumberEvent[] {
  if (change.kind !== 'changed') return [{ type: `phoneNumber.${change.kind}`, number: change.number }];
  const { before, after: number } = change;
  const differences = numberDifferences(before, number);
  const fields = differences.filter((one) => one.kind === 'field');
  const ofUsers = Map.groupBy(
    differences.filter((one) => one.kind === 'user'),
    ({ user }) => user,
  );
  return [
    ...differences.flatMap((difference) => eventOf(number, difference) ?? []),
    ...[...ofUsers].map(
      ([user, changed]) => ({ type: 'user.changed', number, user, changes: byField(changed) }) as const,
    ),
    ...(fields.length === 0 ? [] : [{ type: 'phoneNumber.changed', number, changes: byField(fields) } as const]),
  ];
}

/** Null for differences that are gathered into one event. */
function eventOf(number: PhoneNumber, difference: NumberDifference): NumberEvent | null {
  switch (difference.kind) {
    case 'joined':
      return { type: 'user.joined', number, user: difference.user };
    case 'left':
      return { type: 'user.left', number, user: difference.user };
    case 'restriction': {
      const { path: restriction, from, to } = difference;
      return { type: 'restriction.changed', number, restriction, from, to };
    }
    case 'porting':
      return { type: 'porting.changed', number, from: difference.from, to: difference.to };
    case 'user':
    case 'field':
      return null;
    default:
      return unreachable(difference);
  }
}

function byField(differences: readonly ({ readonly field: string } & FromTo)[]): FieldChanges {
  return Object.fromEntries(differences.map(({ field, from, to }) => [field, { from, to }]));
}

/** With all values, for the file. */
export function fullEvent(event: NumberEvent): Readonly<Record<string, unknown>> {
  const { type, number, ...more } = event;
  const whole = type === 'phoneNumber.added' || type === 'phoneNumber.removed' ? { data: number } : {};
  return { type, phoneNumber: number.id, number: number.number ?? null, ...more, ...whole };
}

/** Without personal data, for the webhook. */
export function postedEvent(event: NumberEvent): Readonly<Record<string, unknown>> {
  const posted = { type: event.type, phoneNumber: cut(event.number.id) };
  switch (event.type) {
    case 'phoneNumber.added':
    case 'phoneNumber.removed':
      return { ...posted, users: [...(usersOf(event.number.users)?.keys() ?? [])].slice(0, postedListMax).map(cut) };
    case 'phoneNumber.changed':
      return { ...posted, fields: fieldsOf(event.changes) };
    case 'user.joined':
    case 'user.left':
      return { ...posted, user: cut(event.user.id) };
    case 'user.changed':
      return { ...posted, user: cut(event.user.id), fields: fieldsOf(event.changes) };
    case 'restriction.changed': {
      const { restriction, from, to } = event;
      return { ...posted, restriction: cut(restriction), from: word(from), to: word(to) };
    }
    case 'porting.changed':
      return { ...posted, from: word(event.from), to: word(event.to) };
    default:
      return unreachable(event);
  }
}

function fieldsOf(changes: FieldChanges): readonly string[] {
  return Object.keys(changes).slice(0, postedListMax).map(cut);
}

function cut(text: string): string {
  return text.slice(0, postedTextMax);
}

/** Restrictions and porting states are single words; anything else is not posted. */
function word(value: unknown): string | null {
  return typeof value === 'string' && /^[\w-]{1,60}$/.test(value) ? value : null;
}

/**
 * What is posted for a snapshot: nothing for the first one, and nothing without changes.
 * @param sinceMs the previous snapshot; null for the first one.
 */
export function deliveriesOf(
  record: SnapshotRecord,
  sinceMs: number | null,
  changes: readonly NumberChange[],
  id: string,
): readonly NewDelivery[] {
  if (sinceMs === null || changes.length === 0) return [];
  const events = changes.flatMap(eventsOf);
  const posted = events.slice(0, postedEventsMax).map(postedEvent);
  const { added, removed, changedNumbers, takenAtMs } = record;
  return [
    {
      id,
      kind: 'change',
      type: 'phoneNumbers.changed',
      feed: phoneNumbersSchedule,
      data: {
        user: userOf(record.series),
        takenAt: isoInstant(takenAtMs),
        since: isoInstant(sinceMs),
        count: record.count,
        added,
        removed,
        changedNumbers,
        events: posted,
        moreEvents: events.length - posted.length,
      },
      atMs: takenAtMs,
    },
  ];
}
