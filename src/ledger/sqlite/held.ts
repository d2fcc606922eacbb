/** A person's decision about held fields, in SQLite; what it changes is decided by `rules/held.ts`. */
import type { HeldDecided, HeldDecision, HeldRecord } from '#src/ledger/contacts.ts';
import { fateOfHeld, type HeldContact, heldMoves, heldShape } from '#src/ledger/rules/held.ts';
import { moved } from '#src/ledger/rules/runs.ts';
import type { Database } from './database.ts';
import { changeContact, decideSaid, toHeld } from './keys.ts';
import { changeRun, insertRun, runOf } from './runs.ts';
import { stageSlice } from './staging.ts';

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
  stageSlice(db, {
    ...{ runId: run.id, feed, rowsPerBatch: write.rowsPerBatch, records, counts: { rows: records.length }, atMs },
    ...{ traces: [], dead: [], withdrawn: [], events: [] },
  });
  const begun = moved(run, ['queued'], 'applying', { atMs });
  changeRun(db, run.id, { ...begun, startedAtMs: atMs, shape: heldShape });
  return { ...rest, run: runOf(db, run.id) };
}

function heldNow(db: Database, { feed, key, field }: HeldRecord): HeldRecord | null {
  const row = db.get('SELECT * FROM held WHERE feed = ? AND key = ? AND field = ?', feed, key, field);
  return row === null ? null : toHeld(row);
}
