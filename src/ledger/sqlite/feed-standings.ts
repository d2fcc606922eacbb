/** What the runs say of each feed, in a handful of index look-ups a feed: it is asked every few seconds. */

import type { FeedStanding, LastRun } from '../feed-standing.ts';
import { standingStates } from '../feed-standing.ts';
import type { RunReason } from '../run-record.ts';
import { type Database, parseJson } from './database.ts';

const acceptedStates = ['done', 'doneWithDead'];
const workingStates = ['queued', 'staging', 'applying'];

export function feedStandings(db: Database): readonly FeedStanding[] {
  return db.all('SELECT name, created_at FROM feeds ORDER BY name').map((row) => {
    const feed = String(row.name);
    /** The sequence of the newest file in one of these states; 0 where there is none. */
    const newest = (states: readonly string[]): number => Math.max(...states.map((state) => newestIn(db, feed, state)));
    const lastSequence = newest(standingStates);
    const workingSequence = newest(workingStates);
    const accepted = db.get('SELECT created_at FROM runs WHERE sequence = ?', newest(acceptedStates));
    return {
      feed,
      createdAtMs: Number(row.created_at),
      last: lastSequence === 0 ? null : lastRun(db, lastSequence),
      atWork: workingSequence > lastSequence,
      acceptedAtMs: accepted === null ? null : Number(accepted.created_at),
    };
  });
}

function newestIn(db: Database, feed: string, state: string): number {
  const row = db.get(
    "SELECT max(sequence) AS newest FROM runs WHERE feed = ? AND kind = 'file' AND state = ?",
    feed,
    state,
  );
  return Number(row?.newest ?? 0);
}

function lastRun(db: Database, sequence: number): LastRun | null {
  const row = db.get('SELECT id, feed, state, reason, dead FROM runs WHERE sequence = ?', sequence);
  if (row === null) return null;
  return {
    id: String(row.id),
    // The row was found by this state.
    state: String(row.state) as LastRun['state'],
    code: parseJson<RunReason>(row.reason)?.code ?? null,
    deadCount: Number(row.dead),
    deadOpen: row.state === 'doneWithDead' && anyOpen(db, String(row.feed), sequence),
  };
}

/**
 * A letter keeps the sequence of the file that met it last, whatever redrive tries it again; one that a fix-file met since
 * has that of the fix-file.
 */
function anyOpen(db: Database, feed: string, sequence: number): boolean {
  return (
    db.get(
      "SELECT 1 FROM dead_letters WHERE feed = ? AND sequence >= ? AND state IN ('open', 'redriven') LIMIT 1",
      feed,
      sequence,
    ) !== null
  );
}
