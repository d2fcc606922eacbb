/** Rows that are known by the text of their records are not read, and nothing else is different for it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { openFileSupply, type RowSupply } from '#src/runs/supply.ts';
import { csv, expectCounts, fillers, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const header = 'externalId,firstName,role,Filler';
/** A few rows make a chunk of the file: so a file of some dozen rows has several slices. */
const filler = 'x'.repeat(40_000);
const line = (key: string, role: string): string => `${key},Ann,${role},${filler}`;

/** What staging says of a run, but for what it has of its own. */
async function told(bench: RunsBench, run: RunRecord) {
  const { deadNew: _, ...counts } = run.counts;
  const dead = (await bench.deadRows(run)).map(({ line: at, key, code, row }) => ({ at, key, code, cells: row }));
  const staged = new Map<number, string>();
  for (const batch of await bench.ledger.runs.nextBatches(Number.MAX_SAFE_INTEGER, 1_000)) {
    if (batch.runId !== run.id) continue;
    const records = await bench.ledger.runs.pendingRecords(run.id, batch.batch, Number.MAX_SAFE_INTEGER, 1_000);
    for (const { key, line: at, fingerprint } of records) staged.set(at, `${key} ${fingerprint}`);
  }
  const events = (await bench.events(run)).map((event) => JSON.stringify({ ...event, ordinal: 0 }));
  return {
    ...{ state: run.state, counts, notes: run.notes, shape: run.shape },
    dead: dead.toSorted((one, two) => one.at - two.at),
    staged: [...staged].toSorted(([one], [two]) => one - two),
    events: events.toSorted(),
  };
}

async function stageBy(
  bench: RunsBench,
  rows: readonly string[],
  given: Mapping,
  change: (supply: RowSupply) => RowSupply,
) {
  const run = await bench.submit('b.csv', csv(rows, header), { mapping: given });
  const supply = async (one: RunRecord) => change(await openFileSupply(bench.parts, one));
  const staged = await bench.stage(run, { supply });
  const found = await told(bench, staged);
  await bench.ledger.runs.move(run.id, ['applying'], 'cancelling', { atMs: 1 });
  await bench.finish(staged);
  return found;
}

const slowly = (supply: RowSupply): RowSupply => ({ ...supply, meaning: null, items: () => supply.items(null) });
const quickly = (supply: RowSupply): RowSupply => supply;

describe('a file of rows that are known, and of others', () => {
  it('gives the same verdicts as when every row is read, whichever of two rows with a key is to win', async () => {
    const keys = ['k1', 'k2', 'k3', 'new', ''];
    const rowsOfFile = fc.array(
      fc.tuple(fc.constantFrom(...keys), fc.constantFrom('Boss', 'Chief')).map(([key, role]) => line(key, role)),
      { minLength: 1, maxLength: 24 },
    );
    const policies = fc.constantFrom('dead', 'firstWins', 'lastWins');
    const bench = await openRunsBench();
    const layout = (duplicateKeys: string): Mapping =>
      mapping({ key: 'externalId', fields: { firstName: 'firstName', role: 'role' }, duplicateKeys });
    await fc.assert(
      fc.asyncProperty(rowsOfFile, policies, async (rows, policy) => {
        const base = ['k1', 'k2', 'k3'].map((key) => line(key, 'Boss'));
        await bench.import('a.csv', csv(base, header), { mapping: layout(policy) });
        const quick = await stageBy(bench, rows, layout(policy), quickly);
        const slow = await stageBy(bench, rows, layout(policy), slowly);
        expect(quick).toEqual(slow);
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  it('is not read again: a reader is asked for the others alone', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(fillers(700)));
    const rows = [...fillers(700), 'more,Ann,Boss'];
    const run = await bench.submit('b.csv', csv(rows));
    let readCount = 0;
    const counting = async (one: RunRecord): Promise<RowSupply> => {
      const supply = await openFileSupply(bench.parts, one);
      const items = async function* (look: Parameters<RowSupply['items']>[0]) {
        for await (const slice of supply.items(look)) {
          readCount += slice.length;
          yield slice;
        }
      };
      return { ...supply, items };
    };
    expectCounts(await bench.stage(run, { supply: counting }), { rows: 701, unchanged: 700, pending: 1 });
    expect(readCount).toBe(1);
  });
});

describe('a row that was unchanged when its feed was read', () => {
  it('is staged after all where the feed knows something else of its key at the end', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(fillers(20)));
    const first = await bench.submit('b.csv', csv([...fillers(20), 'more,Ann,Boss']));
    let isFirst = true;
    const interrupted = async (one: RunRecord): Promise<RowSupply> => {
      const supply = await openFileSupply(bench.parts, one);
      const items = async function* (look: Parameters<RowSupply['items']>[0]) {
        for await (const slice of supply.items(look)) {
          yield slice;
          if (!isFirst) continue;
          isFirst = false;
          // Another run settles two of its keys meanwhile, with other values.
          const other = fillers(2).map((row) => row.replace(/[^,]*$/, 'Other'));
          await bench.import('c.csv', csv(other));
        }
      };
      return { ...supply, items };
    };
    const run = await bench.stage(first, { supply: interrupted });
    expectCounts(run, { rows: 21, unchanged: 18, pending: 3 });
  });
});
