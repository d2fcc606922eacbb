/**
 * Reading and comparing a file: nothing is sent. Times are those of whole processes, from start to exit, less those of the
 * same command with a file of one row that is known: so the copy of the file, the feed's memory and the archive count, and
 * the start of a process does not.
 */
import {
  type Bench,
  type BenchCase,
  emptyFolder,
  exportIn,
  type FiguresByCheckout,
  forEachAble,
  importIntoCopy,
  inRounds,
  knownRows,
  ratioFigure,
} from './bench.ts';
import { type Figure, median, seconds } from './figures.ts';
import {
  benchFeed,
  type Checkout,
  type ImportEnd,
  type ImportOrder,
  runBaseline,
  runImport,
  withService,
} from './processes.ts';

/** Any change, and any new contact, stops the run before its first write. */
const stopsAtOnce = {
  PATCHBAY_GUARDS_UPDATES_MAX: '0%',
  PATCHBAY_GUARDS_UPDATES_FLOOR: '1',
  PATCHBAY_GUARDS_CREATES_MAX: '0%',
  PATCHBAY_GUARDS_CREATES_FLOOR: '1',
} as const;
const changedEvery = 100;

export const unchanged: BenchCase = {
  name: 'unchanged',
  what: 'the same file again, all keys known, over a bare papaparse of it',
  run: async (bench) => {
    const file = await exportIn(bench, 'rows', { count: bench.rows });
    const known = await forEachAble(bench, (checkout) => knownRows(bench, checkout, bench.rows));
    const net = await netOfStart(bench, [...known.keys()]);
    const rounds = await inRounds(bench, [...known.keys()], {
      baseline: () => runBaseline('parse', [file]),
      measured: (checkout) => net(checkout, () => importUnchanged(bench, checkout, known.get(checkout) ?? '', file)),
    });
    return mapped(rounds, (found) => [ratioFigure('unchanged', found, { is: 'least', value: 0.4 }, bench.rows)]);
  },
};

export const fresh: BenchCase = {
  name: 'new',
  what: 'new rows, staged and stopped by guards.createsMax, over a bare loop that parses, normalises phones and hashes',
  run: async (bench) => {
    const file = await exportIn(bench, 'rows', { count: bench.rows });
    const known = await forEachAble(bench, (checkout) => knownFew(bench, checkout));
    const net = await netOfStart(bench, [...known.keys()]);
    const rounds = await inRounds(bench, [...known.keys()], {
      baseline: () => runBaseline('normalise', [file]),
      measured: (checkout) => net(checkout, () => importNew(bench, checkout, known.get(checkout) ?? '', file)),
    });
    return mapped(rounds, (found) => [ratioFigure('new', found, { is: 'least', value: 0.5 }, bench.rows)]);
  },
};

export const changed: BenchCase = {
  name: 'changed',
  what: '1 % changed, staged and stopped by guards.updatesMax, over all unchanged',
  run: async (bench) => {
    const same = await exportIn(bench, 'rows', { count: bench.rows });
    const other = await exportIn(bench, 'changed', { count: bench.rows, changedEvery });
    const known = await forEachAble(bench, (checkout) => knownRows(bench, checkout, bench.rows));
    const net = await netOfStart(bench, [...known.keys()]);
    const rounds = await inRounds(bench, [...known.keys()], {
      baseline: async () => 0,
      measured: async (checkout) => {
        const data = known.get(checkout) ?? '';
        const before = await net(checkout, () => importUnchanged(bench, checkout, data, same));
        const order = { file: other, state: 'stopped', env: stopsAtOnce } as const;
        return { before, after: await net(checkout, () => importIntoCopy(bench, checkout, data, order)) };
      },
    });
    return mapped(rounds, (found): readonly Figure[] => [
      {
        name: 'changed',
        baseline: seconds(median(found.map(({ measured }) => measured.before))),
        measured: seconds(median(found.map(({ measured }) => measured.after))),
        value: median(found.map(({ measured }) => measured.after / measured.before)),
        limit: { is: 'most', value: 1.3 },
      },
    ]);
  },
};

const smallCount = 10_000;
const peakMbMax = 280;
const growthMbMax = 40;

export const memory: BenchCase = {
  name: 'memory',
  what: 'peak of the whole process (VmHWM), new and unchanged rows, over the same with 10,000 rows',
  run: async (bench) => {
    const few = await exportIn(bench, 'rows', { count: smallCount });
    const many = await exportIn(bench, 'rows', { count: bench.rows });
    return await forEachAble(bench, async (checkout) => {
      const start = await knownFew(bench, checkout);
      const peaks = async (read: () => Promise<ImportEnd>) => (await read()).peakMb;
      const figures: Figure[] = [];
      const compare = async (name: string, small: () => Promise<ImportEnd>, large: () => Promise<ImportEnd>) => {
        const [before, after] = [await peaks(small), await peaks(large)];
        const told = { baseline: `${before} MB`, measured: `${after} MB` };
        figures.push({
          name: `memory, ${name}: growth`,
          ...told,
          value: after - before,
          limit: { is: 'most', value: growthMbMax },
        });
        figures.push({ name: `memory, ${name}: peak`, ...told, value: after, limit: { is: 'most', value: peakMbMax } });
      };
      await compare(
        'new',
        () => importNew(bench, checkout, start, few),
        () => importNew(bench, checkout, start, many),
      );
      const [knownFewer, knownMany] = [
        await knownRows(bench, checkout, smallCount),
        await knownRows(bench, checkout, bench.rows),
      ];
      await compare(
        'unchanged',
        () => importUnchanged(bench, checkout, knownFewer, few),
        () => importUnchanged(bench, checkout, knownMany, many),
      );
      return figures;
    });
  },
};

async function importUnchanged(bench: Bench, checkout: Checkout, data: string, file: string): Promise<ImportEnd> {
  const end = await importIntoCopy(bench, checkout, data, { file, state: 'done' });
  const { unchanged: same, rows, requests } = end.document;
  if (same !== rows || requests.post + requests.patch > 0) throw new Error(`not all of ${rows} rows are unchanged`);
  return end;
}

export async function importNew(
  bench: Bench,
  checkout: Checkout,
  data: string,
  file: string,
  env: ImportOrder['env'] = {},
): Promise<ImportEnd> {
  const end = await importIntoCopy(bench, checkout, data, { file, state: 'stopped', env: { ...stopsAtOnce, ...env } });
  const { rows, pending, requests } = end.document;
  if (pending !== rows || requests.post > 0) throw new Error(`not all of ${rows} rows are staged`);
  return end;
}

/** Rows of other people than those of the exports. */
const fewRows = { count: 20, first: 9_000_000 };

/** A data folder that knows few keys: enough for a guard to stop what comes. */
export async function knownFew(bench: Bench, checkout: Checkout, env: ImportOrder['env'] = {}): Promise<string> {
  const data = await emptyFolder(bench, `${checkout.name}-known-few`, benchFeed);
  const file = await exportIn(bench, 'few', fewRows);
  await withService(':memory:', (origin) => runImport(checkout, { file, data, origin, state: 'done', env }));
  return data;
}

/** @returns a function: the seconds of an import, less those of a file of one row that is known, right before it. */
async function netOfStart(
  bench: Bench,
  checkouts: readonly Checkout[],
): Promise<(checkout: Checkout, run: () => Promise<ImportEnd>) => Promise<number>> {
  const file = await exportIn(bench, 'one', { count: 1, first: 8_000_000 });
  const one = (checkout: Checkout, data: string) =>
    withService(':memory:', (origin) => runImport(checkout, { file, data, origin, state: 'done' }));
  const folders = new Map<Checkout, string>();
  for (const checkout of checkouts) {
    const data = await emptyFolder(bench, `${checkout.name}-one`, benchFeed);
    await one(checkout, data);
    folders.set(checkout, data);
  }
  return async (checkout, run) => {
    const start = await one(checkout, folders.get(checkout) ?? '');
    const seconds = (await run()).seconds - start.seconds;
    // So few rows on so busy a machine tell nothing: not a number keeps no limit.
    return seconds > 0 ? seconds : Number.NaN;
  };
}

function mapped<Found>(
  rounds: ReadonlyMap<Checkout, Found>,
  figuresOf: (found: Found) => readonly Figure[],
): FiguresByCheckout {
  return new Map([...rounds].map(([checkout, found]) => [checkout, figuresOf(found)]));
}
