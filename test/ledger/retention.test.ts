/**
 * Nothing in the ledger grows for ever: each table either is swept, or holds no more than there are contacts, feeds and
 * schedules. The table below says which; a table that is not in it fails.
 */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { zeroAuditRequests } from '#src/ledger/audits.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunState } from '#src/ledger/runs.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { journalTable } from '#src/ledger/sqlite/journal-table.ts';
import {
  createdAtMs,
  deadRow,
  lease,
  newRecord,
  newRun,
  pendingOf,
  settleAs,
  settled,
  slice,
  stagingRun,
} from '#test/contracts/support/build.ts';
import { openTempLedger } from './support/temp-ledger.ts';

const dayMs = 86_400_000;
const endMs = createdAtMs + 1_000;
const filesMs = 30 * dayMs;
const keep = { journalMs: 90 * dayMs, historyMs: 400 * dayMs };
const forget = (ledger: Ledger, days: number) => ledger.forget(endMs + days * dayMs, filesMs, keep);

/** How a table ends: on which day after the end of its run its rows are gone. */
const swept: Readonly<Record<string, number>> = {
  staged: 491,
  staged_content: 491,
  headers: 491,
  batches: 491,
  run_events: 491,
  bitmaps: 491,
  dead_rows: 491,
  dead_row_counts: 491,
  runs: 491,
  touched_keys: 31,
  key_events: 31,
  letters: 31,
  letter_counts: 31,
  journal: 91,
};

/** Why a table cannot grow without an end, though nothing is deleted by age. */
const bounded: Readonly<Record<string, string>> = {
  meta: 'one row for each fact of the ledger, and for each worker that is registered',
  feeds: 'one row for each feed that ever had a file',
  contacts: 'one row for each key',
  said: 'one row for each feed and key',
  known: 'one row for each feed and key',
  flights: 'one row for each key that is worked on or in doubt',
  held: 'one row for each field that waits for a person',
  run_keys: 'the keys of the last file that each feed accepted, and of files at work',
  letter_headers: 'one row for each different header of rejected rows; unused ones leave with letters',
  letter_revision: 'one row',
  redrives: 'one row for each retry that has not settled all that it took; it leaves with its end',
  redriven_letters: 'the letters of such retries',
  records:
    'acts of people leave after data.keepHistory, audits leave with their run (a test below), ticks and deliveries by number and age; the rest are one for each schedule, feed, path or snapshot that is kept',
  snapshots: 'by snapshots.phoneNumbers.keep and keepMax, when a snapshot is published',
  snapshot_numbers: 'with the snapshots that show them',
  number_versions: 'with the snapshots that show them',
  taken_files: 'files that lie no longer where they were taken leave after data.keepFiles',
  taken_urls: 'one row for each feed',
  takes_begun: 'one row for each feed',
  deliveries: 'those that have ended leave after data.keepFiles, and the oldest beyond a number',
  feed_conditions: 'one row for each feed',
};

async function openSwept() {
  const { ledger, file, close } = await openTempLedger();
  onTestFinished(close);
  const plain = new DatabaseSync(file);
  onTestFinished(() => plain.close());
  const count = (table: string) => Number(plain.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.n);
  const tables = () =>
    plain
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .all()
      .map(({ name }) => String(name));
  return { ledger, file, count, tables };
}

async function journalOf(file: string, runId: string): Promise<void> {
  const db = openDatabase(file);
  await createConnection(db).transact((statements) =>
    journalTable(statements).addJournal([
      { runId, key: 'k1', contactId: 'c1', atMs: endMs, kind: 'create', changes: [] },
    ]),
  );
  db.close();
}

/** A file's run with rows, a rejected one, events, an audit with findings and a write in the journal; nothing of it was pruned. */
async function wholeRun(ledger: Ledger, file: string): Promise<void> {
  const run = await stagingRun(ledger, 'old', { feed: 'crm' });
  const records = ['k1', 'k2'].map((key, index) => newRecord(key, { line: index + 2 }));
  const event = { kind: 'warning', line: 2, key: 'k1', code: 'w', field: null, message: 'm' } as const;
  const dead = [deadRow('k3')];
  await ledger.runs.stage(slice(run, { records, dead, events: [event], counts: { rows: 3, dead: 1 } }));
  await ledger.runs.confirm('old', { unchanged: Uint8Array.of(1), met: Uint8Array.of(1) });
  await ledger.runs.move('old', ['staging'], 'applying', { atMs: createdAtMs });
  await lease(ledger, 'w1', ['k1'], { feed: 'crm', isOwnerDead: () => true });
  await ledger.contacts.noteDoubt('w1', { key: 'k1', runId: 'old', atMs: endMs, why: 'lost', burn: false });
  await settleAs(
    ledger,
    run,
    'w1',
    (await pendingOf(ledger, run)).map((one) => settled(one)),
  );
  await journalOf(file, 'old');
  await ledger.audits.enter({ runId: 'old', atMs: endMs, firstDueAtMs: endMs, secondDueAtMs: endMs });
  await ledger.runs.move('old', ['applying'], 'doneWithDead', { atMs: endMs });
  for (const { id } of await ledger.audits.ofRun('old')) {
    const found = { key: 'k1', kind: 'missing', contacts: [], code: null } as const;
    await ledger.audits.advance(id, {
      ...{ fromPosition: 0, toPosition: 1, checked: 1, findings: [found], requests: zeroAuditRequests },
    });
    await ledger.audits.finish(id, endMs);
  }
  closeLetters(file);
}

/** As a later success does. */
function closeLetters(file: string): void {
  const db = new DatabaseSync(file);
  db.exec("UPDATE letters SET state = 'closed', settled = 1");
  db.close();
}

async function endedRun(ledger: Ledger, id: string, state: RunState, parts: Parameters<typeof newRun>[1] = {}) {
  const run = await stagingRun(ledger, id, { feed: 'crm', ...parts });
  await ledger.runs.move(id, ['staging'], state, { atMs: endMs });
  return run;
}

test('each table is swept, or there is a reason why it cannot grow for ever', async () => {
  const { tables } = await openSwept();
  const known = new Set([...Object.keys(swept), ...Object.keys(bounded)]);
  expect(tables().filter((name) => !known.has(name))).toEqual([]);
});

describe('what a run has left is there until its time is over', () => {
  test.each(Object.entries(swept))('%s, until day %i', async (table, day) => {
    const { ledger, file, count, tables } = await openSwept();
    // The other design's name.
    if (!tables().includes(table)) return;
    await wholeRun(ledger, file);
    await endedRun(ledger, 'new', 'done');
    const newer = table === 'runs' ? 1 : 0;
    expect(count(table)).toBeGreaterThan(newer);
    await forget(ledger, 29);
    expect(count(table)).toBeGreaterThan(newer);
    // The journal keeps its run: that leaves after it.
    for (const later of [31, 91, 401, 491].filter((one) => one <= day)) await forget(ledger, later);
    expect(count(table)).toBe(newer);
  });
});

describe('a run stays as long as something needs it', () => {
  const idsOf = async (ledger: Ledger) => (await ledger.runs.list({ limit: 99 })).map(({ id }) => id).toReversed();

  test('the last that its feed accepted, one that waits, and one with an open letter; not failed and cancelled ones', async () => {
    const { ledger, file } = await openSwept();
    for (const id of ['accepted-before', 'accepted']) await endedRun(ledger, id, 'done');
    await endedRun(ledger, 'of-another-feed', 'done', { feed: 'shop' });
    for (const state of ['stopped', 'failed', 'cancelled'] as const) await endedRun(ledger, state, state);
    await ledger.runs.create(newRun('queued', { feed: 'crm' }));
    const run = await stagingRun(ledger, 'with-letter', { feed: 'crm' });
    await ledger.runs.stage(slice(run, { dead: [deadRow('k')], counts: { rows: 1, dead: 1 } }));
    await ledger.runs.move('with-letter', ['staging'], 'cancelled', { atMs: endMs });
    await forget(ledger, 399);
    expect(await idsOf(ledger)).toHaveLength(8);
    await forget(ledger, 401);
    expect(await idsOf(ledger)).toEqual(['accepted', 'of-another-feed', 'stopped', 'queued', 'with-letter']);
    closeLetters(file);
    await forget(ledger, 401);
    expect(await idsOf(ledger)).toEqual(['accepted', 'of-another-feed', 'stopped', 'queued']);
  });

  test('its audits leave with it, and their findings before', async () => {
    const { ledger, file } = await openSwept();
    await wholeRun(ledger, file);
    await endedRun(ledger, 'new', 'done');
    const audits = await ledger.audits.ofRun('old');
    expect(audits.length).toBeGreaterThan(0);
    for (const day of [31, 91]) await forget(ledger, day);
    expect(await ledger.audits.ofRun('old')).toHaveLength(audits.length);
    for (const { id } of audits) expect(await ledger.audits.findings(id, 'missing', 9)).toEqual([]);
    await forget(ledger, 491);
    expect(await ledger.audits.ofRun('old')).toEqual([]);
  });

  test('without a time for runs and journal, none of them leaves', async () => {
    const { ledger, file, count } = await openSwept();
    await wholeRun(ledger, file);
    await endedRun(ledger, 'new', 'done');
    await ledger.forget(endMs + 4_000 * dayMs, filesMs);
    expect([count('runs'), count('journal'), count('letters')]).toEqual([2, 1, 0]);
  });

  test('many runs leave in one sweep, and one that is interrupted goes on with the next', async () => {
    const { ledger, count } = await openSwept();
    for (let number = 1; number <= 230; number += 1) await endedRun(ledger, `r${number}`, 'failed');
    const later = endMs + 401 * dayMs;
    const stopped = AbortSignal.abort();
    await ledger.forget(later, filesMs, { ...keep, signal: stopped });
    expect(count('runs')).toBe(230);
    await ledger.forget(later, filesMs, keep);
    expect(count('runs')).toBe(0);
  });
});
