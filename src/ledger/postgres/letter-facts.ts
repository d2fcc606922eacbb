/** Which letters are asked for, as statements: each for one index. */
import type { LetterPage, LettersSought, MetPlace } from '#src/ledger/tables/letters.ts';
import type { Parameter } from './values.ts';
import { where } from './where.ts';

export interface FactQuery {
  readonly sql: string;
  /** Without that of the limit, where there is one: it is the last one. */
  readonly parameters: readonly Parameter[];
}

const columns = `id, feed, identity, code, key, class, field, file, line, sequence, state, run_id, first_run_id, redrive_run_id, last_at`;
const select = `SELECT ${columns} FROM letters`;

/** Behind a place that is the parameter `first` and the two after it, in the order met. */
const inOrderMet = (first: number): string =>
  `(sequence, line, id) > ($${first}::bigint, $${first + 1}::bigint, $${first + 2}::text) ORDER BY sequence, line, id LIMIT $${first + 3}`;

const after = (place: MetPlace | null): readonly Parameter[] =>
  place === null ? [-1, -1, ''] : [place.sequence, place.line, place.id];

export function factQueries(sought: LettersSought): readonly FactQuery[] {
  switch (sought.by) {
    case 'identity': {
      const sql = `SELECT ${columns} FROM unnest($2::text[], $3::text[]) AS sought (of_identity, of_code)
        JOIN letters ON feed = $1 AND identity = of_identity AND code = of_code`;
      const [identities, codes] = [sought.of.map(({ identity }) => identity), sought.of.map(({ code }) => code)];
      return [{ sql, parameters: [sought.feed, identities, codes] }];
    }
    case 'id':
      return [{ sql: `${select} WHERE id = ANY ($1::text[])`, parameters: [sought.ids] }];
    case 'key': {
      const sql = `${select} WHERE feed = $1 AND key = ANY ($2::text[]) AND settled = 0`;
      return [{ sql, parameters: [sought.feed, sought.keys] }];
    }
    case 'met': {
      const sql = `${select} WHERE feed = $1 AND settled = 0 AND state = ANY ($2::text[]) AND ${inOrderMet(3)}`;
      return [{ sql, parameters: [sought.feed, sought.states, ...after(sought.after)] }];
    }
    case 'keyless': {
      const sql = `${select} WHERE feed = $1 AND key IS NULL AND settled = 0 AND state = 'open' AND sequence < $2::bigint
        AND ${inOrderMet(3)}`;
      return [{ sql, parameters: [sought.feed, sought.beforeSequence, ...after(sought.after)] }];
    }
    case 'redrive': {
      const sql = `${select} WHERE redrive_run_id = $1
        AND (state = 'redriven' OR state = 'open' AND run_id = redrive_run_id) AND ${inOrderMet(2)}`;
      return [{ sql, parameters: [sought.runId, ...after(sought.after)] }];
    }
    case 'reason':
      return sought.reasons.map(({ class: reasonClass, code, field }) => ({
        // The name of a field may be longer than what an index takes: it is found by its hash.
        sql: `${select} WHERE code = $1 AND class = $2 AND md5(coalesce(field, '')) = md5(coalesce($3::text, ''))
          AND field IS NOT DISTINCT FROM $3::text AND state = 'open' AND settled = 0 LIMIT 1`,
        parameters: [code, reasonClass, field],
      }));
    case 'list':
      return listQueries(sought);
  }
}

function listQueries({ settled, after: place, states, code, runId, feed }: LetterPage): readonly FactQuery[] {
  const given = where([
    ['settled = $::smallint', settled ? 1 : 0],
    ['state = ANY ($::text[])', states],
    ['code = $', code],
    ['run_id = $', runId],
    ['feed = $', feed],
  ]);
  const query = (behind: string, of: readonly Parameter[], order: string): FactQuery => ({
    sql: `${select} WHERE ${given.sql} AND ${behind} ORDER BY ${order} LIMIT $${given.next + of.length}`,
    parameters: [...given.parameters, ...of],
  });
  const order = 'last_at DESC, line, id';
  if (place === null) return [query('TRUE', [], order)];
  const { lastAtMs, line, id } = place;
  const next = given.next;
  // Two ranges of the index: a comparison of all three would not be one, since the first goes down and the others up.
  return [
    query(
      `last_at = $${next}::bigint AND (line, id) > ($${next + 1}::bigint, $${next + 2}::text)`,
      [lastAtMs, line, id],
      'line, id',
    ),
    query(`last_at < $${next}::bigint`, [lastAtMs], order),
  ];
}
