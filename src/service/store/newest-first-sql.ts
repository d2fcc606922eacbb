/**
 * The SQL of a page of calls or messages, the newest first. Both bounds are on the index: a page costs the same wherever
 * it begins.
 */

/** `conversation`: conditions on the columns before `created_ms` in the index, ended by AND; empty for all. */
export function newestFirstSql(table: 'calls' | 'messages', conversation: string): string {
  return `
SELECT seq, created_ms, document FROM ${table}
WHERE ${conversation} created_ms > :createdAfterMs AND (created_ms, seq) < (:belowMs, :belowSeq)
ORDER BY created_ms DESC, seq DESC LIMIT :limit`;
}
