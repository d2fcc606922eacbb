/** Ticks and deliveries are entries in the ledger, from which the dispatcher derives jobs (`rules.md`, "Schedules"). */
import { expect, it, onTestFinished } from 'vitest';
import type { NewTick } from '#src/ledger/schedules.ts';
import { jobsToDo } from '#src/queue/dispatcher.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';

const nowMs = 1_000;

async function opened() {
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  const common = { rule: null, dueAtMs: null, createdAtMs: nowMs };
  await ledger.schedules.put({ ...common, name: 'crm', work: 'take' });
  await ledger.schedules.put({ ...common, name: 'phone-numbers', work: 'snapshot' });
  const tick = (id: string, schedule: string): NewTick => ({
    id,
    schedule,
    trigger: 'request',
    user: null,
    dueAtMs: nowMs,
  });
  await ledger.schedules.request(tick('t1', 'crm'));
  await ledger.schedules.request(tick('t2', 'phone-numbers'));
  const condition = { feed: 'crm', troubles: ['missed' as const], sinceMs: nowMs };
  const delivery = { id: 'd1', kind: 'notice' as const, type: 'feed.bad', feed: 'crm', data: {}, atMs: nowMs };
  await ledger.deliveries.setCondition(condition, [delivery]);
  const jobs = async (atMs = nowMs) => (await jobsToDo(ledger, atMs, 10)).map(({ name, payload }) => [name, payload]);
  return { ledger, jobs };
}

const take = ['take-files', { tickId: 't1' }];
const snapshot = ['snapshot-phone-numbers', { tickId: 't2' }];
const delivery = ['deliver', { deliveryId: 'd1' }];

it('the dispatcher hands out ticks by their work, and deliveries, until they are begun or done', async () => {
  const { ledger, jobs } = await opened();
  expect(await jobs()).toEqual([take, snapshot, delivery]);
  await ledger.schedules.begin('t1', nowMs);
  await ledger.deliveries.tried('d1', nowMs, { state: 'delivered' });
  expect(await jobs()).toEqual([snapshot]);
});

it('an outage makes snapshots wait; files are taken and what is to be told is told', async () => {
  const { ledger, jobs } = await opened();
  await ledger.setPause({ code: 'unreachable', message: 'away', sinceMs: nowMs });
  expect(await jobs()).toEqual([take, delivery]);
  await ledger.setPause({ code: 'unreachable', scope: 'writes', message: 'away', sinceMs: nowMs });
  expect(await jobs()).toEqual([take, snapshot, delivery]);
});

it('a tick that is begun again is another job, since an ended job of that id may still be there', async () => {
  const { ledger } = await opened();
  const idOf = async () => (await jobsToDo(ledger, nowMs, 10)).find((job) => job.name === 'take-files')?.id;
  const before = await idOf();
  await ledger.schedules.begin('t1', nowMs);
  await ledger.schedules.reopen(nowMs, 3, new Set());
  expect(await idOf()).not.toBe(before);
});
