/** The dead letters and rejected rows of a ledger of the first design go on, with their header stored once. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { firstDesign } from '#src/ledger/sqlite/migrations/first-design.ts';
import { deadRow, row } from '#test/contracts/support/build.ts';
import { tempFolder } from './support/temp-ledger.ts';

const object = { kind: 'object', line: 4, record: 3, object: { id: 'k3' } } as const;

function oldLedger(): string {
  const file = join(tempFolder(), 'ledger.sqlite');
  const db = new DatabaseSync(file);
  for (const sql of firstDesign) db.exec(sql);
  db.exec(`PRAGMA user_version = ${firstDesign.length}`);
  db.exec(`INSERT INTO feeds (name, created_at) VALUES ('main', 1)`);
  for (const [id, kind, state] of [
    ['r1', 'file', 'applying'],
    ['r2', 'redrive', 'staging'],
  ]) {
    db.exec(`INSERT INTO runs (id, feed, kind, file_name, claimed_path, import_folder, sha256, bytes, state, options, created_at)
             VALUES ('${id}', 'main', '${kind}', 'a.csv', '', '', 'x', 1, '${state}', '{}', 1)`);
  }
  const letter = db.prepare(
    `INSERT INTO dead_letters (id, feed, identity, code, key, class, run_id, first_run_id, file, line, field, message, hint, "row",
       state, redrive_run_id, sequence, first_at, last_at, attempts, seen_count)
     VALUES (?, 'main', ?, ?, ?, 'invalid', ?, 'r1', 'a.csv', ?, 'Phone', 'm', 'h', ?, ?, ?, 1, 5, 6, 2, 3)`,
  );
  const enter = (id: string, line: number, of: unknown, state: string, run: string, redrive: string | null) =>
    letter.run(
      id,
      `k${line}`,
      'phoneInvalid',
      `k${line}`,
      run,
      line,
      of === null ? null : JSON.stringify(of),
      state,
      redrive,
    );
  enter('d2', 2, row('k2', 2), 'open', 'r1', null);
  enter('d3', 3, row('k3', 3), 'redriven', 'r1', 'r2');
  enter('d4', 4, object, 'closed', 'r1', null);
  enter('d5', 5, null, 'open', 'r2', null);
  db.exec("INSERT INTO redriven_letters (run_id, ordinal, letter_id) VALUES ('r2', 1, 'd3'), ('r2', 2, 'd5')");
  const dead = db.prepare("INSERT INTO dead_rows (run_id, ordinal, letter_id, dead) VALUES ('r1', ?, ?, ?)");
  dead.run(1, 'd2', JSON.stringify(deadRow('k2')));
  dead.run(2, 'd4', JSON.stringify(deadRow('k4', { row: object, code: 'emailInvalid' })));
  dead.run(3, 'd2', JSON.stringify(deadRow('k2', { line: 9 })));
  db.close();
  return file;
}

test('letters, rejected rows and their counts are carried over, and what a redrive had taken stays its own', async () => {
  const file = oldLedger();
  const ledger = openSqliteLedger(file);
  onTestFinished(() => ledger.close());
  const letters = await ledger.deadLetters.list({ limit: 10 });
  expect(letters.map(({ id, state, redriveRunId, row: of }) => [id, state, redriveRunId, of])).toEqual([
    ['d2', 'open', null, row('k2', 2)],
    ['d3', 'redriven', 'r2', row('k3', 3)],
    ['d4', 'closed', null, object],
    ['d5', 'open', null, null],
  ]);
  expect(letters[0]).toMatchObject({
    attempts: 2,
    seenCount: 3,
    firstAtMs: 5,
    lastAtMs: 6,
    field: 'Phone',
    sequence: 1,
  });
  expect((await ledger.deadLetters.lettersOf('r2', null, 10)).map(({ id }) => id)).toEqual(['d3', 'd5']);
  expect((await ledger.counts()).openLetters).toBe(3);
  expect(await ledger.deadLetters.groups(10)).toMatchObject([{ code: 'phoneInvalid', count: 2 }]);
  expect(await ledger.runs.deadRows('r1', 0, 10)).toMatchObject([
    { ...deadRow('k2'), letterId: 'd2', ordinal: 1 },
    { code: 'emailInvalid', row: object, letterId: 'd4' },
    { line: 9, letterId: 'd2' },
  ]);
  expect(await ledger.runs.deadByCode('r1')).toEqual([
    { class: 'invalid', code: 'phoneInvalid', count: 2 },
    { class: 'invalid', code: 'emailInvalid', count: 1 },
  ]);
  const db = new DatabaseSync(file, { readOnly: true });
  expect(db.prepare('SELECT columns FROM letter_headers').all()).toEqual([{ columns: '["id","name"]' }]);
  db.close();
});
