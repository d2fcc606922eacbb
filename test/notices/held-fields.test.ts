/** Notices of fields that wait for a decision, while a file of their feed is at work. */
import { expect, it } from 'vitest';
import { settledHolds } from '#test/contracts/held-contract.ts';
import { openNoticeBench } from './support/notice-bench.ts';

const role = { field: 'role', said: 'X', theirs: 'App', ours: 'File' } as const;

it('held fields are told of once the file at work has ended, with the count that there is by then', async () => {
  const bench = await openNoticeBench();
  const { ledger, clock } = bench;
  await settledHolds(ledger, 'r1', { k1: [role] }, 'crm');
  const atWork = await bench.file('crm', 'applying');
  await bench.look();
  expect(await bench.told()).toEqual([]);
  await settledHolds(ledger, 'r2', { k2: [role] }, 'crm');
  await ledger.runs.move(atWork, ['applying'], 'done', { atMs: clock.nowMs() });
  await bench.look();
  expect(await bench.told()).toEqual([{ type: 'feed.held', feed: 'crm', data: { fields: 2 } }]);
});
