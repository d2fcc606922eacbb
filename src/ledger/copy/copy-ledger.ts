/**
 * Copies a ledger from one database into another: all rows as they are, then the same number and the same checksum of each table, read back
 * from the copy. Only then it becomes a ledger.
 *
 * Invariant: the target is a whole ledger or none, however the copy ends; the source is never changed. Rows pass in slices, so that memory
 * does not grow with the ledger.
 *
 * Of the copy alone is: the act of the person who made it; what belongs to the processes that worked on the source (registrations, leases), and what waited by
 * its clock: the copy waits by the clock of its own database, so that horizons begin anew there, in full.
 */

import { hash } from 'node:crypto';
import { invariant, PatchbayError } from '#src/errors.ts';
import type { NewAct } from '#src/ledger/acts.ts';
import { actRow } from '#src/ledger/desk/acts.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { type CopiedTable, type Counters, copiedTables } from './copied-tables.ts';

export type CopiedValue = string | number | null | Uint8Array;
/** In the order of the columns that were asked for. */
export type CopiedRow = readonly CopiedValue[];

export interface CopyReader {
  /** For people: the file's path, or the URL without its password. */
  readonly shown: string;
  /** Without those that only one of the databases has, sorted by name. */
  columnsOf(table: CopiedTable): Promise<readonly string[]>;
  count(table: CopiedTable): Promise<number>;
  /** Slices of at most `sliceRowsMax` rows, and about `sliceCharsMax` characters. Nothing else is asked for meanwhile. */
  slices(table: CopiedTable, columns: readonly string[]): AsyncIterable<readonly CopiedRow[]>;
}

/** Other processes may read it meanwhile; those that write wait, or are refused. */
export interface CopySource extends CopyReader {
  readonly ledgerId: string;
  counters(): Promise<Counters>;
  /** No instant in it that is not one of waiting is later, by its clock. */
  latestMs(): Promise<number>;
  close(): Promise<void>;
}

/** What the copy takes over besides rows. */
export interface Settled {
  readonly ledgerId: string;
  readonly counters: Counters;
  readonly latestMs: number;
}

export interface CopyTarget extends CopyReader {
  write(table: CopiedTable, columns: readonly string[], rows: readonly CopiedRow[]): Promise<void>;
  /** Gives the copy its identity and its clock. Behind this it differs from the source. */
  settle(source: Settled): Promise<void>;
  /** Makes it a ledger. @throws PatchbayError `transient` `commitUnanswered` where a database does not say whether it did. */
  publish(): Promise<void>;
  /** Ends the work on it; what was not published leaves no trace. */
  close(): Promise<void>;
}

export const sliceRowsMax = 500;
export const sliceCharsMax = 1_000_000;

export interface CopiedCount {
  readonly table: string;
  readonly rows: number;
  /** 128 bits as hexadecimal digits: the sum of the rows' hashes, so that their order does not count. */
  readonly checksum: string;
}

export interface CopyProgress {
  readonly phase: 'copying' | 'comparing';
  /** Rows: each is copied, and then compared. */
  readonly done: number;
  readonly total: number;
}

export interface CopyOptions {
  /** Of the person who copies: entered in the copy. */
  readonly act: NewAct;
  readonly onProgress: (progress: CopyProgress) => void;
  /** Looked at between two slices: its reason is thrown, and the target is none. */
  readonly signal: AbortSignal;
}

/**
 * @returns the tables with their rows and checksums, which both databases have.
 * @throws PatchbayError `transient` `copyDiffers`: a table of the copy is not what was read; `bug` `copyOtherColumns`; what source and target throw.
 */
export async function copyLedger(
  source: CopySource,
  target: CopyTarget,
  { act, onProgress, signal }: CopyOptions,
): Promise<readonly CopiedCount[]> {
  let total = 0;
  for (const table of copiedTables) total += 2 * (await source.count(table));
  let done = 0;
  const pass = (phase: CopyProgress['phase'], rows: number): void => {
    signal.throwIfAborted();
    done += rows;
    onProgress({ phase, done, total });
  };
  const counts: CopiedCount[] = [];
  for (const table of copiedTables) {
    const columns = await sameColumns(source, target, table);
    const sum = createSum();
    for await (const rows of source.slices(table, columns)) {
      sum.add(rows);
      if (table.filled !== 'byTriggers') await target.write(table, columns, rows);
      pass('copying', rows.length);
    }
    counts.push({ table: table.name, ...sum.value() });
  }
  for (const [index, table] of copiedTables.entries()) {
    const sum = createSum();
    for await (const rows of target.slices(table, await target.columnsOf(table))) {
      sum.add(rows);
      pass('comparing', rows.length);
    }
    requireSame(counts[index], { table: table.name, ...sum.value() }, target);
  }
  signal.throwIfAborted();
  const [counters, latestMs] = [await source.counters(), await source.latestMs()];
  const number = counters.records + 1;
  const rows = counts.reduce((sum, one) => sum + one.rows, 0);
  await enterAct(target, number, { ...act, ledgerAtMs: latestMs, facts: { ...act.facts, rows } });
  await target.settle({ ledgerId: source.ledgerId, counters: { ...counters, records: number }, latestMs });
  await target.publish();
  return counts;
}

async function enterAct(target: CopyTarget, number: number, act: NewAct): Promise<void> {
  const records = copiedTables.find(({ name }) => name === 'records');
  invariant(records !== undefined, 'records are copied');
  const row = actRow(act, number);
  const columns = await target.columnsOf(records);
  await target.write(records, columns, [columns.map((column) => row[column] ?? null)]);
}

async function sameColumns(source: CopySource, target: CopyTarget, table: CopiedTable): Promise<readonly string[]> {
  const [from, to] = [await source.columnsOf(table), await target.columnsOf(table)];
  if (from.join() === to.join()) return to;
  const message = `the table ${table.name} has other columns in ${source.shown} (${from.join(', ')}) than in ${target.shown} (${to.join(', ')})`;
  throw new PatchbayError('bug', 'copyOtherColumns', message);
}

function requireSame(from: CopiedCount | undefined, to: CopiedCount, { shown }: CopyTarget): void {
  if (from?.rows === to.rows && from.checksum === to.checksum) return;
  const how =
    from?.rows === to.rows
      ? `${counted(to.rows, 'row')} as the source has, but not the same`
      : `${counted(to.rows, 'row')} of ${from?.rows}`;
  throw new PatchbayError('transient', 'copyDiffers', `the copy ${shown} is not whole: ${to.table} has ${how}`, {
    hint: 'Nothing was left there, and the ledger is as it was. Run `patchbay ledger check`, look for triggers and rules in the target, and copy again.',
    facts: { table: to.table },
  });
}

const modulus = 1n << 128n;

interface Sum {
  add(rows: readonly CopiedRow[]): void;
  value(): Pick<CopiedCount, 'rows' | 'checksum'>;
}

/** Rows that are there twice count twice, which an exclusive or would not show. */
function createSum(): Sum {
  let rows = 0;
  let sum = 0n;
  return {
    add: (some) => {
      rows += some.length;
      for (const row of some) {
        const digest = hash('sha256', row.map(spelled).join(), 'buffer');
        sum += (digest.readBigUInt64BE(0) << 64n) | digest.readBigUInt64BE(8);
      }
      sum %= modulus;
    },
    value: () => ({ rows, checksum: sum.toString(16).padStart(32, '0') }),
  };
}

/** No two values have one spelling, nor two rows: each tells its length. */
function spelled(value: CopiedValue): string {
  if (value === null) return '-';
  if (typeof value === 'number') return `${value}`;
  if (typeof value === 'string') return `t${value.length}:${value}`;
  return `b${value.byteLength}:${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
}

/** How many characters a row takes, about. */
export function charsOf(row: CopiedRow): number {
  let chars = 0;
  for (const value of row) {
    if (typeof value === 'string') chars += value.length;
    else if (value instanceof Uint8Array) chars += value.byteLength * 2;
    else chars += 8;
  }
  return chars;
}
