/**
 * Snapshots of the phone numbers, over the records of the desk and the versions of the numbers.
 *
 * A snapshot that shows a change says in `shown` which numbers it shows and in which order; one that shows nothing new
 * refers to it by `contentOfMs`.
 *
 * Invariant: the versions of a number never overlap, and a number that a snapshot shows has exactly one version at it.
 */
import { invariant } from '#src/errors.ts';
import { isForgotten, readRuns, showNumbers, writeRuns } from '#src/ledger/rules/snapshots.ts';
import type { NewSnapshot, SnapshotLedger, SnapshotRecord } from '#src/ledger/snapshots.ts';
import type { Store, StoredVersion, Tables, VersionFilter } from '#src/ledger/tables.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { enterDeliveries } from './deliveries.ts';
import { allMax, type Entry, inTransactions, recordsOf, sliceMax } from './records.ts';

interface KeptSnapshot extends SnapshotRecord {
  /** The keys of its numbers, as `writeRuns` writes them; null where it shows what another one does. */
  readonly shown: string | null;
}

type Desk = Pick<Tables, 'desk'>;

const idOf = (series: string, takenAtMs: number): string => `${series} ${takenAtMs}`;
const snapshotsIn = recordsOf<KeptSnapshot>('snapshot', ({ series, takenAtMs }) => ({
  ...{ id: idOf(series, takenAtMs), owner: series, state: '', atMs: takenAtMs },
}));
const seriesIn = recordsOf<{ readonly series: string }>('series', ({ series }) => ({
  ...{ id: series, owner: null, state: '', atMs: null },
}));

export function snapshotsOver(store: Store): SnapshotLedger {
  const { reads } = store;
  return {
    publish: (snapshot) => store.transact((tables) => publish(tables, snapshot), 'durable'),

    at: (series, atMs = Number.MAX_SAFE_INTEGER) => newest(reads, series, atMs),

    before: (series, takenAtMs) => newest(reads, series, takenAtMs - 1),

    list: async (series, limit, beforeMs = Number.MAX_SAFE_INTEGER) =>
      (await newestOnes(reads, series, beforeMs - 1, limit)).map(toRecord),

    series: async () => (await seriesIn(reads).list({ order: 'id', limit: allMax })).map(({ id }) => id),

    numbersOf: (series, takenAtMs) => numbersOf(reads, series, takenAtMs),

    differing: async (series, takenAtMs) => {
      const before = await newest(reads, series, takenAtMs - 1);
      if (before === null) return { before: [], after: await numbersOf(reads, series, takenAtMs) };
      return {
        before: await numbersIn(reads, series, before.takenAtMs, { untilMs: before.takenAtMs }),
        after: await numbersIn(reads, series, takenAtMs, { fromMs: takenAtMs }),
      };
    },

    versionsOf: async (series, id) => {
      const versions = await reads.desk.versions(series, { id });
      return versions.map((version) => ({
        number: toNumber(version),
        fromMs: version.fromMs,
        untilMs: version.untilMs,
      }));
    },

    forget: (series, beforeMs, keepMax) => forget(store, series, beforeMs, keepMax),
  };
}

async function newestOnes(
  tables: Desk,
  owner: string,
  untilMs: number,
  limit: number,
): Promise<readonly Entry<KeptSnapshot>[]> {
  return snapshotsIn(tables).list({ owner, state: '', untilMs, order: 'latest', limit });
}

async function newest(tables: Desk, series: string, untilMs: number): Promise<SnapshotRecord | null> {
  const [found] = await newestOnes(tables, series, untilMs, 1);
  return found === undefined ? null : toRecord(found);
}

async function publish(tables: Tables, { record, numbers, deliveries }: NewSnapshot): Promise<void> {
  const { series, takenAtMs, contentOfMs } = record;
  const latest = await newest(tables, series, Number.MAX_SAFE_INTEGER);
  const isNewest = latest === null || latest.takenAtMs < takenAtMs;
  invariant(isNewest, 'a snapshot is newer than all of its series', { takenAtMs });
  const isNew = contentOfMs === takenAtMs;
  const shown = isNew ? writeRuns(await writeVersions(tables, record, numbers, latest?.takenAtMs ?? takenAtMs)) : null;
  await snapshotsIn(tables).put({ ...record, shown });
  if (latest === null) await seriesIn(tables).put({ series });
  await enterDeliveries(tables, deliveries);
}

/** Ends the versions that the snapshot no longer shows and begins its new ones. @returns the keys of all its numbers, in order. */
async function writeVersions(
  { desk }: Desk,
  { series, takenAtMs }: SnapshotRecord,
  numbers: readonly PhoneNumber[],
  latestMs: number,
): Promise<readonly number[]> {
  const known = await desk.versions(series, { isOpen: true });
  const open = new Map(known.map(({ id, key, text }) => [id, { numberKey: key, document: text }]));
  const { shown, endedKeys } = showNumbers(numbers, open);
  const begun = shown.flatMap(({ id, newDocument }) => (newDocument === null ? [] : [{ id, text: newDocument }]));
  const ended = { keys: endedKeys, untilMs: latestMs };
  const keys = await desk.turnVersions(series, ended, { versions: begun, fromMs: takenAtMs });
  return shown.map(({ id, knownKey }) => knownKey ?? keys.get(id) ?? Number.NaN);
}

/** What a snapshot shows; of all its numbers, or of those whose versions are asked for. In the service's order. */
async function numbersIn(
  tables: Desk,
  series: string,
  takenAtMs: number,
  filter?: VersionFilter,
): Promise<readonly PhoneNumber[]> {
  const asked = await snapshotsIn(tables).get(idOf(series, takenAtMs));
  const content = asked === null ? null : await snapshotsIn(tables).get(idOf(series, asked.contentOfMs));
  if (content === null) return [];
  const keys = readRuns(content.shown ?? '');
  const versions = await tables.desk.versions(series, filter ?? { keys, atMs: content.takenAtMs });
  const found = new Map(versions.map((version) => [version.key, version]));
  return keys.flatMap((key) => {
    const version = found.get(key);
    return version === undefined ? [] : [toNumber(version)];
  });
}

const numbersOf = (tables: Desk, series: string, takenAtMs: number): Promise<readonly PhoneNumber[]> =>
  numbersIn(tables, series, takenAtMs);

/** In slices: first the snapshots, then the versions that none of those left shows. */
async function forget(store: Store, series: string, beforeMs: number, keepMax: number): Promise<readonly number[]> {
  const { gone, contentMs } = await forgettable(store.reads, series, beforeMs, keepMax);
  const left = [...gone];
  await inTransactions(store, async (tables) => {
    const ids = left.splice(0, sliceMax).map((takenAtMs) => idOf(series, takenAtMs));
    return { count: await snapshotsIn(tables).remove(...ids), isLast: left.length === 0 };
  });
  if (contentMs === null) return gone;
  await inTransactions(store, async ({ desk }) => {
    const count = await desk.removeVersions(series, contentMs, sliceMax);
    return { count, isLast: count < sliceMax };
  });
  return gone;
}

/**
 * The instants of those to forget, the oldest first, and since when the content of the oldest that stays stands: that one
 * may refer to an older snapshot, which stays, too.
 */
async function forgettable(
  tables: Desk,
  owner: string,
  beforeMs: number,
  keepMax: number,
): Promise<{ readonly gone: readonly number[]; readonly contentMs: number | null }> {
  const count = await snapshotsIn(tables).count({ owner });
  const gone: number[] = [];
  let after: Entry<KeptSnapshot> | undefined;
  // Ends with the first that stays: the newest does.
  for (let index = 0; ; ) {
    const page = await snapshotsIn(tables).list({ owner, order: 'oldest', after, limit: sliceMax });
    for (const { document } of page) {
      if (!isForgotten(document.takenAtMs, index, { count, keepMax, beforeMs })) {
        const { contentOfMs } = document;
        return { gone: gone.filter((takenAtMs) => takenAtMs !== contentOfMs), contentMs: contentOfMs };
      }
      gone.push(document.takenAtMs);
      index += 1;
    }
    after = page.at(-1);
    if (page.length < sliceMax) return { gone: [], contentMs: null };
  }
}

function toNumber({ text }: StoredVersion): PhoneNumber {
  // What the ledger wrote itself is trusted.
  return JSON.parse(text) as PhoneNumber;
}

function toRecord({ document: { shown: _kept, ...record } }: Entry<KeptSnapshot>): SnapshotRecord {
  return record;
}
