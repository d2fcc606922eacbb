/** What must hold in a ledger beyond what its database checks itself, as statements that both databases understand. */

/**
 * - `sound`: all holds.
 * - `damaged`: bytes of the file are broken; it must not be used.
 * - `inconsistent`: it can be read, and its contents do not fit together.
 */
export type LedgerState = 'sound' | 'damaged' | 'inconsistent';

export interface LedgerFinding {
  /** Stable: `pages`, `references`, `counts`, `pending`, `batches`, `strays`, `bound`, `documents`, `twice`. */
  readonly check: string;
  /** For people; ids of runs, no values of contacts. */
  readonly message: string;
}

export interface LedgerCheck {
  readonly file: string;
  readonly bytes: number;
  /** Null where not even that can be read. */
  readonly schema: number | null;
  readonly state: LedgerState;
  readonly findings: readonly LedgerFinding[];
  /** What may be so by right and is worth a look. */
  readonly notes: readonly LedgerFinding[];
}

/** One statement that finds what must not be; its first column is an example that may be shown where `shows` says so. */
export interface Rule {
  readonly check: string;
  readonly sql: string;
  /** What is counted: one, and several. */
  readonly words: readonly [string, string];
  readonly shows: boolean;
}

const outcomes = 'created + updated + unchanged + skipped + dead';
/** The tables of staged rows: how a row is found from its run, and what belongs to a run. */
export interface RowTables {
  readonly ofRun: string;
  readonly ofBatch: string;
  readonly byId: readonly string[];
  readonly bySequence: readonly string[];
}

/** Those of the second design, on both databases. */
export const secondRows: RowTables = {
  ofRun: 'staged.place > runs.sequence * 8388608 AND staged.place < (runs.sequence + 1) * 8388608',
  ofBatch: 'run_sequence = runs.sequence AND staged.place % 8388608 BETWEEN first AND last',
  byId: [],
  bySequence: [
    'dead_rows',
    'dead_row_counts',
    'batches',
    'run_events',
    'headers',
    'bitmaps',
    '(SELECT place / 8388608 AS run_sequence FROM staged) AS rows_of_runs',
  ],
};

export const rulesOn = ({ ofRun, ofBatch, byId, bySequence }: RowTables): readonly Rule[] => [
  {
    check: 'counts',
    sql: `SELECT id FROM runs WHERE state IN ('done', 'doneWithDead') AND "rows" <> ${outcomes}`,
    words: ['finished run whose counts do not add up', 'finished runs whose counts do not add up'],
    shows: true,
  },
  {
    check: 'pending',
    sql: `SELECT id FROM runs WHERE state IN ('applying', 'stopped') AND "rows" - (${outcomes}) <>
          (SELECT count(*) FROM staged WHERE ${ofRun} AND outcome IS NULL)`,
    words: [
      'run that counts other rows as pending than are staged',
      'runs that count other rows as pending than are staged',
    ],
    shows: true,
  },
  {
    check: 'batches',
    sql: `SELECT DISTINCT id FROM runs JOIN staged ON ${ofRun} WHERE state IN ('applying', 'stopped') AND outcome IS NULL
          AND NOT EXISTS (SELECT 1 FROM batches WHERE ${ofBatch} AND done = 0)`,
    words: [
      'run with rows that no job will take, since their batch is closed or missing',
      'runs with rows that no job will take, since their batch is closed or missing',
    ],
    shows: true,
  },
  {
    check: 'strays',
    sql: [
      ...byId.map((table) => `SELECT DISTINCT run_id FROM ${table} WHERE run_id NOT IN (SELECT id FROM runs)`),
      ...bySequence.map(
        (table) => `SELECT DISTINCT run_sequence FROM ${table} WHERE run_sequence NOT IN (SELECT sequence FROM runs)`,
      ),
    ].join(' UNION '),
    words: ['run that rows belong to and that is not there', 'runs that rows belong to and that are not there'],
    shows: true,
  },
  {
    check: 'bound',
    sql: "SELECT key FROM contacts WHERE state = 'bound' AND contact_id IS NULL",
    words: ['key that is bound to no contact', 'keys that are bound to no contact'],
    shows: false,
  },
];

/** Legitimate after a contact was given another key in the app while the file names both keys. */
export const boundTwice: Rule = {
  check: 'twice',
  sql: "SELECT contact_id FROM contacts WHERE state = 'bound' GROUP BY contact_id HAVING count(*) > 1",
  words: ['contact that two keys are bound to', 'contacts that two keys are bound to'],
  shows: true,
};

/** For display: `1 key that is bound to no contact`. */
export function foundWords(count: number, [one, several]: Rule['words']): string {
  return `${count} ${count === 1 ? one : several}`;
}
