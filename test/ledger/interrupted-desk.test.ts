/** What runs in slices may be cut off between any two of them: whoever does it again ends it as if nothing had happened. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { sqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { applyingRun, createdAtMs, pendingOf, settleAs, settled } from '#test/contracts/support/build.ts';
import { tempFolder } from './support/temp-ledger.ts';

const died = new Error('the process died');

/** A ledger whose process dies where a transaction begins: the first one after `transactions` others; null: never. */
function open(): { readonly ledger: Ledger; dieAfter(transactions: number | null): void } {
  const db = openDatabase(join(tempFolder(), 'ledger.sqlite'));
  const connection = createConnection(db);
  let left: number | null = null;
  const ledger = sqliteLedger(db, {
    ...connection,
    transact: async (work, durability) => {
      if (left === 0) throw died;
      if (left !== null) left -= 1;
      return connection.transact(work, durability);
    },
  });
  onTestFinished(() => ledger.close());
  return { ledger, dieAfter: (transactions) => (left = transactions) };
}

/** Cuts it off before its first transaction, then before its second, until it comes to its end. @returns how often that was. */
async function cutOff(
  { dieAfter }: { dieAfter(transactions: number | null): void },
  work: () => Promise<unknown>,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<number> {
  for (let cuts = 0; cuts < 100; cuts += 1) {
    dieAfter(cuts);
    const error = await work().then(
      () => null,
      (reason: unknown) => reason,
    );
    dieAfter(null);
    if (error === null) return cuts;
    expect(error).toBe(died);
    await meanwhile();
  }
  throw new Error('it never ends');
}

const keys = Array.from({ length: 1_100 }, (_, index) => `k${String(index).padStart(4, '0')}`);
const endMs = createdAtMs + 1_000;

async function settledRun(ledger: Ledger): Promise<void> {
  const run = await applyingRun(ledger, 'r1', keys, { rowsPerBatch: 100 });
  const ends = (await pendingOf(ledger, run)).map((one) => settled(one));
  expect(ends).toHaveLength(keys.length);
  await settleAs(ledger, run, 'w1', ends);
}

async function touchedOf(ledger: Ledger, kind: string): Promise<readonly string[]> {
  const audit = (await ledger.audits.ofRun('r1')).find((one) => one.kind === kind);
  return (await ledger.audits.keysAfter(audit?.id ?? '', 0, 10_000)).map(({ key }) => key);
}

test('audits are entered with all keys, or not at all; keys that are being forgotten are gathered anew', async () => {
  const opened = open();
  const { ledger } = opened;
  await settledRun(ledger);
  const entry = { runId: 'r1', atMs: endMs, firstDueAtMs: endMs, secondDueAtMs: endMs + 1 };
  const cuts = await cutOff(
    opened,
    () => ledger.audits.enter(entry),
    async () => expect(await ledger.audits.ofRun('r1')).toEqual([]),
  );
  expect(cuts).toBeGreaterThan(2);
  expect(await ledger.audits.ofRun('r1')).toMatchObject([{ kind: 'first', keyCount: keys.length }]);
  expect(await touchedOf(ledger, 'first')).toEqual(keys);

  await ledger.runs.move('r1', ['applying'], 'done', { atMs: endMs });
  const [first] = await ledger.audits.ofRun('r1');
  await ledger.audits.finish(first?.id ?? '', endMs + 5);
  // Cut off where some of the keys are gone.
  for (let cuts = 0; (await touchedOf(ledger, 'first')).length === keys.length; cuts += 1) {
    opened.dieAfter(cuts);
    await expect(ledger.forget(endMs + 100, 0)).rejects.toBe(died);
    opened.dieAfter(null);
  }
  expect(await touchedOf(ledger, 'first')).not.toEqual([]);
  const asked = await ledger.audits.demand({ runId: 'r1', atMs: endMs + 200, dueAtMs: 0 });
  expect(asked).toMatchObject({ scope: 'settled', keyCount: keys.length });
  await cutOff(opened, () => ledger.forget(endMs + 100, 0));
  expect(await touchedOf(ledger, 'demand')).toEqual(keys);
});

test('files are remembered and forgotten, and deliveries put off, given up and forgotten, each to the last one', async () => {
  const opened = open();
  const { ledger } = opened;
  const files = keys.map((key) => ({ path: `/${key}`, fingerprint: key, modifiedAtMs: 5 }));
  await cutOff(opened, () => ledger.takes.passOver('crm', files, 1_000));
  expect((await ledger.takes.knownFiles('crm', files, 1_000)).size).toBe(keys.length);
  await ledger.takes.knownFiles('crm', files.slice(0, 1), 1e12);
  await cutOff(opened, () => ledger.forget(1e12, 1_000));
  expect([...(await ledger.takes.knownFiles('crm', files, 1e12))]).toEqual(['/k0000']);

  const deliveries = keys.map((id, index) => {
    const what = { kind: 'change', type: 'x', feed: 'crm', data: {} } as const;
    return { ...what, id, atMs: index };
  });
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: [], sinceMs: 1 }, deliveries);
  await cutOff(opened, () => ledger.deliveries.putOff(5_000));
  expect(await ledger.deliveries.nextDue(4_999, 10)).toEqual([]);
  await cutOff(opened, () => ledger.deliveries.expire(1_000, 9_000, { code: 'x', message: 'y' }));
  expect(await ledger.counts()).toMatchObject({ waitingDeliveries: 100, deadDeliveries: 1_000 });
  await cutOff(opened, () => ledger.forget(10_000, 0));
  expect(await ledger.counts()).toMatchObject({ waitingDeliveries: 100, deadDeliveries: 0 });
});
