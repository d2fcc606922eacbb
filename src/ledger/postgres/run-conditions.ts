/** Which runs are asked for, as conditions of a statement. */
import type { RunWhere } from '#src/ledger/tables/runs.ts';
import { where } from './where.ts';

/** The first of each feed, by the index `runs_in_line`. */
const firstInLine = `state = 'queued' AND NOT EXISTS (SELECT 1 FROM runs AS earlier
  WHERE earlier.feed = runs.feed AND earlier.sequence < runs.sequence AND earlier.state IN ('queued', 'staging', 'applying'))`;

export function runConditions(asked: RunWhere, first = 1): ReturnType<typeof where> {
  const given = where(
    [
      ['id = ANY ($::text[])', asked.ids],
      ['feed = $', asked.feed],
      ['kind = $', asked.kind],
      ['sha256 = $', asked.sha256],
      ['sequence < $::bigint', asked.beforeSequence],
      ['sequence > $::bigint', asked.afterSequence],
    ],
    first,
  );
  // States are words of ours, and partial indexes are found by them.
  const states = asked.states?.map((state) => `'${state}'`).join(', ');
  const sql = [
    given.sql,
    ...(states === undefined ? [] : [states === '' ? 'FALSE' : `state IN (${states})`]),
    ...(asked.unpruned ? ['pruned = 0 AND finished_at IS NOT NULL'] : []),
    ...(asked.hasLook ? ['look IS NOT NULL'] : []),
    ...(asked.isFirstInLine ? [firstInLine] : []),
  ];
  return { ...given, sql: sql.join(' AND ') };
}
