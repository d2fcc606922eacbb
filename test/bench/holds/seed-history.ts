/**
 * Enters finished runs with rejected rows into a ledger, each row an open letter: `seed-history.ts RUNS LETTERS_PER_RUN FEED`,
 * with the environment of a command on that data folder. Nobody in it is real.
 */
import { openHome } from '#src/app.ts';
import { loadConfig } from '#src/config/load.ts';
import { noOptions } from '#src/ledger/runs.ts';
import type { DeadRow } from '#src/ledger/staging.ts';
import { silentLogger } from '#src/log.ts';
import { cellsOfRow, exportColumns } from '../import/export-file.ts';

const [runCount = 0, perRun = 0] = process.argv.slice(2, 4).map(Number);
const feed = process.argv[4] ?? '';
const startMs = Date.UTC(2026, 10, 1);
const phoneColumn = exportColumns.indexOf('phone mobile');

const { config } = await loadConfig({ env: process.env, flags: {}, configPath: null, cwd: process.cwd() });
const home = await openHome(config, silentLogger(), { sandboxAsked: false, look: false });
const { runs } = home.ledger;
const row = { columns: exportColumns, delimiter: ',', format: 'csv', mapped: exportColumns } as const;
for (let number = 1; number <= runCount; number += 1) {
  const atMs = startMs + number * 60_000;
  const id = `20261101T000000Z-${number.toString(16).padStart(6, '0')}`;
  await runs.create({
    ...{ id, feed, kind: 'file', fileName: `export-${number}.csv`, claimedPath: '', importFolder: '/nowhere' },
    ...{ sha256: number.toString(16).padStart(64, '0'), bytes: 1_234, options: noOptions, mapping: null },
    createdAtMs: atMs,
  });
  await runs.beginStaging(id, atMs);
  await runs.record(id, { shape: row });
  const dead = Array.from({ length: perRun }, (_, index) => deadRow((number - 1) * perRun + index, index + 2));
  const counts = { rows: perRun, dead: perRun };
  const none = { records: [], events: [] };
  await runs.stage({ runId: id, feed, rowsPerBatch: 100, ...none, dead, counts, atMs });
  await runs.move(id, ['staging'], 'applying', { atMs });
  await runs.move(id, ['applying'], 'doneWithDead', { atMs: atMs + 1_000 });
  await runs.prune(id);
}
await home.close();

function deadRow(index: number, line: number): DeadRow {
  const cells = cellsOfRow(7_000_000 + index).with(phoneColumn, 'call me');
  const message = 'the phone number contains letters';
  const hint = 'Write it in digits, or leave the cell blank.';
  const field = 'phone mobile';
  const key = cells[0] ?? '';
  return {
    ...{ class: 'invalid', code: 'phoneLetters', line, key, desired: null, answer: null },
    problems: [{ code: 'phoneLetters', line, field, value: 'call me', message, hint }],
    row: { kind: 'cells', line, record: line - 1, columns: exportColumns, cells },
  };
}
