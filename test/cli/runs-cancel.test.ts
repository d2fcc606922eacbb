/** `patchbay runs cancel`: its exit code is that of the command, in its document, too (`docs/contract.md`, "Commands"). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { untilCancelled } from '#src/operations/run-acts.ts';
import { stagingRun } from '#test/contracts/support/build.ts';
import { openTempLedger, tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { steppedClock } from '#test/runs/support/stepped-clock.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { until } from '#test/support/until.ts';

it('waits for the running engine to end the run: a success, and its document says so', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  await stagingRun(ledger, 'r-1', { claimedPath: '' });
  // As a running engine holds it.
  const lock = takeEngineLock(join(data, 'sandbox', 'engine.lock'));
  onTestFinished(() => lock?.release());
  const cancel = callPatchbay(['runs', 'cancel', '--sandbox', 'r-1', '--data', data, '--json'], {});
  await until('the run is being cancelled', async () => (await ledger.runs.get('r-1'))?.state === 'cancelling');
  await ledger.runs.move('r-1', ['cancelling'], 'cancelled', { atMs: 1 });
  const { code, documents, stderr } = await cancel;
  expect(documents, stderr).toMatchObject([{ run: 'r-1', state: 'cancelled', exitCode: 0 }]);
  expect(code).toBe(0);
});

it('gives up waiting after ten seconds', async () => {
  const { ledger, close } = await openTempLedger();
  onTestFinished(close);
  await stagingRun(ledger, 'r-1');
  await ledger.runs.move('r-1', ['staging'], 'cancelling', { atMs: 1 });
  const clock = steppedClock();
  const startMs = clock.monotonicMs();
  expect(await untilCancelled({ ledger, clock }, 'r-1')).toBe(false);
  expect(clock.monotonicMs() - startMs).toBe(10_000);
  clock.onSleep = () => ledger.runs.move('r-1', ['cancelling'], 'cancelled', { atMs: 2 });
  expect(await untilCancelled({ ledger, clock }, 'r-1')).toBe(true);
  expect(clock.monotonicMs() - startMs).toBeLessThan(11_000);
});
