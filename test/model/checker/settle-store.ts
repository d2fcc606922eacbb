/**
 * Settling in memory: what `src/ledger/sqlite/settle-records.ts` does. Outcome, both halves of the base, counts and leases
 * in one transaction, fenced by the lease.
 */
import { unreachable } from '#src/errors.ts';
import type { CountName, RunCounts } from '#src/ledger/run-record.ts';
import type { DeadRow, RecordEnd } from '#src/ledger/staged-record.ts';
import type { RunEvent, SettledRecord, SettleRequest } from '#src/ledger/staging-ledger.ts';
import { type LedgerRules, noClaim, noIntent, noLease, type TableHolder } from './contact-store.ts';
import { nameOf, type Tables } from './tables.ts';

/** @returns how many outcomes were written. */
export function settleRecords(holder: TableHolder, rules: LedgerRules, request: SettleRequest): number {
  const { tables } = holder;
  let written = 0;
  for (const record of request.records) {
    const holds = tables.contacts.get(record.key)?.owner === request.owner;
    const mayWrite = holds || !rules.settleIsFenced;
    if (!mayWrite && record.end.outcome !== 'skipped') continue;
    if (mayWrite) {
      writeBase(tables, request.feed, record);
      if (holds) giveBack(tables, record.key);
    }
    const name = nameOf(request.runId, record.position);
    const staged = tables.staged.get(name);
    if (staged === undefined || staged.end !== null) continue;
    tables.staged.set(name, { ...staged, end: record.end });
    written += 1;
    addCount(tables, request.runId, record.end.outcome, 1);
    writeEnd(tables, request, record, staged.record.line);
  }
  return written;
}

function giveBack(tables: Tables, key: string): void {
  const row = tables.contacts.get(key);
  if (row !== undefined) tables.contacts.set(key, { ...row, ...noLease });
}

function writeBase(tables: Tables, feed: string, { key, sequence, bound, said, landed }: SettledRecord): void {
  const row = tables.contacts.get(key);
  if (bound !== null && row !== undefined) {
    const writtenSequence = Math.max(row.writtenSequence, sequence);
    tables.contacts.set(key, {
      ...row,
      ...bound,
      ...noIntent,
      ...noClaim,
      state: 'bound',
      attempts: 0,
      writtenSequence,
    });
  }
  if (landed !== undefined) {
    tables.said.set(nameOf(landed.feed, key), { key, said: landed.said, rowHash: null, fingerprint: null });
  }
  if (said !== null) {
    const { rowHash, fingerprint } = said;
    tables.said.set(nameOf(feed, key), { key, said: said.said, rowHash, fingerprint });
  }
}

function writeEnd(tables: Tables, request: SettleRequest, record: SettledRecord, line: number): void {
  const { key } = record;
  const { runId } = request;
  const end: RecordEnd = record.end;
  switch (end.outcome) {
    case 'created':
    case 'updated':
    case 'unchanged':
      addCount(tables, runId, 'adopted', end.adopted ? 1 : 0);
      addCount(tables, runId, 'heldFields', end.heldFields.length);
      addCount(tables, runId, 'removedValues', end.removedValues);
      addCount(tables, runId, 'warnings', end.warnings.length);
      for (const field of end.heldFields) {
        const message = 'changed in the file and by a person';
        addEvent(tables, runId, { kind: 'held', line, key, code: 'held', field, message });
      }
      for (const message of end.warnings) {
        addEvent(tables, runId, { kind: 'warning', line, key, code: 'replyDiffers', field: null, message });
      }
      return;
    case 'skipped': {
      const { reason } = end;
      if (reason === 'superseded') forgetHashes(tables, request, record);
      addEvent(tables, runId, { kind: 'skipped', line, key, code: reason, field: null, message: reason });
      return;
    }
    case 'dead': {
      addCount(tables, runId, 'deadNew', enterDeadRow(tables, request, end.dead) ? 1 : 0);
      forgetHashes(tables, request, record);
      const row = tables.contacts.get(key);
      const conflict = end.dead.class === 'conflict' ? ({ state: 'conflict', ...noIntent } as const) : {};
      if (row !== undefined) tables.contacts.set(key, { ...row, attempts: 0, ...conflict });
      return;
    }
    default:
      unreachable(end);
  }
}

/** An update of the row may have landed: what the file says next must not pass for unchanged. */
function forgetHashes(tables: Tables, { feed, runId }: SettleRequest, { key, position }: SettledRecord): void {
  const name = nameOf(feed, key);
  const said = tables.said.get(name);
  if (said === undefined || tables.staged.get(nameOf(runId, position))?.record.sent !== true) return;
  tables.said.set(name, { ...said, rowHash: null, fingerprint: null });
}

/** @returns whether the letter is new with this run. */
function enterDeadRow(tables: Tables, { runId, feed }: SettleRequest, dead: DeadRow): boolean {
  const name = nameOf(feed, dead.key ?? '', dead.code);
  const known = tables.letters.get(name);
  if (known === undefined) tables.letters.set(name, { id: `d${tables.letters.size + 1}`, firstRunId: runId });
  tables.deadRows = [...tables.deadRows, { runId, dead }];
  return known === undefined || known.firstRunId === runId;
}

function addEvent(tables: Tables, runId: string, event: RunEvent): void {
  tables.events = [...tables.events, { runId, event }];
}

export function addCount(tables: Tables, runId: string, name: CountName, by: number): void {
  const run = tables.runs.get(runId);
  if (run === undefined || by === 0) return;
  const counts: RunCounts = { ...run.counts, [name]: run.counts[name] + by };
  tables.runs.set(runId, { ...run, counts });
}
