/**
 * Which rows name a key, table by table: they are deleted when its person is forgotten. Written once for both databases, which
 * differ in how they write a parameter and read a member of a JSON text.
 *
 * Runs that have not ended have no such row by then (`desk/forgotten.ts`), but for what they tell of other runs' keys in events.
 */

/** In an order in which each still finds what it goes by. @param key the parameter: the key. */
export function erasingStatements(key: string): readonly string[] {
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
  ];
}

/** Rows whose key is a member of a JSON text. */
export interface DocumentsOfKeys {
  readonly table: string;
  /** The columns of the primary key: numbers from zero on. */
  readonly place: readonly string[];
  readonly column: string;
  /** A condition: which rows of the table. */
  readonly which: string;
  /** Names of members, from the outermost in. */
  readonly path: readonly string[];
}

const inRecords = { table: 'records', place: ['number'], column: 'document' } as const;

export const documentsOfKeys: readonly DocumentsOfKeys[] = [
  { table: 'run_events', place: ['run_sequence', 'ordinal'], column: 'event', which: 'TRUE', path: ['key'] },
  { ...inRecords, which: "kind IN ('missing', 'finding')", path: ['key'] },
  { ...inRecords, which: "kind = 'planned'", path: ['contact', 'key'] },
];

/** What a run or a kept plan was asked for by `--only`, and a run's notes on that, as JSON texts: a key in them is replaced. */
export const forgottenWord = '(forgotten)';
