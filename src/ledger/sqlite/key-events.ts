/** The history of keys that were in doubt, in SQLite. For use inside a transaction. */
import { eventsPerKeyMax, type KeyHistoryEntry, type KeyHistoryKind } from '../key-event.ts';
import { type Database, type ResultRow, textOrNull } from './database.ts';

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
