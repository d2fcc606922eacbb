/** Phone numbers, snapshots and changes as the command line prints them, for people and as documents. Pure. */
import { isoInstant } from '#src/clock.ts';
import type { FieldChanges, NumberChange, SnapshotRecord } from '#src/ledger/snapshot-record.ts';
import { restrictionsOf, usersOf } from '#src/snapshots/compare-snapshots.ts';
import { international, restrictionName, shown, userLabel } from '#src/snapshots/describe-change.ts';
import { snapshotFile, userOf } from '#src/snapshots/snapshot-files.ts';
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

export type ChangeCounts = Pick<SnapshotRecord, 'added' | 'removed' | 'changedNumbers'>;

/** The command that shows all changes of that series; the caller adds the times. */
export function diffCommand(series: string): string {
  const user = userOf(series);
  return user === null ? 'patchbay numbers diff' : `patchbay numbers diff --user ${user}`;
}

export function countedNumbers(count: number): string {
  return count === 1 ? '1 number' : `${count} numbers`;
}
