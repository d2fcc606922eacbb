/**
 * The tables of the ledger in memory, as the SQLite ledger has them (`src/ledger/sqlite/migrations.ts`).
 *
 * Rows are never changed in place: a table can then be copied by its references, which is what a power cut needs, and
 * what starts a million schedules from one beginning.
 */
import type { Claim } from '#src/contacts/as-updated.ts';
import type { Ownership } from '#src/contacts/base.ts';
import type { CreateState, SaidRecord } from '#src/ledger/contact-record.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import type { DeadRow, RecordEnd, StagedRecord } from '#src/ledger/staged-record.ts';
import type { RunEvent } from '#src/ledger/staging-ledger.ts';
import type { Contact } from '#src/wire/contact.ts';

export interface ContactRow {
  readonly key: string;
  readonly state: CreateState;
  readonly contactId: string | null;
  readonly seen: Contact | null;
  readonly owned: Ownership;
  readonly writtenSequence: number;
  readonly attempts: number;
  readonly intentRun: string | null;
  readonly claim: Claim | null;
  readonly owner: string | null;
  readonly leaseUntilMs: number | null;
  readonly leaseBoot: string | null;
  readonly horizonMs: number | null;
  readonly horizonBoot: string | null;
}

export interface StagedRow {
  readonly record: StagedRecord;
  readonly batch: number;
  readonly notBeforeMs: number;
  readonly end: RecordEnd | null;
}

export interface BatchRow {
  readonly runId: string;
  readonly batch: number;
  readonly generation: number;
  readonly dueAtMs: number;
  readonly done: boolean;
}

export interface LetterRow {
  readonly id: string;
  readonly firstRunId: string;
}

export interface Tables {
  /** By run. */
  runs: Map<string, RunRecord>;
  /** By run and position. */
  staged: Map<string, StagedRow>;
  /** By run and batch. */
  batches: Map<string, BatchRow>;
  /** By key. */
  contacts: Map<string, ContactRow>;
  /** By feed and key. */
  said: Map<string, SaidRecord>;
  /** By feed, key and code. */
  letters: Map<string, LetterRow>;
  deadRows: readonly { readonly runId: string; readonly dead: DeadRow }[];
  events: readonly { readonly runId: string; readonly event: RunEvent }[];
}

export function emptyTables(): Tables {
  return {
    runs: new Map(),
    staged: new Map(),
    batches: new Map(),
    contacts: new Map(),
    said: new Map(),
    letters: new Map(),
    deadRows: [],
    events: [],
  };
}

export function copyTables(tables: Tables): Tables {
  return {
    runs: new Map(tables.runs),
    staged: new Map(tables.staged),
    batches: new Map(tables.batches),
    contacts: new Map(tables.contacts),
    said: new Map(tables.said),
    letters: new Map(tables.letters),
    deadRows: tables.deadRows,
    events: tables.events,
  };
}

export const nameOf = (...parts: readonly (string | number)[]): string => parts.join('\n');
