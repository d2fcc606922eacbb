/** Rows that wait for a person (`docs/rules.md`, "Three pictures, one plan" and "Guards"). */
import { describe, expect, it } from 'vitest';
import { undoRun } from '#test/plans/support/undo-runs.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const keys = Array.from({ length: 20 }, (_, index) => `c-${index}`);
const file = (role: string) => csv(keys.map((key) => `${key},Ann,${role}`));

/** Twenty contacts whose role people changed, and the file too: all are held. */
async function held(): Promise<RunsBench> {
  const bench = await openRunsBench({ guards: defaultGuards });
  await bench.import('a.csv', file('Buyer'));
  for (const { id, defaultFields } of await bench.world.contacts()) {
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Owner' } });
  }
  const run = await bench.import('b.csv', file('Seller'), { options: { accept: true } });
  expectCounts(run, { rows: 20, unchanged: 20 });
  expect(run.counts.heldFields).toBe(20);
  return bench;
}

describe('rows that wait for a held field alone', () => {
  it('are unchanged without a request, no guard counts them, and each run lists them with both values', async () => {
    const bench = await held();
    const staged = await bench.stage(await bench.submit('c.csv', `${file('Seller')}\r\n`));
    const events = await bench.events(staged);
    expect(events).toHaveLength(20);
    expect(events[3]).toMatchObject({ kind: 'held', field: 'role', file: 'Seller', app: 'Owner' });
    const again = await bench.finish(staged);
    expect(again.state).toBe('done');
    expectCounts(again, { rows: 20, unchanged: 20 });
    expect(again.counts.heldFields).toBe(20);
    expect(again.requests).toMatchObject({ get: 0, patch: 0 });
    expect(await bench.ledger.contacts.heldCount({ feed: 'main' })).toBe(20);
  });

  it('wait no more where the file says what the app holds', async () => {
    const bench = await held();
    const agreed = await bench.import('c.csv', file('Owner'), { options: { accept: true } });
    expectCounts(agreed, { rows: 20, unchanged: 20 });
    expect(agreed.counts.heldFields).toBe(0);
    expect(await bench.ledger.contacts.heldCount({})).toBe(0);
    // File and app agree now: what the file changes next is written.
    const next = await bench.import('d.csv', file('Clerk'), { options: { accept: true } });
    expectCounts(next, { rows: 20, updated: 20 });
  });

  it('wait no more where the app has come to hold what the file said: what the file says next is written', async () => {
    const bench = await held();
    for (const { id, defaultFields } of await bench.world.contacts()) {
      await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Seller' } });
    }
    // An unchanged row is not read, so that its hold is listed until a read shows that both sides are equal.
    const again = await bench.import('c.csv', `${file('Seller')}\r\n`);
    expect(again.requests).toMatchObject({ get: 0, patch: 0 });
    expect(again.counts.heldFields).toBe(20);
    const next = await bench.import('d.csv', file('Clerk'), { options: { accept: true } });
    expectCounts(next, { rows: 20, updated: 20 });
    expect(next.counts.heldFields).toBe(0);
    expect(await bench.ledger.contacts.heldCount({})).toBe(0);
    expect(new Set((await bench.world.contacts()).map((one) => one.defaultFields.role))).toEqual(new Set(['Clerk']));
    // What it wrote over was agreed, and is again where the run is undone.
    await undoRun(bench, next, { accept: true });
    expectCounts(await bench.import('e.csv', file('Pilot'), { options: { accept: true } }), { rows: 20, updated: 20 });
  });

  it('wait on where the app holds a third value, or the row does not name the field', async () => {
    const bench = await held();
    const nameless = csv(
      keys.map((key) => `${key},Anne`),
      'externalId,firstName',
    );
    expect((await bench.import('c.csv', nameless, { options: { accept: true } })).counts.heldFields).toBe(0);
    expect(await bench.ledger.contacts.heldCount({})).toBe(20);
    const next = await bench.import('d.csv', file('Clerk').replaceAll(',Ann,', ',Anne,'), {
      options: { accept: true },
    });
    expect(next.counts).toMatchObject({ unchanged: 20, heldFields: 20 });
  });

  it('wait no more where the file says again what it said before: the app’s value stays', async () => {
    const bench = await held();
    const back = await bench.import('c.csv', `${file('Buyer')}\r\n`, { options: { accept: true } });
    expectCounts(back, { rows: 20, unchanged: 20 });
    expect(await bench.ledger.contacts.heldCount({})).toBe(0);
    expect(new Set((await bench.world.contacts()).map((one) => one.defaultFields.role))).toEqual(new Set(['Owner']));
  });
});
