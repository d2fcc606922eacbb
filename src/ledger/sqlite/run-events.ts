/** What a report tells of a run besides its dead rows. */
import { changesPerRunMax, eventsPerRunMax, type RunEvent } from '../staging-ledger.ts';
import type { Database } from './database.ts';

/** Keeps events up to the limits; counts go on beyond it. For use inside a transaction. */
export function addEvents(db: Database, runId: string, events: readonly RunEvent[]): void {
  if (events.length === 0) return;
  let ordinal = Number(db.get('SELECT max(ordinal) AS last FROM run_events WHERE run_id = ?', runId)?.last ?? 0);
  for (const event of events) {
    if (ordinal >= eventsPerRunMax) return;
    if (event.kind === 'changed' && ordinal >= changesPerRunMax) continue;
    ordinal += 1;
    db.run('INSERT INTO run_events (run_id, ordinal, event) VALUES (?, ?, ?)', runId, ordinal, JSON.stringify(event));
  }
}
