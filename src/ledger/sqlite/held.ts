/** A person's decision about held fields, in SQLite; what it changes is decided by `rules/held.ts`. */
import type { HeldDecided, HeldDecision, HeldRecord } from '#src/ledger/contacts.ts';
import { fateOfHeld, type HeldContact, heldMoves, heldShape } from '#src/ledger/rules/held.ts';
import { moved } from '#src/ledger/rules/runs.ts';
import { batchesOf } from '#src/ledger/rules/staging.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { NewStagedRecord } from '#src/ledger/staging.ts';
import type { Database } from './database.ts';
import { changeContact, decideSaid, toHeld } from './keys.ts';
import { addCounts, changeRun, insertRun, runOf } from './runs.ts';

/** For use inside a transaction. `contacts` by key. */
export function decideHeld(
  db: Database,
  decision: HeldDecision,
  contacts: ReadonlyMap<string, HeldContact>,
): HeldDecided {
  const { feed, shown, write, atMs } = decision;
  const fates = Map.groupBy(shown, (one) => fateOfHeld(decision, contacts.get(one.key) ?? null, one, heldNow(db, one)));
  const taken = fates.get('taken') ?? [];
  const rest = { taken, moved: fates.get('moved') ?? [], busy: fates.get('busy') ?? [] };
  const run = write === null || taken.length === 0 ? null : insertRun(db, write.run);
  const moves = heldMoves(feed, taken, contacts, run);
  for (const { key, said, looksAgain, contact } of moves) {
    decideSaid(db, { feed, said }, key, looksAgain);
    changeContact(db, key, contact);
  }
  if (run === null || write === null) return { ...rest, run: null };
  const records = moves.flatMap(({ record }) => record ?? []);
  stageObjects(db, run, records, write.rowsPerBatch);
  const begun = moved(run, ['queued'], 'applying', { atMs });
  changeRun(db, run.id, { ...begun, startedAtMs: atMs, shape: heldShape });
  return { ...rest, run: runOf(db, run.id) };
}

function heldNow(db: Database, { feed, key, field }: HeldRecord): HeldRecord | null {
  const row = db.get('SELECT * FROM held WHERE feed = ? AND key = ? AND field = ?', feed, key, field);
  return row === null ? null : toHeld(row);
}

/** The rows of a new run; they are objects. */
function stageObjects(db: Database, run: RunRecord, records: readonly NewStagedRecord[], rowsPerBatch: number): void {
  const rows = records.map((record, index) => ({ ...record, position: index + 1 }));
  for (const { position, line, sequence, key, rowHash, fingerprint, mappingVersion, desired, row } of rows) {
    db.run(
      `INSERT INTO staged (place, line, sequence, key, row_hash, fingerprint, mapping_version, record, desired, content)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[run.sequence * 2 ** 23 + position, line, sequence, key, rowHash, fingerprint, mappingVersion, row.record],
      ...[JSON.stringify(desired), JSON.stringify(row.kind === 'object' ? row.object : {})],
    );
  }
  for (const { batch, first, last } of batchesOf(rows, rowsPerBatch)) {
    db.run(
      'INSERT INTO batches (run_sequence, batch, first, last) VALUES (?, ?, ?, ?)',
      ...[run.sequence, batch, first, last],
    );
  }
  db.run('UPDATE runs SET pending = ? WHERE id = ?', rows.length, run.id);
  addCounts(db, run.id, { rows: rows.length });
}
