/** `patchbay runs cancel`: its exit code is that of the command, in its document, too (`docs/contract.md`, "Commands"). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

it('a run that was cancelled as it was asked for is a success, and its document says so', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  await stagingRun(ledger, 'r-1', { claimedPath: '' });
  // As a running engine holds it.
  const lock = takeEngineLock(join(data, 'sandbox', 'engine.lock'));
  onTestFinished(() => lock?.release());
  const args = ['runs', 'cancel', '--sandbox', 'r-1', '--data', data, '--json'];
  const { code, documents, stderr } = await callPatchbay(args, {});
  expect(documents, stderr).toMatchObject([{ run: 'r-1', state: 'cancelling', exitCode: 0 }]);
  expect(code).toBe(0);
});
