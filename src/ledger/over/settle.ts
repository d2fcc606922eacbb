/**
 * The ends of leased records, in one transaction: facts of all records are read with a few statements, `rules/settle.ts` says what
 * each end changes, and what has changed is written.
 */
import type { JournalEntry } from '#src/contacts/outcome.ts';
import { invariant } from '#src/errors.ts';
import type { JournalRow, KeyHistoryEntry, NewJournalRow } from '#src/ledger/contacts.ts';
import { eventsThatFit } from '#src/ledger/rules/events.ts';
import { undoThatDeleted } from '#src/ledger/rules/gone.ts';
import {
  atHand,
  changed,
  changedKnown,
  heldOf,
  type KeyAtHand,
  withMovedSaid,
  withSaid,
  writesOf,
} from '#src/ledger/rules/key-rows.ts';
import {
  type EndChanges,
  type PendingFacts,
  type SettleFacts,
  type Settlement,
  settleRecord,
} from '#src/ledger/rules/settle.ts';
import { type CountName, countsItsRows } from '#src/ledger/runs.ts';
import type { SettledRecord, SettleRequest } from '#src/ledger/staging.ts';
import type { KeyWrites } from '#src/ledger/tables/keys.ts';
import type { RunPlace } from '#src/ledger/tables/runs.ts';
import type { Tables } from '#src/ledger/tables.ts';
import { overtakeWithheld } from './confirmed.ts';
import { closeLettersOf, closeLettersOfRows, enterDeadRows } from './dead-rows.ts';

interface EndedRecord {
  readonly record: SettledRecord;
  readonly end: EndChanges;
}

/** For use inside a transaction. @returns how many records got their outcome. */
export async function settleRecords(tables: Tables, request: SettleRequest): Promise<number> {
  const { records, runId, feed, owner, atMs } = request;
  const keys = [...new Set(records.map(({ key }) => key))];
  const feeds = [...new Set([feed, ...records.flatMap(({ others }) => others.map((one) => one.feed))])];
  const before = await tables.keys.read(keys, feeds);
  const run = await tables.runs.place(runId);
  invariant(run !== null, 'the run of settled records is there', { run: runId });
  const pending = await pendingOf(tables, run, records);
  const doubts = await doubtRunsOf(tables, records);
  const saidBy = await runsOfRetried(tables, run, records);
  const atWork = await sendersAtWork(
    tables,
    runId,
    records.flatMap(({ journal: entries = [] }) => entries),
  );
  const undos = await undosThatDeleted(tables, records);
  const after = new Map<string, KeyAtHand>();
  const history: KeyHistoryEntry[] = [];
  const journal: NewJournalRow[] = [];
  const held: KeyWrites['held'][number][] = [];
  const ends: EndedRecord[] = [];
  const moved: SettledRecord[] = [];
  for (const record of records) {
    const { key, position } = record;
    const rows = after.get(key) ?? atHand(key, before.get(key));
    const facts: SettleFacts = {
      holdsLease: rows.flight?.owner === owner,
      runSequence: run.sequence,
      pending: pending.get(position) ?? null,
      boundTo: rows.contact?.contactId ?? null,
      intentRun: rows.flight?.intentRun ?? null,
      doubtRuns: doubts.get(key) ?? [],
      sendersAtWork: atWork,
      undoThatDeleted: undoThatDeleted(undos.get(key), rows.contact?.contactId ?? null),
    };
    const settlement = settleRecord(request, record, facts);
    after.set(key, settledRows(rows, request, record, settlement));
    history.push(...settlement.history);
    journal.push(...settlement.journal);
    if (settlement.said !== null) {
      const from = { feed, runId: saidBy.get(record.sequence) ?? runId, atMs };
      held.push(...heldOf(from, record, settlement.said));
    }
    if (settlement.said !== null) moved.push(record);
    if (settlement.end !== null) ends.push({ record, end: settlement.end });
  }
  await tables.keys.write({ ...writesOf(before, after.values()), history, held });
  await tables.keys.addJournal(journal);
  await overtakeWithheld(
    tables,
    feed,
    moved.map(({ key, sequence }) => ({ key, sequence, number: before.get(key)?.contact?.number ?? null })),
  );
  await endRows(tables, run, ends, atMs);
  return ends.length;
}

/** By position, the rows that have no outcome. */
async function pendingOf(
  { runs }: Tables,
  { sequence }: RunPlace,
  records: readonly SettledRecord[],
): Promise<ReadonlyMap<number, PendingFacts>> {
  const rows = await runs.rowFacts(
    sequence,
    records.map(({ position }) => position),
  );
  return new Map(rows.map(({ position, ...facts }) => [position, facts]));
}

/** By sequence, the runs whose files said those rows of a redrive that wait for a person; none that is kept no longer. */
async function runsOfRetried(
  { runs }: Tables,
  { kind, feed }: RunPlace,
  records: readonly SettledRecord[],
): Promise<ReadonlyMap<number, string>> {
  if (kind !== 'redrive') return new Map();
  const held = records.filter(({ said }) => said !== null && said.held.length > 0);
  const found = new Map<number, string>();
  for (const sequence of new Set(held.map((record) => record.sequence))) {
    const [run] = await runs.findRuns({ feed, afterSequence: sequence - 1, beforeSequence: sequence + 1 }, 1);
    if (run !== undefined) found.set(sequence, run.id);
  }
  return found;
}

/** The newest of the journal of the keys whose contacts are gone: that of an undo which deleted them, where one did. */
async function undosThatDeleted(
  { keys }: Tables,
  records: readonly SettledRecord[],
): Promise<ReadonlyMap<string, JournalRow>> {
  const newest = new Map<string, JournalRow>();
  for (const { key, end } of records) {
    if (end.outcome !== 'skipped' || end.reason !== 'gone') continue;
    const [found] = await keys.journalPage({ key, newestFirst: true, limit: 1 });
    if (found !== undefined) newest.set(key, found);
  }
  return newest;
}

/** Outcomes, letters, events and counts. */
async function endRows(tables: Tables, run: RunPlace, ends: readonly EndedRecord[], atMs: number): Promise<void> {
  if (ends.length === 0) return;
  const { sequence } = run;
  await tables.runs.changeRows(
    sequence,
    ends.map(({ record, end }) => ({ position: record.position, outcome: end.outcome })),
  );
  await closeLettersOf(
    tables,
    run.feed,
    ends.flatMap(({ record, end }) => (end.closesLettersOfKey ? [record] : [])),
  );
  await closeLettersOfRows(
    tables,
    run.id,
    ends.flatMap(({ record: { sequence: of }, end }) =>
      end.closesLetter === null ? [] : [{ id: end.closesLetter, sequence: of }],
    ),
  );
  const dead = ends.flatMap(({ record, end }) => {
    return end.dead === null ? [] : [{ dead: end.dead, sequence: record.sequence }];
  });
  const counts = new Map<CountName, number>([['deadNew', await enterDeadRows(tables, run, dead, { atMs })]]);
  for (const { end } of ends) {
    // The names of a delta are counts.
    for (const name of Object.keys(end.counts) as CountName[]) {
      counts.set(name, (counts.get(name) ?? 0) + (end.counts[name] ?? 0));
    }
  }
  await tables.runs.insertEvents(
    sequence,
    eventsThatFit(
      ends.flatMap(({ end }) => end.events),
      run.lastEvent,
    ),
  );
  await tables.runs.changeRun(sequence, {}, Object.fromEntries(counts));
}

/** Runs with a doubt in the history of the key, of records that ended after one. */
async function doubtRunsOf(
  tables: Tables,
  records: readonly SettledRecord[],
): Promise<ReadonlyMap<string, readonly (string | null)[]>> {
  const keys = records.flatMap(({ key, afterDoubt }) => (afterDoubt === undefined ? [] : [key]));
  if (keys.length === 0) return new Map();
  const doubts = (await tables.keys.history(keys)).filter(({ kind }) => kind === 'doubt');
  return new Map(
    [...Map.groupBy(doubts, ({ key }) => key)].map(([key, events]) => [key, events.map(({ runId }) => runId)]),
  );
}

function settledRows(
  rows: KeyAtHand,
  { feed }: SettleRequest,
  { sequence }: SettledRecord,
  { contact, moved, said, end }: Settlement,
): KeyAtHand {
  let next = contact === null ? rows : changed(rows, contact);
  for (const one of moved) next = withMovedSaid(next, one);
  if (said !== null) next = withSaid(next, feed, sequence, said);
  if (end?.forgetsRow === true) next = changedKnown(next, feed, { rowHash: null, fingerprint: null });
  if (end?.tried != null) next = changedKnown(next, feed, { tried: end.tried });
  return next;
}

/**
 * Runs whose writes another run finds: which of them will still count what they sent.
 * @param runId the run that finds the writes.
 * @returns of the other runs that sent these writes, those that have not ended: the row of each write is still pending there.
 */
export async function sendersAtWork(
  { runs }: Pick<Tables, 'runs'>,
  runId: string,
  found: readonly JournalEntry[],
): Promise<ReadonlySet<string>> {
  const senders = new Set(found.flatMap(({ runId: sentBy }) => (sentBy === null || sentBy === runId ? [] : [sentBy])));
  const atWork = new Set<string>();
  for (const sender of senders) {
    const state = (await runs.place(sender))?.state;
    if (state !== undefined && countsItsRows(state)) atWork.add(sender);
  }
  return atWork;
}
