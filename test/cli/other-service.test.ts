/** A command beside an engine that works for another service: what it asks for, that engine would do there. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { type Called, callPatchbay } from '#test/support/call-patchbay.ts';

const [own, other] = ['http://127.0.0.1:18740', 'http://127.0.0.1:18741'];

interface Beside {
  readonly data: string;
  readonly ledger: Ledger;
  call(args: readonly string[], baseUrl?: string): Promise<Called>;
}

/** A data folder with an engine that works for `own`, and a stopped run. */
async function besideEngine(): Promise<Beside> {
  const data = tempFolder();
  const ledger = openSqliteLedger(join(data, 'ledger.sqlite'));
  const lock = takeEngineLock(join(data, 'engine.lock'));
  onTestFinished(async () => {
    lock?.release();
    await ledger.close();
  });
  await ledger.bind({ origin: own, keyHash: 'h', phoneNumberIds: [] });
  await ledger.register('engine', {
    ...{ identity: 'another#1', serviceOrigin: own, startedAtMs: 1 },
    queue: { kind: 'socket', path: 'queue/none' },
  });
  const run = await stagingRun(ledger, 'r-1', { claimedPath: '' });
  const facts = { deadCount: 20, deadBase: 20, deadLimit: 0.05 };
  await ledger.runs.move(run.id, ['staging'], 'stopped', {
    ...{ atMs: 1, reason: { code: 'guardDead', message: 'm', hint: null, facts } },
  });
  return {
    data,
    ledger,
    call: (args, baseUrl = other) =>
      callPatchbay([...args, '--data', data, '--json'], { PATCHBAY_BASE_URL: baseUrl, PATCHBAY_API_KEY: 'k' }),
  };
}

it('is refused before it begins, whatever it asks the engine for', async () => {
  const { data, ledger, call } = await besideEngine();
  const file = join(data, 'people.csv');
  writeFileSync(file, 'externalId,firstName\nc-1,Ann\n');
  for (const args of [
    ['import', file],
    ['import', file, '--detach'],
    ['plan', file],
    ['runs', 'approve', 'r-1', '--yes'],
    ['runs', 'approve', 'r-1', '--detach', '--yes'],
    ['runs', 'restage', 'r-1'],
    ['runs', 'undo', 'r-1'],
    ['dead', 'retry', '--all'],
    ['dead', 'edit', '1', '--set', 'firstName=Bea'],
    ['held', 'take', 'file', '--all'],
    ['numbers', 'snapshot'],
    ['schedule', 'run', 'phone-numbers', '--detach'],
    ['audit', 'r-1'],
  ]) {
    const { code, documents } = await call(args);
    const [{ error }] = documents;
    expect({ args, code, error: error.code }).toEqual({ args, code: 2, error: 'otherService' });
    expect(error.message).toContain(`writes to ${own}, and this process is configured for ${other}`);
    expect(error.hint).toContain('Nothing was begun.');
  }
  expect(await ledger.runs.count({})).toBe(1);
  expect(await ledger.runs.get('r-1')).toMatchObject({ state: 'stopped' });
  expect(await ledger.schedules.list()).toEqual([]);
});

it('of the same service hands its work over', async () => {
  const { data, call } = await besideEngine();
  const file = join(data, 'people.csv');
  writeFileSync(file, 'externalId,firstName\nc-1,Ann\n');
  expect(await call(['import', file, '--detach'], own)).toMatchObject({ code: 0, documents: [{ service: own }] });
});

it('only looks, and names the service that the runs were for', async () => {
  const { call } = await besideEngine();
  expect((await call(['runs', 'ls'])).documents).toMatchObject([{ run: 'r-1', service: own }]);
  expect((await call(['runs', 'show', 'r-1'])).documents).toMatchObject([{ run: 'r-1', service: own }]);
  const [status] = (await call(['status'])).documents;
  expect(status).toMatchObject({ service: own, stopped: [{ service: own }] });
  expect(status.surroundings.troubles.join()).toContain(`${other} is configured`);
});
