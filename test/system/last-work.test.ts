/** What an import from cron does at its end, where no engine of `start` ever runs: it deletes what is old, and sends what is due. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newRunId } from '#src/runs/run-files.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { startReceiver } from '#test/notices/support/webhook-receiver.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

const dayMs = 86_400_000;

it('an import that ends before its first sweep deletes old files, and sends the notice that it causes', async () => {
  const folder = tempFolder();
  const receiver = await startReceiver();
  const archive = join(folder, 'data/sandbox/import/_done');
  mkdirSync(archive, { recursive: true });
  const aged = (days: number): string => join(archive, `${newRunId(Date.now() - days * dayMs)}__a.csv`);
  const [old, young, next] = [aged(31), aged(29), aged(32)];
  for (const path of [old, young]) writeFileSync(path, 'Ada,+14155550101');
  const rows = ['externalId,firstName,phone', 'a-1,Ann,+14155550101', 'a-2,Bea,call me', ''];
  writeFileSync(join(folder, 'a.csv'), rows.join('\n'));
  const env = { PATCHBAY_NOTIFY_URL: receiver.url };
  const first = await callPatchbay(['import', '--sandbox', 'a.csv'], env, folder);
  expect(first.code, first.output).toBe(3);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual(['feed.bad']);
  // Not again within the hour.
  writeFileSync(next, 'Ada,+14155550101');
  writeFileSync(join(folder, 'b.csv'), rows.with(2, 'a-2,Bea,+14155550102').join('\n'));
  const second = await callPatchbay(['import', '--sandbox', 'b.csv'], env, folder);
  expect(second.code, second.output).toBe(0);
  expect(existsSync(next)).toBe(true);
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual(['feed.bad', 'feed.recovered']);
});
