/** Statements whose rows come as arrays, in the order of their columns: half the cost of rows as objects. */
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';

export type RowArray = readonly SQLOutputValue[];

export interface RowArrays {
  /** The first row; undefined without one. */
  readonly get: (...parameters: readonly SQLInputValue[]) => RowArray | undefined;
  readonly all: (...parameters: readonly SQLInputValue[]) => readonly RowArray[];
}

/** `sql` has parameters without names. */
export function prepareRowArrays(database: DatabaseSync, sql: string): RowArrays {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  // `setReturnArrays` changes what `get` and `all` answer, but the declared type of a statement cannot follow: it says
  // objects whatever was set. The two types share nothing, so the cast goes through `unknown`; here and nowhere else.
  return statement as unknown as RowArrays;
}
