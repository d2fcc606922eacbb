/** Which keys a run touched, kept beyond its staged rows. For use inside a transaction. */
import { doubtKinds } from '../key-event.ts';
import type { Database } from './database.ts';

export interface RunPlace {
  readonly id: string;
  readonly sequence: number;
  readonly feed: string;
  /** The run is being cancelled: a worker may still hold some of its keys. */
  readonly cancelled: boolean;
}

const doubts = doubtKinds.map((kind) => `'${kind}'`).join(', ');

/**
 * From the staged rows, before they are forgotten:
 * - those that reached their contact, or found that it needs nothing;
 * - those that died while they were applied. A row that died while the file was read was never looked up;
 * - of those that were skipped only what was on its way: an update that was sent, an intent, a contact bound after all,
 *   and in a cancelled run what a worker still holds. Superseded rows and contacts that are gone are left out.
 *
 * In doubt is what the run's own history says, what still is an intent, and whatever was skipped on its way.
 */
export function keepTouchedKeys(db: Database, run: RunPlace): void {
  db.run(
    `WITH known AS (
       SELECT staged.position, staged.key, staged.outcome, staged.sent, contacts.intent_run = ?2 AS intended,
         contacts.state = 'intent' AS is_intent, contacts.bound_run = ?2 AS bound, contacts.owner IS NOT NULL AS held,
         EXISTS (SELECT 1 FROM key_events WHERE key_events.key = staged.key AND key_events.run_id = ?2
           AND key_events.kind IN (${doubts})) AS doubted
       FROM staged LEFT JOIN contacts ON contacts.key = staged.key
       WHERE staged.run_id = ?2
         AND NOT (staged.outcome = 'dead' AND EXISTS (SELECT 1 FROM run_keys
           WHERE run_keys.run_id = ?2 AND run_keys.key = staged.key AND run_keys.kind = 'dead')))
     INSERT INTO touched_keys (run_sequence, position, key, in_doubt)
     SELECT ?1, min(position), key, max(doubted OR coalesce(intended, 0) OR coalesce(is_intent, 0) OR outcome = 'skipped')
     FROM known
     WHERE outcome IN ('created', 'updated', 'unchanged', 'dead')
       OR (outcome = 'skipped' AND (sent OR doubted OR coalesce(intended, 0) OR coalesce(bound, 0) OR (?3 AND held)))
     GROUP BY key`,
    run.sequence,
    run.id,
    run.cancelled ? 1 : 0,
  );
}

/** What the ledger still knows of a run whose keys it has forgotten: rows settled by it last, contacts bound by it. */
export function keepSettledKeys(db: Database, run: RunPlace): void {
  db.run(
    `INSERT INTO touched_keys (run_sequence, position, key)
     SELECT ?1, row_number() OVER (ORDER BY key), key FROM (
       SELECT key FROM said WHERE feed = ?3 AND sequence = ?1 UNION SELECT key FROM contacts WHERE bound_run = ?2)`,
    run.sequence,
    run.id,
    run.feed,
  );
}

export function touchedCount(db: Database, run: RunPlace, inDoubt: boolean): number {
  const row = db.get(
    `SELECT count(*) AS keys FROM touched_keys WHERE run_sequence = ?${inDoubt ? ' AND in_doubt = 1' : ''}`,
    run.sequence,
  );
  return Number(row?.keys ?? 0);
}
