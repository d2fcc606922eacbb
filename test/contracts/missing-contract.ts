/** People who left: known from the end of the run whose file lacks them, until a later file has them again. */
import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { emptyBitmap, enterBit } from '#src/ledger/rules/bitmap.ts';
import { applyingRun, createdAtMs, pendingOf, settleAs, settled, stagingRun } from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

/** A feed that knows these keys. @returns their numbers. */
async function known(ledger: Ledger, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const run = await applyingRun(ledger, 'r0', keys);
  const records = await pendingOf(ledger, run);
  await settleAs(
    ledger,
    run,
    'w1',
    records.map((record) => settled(record)),
  );
  const said = await ledger.runs.saidOf('main', keys);
  return new Map([...said].map(([key, { number }]) => [key, number]));
}

function bitsOf(...numbers: readonly number[]): Uint8Array {
  const bits = emptyBitmap(1_000);
  for (const number of numbers) enterBit(bits, number);
  return bits;
}

async function endedWithout(ledger: Ledger, id: string, numbers: readonly number[]): Promise<void> {
  await stagingRun(ledger, id);
  await ledger.runs.confirm(id, { unchanged: emptyBitmap(8), met: emptyBitmap(8), missing: bitsOf(...numbers) });
  await ledger.runs.move(id, ['staging'], 'done', { atMs: createdAtMs + 1 });
}

async function lacking(ledger: Ledger, id: string, numbers: readonly number[]): Promise<void> {
  await endedWithout(ledger, id, numbers);
  await ledger.missing.enter(id);
}

export function missingContract(open: OpenLedger): void {
  test('who is missing is known with the run and the instant of the first file without them', async () => {
    const { ledger, reopen } = await openForTest(open);
    const numbers = await known(ledger, ['k1', 'k2', 'k3']);
    const [one = 0, two = 0, three = 0] = ['k1', 'k2', 'k3'].map((key) => numbers.get(key));
    await lacking(ledger, 'r1', [one]);
    await lacking(ledger, 'r2', [one, two, three]);
    const other = await reopen();
    expect(await other.missing.count('main')).toBe(3);
    expect((await other.missing.list('main', null, 2)).map(({ key, runId }) => [key, runId])).toEqual([
      ['k1', 'r1'],
      ['k2', 'r2'],
    ]);
    expect((await other.missing.list('main', 'k2', 2)).map(({ key }) => key)).toEqual(['k3']);
    expect(await other.missing.of('main', ['k1', 'k9'])).toEqual([
      { feed: 'main', key: 'k1', number: one, sinceMs: createdAtMs, runId: 'r1' },
    ]);
    expect(await other.missing.count('shop')).toBe(0);
  });

  test('who is in a later file is back, and a run without a full file changes nothing', async () => {
    const { ledger } = await openForTest(open);
    const numbers = await known(ledger, ['k1', 'k2']);
    await lacking(ledger, 'r1', [...numbers.values()]);
    await lacking(ledger, 'r2', [numbers.get('k2') ?? 0]);
    expect((await ledger.missing.list('main', null, 9)).map(({ key, runId }) => [key, runId])).toEqual([['k2', 'r1']]);
    await stagingRun(ledger, 'r3');
    await ledger.runs.confirm('r3', { unchanged: emptyBitmap(8), met: emptyBitmap(8) });
    await ledger.missing.enter('r3');
    await ledger.missing.enter('no run');
    expect(await ledger.missing.count('main')).toBe(1);
  });

  test('who is in a later file that need not have all is back, and no one whom a younger file was the first to lack', async () => {
    const { ledger } = await openForTest(open);
    const numbers = await known(ledger, ['k1', 'k2', 'k3']);
    const [one = 0, two = 0, three = 0] = ['k1', 'k2', 'k3'].map((key) => numbers.get(key));
    await lacking(ledger, 'r1', [one, two]);
    await stagingRun(ledger, 'r2', { createdAtMs: createdAtMs + 5 });
    await ledger.runs.confirm('r2', {
      unchanged: emptyBitmap(8),
      met: emptyBitmap(8),
      missing: bitsOf(one, two, three),
    });
    await ledger.runs.move('r2', ['staging'], 'done', { atMs: createdAtMs + 6 });
    await ledger.missing.enter('r2');
    await stagingRun(ledger, 'r3', { createdAtMs: createdAtMs + 2 });
    await ledger.runs.confirm('r3', { unchanged: emptyBitmap(8), met: bitsOf(one, three) });
    await ledger.missing.enterBack('r3');
    expect(await ledger.missing.count('main')).toBe(3);
    await ledger.runs.move('r3', ['staging'], 'done', { atMs: createdAtMs + 7 });
    await ledger.missing.enterBack('r3');
    await ledger.missing.enterBack('no run');
    expect((await ledger.missing.list('main', null, 9)).map(({ key }) => key)).toEqual(['k2', 'k3']);
  });

  test('a run that has not ended, or of which nothing is left to do, changes nothing', async () => {
    const { ledger } = await openForTest(open);
    const numbers = [...(await known(ledger, ['k1', 'k2'])).values()];
    await stagingRun(ledger, 'r1');
    await ledger.runs.confirm('r1', { unchanged: emptyBitmap(8), met: emptyBitmap(8), missing: bitsOf(...numbers) });
    await ledger.missing.enter('r1');
    expect(await ledger.missing.count('main')).toBe(0);
    await endedWithout(ledger, 'r2', numbers);
    await ledger.runs.prune('r2');
    await ledger.missing.enter('r2');
    expect(await ledger.missing.count('main')).toBe(0);
  });
}
