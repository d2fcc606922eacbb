/** Phone numbers, snapshots and changes as the command line prints them. Pure. */
import { isoInstant } from '#src/clock.ts';
import type { SnapshotRecord } from '#src/ledger/snapshots.ts';
import { restrictionsOf, usersOf } from '#src/snapshots/compare-snapshots.ts';
import { international, restrictionName, shown, userLabel } from '#src/snapshots/describe-change.ts';
import { type PhoneNumber, textOf } from '#src/wire/phone-number.ts';

/** `2026-11-21 14:00:00Z`. */
export function shortInstant(ms: number): string {
  return `${isoInstant(ms).slice(0, 19).replace('T', ' ')}Z`;
}

/** Users, or restrictions, that one cell lists. */
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

/** As many as fit into a cell. */
function firstOf(words: readonly string[]): string {
  const more = words.length - cellWordsMax;
  const first = words.slice(0, cellWordsMax).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** The restrictions of the number. */
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

export function countedNumbers(count: number): string {
  return count === 1 ? '1 number' : `${count} numbers`;
}
