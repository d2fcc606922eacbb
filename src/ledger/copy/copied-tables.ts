/**
 * The tables of a ledger, which both databases have with the same columns, in an order in which they can be filled: what is referred to
 * comes before what refers to it. `test/ledger/copy-ledger.test.ts` holds the list equal to the schemas.
 */

export interface CopiedTable {
  readonly name: string;
  /** The columns of its primary key: rows are read in their order, so that the copy's pages are filled in turn. */
  readonly key: readonly string[];
  /**
   * How it is filled: with the rows of the source; in place of what the schema has put there; or by triggers, from the rows of
   * another table.
   */
  readonly filled: 'byRows' | 'anew' | 'byTriggers';
}

const byRows = (name: string, ...key: readonly string[]): CopiedTable => ({ name, key, filled: 'byRows' });

export const copiedTables: readonly CopiedTable[] = [
  byRows('feeds', 'number'),
  byRows('runs', 'sequence'),
  byRows('headers', 'run_sequence', 'number'),
  byRows('staged', 'place'),
  byRows('staged_content', 'place'),
  byRows('batches', 'run_sequence', 'batch'),
  byRows('run_events', 'run_sequence', 'ordinal'),
  byRows('bitmaps', 'run_sequence', 'kind'),
  byRows('touched_keys', 'run_sequence', 'position'),
  byRows('contacts', 'number'),
  byRows('flights', 'key'),
  byRows('known', 'feed_number', 'number'),
  byRows('held', 'feed', 'key', 'field'),
  byRows('key_events', 'key', 'ordinal'),
  byRows('journal', 'number'),
  byRows('letter_headers', 'number'),
  byRows('letters', 'number'),
  { name: 'letter_counts', key: ['state', 'code', 'class', 'run_id', 'feed'], filled: 'byTriggers' },
  // Behind the letters, whose triggers raise it.
  { name: 'letter_revision', key: ['revision'], filled: 'anew' },
  byRows('redrives', 'run_id'),
  byRows('dead_rows', 'run_sequence', 'ordinal'),
  byRows('dead_row_counts', 'run_sequence', 'class', 'code'),
  byRows('records', 'number'),
  byRows('snapshot_numbers', 'number_key'),
  byRows('number_versions', 'number_key', 'from_at'),
];

/**
 * The last number that each table has given whose numbers are never given twice, also where the last row was deleted; 0 where none was.
 */
export interface Counters {
  /** Of `sequence`. */
  readonly runs: number;
  /** Of `number`. */
  readonly records: number;
}

export const quoted = (columns: readonly string[]): string => columns.map((name) => `"${name}"`).join(', ');

/** Registrations of processes: none of them is on the copy. */
export const registrations = "kind IN ('engine', 'worker', 'host', 'queue')";
