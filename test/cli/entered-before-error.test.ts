/** A command that enters several runs names those that it entered, also where a later one cannot be (`docs/contract.md`, "import --json"). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { deadRow, slice, stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { settledHolds } from '../contracts/held-contract.ts';

const feeds = ['crm', 'shop'] as const;

/** A data folder of the sandbox; `refuseShop` makes its ledger take no further run of the feed `shop`. */
function dataFolder() {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const path = join(data, 'sandbox', 'ledger.sqlite');
  const ledger = openSqliteLedger(path);
  onTestFinished(() => ledger.close());
  const refuseShop = (): void => {
    const database = new DatabaseSync(path);
    database.exec(`CREATE TRIGGER refuse_shop BEFORE INSERT ON runs WHEN NEW.feed = 'shop'
      BEGIN SELECT RAISE(ABORT, 'no run of shop'); END`);
    database.close();
  };
  const call = (...args: readonly string[]) => callPatchbay([...args, '--data', data, '--sandbox', '--json'], {});
  return { ledger, refuseShop, call };
}

it('dead retry --detach', async () => {
  const { ledger, refuseShop, call } = dataFolder();
  for (const feed of feeds) {
    const run = await stagingRun(ledger, `r-${feed}`, { feed });
    await ledger.runs.stage(slice(run, { dead: [deadRow(`of-${feed}`)], counts: { rows: 1, dead: 1 } }));
  }
  refuseShop();
  const { code, documents } = await call('dead', 'retry', '--all', '--detach');
  expect(documents).toMatchObject([{ feed: 'crm', state: 'queued' }, { error: { code: 'unexpected' } }]);
  expect(code).toBe(1);
});

it('held take file --detach', async () => {
  const { ledger, refuseShop, call } = dataFolder();
  const field = { field: 'role', said: 'X', ours: 'Z', theirs: 'Y' } as const;
  for (const feed of feeds) await settledHolds(ledger, `r-${feed}`, { [`of-${feed}`]: [field] }, feed);
  refuseShop();
  const { code, documents } = await call('held', 'take', 'file', '--all', '--detach');
  expect(documents).toMatchObject([{ feed: 'crm', state: 'applying' }, { error: { code: 'unexpected' } }]);
  expect(code).toBe(1);
});
