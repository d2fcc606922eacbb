/** The snapshot that a person means: by its instant, by a time, or by a day; and a number, by its digits or its id. */
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { SnapshotRecord } from '#src/ledger/snapshot-record.ts';
import { readInstant, userOf } from '#src/snapshots/snapshot-files.ts';
import { type PhoneNumber, textOf } from '#src/wire/phone-number.ts';
import { shortInstant } from './present-numbers.ts';

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
  const latest = await snapshots.latest(series);
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
