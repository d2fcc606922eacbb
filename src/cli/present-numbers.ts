/** Phone numbers, snapshots and changes as the command line prints them, for people and as documents. Pure. */
import { isoInstant } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { FieldChanges, NumberChange, SnapshotRecord } from '#src/ledger/snapshots.ts';
import { restrictionsOf, usersOf } from '#src/snapshots/compare-snapshots.ts';
import { international, restrictionName, shown, userLabel } from '#src/snapshots/describe-change.ts';
import { readInstant, snapshotFile, userOf } from '#src/snapshots/snapshot-files.ts';
import { type PhoneNumber, textOf } from '#src/wire/phone-number.ts';

/** `2026-11-21 14:00:00Z`. */
export function shortInstant(ms: number): string {
  return `${isoInstant(ms).slice(0, 19).replace('T', ' ')}Z`;
}

/** `numbers snapshot --json` (`contract.md`). `file`: where nothing changed, the earlier one. */
export function snapshotDocument(folder: string, record: SnapshotRecord): Readonly<Record<string, unknown>> {
  const { takenAtMs, count, pages, changed, added, removed, changedNumbers } = record;
  return {
    takenAt: isoInstant(takenAtMs),
    count,
    pages,
    changed,
    added,
    removed,
    changedNumbers,
    file: snapshotFile(folder, record),
  };
}

/** `numbers diff --json` (`contract.md`). */
export function diffDocument(
  from: SnapshotRecord,
  to: SnapshotRecord,
  changes: readonly NumberChange[],
  values: boolean,
): Readonly<Record<string, unknown>> {
  return {
    from: isoInstant(from.takenAtMs),
    to: isoInstant(to.takenAtMs),
    added: changes.flatMap((one) => (one.kind === 'added' ? [numberDocument(one.number, values)] : [])),
    removed: changes.flatMap((one) => (one.kind === 'removed' ? [numberDocument(one.number, values)] : [])),
    changed: changes.flatMap((one) => {
      if (one.kind !== 'changed') return [];
      const { id } = one.after;
      return [
        {
          id,
          number: values ? (one.after.number ?? null) : null,
          changes: values ? one.changes : idsOnly(one.changes),
        },
      ];
    }),
  };
}

/** With all that the service holds of it; with `--no-values` without names, numbers and e-mails. */
export function numberDocument(number: PhoneNumber, values: boolean): Readonly<Record<string, unknown>> {
  if (values) return number;
  const { id, groupId = null, portingStatus = null, restrictions = null } = number;
  const users = [...(usersOf(number.users)?.values() ?? [])].map((user) => ({ id: user.id, role: user.role ?? null }));
  return { id, groupId, portingStatus, users, restrictions };
}

/** What may be told of a change without values: which field, and the values of restrictions, porting status and roles. */
function idsOnly(changes: FieldChanges): FieldChanges {
  return Object.fromEntries(
    Object.entries(changes).map(([field, { from, to }]) => {
      if (/^(restrictions\..+|portingStatus|users\.[^.]+\.role)$/.test(field)) return [field, { from, to }];
      // Whether a user joined or left shows in which side is null.
      return [field, { from: from === null ? null : '', to: to === null ? null : '' }];
    }),
  );
}

/** Users, or restrictions, that one cell names. */
const cellWordsMax = 12;

export const numberColumns = ['number', 'name', 'users', 'restrictions', 'porting', 'id'] as const;

export function numberRow(number: PhoneNumber, values: boolean): readonly string[] {
  const text = textOf(number, 'number');
  const users = [...(usersOf(number.users)?.values() ?? [])].map((user) => userLabel(user, { values }));
  return [
    values && text !== null ? international(text) : '',
    values ? shown(textOf(number, 'name') ?? '') : '',
    firstOf(users),
    firstOf(restrictionWords(number)),
    shown(textOf(number, 'portingStatus') ?? ''),
    shown(number.id),
  ];
}

/** As many as a cell bears. */
function firstOf(words: readonly string[]): string {
  const more = words.length - cellWordsMax;
  const first = words.slice(0, cellWordsMax).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** What the number may not do without limits. */
function restrictionWords(number: PhoneNumber): readonly string[] {
  return [...restrictionsOf(number)]
    .filter(([, value]) => value !== 'unrestricted')
    .map(([path, value]) => `${restrictionName(path)} ${shown(value)}`);
}

/** `12 numbers: 1 added, 2 changed`. */
export function changeSummary({ added, removed, changedNumbers }: ChangeCounts): string {
  const parts = [
    ...(added > 0 ? [`${added} added`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(changedNumbers > 0 ? [`${changedNumbers} changed`] : []),
  ];
  return parts.length === 0 ? 'nothing changed' : parts.join(', ');
}

type ChangeCounts = Pick<SnapshotRecord, 'added' | 'removed' | 'changedNumbers'>;

/** The command that shows all changes of that series; the caller adds the times. */
export function diffCommand(series: string): string {
  const user = userOf(series);
  return user === null ? 'patchbay numbers diff' : `patchbay numbers diff --user ${user}`;
}

export function countedNumbers(count: number): string {
  return count === 1 ? '1 number' : `${count} numbers`;
}

/** The snapshot that a person means: by its instant, by a time, or by a day; and a number, by its digits or its id. */
type Snapshots = Ledger['snapshots'];

const dayMs = 86_400_000;
/** More are not kept, whatever the configuration says. */
const keptMax = 100_000;
/** Snapshots that are looked through for a number that is gone. */
const searchedMax = 1_000;
/** Fewer digits than that may be any number's. */
const digitsMin = 7;

/** @throws PatchbayError `usage` `noSnapshot`. */
export async function requireLatest(snapshots: Snapshots, series: string): Promise<SnapshotRecord> {
  const latest = await snapshots.at(series);
  if (latest !== null) return latest;
  const user = userOf(series);
  const whose = user === null ? 'the phone numbers' : `the phone numbers of ${user}`;
  throw new PatchbayError('usage', 'noSnapshot', `there is no snapshot of ${whose} yet`, {
    hint: `Take one with: patchbay numbers snapshot${user === null ? '' : ` --user ${user}`}`,
  });
}

/**
 * The newest at that time or before. A day is its beginning for `from` and its end for `to`, in UTC.
 * @throws PatchbayError `usage` `instantInvalid` | `noSnapshotThen`.
 */
export async function findSnapshot(
  snapshots: Snapshots,
  series: string,
  text: string,
  side: 'from' | 'to',
): Promise<SnapshotRecord> {
  const { fromMs, untilMs } = readTime(text);
  const found = await snapshots.at(series, side === 'from' ? fromMs : untilMs);
  if (found !== null) return found;
  const oldest = (await snapshots.list(series, keptMax)).at(-1);
  // The first snapshot of all may have been taken in the course of the day that is meant.
  if (oldest !== undefined && oldest.takenAtMs <= untilMs) return oldest;
  throw new PatchbayError('usage', 'noSnapshotThen', `there is no snapshot of ${text} or before`, {
    hint:
      oldest === undefined
        ? 'Take one with: patchbay numbers snapshot'
        : `The oldest one is of ${shortInstant(oldest.takenAtMs)}. See them with: patchbay numbers history`,
  });
}

function readTime(text: string): { readonly fromMs: number; readonly untilMs: number } {
  const instantMs = readInstant(text);
  if (instantMs !== null) return { fromMs: instantMs, untilMs: instantMs };
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const atMs = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$/.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw new PatchbayError('usage', 'instantInvalid', `"${text}" is no time`, {
      hint: 'Write it as in the name of a snapshot (20261121T140000Z), as 2026-11-21T14:00:00Z, or as a day: 2026-11-21.',
    });
  }
  return { fromMs: atMs, untilMs: isDay ? atMs + dayMs - 1 : atMs };
}

/**
 * The id of the number that a person means, in the newest snapshot that shows it.
 * @throws PatchbayError `usage` `noSuchNumber` | `numberAmbiguous`.
 */
export async function findNumberId(snapshots: Snapshots, series: string, text: string): Promise<string> {
  if ((await snapshots.versionsOf(series, text)).length > 0) return text;
  for (const record of await snapshots.list(series, searchedMax)) {
    if (!record.changed) continue;
    const numbers = await snapshots.numbersOf(series, record.takenAtMs);
    const [first, ...others] = numbers.filter((number) => isMeant(number, text));
    if (first !== undefined && others.length === 0) return first.id;
    if (first !== undefined) {
      throw new PatchbayError('usage', 'numberAmbiguous', `${others.length + 1} numbers end in ${text}`, {
        hint: `Name one by its id: ${[first, ...others]
          .slice(0, 5)
          .map(({ id }) => id)
          .join(', ')}`,
      });
    }
  }
  throw new PatchbayError('usage', 'noSuchNumber', `no snapshot shows a number ${text}`, {
    hint: 'Write it with its country, as +14155550101, or as its id; see them with: patchbay numbers ls',
  });
}

/** The whole number, or its end without the country. */
function isMeant(number: PhoneNumber, text: string): boolean {
  const digits = text.replaceAll(/\D/g, '');
  const own = (textOf(number, 'number') ?? '').replaceAll(/\D/g, '');
  if (digits.length < digitsMin || /[a-z]/i.test(text)) return false;
  return text.trim().startsWith('+') ? own === digits : own.endsWith(digits);
}
