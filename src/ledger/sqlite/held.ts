/** A person's decision about held fields, in SQLite: base moves, and what is to be written is staged as a run. */

import { fingerprint } from '#src/contacts/desired.ts';
import type { HeldField } from '#src/contacts/outcome.ts';
import { contactOfTaken, isAsShown, takeApp, takeFile } from '#src/contacts/take-held.ts';
import type { ContactRecord, HeldDecided, HeldDecision, HeldRecord } from '#src/ledger/contacts.ts';
import { isAtWork, type LeaseFacts, newestSequence } from '#src/ledger/rules/lease.ts';
import type { FileShape, RunRecord } from '#src/ledger/runs.ts';
import type { NewStagedRecord } from '#src/ledger/staging.ts';
import type { Database } from './database.ts';
import { decideSaid, toHeld } from './keys.ts';
import { insertRun, runOf } from './runs.ts';
import { stageSlice } from './staging.ts';

/** A key with held fields, and who is at work on it. */
interface HeldContact {
  readonly contact: ContactRecord;
  readonly facts: LeaseFacts;
}

/** For use inside a transaction. */
export function decideHeld(db: Database, decision: HeldDecision, contacts: readonly HeldContact[]): HeldDecided {
  const { feed, shown, write, atMs } = decision;
  const byKey = new Map(contacts.map((one) => [one.contact.key, one]));
  const fates = Map.groupBy(shown, (one) => fateOf(db, decision, byKey.get(one.key), one));
  const taken = fates.get('taken') ?? [];
  const rest = { taken, moved: fates.get('moved') ?? [], busy: fates.get('busy') ?? [] };
  const ofKeys = [...Map.groupBy(taken, ({ key }) => key)].flatMap(([key, fields]) => {
    const held = byKey.get(key);
    const said = held?.contact.saids.find((one) => one.feed === feed)?.said;
    return held === undefined || said === undefined ? [] : [{ ...held, key, fields, said }];
  });
  if (write === null) {
    for (const { key, fields, said } of ofKeys) decideSaid(db, { feed, said: takeApp(said, fields) }, key, false);
    return { ...rest, run: null };
  }
  if (taken.length === 0) return { ...rest, run: null };
  const run = insertRun(db, write.run);
  for (const { key, fields, contact, said } of ofKeys) {
    const after = takeFile({ ...contact, said }, { feed, sequence: run.sequence }, fields);
    decideSaid(db, { feed, said: after.said }, key, true);
    db.run(
      'UPDATE contacts SET agreed = ?, stamps = ?, owned = ? WHERE key = ?',
      JSON.stringify(after.agreed),
      JSON.stringify(after.stamps),
      JSON.stringify(after.owned),
      key,
    );
  }
  const records = ofKeys.map(({ key, fields, facts }) => recordOf(run, key, fields, newestSequence(facts, feed)));
  stageSlice(db, {
    ...{ runId: run.id, feed, rowsPerBatch: write.rowsPerBatch, records, counts: { rows: records.length }, atMs },
    ...{ traces: [], dead: [], withdrawn: [], events: [] },
  });
  return { ...rest, run: begin(db, run, atMs) };
}

function fateOf(
  db: Database,
  { write, ...moment }: HeldDecision,
  held: HeldContact | undefined,
  shown: HeldRecord,
): 'taken' | 'moved' | 'busy' {
  const { feed, key, field } = shown;
  const row = db.get('SELECT * FROM held WHERE feed = ? AND key = ? AND field = ?', feed, key, field);
  // What the file wants is written to the contact that it was held for, and never makes one.
  const isWritable = write === null || held?.contact.state === 'bound';
  if (held === undefined || !isWritable || !isAsShown(row === null ? null : toHeld(row), shown)) return 'moved';
  return isAtWork(moment, held.facts) ? 'busy' : 'taken';
}

function recordOf(
  run: RunRecord,
  key: string,
  fields: readonly (HeldField & { readonly line: number })[],
  sequence: number,
): NewStagedRecord {
  const desired = contactOfTaken(key, fields);
  const line = fields[0]?.line ?? 0;
  const object = Object.fromEntries([['externalId', key], ...fields.map(({ field, ours }) => [field, ours])]);
  return {
    line,
    sequence,
    key,
    // No row of a file is this one: the next one of the key is looked at.
    rowHash: `held ${run.id} ${key}`,
    fingerprint: fingerprint(desired),
    mappingVersion: 'held',
    desired,
    row: { kind: 'object', line, record: line, object },
  };
}

/** All that staging would find out is known, and nothing is left for a guard to judge. */
function begin(db: Database, run: RunRecord, atMs: number): RunRecord {
  const shape: FileShape = { format: 'ndjson', columns: null, delimiter: null };
  const columns = "state = 'applying', started_at = ?, shape = ?";
  db.run(`UPDATE runs SET ${columns} WHERE id = ?`, atMs, JSON.stringify(shape), run.id);
  return runOf(db, run.id) ?? run;
}
