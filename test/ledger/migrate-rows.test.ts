/** A ledger of the first design with a run at work goes on: what it staged is there, each header once. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { firstDesign } from '#src/ledger/sqlite/migrations/first-design.ts';
import { desired, row } from '#test/contracts/support/build.ts';
import { tempFolder } from './support/temp-ledger.ts';

const text = JSON.stringify;

/** Runs `a` (done), `b` (applying): of its rows k1 has ended, k2 waits, k3 was withdrawn, k4 is an object and was put off. */
function oldLedger(): string {
  const file = join(tempFolder(), 'ledger.sqlite');
  const db = new DatabaseSync(file);
  for (const sql of firstDesign) db.exec(sql);
  db.exec('PRAGMA user_version = 5');
  db.exec("INSERT INTO feeds (name, created_at) VALUES ('main', 1)");
  const run = db.prepare(
    `INSERT INTO runs (id, feed, kind, file_name, claimed_path, import_folder, sha256, bytes, state, options, mapping, created_at,
       finished_at, "rows", created, dead) VALUES (?, 'main', 'file', 'f', '', '', 's', 1, ?, '{}', ?, 1, ?, ?, ?, ?)`,
  );
  run.run('a', 'done', text({ name: 'm', keyPrefix: 'crm-' }), 1, 1, 1, 0);
  run.run('b', 'applying', null, null, 4, 1, 1);
  const staged = db.prepare(
    `INSERT INTO staged (run_id, position, batch, line, sequence, key, row_hash, fingerprint, mapping_version, desired, "row",
       outcome, not_before, attempts, sent) VALUES ('b', ?, ?, ?, 2, ?, 'h', 'f', 'v', ?, ?, ?, ?, ?, ?)`,
  );
  const beyond = { ...row('k2', 3), beyond: ['more'] };
  const object = { kind: 'object', line: 5, record: 4, object: { id: 'k4' } };
  staged.run(1, 1, 2, 'k1', text(desired('k1')), text(row('k1', 2)), 'created', 0, 0, 0);
  staged.run(2, 1, 3, 'k2', text(desired('k2')), text(beyond), null, 0, 0, 1);
  staged.run(3, 2, 4, 'k3', text(desired('k3')), text(row('k3', 4)), 'dead', 0, 0, 0);
  staged.run(4, 2, 5, 'k4', text(desired('k4')), text(object), null, 9, 2, 0);
  db.exec("INSERT INTO run_keys (run_id, key, line, fingerprint, kind) VALUES ('b', 'k3', 4, '', 'dead')");
  db.exec("INSERT INTO batches (run_id, batch, generation, due_at) VALUES ('b', 1, 0, 0), ('b', 2, 3, 9)");
  // The keys of the last accepted file: one that its feed knows, and one that it does not.
  db.exec(
    "INSERT INTO run_keys (run_id, key, line, fingerprint, kind) VALUES ('a', 'k9', 2, '', 'unchanged'), ('a', 'k8', 3, '', 'dead')",
  );
  db.exec("INSERT INTO contacts (key, state, contact_id) VALUES ('k0', 'bound', 'c0'), ('k9', 'bound', 'c9')");
  const event = { kind: 'warning', line: 2, key: 'k1', code: 'c', field: null, message: 'm' };
  db.prepare("INSERT INTO run_events (run_id, ordinal, event) VALUES ('b', 1, ?)").run(text(event));
  db.close();
  return file;
}

function numbersIn(bits: unknown): readonly number[] {
  if (!(bits instanceof Uint8Array)) return [];
  return Array.from({ length: bits.length * 8 }, (_, number) => number).filter((number) => hasBit(bits, number));
}

test('what a run of the first design staged is there after the migration, and goes on', async () => {
  const file = oldLedger();
  const ledger = openSqliteLedger(file);
  onTestFinished(() => ledger.close());
  expect(await ledger.runs.pendingCount('b')).toBe(2);
  expect(await ledger.runs.nextBatches(5, 10)).toEqual([
    { runId: 'b', batch: 1, generation: 0, dueAtMs: 0 },
    { runId: 'b', batch: 2, generation: 3, dueAtMs: 9 },
  ]);
  const common = { sequence: 2, rowHash: 'h', fingerprint: 'f', mappingVersion: 'v', runId: 'b', feed: 'main' };
  expect(await ledger.runs.pendingRecords('b', 1, 5, 10)).toEqual([
    {
      ...common,
      ...{ position: 2, line: 3, key: 'k2', desired: desired('k2'), sent: true, attempts: 0 },
      row: { ...row('k2', 3), beyond: ['more'] },
    },
  ]);
  expect(await ledger.runs.pendingRecords('b', 2, 5, 10)).toEqual([]);
  expect(await ledger.runs.pendingRecords('b', 2, 9, 10)).toMatchObject([
    { position: 4, attempts: 2, row: { kind: 'object', line: 5, record: 4, object: { id: 'k4' } } },
  ]);
  expect(await ledger.runs.countEnds('b')).toMatchObject({ created: 1, dead: 0 });
  expect(await ledger.runs.events('b', 0, 10)).toMatchObject([{ ordinal: 1, line: 2, key: 'k1' }]);
  expect(await ledger.runs.keyPrefixes(5)).toEqual(['crm-']);
  const db = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => db.close());
  const [bits] = db.prepare("SELECT bits FROM bitmaps WHERE run_sequence = 1 AND kind = 'met'").all();
  const numbers = db.prepare("SELECT number FROM contacts WHERE key = 'k9'").all();
  expect(numbersIn(bits?.bits)).toEqual(numbers.map(({ number }) => number));
  expect(db.prepare('SELECT run_sequence, number, columns FROM headers').all()).toEqual([
    { run_sequence: 2, number: 1, columns: '["id","name"]' },
  ]);
});
