/**
 * The phone numbers: the last snapshot, what changed between two, the history, and a new snapshot on request.
 *
 * A *series* is the snapshots of the whole workspace, or of one user's numbers. All times are in UTC.
 */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { phoneNumbersSchedule, type TickRecord } from '#src/ledger/schedules.ts';
import {
  type FieldChanges,
  type NumberChange,
  type NumberVersion,
  type SnapshotRecord,
  workspaceSeries,
} from '#src/ledger/snapshots.ts';
import { newTickId } from '#src/schedules/tick-due.ts';
import { shellWord } from '#src/shell-words.ts';
import { changesOf } from '#src/snapshots/change-file.ts';
import { compareSnapshots, usersOf } from '#src/snapshots/compare-snapshots.ts';
import { readInstant, seriesOf, snapshotFile, userOf } from '#src/snapshots/snapshot-files.ts';
import { type PhoneNumber, textOf } from '#src/wire/phone-number.ts';
import { actOf } from './acts.ts';

type NumbersHome = Pick<Home, 'ledger'>;

/** `user`: only the numbers of this user; absent: all. */
export interface SeriesChoice {
  readonly user?: string;
}

export interface NumberList {
  readonly snapshot: SnapshotRecord;
  /** In the service's order. */
  readonly numbers: readonly PhoneNumber[];
}

/** The numbers as the last snapshot shows them. @throws PatchbayError `usage` `noSnapshot`. */
export async function listNumbers({ ledger }: NumbersHome, { user }: SeriesChoice): Promise<NumberList> {
  const snapshot = await latestSnapshot({ ledger }, seriesOf(user ?? null));
  return { snapshot, numbers: await ledger.snapshots.numbersOf(snapshot.series, snapshot.takenAtMs) };
}

async function latestSnapshot({ ledger }: NumbersHome, series: string): Promise<SnapshotRecord> {
  const latest = await ledger.snapshots.at(series);
  if (latest !== null) return latest;
  const user = userOf(series);
  const whose = user === null ? 'the phone numbers' : `the phone numbers of ${user}`;
  throw new PatchbayError('usage', 'noSnapshot', `there is no snapshot of ${whose} yet`, {
    hint: `Take one with: ${numbersCommand('snapshot', series)}`,
  });
}

/** A command about the numbers of that series. @param words what comes behind `patchbay numbers`, as it is typed. */
export function numbersCommand(words: string, series: string): string {
  const user = userOf(series);
  return `patchbay numbers ${words}${user === null ? '' : ` --user ${user}`}`;
}

export interface NumbersDiff {
  readonly from: SnapshotRecord;
  readonly to: SnapshotRecord;
  readonly changes: readonly NumberChange[];
}

/**
 * What changed between two snapshots, each named by its instant, a time or a day. Without `to` it is the last one; without
 * `from` it is the one before the other.
 * @throws PatchbayError `usage` `noSnapshot` | `noSnapshotThen` | `onlyOneSnapshot` | `instantInvalid`.
 */
export async function diffNumbers(
  { ledger, clock }: NumbersHome & Pick<Home, 'clock'>,
  { user, from, to }: { readonly user?: string; readonly from?: string; readonly to?: string },
): Promise<NumbersDiff> {
  const series = seriesOf(user ?? null);
  const latest = await latestSnapshot({ ledger }, series);
  checkOrder(series, { from, to }, Math.max(clock.nowMs(), latest.takenAtMs));
  const newer = to === undefined ? latest : await findSnapshot({ ledger }, series, to, 'to');
  const older =
    from === undefined ? await snapshotBefore({ ledger }, newer) : await findSnapshot({ ledger }, series, from, 'from');
  const { changes } = compareSnapshots(
    await ledger.snapshots.numbersOf(series, older.takenAtMs),
    await ledger.snapshots.numbersOf(series, newer.takenAtMs),
  );
  return { from: older, to: newer, changes };
}

async function snapshotBefore({ ledger }: NumbersHome, record: SnapshotRecord): Promise<SnapshotRecord> {
  const before = await ledger.snapshots.before(record.series, record.takenAtMs);
  if (before !== null) return before;
  throw new PatchbayError('usage', 'onlyOneSnapshot', 'there is only one snapshot, so there is nothing to compare', {
    hint: `Take another one with: ${numbersCommand('snapshot', record.series)}`,
  });
}

export interface SnapshotChanges {
  readonly record: SnapshotRecord;
  /** The snapshot before it; null for the oldest. */
  readonly before: SnapshotRecord | null;
  readonly changes: readonly NumberChange[];
}

/** What a snapshot changed against the one before it. */
export async function readSnapshotChanges({ ledger }: NumbersHome, record: SnapshotRecord): Promise<SnapshotChanges> {
  const before = await ledger.snapshots.before(record.series, record.takenAtMs);
  return { record, before, changes: await changesOf(ledger.snapshots, record) };
}

/**
 * Snapshots, newest first; the changes of one are read with `readSnapshotChanges`.
 * @param beforeMs only snapshots that were taken earlier.
 * @throws PatchbayError `usage` `noSnapshot`.
 */
export async function listSnapshots(
  { ledger }: NumbersHome,
  { user, limit, beforeMs }: { readonly user?: string; readonly limit: number; readonly beforeMs?: number },
): Promise<readonly SnapshotRecord[]> {
  const series = seriesOf(user ?? null);
  await latestSnapshot({ ledger }, series);
  return ledger.snapshots.list(series, limit, beforeMs);
}

/** One version of a number, with what is needed to say how it came about. */
export interface VersionStep {
  readonly version: NumberVersion;
  /** The version before it; null where it is the first. */
  readonly before: NumberVersion | null;
  /** Between the two there were snapshots that did not show the number. */
  readonly wasGone: boolean;
}

/** What became of a number under one id. */
export interface NumberHistory {
  readonly id: string;
  /** Oldest first. */
  readonly steps: readonly VersionStep[];
}

/**
 * The last `limit` versions of one number, by id: a number that was given up and assigned anew has another one. The oldest id first.
 * @param text its digits, or one id.
 * @throws PatchbayError `usage` `noSnapshot` | `noSuchNumber` | `numberAmbiguous`.
 */
export async function readNumberHistory(
  { ledger }: NumbersHome,
  text: string,
  { user, limit }: { readonly user?: string; readonly limit: number },
): Promise<readonly NumberHistory[]> {
  const series = seriesOf(user ?? null);
  await latestSnapshot({ ledger }, series);
  const histories: NumberHistory[] = [];
  let left = limit;
  for (const id of await findNumberIds({ ledger }, series, text)) {
    const steps = await lastSteps({ ledger }, series, id, left);
    left -= steps.length;
    if (steps.length > 0) histories.unshift({ id, steps });
  }
  return histories;
}

async function lastSteps(
  { ledger }: NumbersHome,
  series: string,
  id: string,
  count: number,
): Promise<readonly VersionStep[]> {
  const all = await ledger.snapshots.versionsOf(series, id);
  const steps: VersionStep[] = [];
  for (const [index, version] of all.entries()) {
    if (index < all.length - count) continue;
    const before = all[index - 1] ?? null;
    const lastBefore = before === null ? null : await ledger.snapshots.before(series, version.fromMs);
    const wasGone =
      before !== null && lastBefore !== null && before.untilMs !== null && lastBefore.takenAtMs !== before.untilMs;
    steps.push({ version, before, wasGone });
  }
  return steps;
}

const dayMs = 86_400_000;
/** More snapshots are never kept, whatever the configuration says. */
const keptMax = 100_000;
/** Snapshots that are searched for a number that is gone. */
const searchedMax = 1_000;
/** Fewer digits could be the end of any number. */
const digitsMin = 7;

/**
 * The newest snapshot at that time or before. A day means its beginning for `from` and its end for `to`.
 * @throws PatchbayError `usage` `instantInvalid` | `noSnapshotThen`.
 */
async function findSnapshot(
  { ledger: { snapshots } }: NumbersHome,
  series: string,
  text: string,
  side: 'from' | 'to',
): Promise<SnapshotRecord> {
  const { fromMs, untilMs } = readTime(text);
  const found = await snapshots.at(series, side === 'from' ? fromMs : untilMs);
  if (found !== null) return found;
  const oldest = (await snapshots.list(series, keptMax)).at(-1);
  // The first snapshot of all may have been taken during that day.
  if (oldest !== undefined && oldest.takenAtMs <= untilMs) return oldest;
  throw new PatchbayError('usage', 'noSnapshotThen', `there is no snapshot of ${text} or earlier`, {
    hint:
      oldest === undefined
        ? `Take one with: ${numbersCommand('snapshot', series)}`
        : `The oldest one is of ${isoInstant(oldest.takenAtMs)}. List them with: ${numbersCommand('history', series)}`,
  });
}

interface Time {
  readonly fromMs: number;
  readonly untilMs: number;
}

const timeForm = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** Without a zone it is UTC. @throws PatchbayError `usage` `instantInvalid`. */
function readTime(text: string): Time {
  const instantMs = readInstant(text);
  if (instantMs !== null) return { fromMs: instantMs, untilMs: instantMs };
  const [, day = '', time, zone = 'Z'] = timeForm.exec(text) ?? [];
  const dayAtMs = Date.parse(day);
  // A day that the calendar does not have would be taken for one of the next month.
  const isDay = !Number.isNaN(dayAtMs) && isoInstant(dayAtMs).startsWith(day);
  const atMs = !isDay ? Number.NaN : time === undefined ? dayAtMs : Date.parse(`${day}T${time}${zone}`);
  if (Number.isNaN(atMs)) {
    throw new PatchbayError('usage', 'instantInvalid', `"${text}" is not a time`, {
      hint: 'Write it as in the name of a snapshot file (20261121T140000Z), as 2026-11-21T14:00:00Z, or as a day: 2026-11-21.',
    });
  }
  return { fromMs: atMs, untilMs: time === undefined ? atMs + dayMs - 1 : atMs };
}

/** @throws PatchbayError `usage` `instantInvalid` for a time that has not come, and for one that is later than the other. */
function checkOrder(
  series: string,
  { from, to }: Readonly<Record<'from' | 'to', string | undefined>>,
  nowMs: number,
): void {
  for (const text of [from, to]) {
    if (text !== undefined && readTime(text).fromMs > nowMs) {
      throw new PatchbayError('usage', 'instantInvalid', `"${text}" is in the future`, {
        hint: 'Name times of the past; without the second one, the last snapshot is meant.',
      });
    }
  }
  if (from === undefined || to === undefined || readTime(from).fromMs <= readTime(to).untilMs) return;
  throw new PatchbayError('usage', 'instantInvalid', `"${from}" is later than "${to}"`, {
    hint: `Name the earlier time first: ${numbersCommand(`diff ${shellWord(to)} ${shellWord(from)}`, series)}`,
  });
}

/**
 * The ids that a number has had, by its digits: first that in the newest snapshot that shows it. An id means itself alone.
 * @throws PatchbayError `usage` `noSuchNumber` | `numberAmbiguous`.
 */
async function findNumberIds(
  { ledger: { snapshots } }: NumbersHome,
  series: string,
  text: string,
): Promise<readonly string[]> {
  if ((await snapshots.versionsOf(series, text)).length > 0) return [text];
  const changed = (await snapshots.list(series, searchedMax)).filter((record) => record.changed);
  for (const [index, record] of changed.entries()) {
    const numbers = await snapshots.numbersOf(series, record.takenAtMs);
    const [first, ...others] = numbers.filter((number) => isMeant(number, text));
    if (first !== undefined && others.length === 0) {
      const ids = new Set([first.id]);
      // Each version begins with one of the snapshots that changed something.
      for (const { takenAtMs } of changed.slice(index)) {
        const { after } = await snapshots.differing(series, takenAtMs);
        for (const number of after) if (digitsOf(number) === digitsOf(first)) ids.add(number.id);
      }
      return [...ids];
    }
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
    hint: `Write it with its country code, such as +14155550101, or its id; list them with: ${numbersCommand('ls', series)}`,
  });
}

function digitsOf(number: PhoneNumber): string {
  return (textOf(number, 'number') ?? '').replaceAll(/\D/g, '');
}

/** The whole number, or its end without the country. */
function isMeant(number: PhoneNumber, text: string): boolean {
  const digits = text.replaceAll(/\D/g, '');
  const own = digitsOf(number);
  if (digits.length < digitsMin || /[a-z]/i.test(text)) return false;
  return text.trim().startsWith('+') ? own === digits : own.endsWith(digits);
}

export interface SnapshotRequest {
  readonly tick: TickRecord;
  /** False: a request for the same numbers waited already, and this is that one. */
  readonly isNew: boolean;
}

/** Asks for a snapshot now; the engine takes it. Where the configuration schedules none, the schedule has no rule. */
export async function requestSnapshot(
  home: Pick<Home, 'ledger' | 'clock' | 'actor'>,
  { user }: SeriesChoice,
): Promise<SnapshotRequest> {
  const { ledger, clock } = home;
  const nowMs = clock.nowMs();
  const name = phoneNumbersSchedule;
  if ((await ledger.schedules.get(name)) === null) {
    await ledger.schedules.put({ name, work: 'snapshot', rule: null, dueAtMs: null, createdAtMs: nowMs });
  }
  const id = newTickId();
  const request = { id, schedule: name, trigger: 'request', user: user ?? null, dueAtMs: nowMs } as const;
  const tick = await ledger.schedules.request(request, await actOf(home, 'scheduleRun'));
  return { tick, isNew: tick.id === id };
}

/** Waiting does not help: the service answers, but not as its interface says. */
const oddCodes: ReadonlySet<string> = new Set([
  'pageTokenNotText',
  'pageTokenRepeated',
  'tooManyPages',
  'serviceAnswersOddly',
]);

/**
 * Withdraws the request where all work is paused because the service answers oddly: the snapshot would wait for ever. One that was not new
 * belongs to another command, and stays.
 * @throws PatchbayError `unreachable`.
 */
export async function withdrawIfOdd(
  { ledger, clock }: Pick<Home, 'ledger' | 'clock'>,
  { tick, isNew }: SnapshotRequest,
): Promise<void> {
  const pause = await ledger.pause();
  if (pause?.errorCode === undefined || !oddCodes.has(pause.errorCode)) return;
  const { errorCode: code, message } = pause;
  if (isNew && (await ledger.schedules.begin(tick.id, clock.nowMs())))
    await ledger.schedules.end(tick.id, clock.nowMs(), { outcome: 'failed', code, message });
  throw new PatchbayError('unreachable', code, message);
}

/** The snapshot that a tick took; null where retention has removed it since. */
export async function readSnapshotOf({ ledger }: NumbersHome, tick: TickRecord): Promise<SnapshotRecord | null> {
  if (tick.takenAtMs === null) return null;
  const record = await ledger.snapshots.at(tick.user ?? workspaceSeries, tick.takenAtMs);
  return record?.takenAtMs === tick.takenAtMs ? record : null;
}

/** `numbers snapshot --json` (`docs/contract.md`). `file`: where nothing changed, the earlier one. */
export function snapshotDocument({ folders }: Pick<Home, 'folders'>, record: SnapshotRecord) {
  const { takenAtMs, count, pages, changed, added, removed, changedNumbers } = record;
  const file = snapshotFile(folders.phoneNumberSnapshots, record);
  return { takenAt: isoInstant(takenAtMs), count, pages, changed, added, removed, changedNumbers, file };
}

/** `numbers diff --json` (`docs/contract.md`). */
export function diffDocument({ from, to, changes }: NumbersDiff, values: boolean): Readonly<Record<string, unknown>> {
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

/** A number as the service holds it; without values: no names, numbers and e-mails. */
export function numberDocument(number: PhoneNumber, values: boolean): Readonly<Record<string, unknown>> {
  if (values) return number;
  const { id, groupId = null, portingStatus = null, restrictions = null } = number;
  const users = [...(usersOf(number.users)?.values() ?? [])].map((user) => ({ id: user.id, role: user.role ?? null }));
  return { id, groupId, portingStatus, users, restrictions };
}

/** What of a change is shown without values: which field, and the values of restrictions, porting status and roles. */
function idsOnly(changes: FieldChanges): FieldChanges {
  return Object.fromEntries(
    Object.entries(changes).map(([field, { from, to }]) => {
      if (/^(restrictions\..+|portingStatus|users\.[^.]+\.role)$/.test(field)) return [field, { from, to }];
      // Whether a user joined or left shows in which side is null.
      return [field, { from: from === null ? null : '', to: to === null ? null : '' }];
    }),
  );
}
