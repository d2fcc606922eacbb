/** Creating and changing contacts, and how many requests that takes. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Bench,
  type BenchCase,
  emptyFolder,
  exportIn,
  forEachAble,
  inRounds,
  ratioFigure,
  removeStore,
} from './bench.ts';
import type { Figure } from './figures.ts';
import {
  benchFeed,
  type Checkout,
  type ImportDocument,
  type ImportEnd,
  runBaseline,
  runImport,
  withService,
} from './processes.ts';

const keysPerLookUp = 20;
const changedEvery = 10;
/** The custom fields, the phone numbers that tell the workspace, and the first page of its contacts. */
const fixedRequests = 3;
const perChangedMax = 1.1;
const visibilityLagMs = 10_000;

export const creates: BenchCase = {
  name: 'creates',
  what: 'new contacts over a bare undici loop with the same look-ups and creates, against the same service',
  run: async (bench) => {
    const file = await exportIn(bench, 'rows', { count: bench.applied });
    // The first one compiles: what cannot be measured is left out.
    const able = await forEachAble(bench, (checkout) => oneRow(bench, checkout));
    const rounds = await inRounds(bench, [...able.keys()], {
      baseline: () =>
        onFreshService(bench, (origin, key) => runBaseline('create', [origin, key, String(bench.applied)])),
      measured: async (checkout) => {
        // Right before it: one slow start must not count in all rounds.
        const startSeconds = await oneRow(bench, checkout);
        const { seconds } = await importAll(bench, checkout, file);
        return seconds - startSeconds;
      },
    });
    return new Map(
      [...rounds].map(([checkout, found]) => [
        checkout,
        [ratioFigure('creates', found, { is: 'least', value: 0.6 }, bench.applied)],
      ]),
    );
  },
};

export const requests: BenchCase = {
  name: 'requests',
  what: 'requests of an import of new rows, of the same file again, and of one in which 10 % changed',
  run: async (bench) => {
    const file = await exportIn(bench, 'rows', { count: bench.applied });
    const other = await exportIn(bench, `changed-${changedEvery}`, { count: bench.applied, changedEvery });
    return await forEachAble(bench, async (checkout): Promise<readonly Figure[]> => {
      const data = await emptyFolder(bench, `${checkout.name}-requests`, benchFeed);
      return await onFreshService(bench, async (origin) => {
        const order = { data, origin, state: 'done' } as const;
        const made = (await runImport(checkout, { ...order, file })).document;
        const again = (await runImport(checkout, { ...order, file })).document;
        // What was just written may be missing in lists, and is read contact by contact (`upsert.visibilityLag`).
        await sleep(visibilityLagMs);
        const updated = (await runImport(checkout, { ...order, file: other })).document;
        if (made.created !== bench.applied || updated.updated === 0) throw new Error('the rows were not written');
        return [
          requestFigure('requests, new', made, made.created + Math.ceil(made.created / keysPerLookUp) + fixedRequests),
          requestFigure('requests, unchanged', again, 0),
          {
            ...requestFigure('requests, per changed contact', updated, 0),
            value: sent(updated) / updated.updated,
            limit: { is: 'most', value: perChangedMax },
          },
        ];
      });
    });
  },
};

function requestFigure(name: string, document: ImportDocument, most: number): Figure {
  const { get, post, patch } = document.requests;
  const value = sent(document);
  return {
    name,
    baseline: null,
    measured: `${get} GET, ${post} POST, ${patch} PATCH`,
    value,
    limit: { is: 'most', value: most },
  };
}

function sent({ requests: { get, post, patch } }: ImportDocument): number {
  return get + post + patch;
}

async function importAll(bench: Bench, checkout: Checkout, file: string): Promise<ImportEnd> {
  const data = await emptyFolder(bench, `${checkout.name}-creates`, benchFeed);
  try {
    const end = await onFreshService(bench, (origin) => runImport(checkout, { file, data, origin, state: 'done' }));
    if (end.document.created !== bench.applied) throw new Error('not every row was created');
    return end;
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

/** Seconds of an import of one new row. */
async function oneRow(bench: Bench, checkout: Checkout): Promise<number> {
  const file = await exportIn(bench, 'one', { count: 1, first: 8_000_000 });
  const data = await emptyFolder(bench, `${checkout.name}-one`, benchFeed);
  return await onFreshService(bench, async (origin) => {
    const { seconds } = await runImport(checkout, { file, data, origin, state: 'done' });
    return seconds;
  });
}

/** The service on a store that is a file and new, synced to the disk at every commit. */
async function onFreshService<Result>(
  { folder }: Bench,
  work: (origin: string, key: string) => Promise<Result>,
): Promise<Result> {
  const store = join(folder, 'applying.service.sqlite');
  await removeStore(store);
  try {
    return await withService(store, work);
  } finally {
    await removeStore(store);
  }
}
