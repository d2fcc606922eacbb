/**
 * The ledger: Patchbay's memory and its only truth (`docs/design.md`, decision 1).
 *
 * Each method is one transaction: it happens whole or not at all, also when the process dies in the middle. What runs over
 * many rows goes in slices, each a transaction: done again, it ends what was begun. Methods marked *durable* survive a power cut once their promise resolves; the others survive a killed process.
 * All instants are milliseconds of the wall clock, unless a name says monotonic. When something is due (`dueAtMs`,
 * `notBeforeMs`) goes by the ledger's own clock, `nowMs`; only schedules are due by the wall clock. Each method may
 * throw `transient` for trouble that passes, and `damaged` for trouble that does not.
 */
import type { Moment } from '#src/clock.ts';
import type { ActLedger, NewAct } from './acts.ts';
import type { AuditLedger } from './audits.ts';
import type { ContactLedger } from './contacts.ts';
import type { DeliveryLedger } from './deliveries.ts';
import type { EngineRegistration, WorkerRegistration } from './engine-presence.ts';
import type { ForgettingLedger } from './forgetting.ts';
import type { HostLedger } from './hosts.ts';
import type { Candidacy, Candidate } from './lead.ts';
import type { DeadLetterLedger } from './letters.ts';
import type { MissingLedger } from './missing.ts';
import type { Scratch } from './over/draft.ts';
import type { PlanLedger } from './plans.ts';
import type { RunLedger } from './runs.ts';
import type { ScheduleLedger } from './schedules.ts';
import type { SnapshotLedger } from './snapshots.ts';
import type { StagingLedger } from './staging.ts';
import type { TakeLedger } from './takes.ts';

/** Which workspace the ledger belongs to (`docs/rules.md`, "Workspace, feed, key"). */
export interface WorkspaceBinding {
  /** The service's origin, or `sandbox`. */
  readonly origin: string;
  /** A salted hash: shows that the key changed without keeping it. */
  readonly keyHash: string;
  /** Ids of the workspace's phone numbers: they show that another key still opens the same workspace. */
  readonly phoneNumberIds: readonly string[];
}

/** Why work waits. `auth`: the key is refused. `unreachable`: the service does not answer as it should. */
export interface Pause {
  readonly code: 'auth' | 'unreachable';
  /** What waits: all, or writing alone. Absent in what older versions wrote: all. */
  readonly scope?: 'all' | 'writes';
  readonly message: string;
  /** The same without words of the service, for readers without a token. Absent in what older versions wrote. */
  readonly plainMessage?: string;
  /** The stable code of the error behind it. */
  readonly errorCode?: string;
  readonly sinceMs: number;
}

/** The last request that the service did not answer as it should, of whichever process: what work waits for before it is paused. */
export interface ServiceFailure {
  /** `serviceUnreachable`, `serviceFailing`, `serviceAnswersOddly`. */
  readonly code: string;
  /** For people, with the origin: `the last create or update at https://host failed: status 500`. */
  readonly message: string;
  /** By the wall clock. */
  readonly atMs: number;
}

/** A job that ended early, of whichever process, and begins again with each sweep: a folder takes no file, or with an error of Patchbay's own. */
export interface JobFailure {
  /** The name of the job, such as `upsert-batch`. */
  readonly job: string;
  /** The run that it works on; null where it works on none. */
  readonly runId: string | null;
  /** `unexpected` for an error of Patchbay's own; else the error's, such as `folderUnusable`. */
  readonly code: string;
  /** The error's own words. */
  readonly message: string;
  /** How often it ended so since then, without a minute between two. */
  readonly count: number;
  readonly sinceMs: number;
  /** When it did last, by the wall clock. */
  readonly atMs: number;
}

/** What each kind of process registers. */
export interface Registrations {
  readonly engine: EngineRegistration;
  readonly worker: WorkerRegistration;
}
export type ProcessRole = keyof Registrations;

/** What else `Ledger.forget` deletes; an absent time: nothing. */
export interface KeptLonger {
  /** How long the journal is kept. */
  readonly journalMs?: number;
  /** How long the records of ended runs are kept, with their audits; and acts of people. */
  readonly historyMs?: number;
  /** Ends it after the slice at hand. */
  readonly signal?: AbortSignal;
}

/** How much waits for a person, or for its time. */
export interface LedgerCounts {
  /** Also those that are being tried again. */
  readonly openLetters: number;
  readonly waitingAudits: number;
  readonly waitingDeliveries: number;
  readonly deadDeliveries: number;
}

export interface Ledger {
  /** Random; part of the queue's name, so that two ledgers never share jobs. */
  readonly id: string;
  /**
   * Which database, or which file, holds it: one for all its processes, and another one for a copy, which has its id (`isSamePlace`). Not
   * told apart is a database that was copied with its whole server, file by file.
   */
  placeId(): Promise<string>;
  /**
   * The ledger's clock, by which everything in it waits: milliseconds that only ever grow while the machine is up, the same in
   * all its processes, whatever becomes of the wall clock. About the wall clock's, as it was when this boot met the ledger.
   */
  nowMs(clock: Moment): Promise<number>;
  /** The boot of that clock under the one id by which all processes on the ledger call it (`isSameBoot`). */
  bootId(clock: Moment): Promise<string>;
  readonly runs: RunLedger & StagingLedger;
  readonly contacts: ContactLedger;
  readonly deadLetters: DeadLetterLedger;
  readonly audits: AuditLedger;
  readonly acts: ActLedger;
  readonly schedules: ScheduleLedger;
  readonly snapshots: SnapshotLedger;
  readonly takes: TakeLedger;
  readonly missing: MissingLedger;
  readonly forgetting: ForgettingLedger;
  readonly deliveries: DeliveryLedger;
  readonly hosts: HostLedger;
  readonly plans: PlanLedger;

  binding(): Promise<WorkspaceBinding | null>;
  /** Durable. @param act of the person who says that it is the same workspace. */
  bind(binding: WorkspaceBinding, act?: NewAct): Promise<void>;

  pause(): Promise<Pause | null>;
  setPause(pause: Pause | null): Promise<void>;

  /** Null where no request has failed yet. */
  serviceFailure(): Promise<ServiceFailure | null>;
  noteServiceFailure(failure: ServiceFailure): Promise<void>;

  /** One for each job and run, newest first, at most a hundred: those of the minute before the newest. */
  jobFailures(): Promise<readonly JobFailure[]>;
  /** Counted with those before of the same job, run and code. */
  noteJobFailure(failure: Pick<JobFailure, 'job' | 'runId' | 'code' | 'message' | 'atMs'>): Promise<void>;
  /** That job of that run has ended well since. */
  endJobFailure(of: Pick<JobFailure, 'job' | 'runId'>): Promise<void>;

  /** The processes that work on the ledger, as they registered; whether they still live is for the caller to check. */
  registrations(): Promise<{
    /** Null before the first engine, and after one that stopped. */
    readonly engine: EngineRegistration | null;
    readonly workers: readonly WorkerRegistration[];
  }>;
  /** Enters or renews a registration: there is one engine, and one entry for each worker. */
  register<Role extends ProcessRole>(role: Role, registration: Registrations[Role]): Promise<void>;
  /** Removes the registration if it is still of that process. */
  unregister(role: ProcessRole, identity: string): Promise<void>;

  /** When all that is kept no longer was deleted last, by the wall clock: `ledger`, or the files of a data folder; null: never. */
  expiredAtMs(of: string): Promise<number | null>;
  noteExpired(of: string, atMs: number): Promise<void>;

  counts(): Promise<LedgerCounts>;
  /**
   * Deletes what ended, was met or was seen last more than `keepMs` ago: closed letters, keys and findings of audits, histories
   * of keys, deliveries that have ended, files that lie no longer where they were taken. What waits is kept, and so is the
   * newest file that each feed took. In slices (`over/retention.ts`).
   */
  forget(nowMs: number, keepMs: number, longer?: KeptLonger): Promise<void>;

  /** This ledger as it is, with runs in the scratch: nothing that is written to the draft reaches it. Its opener closes the scratch. */
  draft(scratch: Scratch): Ledger;

  /**
   * A number that changes whenever another process has committed. Cheap enough to ask ten times a second: it is how
   * an engine and its clients wake each other.
   */
  changeCount(): Promise<number>;
  /** Of all engines on the ledger one at a time leads (`lead.ts`); within ten seconds after the end of the last one. */
  standForLead(candidate: Candidate): Candidacy;
  /**
   * Cheap, too: every process on the ledger asks again and again, since only one process meets a broken page.
   * @throws PatchbayError `damaged` where this process or another one has found the ledger damaged.
   */
  requireSound(): Promise<void>;
  /**
   * Of a database server: whether it takes writes, without writing. Of a file nothing is asked.
   * @throws PatchbayError `transient` `ledgerReadOnly`, `ledgerAway` and its like.
   */
  requireWritable(): Promise<void>;

  close(): Promise<void>;
}
