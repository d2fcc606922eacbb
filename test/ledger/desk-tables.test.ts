/** Every list of the desk's records that is asked for is read along an index: no sorting, no walk over others. */
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { deskTables } from '#src/ledger/sqlite/desk-tables.ts';
import type { DeskTables, RecordFilter } from '#src/ledger/tables/desk.ts';

const after = { number: 5, id: 'a', atMs: 7 };

/** How SQLite goes about what the tables ask for. */
async function plansOf(ask: (desk: DeskTables) => Promise<unknown>): Promise<readonly string[]> {
  const db = openDatabase(':memory:');
  onTestFinished(() => db.close());
  const plans: string[] = [];
  const plan = async (sql: string, ...parameters: Parameters<typeof db.all>[1][]) => {
    plans.push(...db.all(`EXPLAIN QUERY PLAN ${sql}`, ...parameters).map(({ detail }) => String(detail)));
    return [];
  };
  const none = async () => 0;
  await ask(
    deskTables({ all: plan, get: async (...given) => (await plan(...given))[0] ?? null, run: none, runMany: none }),
  );
  return plans;
}

const lists: readonly (readonly [index: string, filter: Omit<RecordFilter, 'limit'>])[] = [
  ['records_by_id', { order: 'id' }],
  ['records_of_owner', { owner: 'crm', order: 'oldest' }],
  ['records_of_owner', { owner: 'crm', order: 'newest' }],
  ['records_of_owner_in_state', { owner: 'crm', state: 'run', order: 'newest' }],
  ['records_of_owner_in_state', { owner: 'crm', state: 'run', order: 'oldest' }],
  ['records_in_state', { state: 'dead', order: 'newest' }],
  ['records_in_state', { state: 'waiting', order: 'oldest' }],
  ['records_due', { state: 'waiting', untilMs: 9, order: 'due' }],
  ['records_latest', { owner: 'crm', state: 'taken', order: 'latest' }],
  ['records_latest', { owner: 'crm', state: 'taken', untilMs: 9, order: 'latest' }],
];

test.each(lists)('%s serves %j, also behind another record', async (index, filter) => {
  for (const behind of [{}, { after }]) {
    const plans = await plansOf((desk) => desk.listRecords('tick', { ...filter, ...behind, limit: 10 }));
    expect(plans).toHaveLength(1);
    expect(plans[0]).toMatch(new RegExp(`^SEARCH records USING INDEX ${index} \\(kind=`));
  }
});

test.each([{ owner: 'crm' }, { state: 'dead' }, { owner: 'crm', state: 'dead' }])(
  '%j is counted in an index',
  async (of) => {
    const [plan] = await plansOf((desk) => desk.countRecords('tick', of));
    expect(plan).toMatch(/^SEARCH records USING COVERING INDEX/);
  },
);

test('records are found by their ids', async () => {
  expect((await plansOf((desk) => desk.records('tick', ['a', 'b'])))[0]).toMatch(
    /USING INDEX records_by_id \(kind=\? AND id=/,
  );
});
