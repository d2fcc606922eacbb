/**
 * The ledger's part for snapshots, in SQLite (`snapshotTables` in `migrations/first-design.ts` says how history is kept without copies).
 *
 * Invariant: the versions of a number never overlap, and a number that a snapshot shows has exactly one version at it.
 */
import { invariant } from '#src/errors.ts';
import { forgetBefore, showNumbers } from '#src/ledger/rules/snapshots.ts';
import type {
  DifferingNumbers,
  NewSnapshot,
  NumberVersion,
  SnapshotLedger,
  SnapshotRecord,
} from '#src/ledger/snapshots.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { type Database, numberOrNull, parseJson, type ResultRow } from './database.ts';
import { addDeliveries } from './deliveries.ts';

const ofSeries = 'SELECT * FROM snapshots WHERE series = ?';

export function sqliteSnapshots(db: Database): SnapshotLedger {
  const one = (sql: string, ...parameters: readonly (string | number)[]): SnapshotRecord | null => {
    const row = db.get(sql, ...parameters);
    return row === null ? null : toRecord(row);
  };
  return {
    publish: async (snapshot) => db.durable(() => publish(db, snapshot)),

    at: async (series, atMs = Number.MAX_SAFE_INTEGER) =>
      one(`${ofSeries} AND taken_at <= ? ORDER BY taken_at DESC LIMIT 1`, series, atMs),

    before: async (series, takenAtMs) =>
      one(`${ofSeries} AND taken_at < ? ORDER BY taken_at DESC LIMIT 1`, series, takenAtMs),

    list: async (series, limit, beforeMs = Number.MAX_SAFE_INTEGER) =>
      db.all(`${ofSeries} AND taken_at < ? ORDER BY taken_at DESC LIMIT ?`, series, beforeMs, limit).map(toRecord),

    series: async () =>
      db.all('SELECT DISTINCT series FROM snapshots ORDER BY series').map(({ series }) => String(series)),

    numbersOf: async (series, takenAtMs) => numbersOf(db, series, takenAtMs),

    differing: async (series, takenAtMs) => differing(db, series, takenAtMs),

    versionsOf: async (series, id) =>
      db
        .all(
          `SELECT from_at, until_at, document FROM snapshot_numbers JOIN number_versions USING (number_key)
           WHERE series = ? AND id = ? ORDER BY from_at`,
          series,
          id,
        )
        .map(
          (row): NumberVersion => ({
            number: toNumber(row),
            fromMs: Number(row.from_at),
            untilMs: numberOrNull(row.until_at),
          }),
        ),

    forget: async (series, beforeMs, keepMax) => db.transaction(() => forget(db, series, beforeMs, keepMax)),
  };
}

function publish(db: Database, { record, numbers, deliveries }: NewSnapshot): void {
  const { series, takenAtMs, contentOfMs } = record;
  const before = db.get('SELECT max(taken_at) AS latest FROM snapshots WHERE series = ?', series);
  const latestMs = numberOrNull(before?.latest);
  invariant(latestMs === null || latestMs < takenAtMs, 'a snapshot is newer than all of its series', { takenAtMs });
  const shown = contentOfMs === takenAtMs ? writeRuns(writeVersions(db, record, numbers, latestMs)) : null;
  db.run(
    `INSERT INTO snapshots (series, taken_at, "count", pages, added, removed, changed_numbers, content_of, shown)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    series,
    takenAtMs,
    record.count,
    record.pages,
    record.added,
    record.removed,
    record.changedNumbers,
    contentOfMs,
    shown,
  );
  addDeliveries(db, deliveries);
}

/** Ends the versions that the snapshot no longer shows and begins its new ones. @returns the keys of all its numbers, in order. */
function writeVersions(
  db: Database,
  { series, takenAtMs }: SnapshotRecord,
  numbers: readonly PhoneNumber[],
  latestMs: number | null,
): readonly number[] {
  const open = new Map(
    db
      .all(
        `SELECT id, number_key, document FROM snapshot_numbers JOIN number_versions USING (number_key)
         WHERE series = ? AND until_at IS NULL`,
        series,
      )
      .map((row) => [String(row.id), { numberKey: Number(row.number_key), document: String(row.document) }]),
  );
  const { shown, endedKeys } = showNumbers(numbers, open);
  for (const key of endedKeys) {
    db.run('UPDATE number_versions SET until_at = ? WHERE number_key = ? AND until_at IS NULL', latestMs, key);
  }
  return shown.map(({ id, knownKey, newDocument }) => {
    const key = knownKey ?? keyOf(db, series, id);
    if (newDocument !== null) {
      db.run(
        'INSERT INTO number_versions (number_key, from_at, document) VALUES (?, ?, ?)',
        key,
        takenAtMs,
        newDocument,
      );
    }
    return key;
  });
}

/** The number may have been there before. */
function keyOf(db: Database, series: string, id: string): number {
  db.run('INSERT INTO snapshot_numbers (series, id) VALUES (?, ?) ON CONFLICT DO NOTHING', series, id);
  return Number(db.get('SELECT number_key FROM snapshot_numbers WHERE series = ? AND id = ?', series, id)?.number_key);
}

/** The keys of what a snapshot shows, in order, and since when its content stands; null where there is no such snapshot. */
function shownAt(
  db: Database,
  series: string,
  takenAtMs: number,
): { readonly contentMs: number; readonly keys: readonly number[] } | null {
  const content = db.get(
    `SELECT content.taken_at, content.shown FROM snapshots AS asked
     JOIN snapshots AS content ON content.series = asked.series AND content.taken_at = asked.content_of
     WHERE asked.series = ? AND asked.taken_at = ?`,
    series,
    takenAtMs,
  );
  if (content === null) return null;
  return { contentMs: Number(content.taken_at), keys: readRuns(String(content.shown)) };
}

function numbersOf(db: Database, series: string, takenAtMs: number): readonly PhoneNumber[] {
  const shown = shownAt(db, series, takenAtMs);
  if (shown === null) return [];
  // One step down an index for each: the length of the history does not matter.
  return shown.keys.flatMap((key) => {
    const row = db.get(
      'SELECT document FROM number_versions WHERE number_key = ? AND from_at <= ? ORDER BY from_at DESC LIMIT 1',
      key,
      shown.contentMs,
    );
    return row === null ? [] : [toNumber(row)];
  });
}

function differing(db: Database, series: string, takenAtMs: number): DifferingNumbers {
  const before = db.get(
    'SELECT max(taken_at) AS ms FROM snapshots WHERE series = ? AND taken_at < ?',
    series,
    takenAtMs,
  );
  const beforeMs = numberOrNull(before?.ms);
  if (beforeMs === null) return { before: [], after: numbersOf(db, series, takenAtMs) };
  const versions = (column: 'from_at' | 'until_at', atMs: number): readonly PhoneNumber[] => {
    const rows = db.all(
      `SELECT number_key, document FROM snapshot_numbers JOIN number_versions USING (number_key)
       WHERE series = ? AND ${column} = ?`,
      series,
      atMs,
    );
    if (rows.length === 0) return [];
    const found = new Map(rows.map((row) => [Number(row.number_key), row]));
    return (shownAt(db, series, atMs)?.keys ?? []).flatMap((key) => {
      const row = found.get(key);
      return row === undefined ? [] : [toNumber(row)];
    });
  };
  return { before: versions('until_at', beforeMs), after: versions('from_at', takenAtMs) };
}

function forget(db: Database, series: string, beforeMs: number, keepMax: number): readonly number[] {
  const kept = db.get(
    `SELECT max(taken_at) AS newest, min(taken_at) AS oldest FROM (
       SELECT taken_at FROM snapshots WHERE series = ? ORDER BY taken_at DESC LIMIT ?)`,
    series,
    Math.max(1, keepMax),
  );
  const newestMs = numberOrNull(kept?.newest);
  if (newestMs === null) return [];
  const cutMs = forgetBefore(newestMs, Number(kept?.oldest), beforeMs);
  // The oldest that stays may refer to an older one, whose content is still there: that one stays, too.
  const first = db.get(`${ofSeries} AND taken_at >= ? ORDER BY taken_at LIMIT 1`, series, cutMs);
  const contentMs = Number(first?.content_of);
  const forgotten = db
    .all(
      'DELETE FROM snapshots WHERE series = ? AND taken_at < ? AND taken_at <> ? RETURNING taken_at',
      series,
      cutMs,
      contentMs,
    )
    .map((row) => Number(row.taken_at))
    .sort((a, b) => a - b);
  if (forgotten.length === 0) return [];
  db.run(
    `DELETE FROM number_versions WHERE until_at < ?
       AND number_key IN (SELECT number_key FROM snapshot_numbers WHERE series = ?)`,
    contentMs,
    series,
  );
  db.run(
    'DELETE FROM snapshot_numbers WHERE series = ? AND number_key NOT IN (SELECT number_key FROM number_versions)',
    series,
  );
  return forgotten;
}

function toNumber(row: ResultRow): PhoneNumber {
  const number = parseJson<PhoneNumber>(row.document);
  invariant(number !== null, 'a version holds its number');
  return number;
}

function toRecord(row: ResultRow): SnapshotRecord {
  const takenAtMs = Number(row.taken_at);
  const contentOfMs = Number(row.content_of);
  return {
    series: String(row.series),
    takenAtMs,
    count: Number(row.count),
    pages: Number(row.pages),
    changed: contentOfMs === takenAtMs,
    added: Number(row.added),
    removed: Number(row.removed),
    changedNumbers: Number(row.changed_numbers),
    contentOfMs,
  };
}

/**
 * A list of small numbers as text: `1-1000,1003,7-5` is 1 to 1000, then 1003, then 7, 6, 5.
 *
 * The numbers of a workspace keep their order for long, so a thousand of them are a few characters. Pure.
 */
export function writeRuns(keys: readonly number[]): string {
  const runs: string[] = [];
  // Ends: each turn takes one run of at least one key.
  for (let start = 0; start < keys.length; ) {
    const end = endOfRun(keys, start);
    runs.push(end === start ? `${keys[start]}` : `${keys[start]}-${keys[end]}`);
    start = end + 1;
  }
  return runs.join(',');
}

/** What `writeRuns` wrote. */
export function readRuns(text: string): number[] {
  if (text === '') return [];
  return text.split(',').flatMap((run) => {
    const [first = Number.NaN, last = first] = run.split('-').map(Number);
    const step = last < first ? -1 : 1;
    return Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => first + step * index);
  });
}

/** The last place that goes on, by one up or by one down, from `start`. */
function endOfRun(keys: readonly number[], start: number): number {
  const step = (keys[start + 1] ?? Number.NaN) - (keys[start] ?? Number.NaN);
  if (Math.abs(step) !== 1) return start;
  let end = start + 1;
  while ((keys[end + 1] ?? Number.NaN) - (keys[end] ?? Number.NaN) === step) end += 1;
  return end;
}
