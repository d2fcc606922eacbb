/** What is warned of a write says what happened, to which field, and holds no value under `--no-values` (`docs/contract.md`). */
import { expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { withoutValues } from '#src/operations/run-document.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const header = 'externalId,role,company';

async function warningsOf(bench: RunsBench, run: RunRecord): Promise<readonly RunEvent[]> {
  const outcomes: readonly RunEvent[] = (await bench.report(run)).outcomes;
  return outcomes.filter(({ kind }) => kind === 'warning');
}

it('a field that a later file of another feed has changed is named, with that reason', async () => {
  const bench = await openRunsBench({ configured: { crm: {}, shop: {} } });
  await bench.import('crm-1.csv', csv(['c-1,Clerk,Mill'], header), { feed: 'crm' });
  const crm = await bench.stage(await bench.submit('crm-2.csv', csv(['c-1,Buyer,Forge'], header), { feed: 'crm' }));
  await bench.import('shop-1.csv', csv(['c-1,Boss'], 'externalId,role'), { feed: 'shop', options: { adopt: true } });
  const run = await bench.finish(await bench.apply(crm));
  expectCounts(run, { rows: 1, updated: 1 });
  const warnings = await warningsOf(bench, run);
  const message = 'a later file of another feed changed it: kept that value';
  expect(warnings).toMatchObject([{ line: 2, key: 'c-1', code: 'overtaken', field: 'role', message }]);
  expect(warnings.map(withoutValues)).toMatchObject([{ key: null, code: 'overtaken', field: 'role', message }]);
});

it('a value that differs in case or spaces only, or comes back so, is named, with what was done', async () => {
  const bench = await openRunsBench();
  const byHand = { externalId: 'c-1', defaultFields: { firstName: 'Ann', role: 'BUYER' } };
  await bench.world.byHand('POST', '/v1/contacts', byHand);
  const run = await bench.import('a.csv', csv(['c-1,Buyer,'], header));
  expectCounts(run, { rows: 1, updated: 1 });
  expect([run.counts.adopted, run.requests.patch]).toEqual([1, 0]);
  const warnings = await warningsOf(bench, run);
  expect(warnings).toMatchObject([
    { code: 'spelling', field: 'role', message: expect.stringContaining('case or spaces') },
  ]);
  expect(warnings.map(withoutValues)).toMatchObject([{ code: 'spelling', message: warnings[0]?.message }]);
});
