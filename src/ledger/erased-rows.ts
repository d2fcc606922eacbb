/**
 * Which rows name a key, table by table: they are deleted when its person is forgotten. Written once for both databases, which
 * differ in how they read a member of a JSON text and write a parameter.
 *
 * Runs that have not ended have no such row by then (`desk/forgotten.ts`), but for what they tell of other runs' keys in events.
 */

interface Dialect {
  /** The parameter: the key. */
  readonly key: string;
  /** A member of a JSON text, as text: by its path. */
  readonly member: (column: string, ...path: readonly string[]) => string;
}

/** Kinds of records whose documents name a key. */
const recordKinds = "'missing', 'finding'";

/** In an order in which each still finds what it goes by. */
export function erasingStatements({ key, member }: Dialect): readonly string[] {
  const ofContact = `(SELECT number FROM contacts WHERE key = ${key})`;
  return [
    `UPDATE feeds SET revision = revision + 1 WHERE number IN (SELECT feed_number FROM known WHERE number IN ${ofContact})`,
    `DELETE FROM known WHERE number IN ${ofContact}`,
    ...['contacts', 'flights', 'held', 'key_events', 'journal', 'touched_keys'].map(
      (table) => `DELETE FROM ${table} WHERE key = ${key}`,
    ),
    `DELETE FROM dead_rows WHERE letter_id IN (SELECT id FROM letters WHERE key = ${key})`,
    `DELETE FROM letters WHERE key = ${key}`,
    `DELETE FROM staged_content WHERE place IN (SELECT place FROM staged WHERE key = ${key})`,
    `DELETE FROM staged WHERE key = ${key}`,
    `DELETE FROM run_events WHERE ${member('event', 'key')} = ${key}`,
    `DELETE FROM records WHERE kind IN (${recordKinds}) AND ${member('document', 'key')} = ${key}`,
    `DELETE FROM records WHERE kind = 'planned' AND ${member('document', 'contact', 'key')} = ${key}`,
  ];
}

/** What a run or a kept plan was asked for by `--only`, and a run's notes on that, as JSON texts: a key in them is replaced. */
export const forgottenWord = '(forgotten)';
