/** What the cases share: the checkouts that are measured, the sizes, the folder with what is made once, the rounds. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ExportRows, writeExport } from './export-file.ts';
import { type Figure, type Limit, median } from './figures.ts';
import { copyOf, knownFolder } from './known-folder.ts';
import { type Checkout, type ImportEnd, type ImportOrder, runImport, withService } from './processes.ts';

export interface Bench {
  /** One, or a second one to compare with. */
  readonly checkouts: readonly Checkout[];
  /** Rows of the cases that stage, and of those that apply. */
  readonly rows: number;
  readonly applied: number;
  /** Odd, so that there is a middle one. */
  readonly rounds: number;
  /** Holds what is made once: exports and ledgers. */
  readonly folder: string;
  /** Progress, for people. */
  note(text: string): void;
}

/** The figures of each checkout, in their order; those of one that cannot do the case are missing. */
export type FiguresByCheckout = ReadonlyMap<Checkout, readonly Figure[]>;

export interface BenchCase {
  readonly name: string;
  readonly what: string;
  run(bench: Bench): Promise<FiguresByCheckout>;
}

/** The path of an export, which is written if it is not there. */
export async function exportIn({ folder }: Bench, name: string, rows: ExportRows): Promise<string> {
  const file = join(folder, `${name}-${rows.count}.csv`);
  if (!existsSync(file)) await writeExport(file, rows);
  return file;
}

/** A data folder that knows the rows from 0 on. */
export async function knownRows(bench: Bench, checkout: Checkout, count: number): Promise<string> {
  const file = await exportIn(bench, 'rows', { count });
  bench.note(`${checkout.name}: a ledger that knows ${count.toLocaleString('en')} keys`);
  return await knownFolder(checkout, bench.folder, `known-${count}`, file);
}

/** An import into a copy of a data folder, against a service without contacts. */
export async function importIntoCopy(
  { folder }: Bench,
  checkout: Checkout,
  data: string,
  order: Pick<ImportOrder, 'file' | 'state' | 'env'>,
): Promise<ImportEnd> {
  const copy = await copyOf(data);
  const store = join(folder, 'staging.service.sqlite');
  try {
    return await withService(store, (origin) => runImport(checkout, { ...order, data: copy, origin }));
  } finally {
    await rm(copy, { recursive: true, force: true });
    await removeStore(store);
  }
}

export async function removeStore(store: string): Promise<void> {
  for (const end of ['', '-wal', '-shm', '-lock']) await rm(`${store}${end}`, { force: true });
}

/** An empty data folder whose feed has a folder, as feeds have. */
export async function emptyFolder({ folder }: Bench, name: string, feed: string): Promise<string> {
  const data = join(folder, name);
  await rm(data, { recursive: true, force: true });
  await mkdir(join(data, 'import', feed), { recursive: true });
  return data;
}

export interface RoundPlan<Measured> {
  /** Seconds. */
  readonly baseline: () => Promise<number>;
  readonly measured: (checkout: Checkout) => Promise<Measured>;
}

export interface Round<Measured> {
  readonly baselineSeconds: number;
  readonly measured: Measured;
}

/** Baseline and measured in turn; with two checkouts the first one changes from round to round. */
export async function inRounds<Measured>(
  { checkouts, rounds, note }: Bench,
  able: readonly Checkout[],
  { baseline, measured }: RoundPlan<Measured>,
): Promise<ReadonlyMap<Checkout, readonly Round<Measured>[]>> {
  const found = new Map<Checkout, Round<Measured>[]>(able.map((checkout) => [checkout, []]));
  for (let round = 1; round <= rounds; round += 1) {
    if (rounds > 1 || checkouts.length > 1) note(`round ${round} of ${rounds}`);
    const baselineSeconds = await baseline();
    for (const checkout of round % 2 === 1 ? able : able.toReversed())
      found.get(checkout)?.push({ baselineSeconds, measured: await measured(checkout) });
  }
  return found;
}

/** The ratio of baseline and measured time, round by round, and of these the middle one. */
export function ratioFigure(name: string, rounds: readonly Round<number>[], limit: Limit | null, rows: number): Figure {
  const told = (seconds: number) =>
    `${seconds.toFixed(2)} s, ${Math.round(rows / seconds).toLocaleString('en')} rows/s`;
  return {
    name,
    baseline: told(median(rounds.map(({ baselineSeconds }) => baselineSeconds))),
    measured: told(median(rounds.map(({ measured }) => measured))),
    value: median(rounds.map(({ baselineSeconds, measured }) => baselineSeconds / measured)),
    limit,
  };
}

/** Carries a piece of work out for each checkout; another one that cannot do it is left out, by name. */
export async function forEachAble<Result>(
  { checkouts, note }: Bench,
  work: (checkout: Checkout) => Promise<Result>,
): Promise<ReadonlyMap<Checkout, Result>> {
  const results = new Map<Checkout, Result>();
  for (const [index, checkout] of checkouts.entries()) {
    try {
      results.set(checkout, await work(checkout));
    } catch (error) {
      if (index === 0) throw error;
      note(`${checkout.name} is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return results;
}
