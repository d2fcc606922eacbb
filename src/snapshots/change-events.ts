/**
 * The changes of a snapshot as events: for the file with all values, for the webhook without personal data. Pure.
 *
 * What is told to the webhook are ids, names of fields, and the values of restrictions and porting status (`rules.md`,
 * "Secrets and personal data"). One delivery for each snapshot, whatever changed.
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

/** `number`: as it is now; of a removed one, as it was. */
export type NumberEvent = { readonly number: PhoneNumber } & (
  | { readonly type: 'phoneNumber.added' | 'phoneNumber.removed' }
  /** Fields that are no event of their own. */
  | { readonly type: 'phoneNumber.changed'; readonly changes: FieldChanges }
  | { readonly type: 'user.joined' | 'user.left'; readonly user: PhoneNumberUser }
  | { readonly type: 'user.changed'; readonly user: PhoneNumberUser; readonly changes: FieldChanges }
  /** `restriction` as `calling.US`. */
  | ({ readonly type: 'restriction.changed'; readonly restriction: string } & FromTo)
  | ({ readonly type: 'porting.changed' } & FromTo)
);

/** Events in one delivery; the others are counted. */
const toldEventsMax = 100;
/** Names and values of one event: what is longer is none of the interface's. */
const toldListMax = 50;
const toldTextMax = 100;

/** In the same order for the same change, always: the file's events are counted (`change-file.ts`). */
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

/** Null for what is gathered into one event. */
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
export function toldEvent(event: NumberEvent): Readonly<Record<string, unknown>> {
  const told = { type: event.type, phoneNumber: cut(event.number.id) };
  switch (event.type) {
    case 'phoneNumber.added':
    case 'phoneNumber.removed':
      return { ...told, users: [...(usersOf(event.number.users)?.keys() ?? [])].slice(0, toldListMax).map(cut) };
    case 'phoneNumber.changed':
      return { ...told, fields: fieldsOf(event.changes) };
    case 'user.joined':
    case 'user.left':
      return { ...told, user: cut(event.user.id) };
    case 'user.changed':
      return { ...told, user: cut(event.user.id), fields: fieldsOf(event.changes) };
    case 'restriction.changed': {
      const { restriction, from, to } = event;
      return { ...told, restriction: cut(restriction), from: word(from), to: word(to) };
    }
    case 'porting.changed':
      return { ...told, from: word(event.from), to: word(event.to) };
    default:
      return unreachable(event);
  }
}

function fieldsOf(changes: FieldChanges): readonly string[] {
  return Object.keys(changes).slice(0, toldListMax).map(cut);
}

function cut(text: string): string {
  return text.slice(0, toldTextMax);
}

/** Restrictions and porting states are single words; what is not is nobody's business outside. */
function word(value: unknown): string | null {
  return typeof value === 'string' && /^[\w-]{1,60}$/.test(value) ? value : null;
}

/**
 * What is told of a snapshot: nothing of the first, which everything is compared with, and nothing where nothing changed.
 * @param sinceMs the snapshot before; null for the first one.
 */
export function deliveriesOf(
  record: SnapshotRecord,
  sinceMs: number | null,
  changes: readonly NumberChange[],
  id: string,
): readonly NewDelivery[] {
  if (sinceMs === null || changes.length === 0) return [];
  const events = changes.flatMap(eventsOf);
  const told = events.slice(0, toldEventsMax).map(toldEvent);
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
        events: told,
        moreEvents: events.length - told.length,
      },
      atMs: takenAtMs,
    },
  ];
}
