/**
 * What the ledger remembers of a key beyond its contact: what each feed's file said last, the held fields, and the
 * history of its doubts. In SQLite, for use inside a transaction.
 */

import type { SQLInputValue } from 'node:sqlite';
import type { Said } from '#src/contacts/base.ts';
import {
  eventsPerKeyMax,
  type FeedSaid,
  type HeldRecord,
  type KeyHistoryEntry,
  type KeyHistoryKind,
  type MovedSaid,
  type SettledSaid,
} from '#src/ledger/contacts.ts';
import type { ContactChange } from '#src/ledger/rules/contact.ts';
import { type Database, parseJson, type ResultRow, textOrNull } from './database.ts';

export interface SaidPlace {
  readonly feed: string;
  readonly key: string;
  readonly runId: string;
  readonly line: number;
  /** Of the run whose file said it. */
  readonly sequence: number;
  readonly atMs: number;
}

export function writeSaid(db: Database, place: SaidPlace, settled: SettledSaid): void {
  const { feed, key, sequence, atMs } = place;
  const { said, rowHash, fingerprint, mappingVersion } = settled;
  put(db, { feed, said }, key, { rowHash, fingerprint, mappingVersion, sequence, atMs });
  writeHeld(db, place, settled);
}

/** What another feed said has moved. */
export function moveSaid(
  db: Database,
  key: string,
  { feed, said, looksAgain, sequence }: MovedSaid,
  atMs: number,
): void {
  const known = db.get(
    'SELECT row_hash, fingerprint, mapping_version, sequence FROM said WHERE feed = ? AND key = ?',
    feed,
    key,
  );
  const hash = (value: unknown) => (looksAgain || typeof value !== 'string' ? null : value);
  put(db, { feed, said }, key, {
    rowHash: hash(known?.row_hash),
    fingerprint: hash(known?.fingerprint),
    mappingVersion: String(known?.mapping_version ?? ''),
    sequence: sequence ?? Number(known?.sequence ?? 0),
    atMs,
  });
}

/** A person has decided. `looksAgain`: the row is planned when it comes next, whatever it says. */
export function decideSaid(db: Database, { feed, said }: FeedSaid, key: string, looksAgain: boolean): void {
  db.run(
    `UPDATE said SET said = ?, held_count = ?, row_hash = CASE WHEN ? THEN NULL ELSE row_hash END,
       fingerprint = CASE WHEN ? THEN NULL ELSE fingerprint END WHERE feed = ? AND key = ?`,
    JSON.stringify(said),
    said.held.length,
    looksAgain ? 1 : 0,
    looksAgain ? 1 : 0,
    feed,
    key,
  );
  dropHeld(db, feed, key, said);
}

interface SaidColumns {
  readonly rowHash: string | null;
  readonly fingerprint: string | null;
  readonly mappingVersion: string;
  readonly sequence: number;
  readonly atMs: number;
}

function put(db: Database, { feed, said }: FeedSaid, key: string, columns: SaidColumns): void {
  db.run(
    `INSERT INTO said (feed, key, said, row_hash, fingerprint, mapping_version, sequence, settled_at, spoken, held_count)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?7, ?9)
     ON CONFLICT (feed, key) DO UPDATE SET said = excluded.said, row_hash = excluded.row_hash, fingerprint = excluded.fingerprint,
       mapping_version = excluded.mapping_version, sequence = excluded.sequence, settled_at = excluded.settled_at,
       spoken = max(said.spoken, excluded.spoken), held_count = excluded.held_count, tried = NULL`,
    feed,
    key,
    JSON.stringify(said),
    columns.rowHash,
    columns.fingerprint,
    columns.mappingVersion,
    columns.sequence,
    columns.atMs,
    said.held.length,
  );
}

/** What is held no more leaves. */
function dropHeld(db: Database, feed: string, key: string, { held }: Said): void {
  db.run(
    'DELETE FROM held WHERE feed = ? AND key = ? AND field NOT IN (SELECT value FROM json_each(?))',
    feed,
    key,
    JSON.stringify(held),
  );
}

/** A field that was held before keeps its instant. */
function writeHeld(db: Database, { feed, key, runId, line, atMs }: SaidPlace, { said, held }: SettledSaid): void {
  dropHeld(db, feed, key, said);
  for (const one of held) {
    db.run(
      `INSERT INTO held (feed, key, field, said, ours, theirs, run_id, line, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (feed, key, field) DO UPDATE SET said = excluded.said, ours = excluded.ours, theirs = excluded.theirs,
         run_id = excluded.run_id, line = excluded.line`,
      feed,
      key,
      one.field,
      JSON.stringify(one.said),
      JSON.stringify(one.ours),
      JSON.stringify(one.theirs),
      runId,
      line,
      atMs,
    );
  }
}

/** By key, what each feed said. The feeds are few: each is asked for each key. */
export function saidsOf(db: Database, keys: readonly string[]): ReadonlyMap<string, readonly SpokenSaid[]> {
  const saids = new Map<string, SpokenSaid[]>();
  const rows = db.all(
    `SELECT said.feed, said.key, said.said, said.spoken FROM json_each(?) AS wanted CROSS JOIN feeds
     CROSS JOIN said ON said.feed = feeds.name AND said.key = wanted.value`,
    JSON.stringify(keys),
  );
  for (const row of rows) {
    const said = parseJson<Said>(row.said);
    const key = String(row.key);
    if (said !== null)
      saids.set(key, [...(saids.get(key) ?? []), { feed: String(row.feed), said, spoken: Number(row.spoken) }]);
  }
  return saids;
}

export interface SpokenSaid extends FeedSaid {
  /** Of the newest run of the feed that was settled or found unchanged. */
  readonly spoken: number;
}

export function toHeld(row: ResultRow): HeldRecord {
  // Written by `writeHeld` from values of these types.
  const value = (column: ResultRow[string] | undefined) => parseJson<HeldRecord['ours']>(column);
  return {
    feed: String(row.feed),
    key: String(row.key),
    field: String(row.field) as HeldRecord['field'],
    said: value(row.said),
    ours: value(row.ours),
    theirs: value(row.theirs),
    runId: String(row.run_id),
    line: Number(row.line),
    sinceMs: Number(row.since),
  };
}

/** `detail` beyond this is cut. */
const detailCharactersMax = 200;

/** Adds an event; the oldest beyond the bound are forgotten. */
export function addKeyEvent(db: Database, event: KeyHistoryEntry): void {
  const last = db.get('SELECT max(ordinal) AS last FROM key_events WHERE key = ?', event.key);
  const ordinal = Number(last?.last ?? 0) + 1;
  db.run(
    'INSERT INTO key_events (key, ordinal, at, run_id, kind, contact_id, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
    event.key,
    ordinal,
    event.atMs,
    event.runId,
    event.kind,
    event.contactId,
    event.detail?.slice(0, detailCharactersMax) ?? null,
  );
  if (ordinal > eventsPerKeyMax)
    db.run('DELETE FROM key_events WHERE key = ? AND ordinal <= ?', event.key, ordinal - eventsPerKeyMax);
}

/** Oldest first. */
export function keyEvents(db: Database, key: string): readonly KeyHistoryEntry[] {
  return db.all('SELECT * FROM key_events WHERE key = ? ORDER BY ordinal', key).map(toKeyEvent);
}

function toKeyEvent(row: ResultRow): KeyHistoryEntry {
  return {
    key: String(row.key),
    atMs: Number(row.at),
    runId: textOrNull(row.run_id),
    // Written by `addKeyEvent` from a value of that type.
    kind: String(row.kind) as KeyHistoryKind,
    contactId: textOrNull(row.contact_id),
    detail: textOrNull(row.detail),
  };
}

/** Writes the parts that the change names. For use inside a transaction. */
export function changeContact(db: Database, key: string, change: ContactChange): void {
  const columns = Object.entries({ ...plainColumns(change), ...pairColumns(change) }).filter(
    (entry): entry is [string, SQLInputValue] => entry[1] !== undefined,
  );
  if (columns.length === 0) return;
  const assignments = columns.map(([name]) => `${name} = ?`).join(', ');
  db.run(`UPDATE contacts SET ${assignments} WHERE key = ?`, ...columns.map(([, value]) => value), key);
}

function plainColumns(change: ContactChange): Readonly<Record<string, SQLInputValue | undefined>> {
  const json = (value: unknown) => (value === undefined || value === null ? value : JSON.stringify(value));
  return {
    state: change.state,
    contact_id: change.contactId,
    seen: json(change.seen),
    owned: json(change.owned),
    agreed: json(change.agreed),
    stamps: json(change.stamps),
    claim: json(change.claim),
    linked_to: change.linkedTo,
    attempts: change.attempts,
    intent_run: change.intentRun,
  };
}

/** Null sets all columns of a part to null; absent leaves them. */
function pairColumns({
  lease,
  horizon,
  written,
  bound,
}: ContactChange): Readonly<Record<string, SQLInputValue | undefined>> {
  const part = <Part extends object, Value>(whole: Part | null | undefined, pick: (part: Part) => Value) =>
    whole === undefined || whole === null ? whole : pick(whole);
  return {
    owner: part(lease, ({ owner }) => owner),
    lease_until: part(lease, ({ untilMs }) => untilMs),
    lease_boot: part(lease, ({ bootId }) => bootId),
    horizon: part(horizon, ({ atMs }) => atMs),
    horizon_boot: part(horizon, ({ bootId }) => bootId),
    written_at: written?.atMs,
    written_boot: written?.bootId,
    bound_run: bound?.runId,
    bound_at: bound?.atMs,
  };
}
