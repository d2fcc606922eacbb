/**
 * Plans that were made and kept: what a file, or a stopped run, would write, contact by contact (`docs/plans.md`, "Plans").
 *
 * Invariant: a kept plan never changes, so that what a person approved is what is carried out.
 */
import type { PlannedContact } from '#src/contacts/planned.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { RunCounts, RunOptions, RunReason } from './runs.ts';

/** What is counted of a plan. Contacts, unless a name says otherwise. */
export interface PlanTotals {
  /** Rows of the file by what becomes of them, as a run counts them; `updated` holds those that would be linked. */
  readonly rows: Pick<RunCounts, 'rows' | 'created' | 'updated' | 'unchanged' | 'skipped' | 'dead'>;
  readonly linked: number;
  readonly deleted: number;
  /** Values that are set where there was none, replaced, cleared (fields), removed (e-mails and phones), and labels that change. */
  readonly added: number;
  readonly changed: number;
  readonly cleared: number;
  readonly removed: number;
  readonly relabelled: number;
  readonly heldFields: number;
  /** Requests that carrying it out takes, without repetitions. */
  readonly requests: { readonly get: number; readonly post: number; readonly patch: number; readonly delete: number };
  /** How long these take at the allowed rate; null where there is no limit. */
  readonly seconds: number | null;
}

/** What decides how the rows of a file are read; the same for the run that carries the plan out. */
export interface PlanReading {
  readonly mapping: Mapping | null;
  readonly sourceLabel: string | null;
  readonly options: RunOptions;
  /** Of the configuration: what neither mapping nor options say. */
  readonly defaults: { readonly defaultCountry: string | null; readonly onBlank: 'keep' | 'clear' };
}

export interface PlanRecord {
  readonly id: string;
  readonly feed: string;
  /** The stopped run that it is of; null for a plan of a file. */
  readonly runId: string | null;
  /** The run that an undo would take back; null for any other plan. */
  readonly undoes: string | null;
  readonly fileName: string;
  /** Of the file's content. */
  readonly sha256: string;
  /** Where the file was that was named on the command line: an absolute path; null for standard input and for a run. */
  readonly path: string | null;
  readonly service: string;
  /** Null for a plan of a run: its rows are staged. */
  readonly reading: PlanReading | null;
  /** The mapping as it was named on the command line; null where it is the feed's. */
  readonly mappingNamed: string | null;
  readonly totals: PlanTotals;
  /** Why a guard would stop the run before its first write; null where none would. */
  readonly stop: RunReason | null;
  /** Over all contacts of the plan. */
  readonly checksum: string;
  readonly createdAtMs: number;
}

/** A plan of more contacts is shown and not kept. */
export const planContactsMax = 100_000;
/** The oldest beyond them are forgotten. */
export const plansKeptMax = 20;

export interface PlanLedger {
  /** A plan is being made; until `keep` it is not there. */
  begin(planId: string, atMs: number): Promise<void>;
  /** Enters contacts of it. */
  enter(planId: string, contacts: readonly PlannedContact[]): Promise<void>;
  /** The plan is made: from now on it may be carried out. Durable. The oldest beyond `plansKeptMax` are removed. */
  keep(plan: PlanRecord): Promise<void>;
  get(id: string): Promise<PlanRecord | null>;
  /** The newest first; of a run where one is given. */
  list(filter: { readonly runId?: string; readonly limit: number }): Promise<readonly PlanRecord[]>;
  /** In the order of the file, read as they are asked for. */
  contacts(planId: string): AsyncIterable<PlannedContact>;
  /** What the plan says of these keys, by key; those that it does not name are absent. */
  digests(planId: string, keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Removes a plan, or what was entered of one that was never kept. */
  remove(planId: string): Promise<void>;
}
