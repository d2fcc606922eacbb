/** What an import from cron does at its end, where no engine of `start` ever runs: it deletes what is old. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newRunId } from '#src/runs/run-files.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

const dayMs = 86_400_000;

it('an import that ends before its first sweep deletes old files, once in an hour', async () => {
  const folder = tempFolder();
  const archive = join(folder, 'data/sandbox/import/_done');
  mkdirSync(archive, { recursive: true });
  const aged = (days: number): string => join(archive, `${newRunId(Date.now() - days * dayMs)}__a.csv`);
  const [old, young, next] = [aged(31), aged(29), aged(32)];
  for (const path of [old, young]) writeFileSync(path, 'Ada,+14155550101');
  const rows = ['externalId,firstName,phone', 'a-1,Ann,+14155550101', 'a-2,Bea,call me', ''];
  writeFileSync(join(folder, 'a.csv'), rows.join('\n'));
  const first = await callPatchbay(['import', '--sandbox', 'a.csv'], {}, folder);
  expect(first.code, first.output).toBe(3);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  // Not again within the hour.
  writeFileSync(next, 'Ada,+14155550101');
  writeFileSync(join(folder, 'b.csv'), rows.with(2, 'a-2,Bea,+14155550102').join('\n'));
  const second = await callPatchbay(['import', '--sandbox', 'b.csv'], {}, folder);
  expect(second.code, second.output).toBe(0);
  expect(existsSync(next)).toBe(true);
});
