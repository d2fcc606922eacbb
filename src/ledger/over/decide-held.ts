/** A person's decision about held fields, in one transaction; what it changes is decided by `rules/held.ts`. */
import { invariant } from '#src/errors.ts';
import type { HeldDecided, HeldDecision, HeldRecord } from '#src/ledger/contacts.ts';
import { enterAct } from '#src/ledger/desk/acts.ts';
import { fateOfHeld, type HeldContact, heldMoves, heldShape } from '#src/ledger/rules/held.ts';
import { atHand, changed, contactRecord, leaseFacts, withDecidedSaid, writesOf } from '#src/ledger/rules/key-rows.ts';
import { moved } from '#src/ledger/rules/runs.ts';
import { batchesOf, storedRows } from '#src/ledger/rules/staging.ts';
import type { NewRun, RunRecord } from '#src/ledger/runs.ts';
import type { Tables } from '#src/ledger/tables.ts';
import { confirmedSince } from './confirmed.ts';

/** For use inside a transaction. */
export async function decideHeld(tables: Tables, decision: HeldDecision): Promise<HeldDecided> {
  const { feed, shown, write, atMs } = decision;
  const keys = [...new Set(shown.map(({ key }) => key))];
  const before = await tables.keys.read(keys, [feed]);
  const confirmed = await confirmedSince(
    tables,
    feed,
    [...before].map(([key, { contact, known }]) => ({
      key,
      number: contact?.number ?? null,
      sequence: known[0]?.spoken ?? 0,
    })),
  );
  const contacts = new Map(
    [...before].map(([key, rows]): [string, HeldContact] => {
      const at = atHand(key, rows);
      return [key, { contact: contactRecord(at), lease: leaseFacts(at, feed, confirmed.get(key) ?? 0) }];
    }),
  );
  // A key has few fields, and one person decides at a time.
  const now = await tables.keys.held({ feed, keys, limit: Number.MAX_SAFE_INTEGER });
  const fates = Map.groupBy(shown, (one) =>
    fateOfHeld(decision, contacts.get(one.key) ?? null, one, now.find((other) => isSameField(other, one)) ?? null),
  );
  const taken = fates.get('taken') ?? [];
  const rest = { taken, moved: fates.get('moved') ?? [], busy: fates.get('busy') ?? [] };
  const run = write === null || taken.length === 0 ? null : await enter(tables, write.run);
  const moves = heldMoves(feed, taken, contacts, run);
  const after = moves.map(({ key, said, looksAgain, contact }) =>
    withDecidedSaid(changed(atHand(key, before.get(key)), contact), feed, said, looksAgain),
  );
  const heldStill = moves.map(({ key, said }) => ({ feed, key, fields: said.held }));
  await tables.keys.write({ ...writesOf(before, after), heldStill });
  const fields = [...new Set(taken.map(({ field }) => field))];
  if (taken.length > 0)
    await enterAct(tables, decision.act, { run: run?.id ?? null, feed, facts: { fields, decided: taken.length } });
  if (run === null || write === null) return { ...rest, run: null };
  const records = moves.flatMap(({ record }) => record ?? []);
  const stored = storedRows(records, 0, new Map());
  await tables.runs.insertRows(run.sequence, { ...stored, batches: batchesOf(stored.rows, write.rowsPerBatch) });
  const begun = moved(run, ['queued'], 'applying', { atMs });
  const change = { ...begun, startedAtMs: atMs, shape: heldShape };
  await tables.runs.changeRun(run.sequence, change, { rows: records.length });
  return { ...rest, run: await runOf(tables, run.id) };
}

async function enter(tables: Tables, run: NewRun): Promise<RunRecord> {
  await tables.runs.insertRun(run);
  return runOf(tables, run.id);
}

async function runOf({ runs }: Tables, id: string): Promise<RunRecord> {
  const [run] = await runs.findRuns({ ids: [id] }, 1);
  invariant(run !== undefined, 'a run that was just entered is there');
  return run;
}

const isSameField = (one: HeldRecord, other: HeldRecord): boolean => one.key === other.key && one.field === other.field;
