/** What `patchbay status` says of feeds in trouble. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { status } from '#src/cli/commands/status.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

it('names for each the command that shows why and what to do, unless a line of its own does', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const rule = { kind: 'every', everyMs: 3_600_000 } as const;
  await ledger.schedules.put({ name: 'login', work: 'take', rule, dueAtMs: 10, createdAtMs: 0 });
  await ledger.deliveries.setCondition({ feed: 'login', troubles: ['failed', 'missed', 'deadRows'], sinceMs: 1 }, []);
  await ledger.deliveries.setCondition({ feed: 'at home', troubles: ['failed', 'guard'], sinceMs: 1 }, []);
  await ledger.deliveries.setCondition({ feed: 'main', troubles: ['outage'], sinceMs: 1 }, []);
  const captured = captureOutput();
  expect(await status({ data, color: false })).toBe(0);
  const flags = `--data ${data}`;
  const lines = captured.stdout().split('\n');
  expect(lines.filter((line) => line.startsWith('feed '))).toEqual([
    `feed          at home  failed, stopped by a guard since 1970-01-01 00:00:00Z  patchbay ${flags} runs ls --feed 'at home'`,
    `feed          login  failed, no new export, rejected rows since 1970-01-01 00:00:00Z  patchbay ${flags} schedule ls;  patchbay ${flags} dead ls --feed login`,
    'feed          main  service away since 1970-01-01 00:00:00Z',
  ]);
});

it('names schedules that are paused, and those that are due while no engine runs', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const rule = { kind: 'every', everyMs: 3_600_000 } as const;
  // The next start removes what the configuration has no more.
  const dues = { due: 0, held: 0, later: Date.now() + 3_600_000, gone: 0 };
  const feeds = ['due', 'held', 'later'].map((name) => `  ${name}: { take: "*.csv", every: 1h }\n`);
  const config = join(data, 'patchbay.yaml');
  writeFileSync(config, `feeds:\n${feeds.join('')}`);
  for (const [name, dueAtMs] of Object.entries(dues))
    await ledger.schedules.put({ name, work: 'take', rule, dueAtMs, createdAtMs: 0 });
  await ledger.schedules.setPaused('held', 1_000, 0, 'the export is broken');
  const captured = captureOutput();
  expect(await status({ data, config, color: false })).toBe(0);
  const patchbay = `patchbay --config ${config} --data ${data}`;
  const lines = captured.stdout().split('\n');
  expect(lines.filter((line) => line.startsWith('schedule '))).toEqual([
    `schedule      held  paused since 1970-01-01 00:00:01Z: the export is broken  ${patchbay} schedule resume held`,
    `schedule      due  due since 1970-01-01 00:00:00Z, no engine runs: ${patchbay} start`,
  ]);
});

it('has in its JSON the feeds of which files are expected, with or without a schedule', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const config = join(data, 'patchbay.yaml');
  writeFileSync(
    config,
    'feeds: { erp: { take: "*.csv", every: 1h, expectEvery: 26h }, drop: { expectEvery: 2d }, any: {} }\n',
  );
  const captured = captureOutput();
  expect(await status({ data, config, json: true })).toBe(0);
  expect(JSON.parse(captured.stdout())).toMatchObject({
    expected: [
      { feed: 'drop', expectEvery: '2d', lastFileAt: null },
      { feed: 'erp', expectEvery: '26h', lastFileAt: null },
    ],
  });
});
