/** When an engine deletes what is kept no longer, and what the ledger remembers of that. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { configSchema } from '#src/config/schema.ts';
import { type ExpiryParts, expireAll, expireDue, expireEveryMs } from '#src/engine/expiry.ts';
import { silentLogger } from '#src/log.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { openForTest } from '#test/contracts/support/opened-ledger.ts';
import { openTempLedger, tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { movedClock } from '#test/upsert/support/moved-clock.ts';

const dayMs = 86_400_000;
const never = new AbortController().signal;

/** An old report, and an old act in the ledger; `again` puts both there once more. */
async function openBench(leads = true) {
  const { ledger } = await openForTest(openTempLedger);
  const clock = movedClock();
  const root = tempFolder();
  mkdirSync(join(root, 'reports'));
  const report = join(root, 'reports', `${newRunId(clock.nowMs() - 500 * dayMs)}.json`);
  const again = async (): Promise<void> => {
    writeFileSync(report, '{}');
    const atMs = clock.nowMs() - 500 * dayMs;
    const by = { who: 'ada', by: 'command', kind: 'sameWorkspace', reason: null } as const;
    const binding = { origin: 'https://api.example.com', keyHash: 'salted', phoneNumberIds: [] };
    await ledger.bind(binding, { ...by, atMs, ledgerAtMs: atMs, facts: {} });
  };
  await again();
  const parts: ExpiryParts = {
    home: {
      ...{ config: configSchema.parse({}), ledger, clock, log: silentLogger(), host: null },
      runFolders: {
        ...{ claimed: join(root, 'claimed'), handedOver: join(root, 'handed-over'), drafts: join(root, 'drafts') },
        ...{ reports: join(root, 'reports'), importFolders: [] },
      },
    },
    standing: { leads: () => leads },
  };
  const left = async () => ({
    file: existsSync(report),
    act: (await ledger.acts.list({ limit: 9 })).length > 0,
  });
  return { parts, clock, ledger, again, left };
}

it('what is old is deleted once in an hour, and again where the clock was set back', async () => {
  const { parts, clock, ledger, again, left } = await openBench();
  await expireDue(parts, never);
  expect(await left()).toEqual({ file: false, act: false });
  await again();
  clock.advance(expireEveryMs - 60_000);
  await expireDue(parts, never);
  expect(await left()).toEqual({ file: true, act: true });
  clock.advance(60_000);
  await expireDue(parts, never);
  expect(await left()).toEqual({ file: false, act: false });
  await ledger.noteExpired('ledger', clock.nowMs() + dayMs);
  await again();
  await expireDue(parts, never);
  expect(await left()).toEqual({ file: true, act: false });
});

it('at a sweep it is deleted however long ago that was done, which counts for the next command', async () => {
  const { parts, again, left } = await openBench();
  await expireAll(parts, never);
  await again();
  await expireAll(parts, never);
  expect(await left()).toEqual({ file: false, act: false });
  await again();
  await expireDue(parts, never);
  expect(await left()).toEqual({ file: true, act: true });
});

it('what a signal cuts is done by the next engine', async () => {
  const { parts, left } = await openBench();
  await expireDue(parts, AbortSignal.abort());
  expect(await left()).toEqual({ file: true, act: true });
  await expireDue(parts, never);
  expect(await left()).toEqual({ file: false, act: false });
});

it('of several hosts each deletes its own files, and the one that leads what has ended in the ledger', async () => {
  const { parts, left } = await openBench(false);
  await expireDue(parts, never);
  expect(await left()).toEqual({ file: false, act: true });
});
