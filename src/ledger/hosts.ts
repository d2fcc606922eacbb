/**
 * Hosts: where several machines work on one ledger, each data folder with an engine is a *host* (`docs/operations.md`, "Many
 * machines"). A file belongs to the host that took it; what needs no file is anybody's.
 *
 * A host is known by an id in its data folder. Its engine renews its entry every few seconds, by the ledger's clock; one that is
 * silent for longer is *away*. A ledger in a file has no hosts: it belongs to one data folder.
 */
import type { NewAct } from './acts.ts';
import type { EngineRegistration } from './engine-presence.ts';

export interface HostRecord {
  /** Of the data folder, for good. */
  readonly id: string;
  /** For people: the machine and its data folder, as `berlin-1:/srv/patchbay`. */
  readonly name: string;
  /** The engine at work there, or the last one: `ProcessIdentity.name`, and a suffix that tells two engines of a process apart. */
  readonly session: string;
  /** What workers and commands need to know; null while the engine starts. */
  readonly engine: Pick<EngineRegistration, 'serviceOrigin' | 'queue' | 'followed'> | null;
  readonly queue: 'redis' | 'embedded';
  /** Whether its service is a sandbox of its own. */
  readonly isSandbox: boolean;
  /** An engine of `start`; one of a one-shot leaves soon. */
  readonly runsSchedules: boolean;
  readonly leads: boolean;
  /** Feeds that have a folder in its import folders. */
  readonly feeds: readonly string[];
  readonly startedAtMs: number;
  /** By the ledger's clock. */
  readonly seenAtMs: number;
  /** Its engine has stopped as it should. */
  readonly hasLeft: boolean;
}

/** What became of a host's entry. */
export type HostEntry =
  | {
      readonly kind: 'entered';
      /** The identity of the queue that all hosts share (`src/engine/queue-identity.ts`). */
      readonly queueId: string;
      /** Those that are at work. */
      readonly others: readonly HostRecord[];
    }
  /** Another engine is at work under this id: the data folder was copied, or two machines share it. */
  | { readonly kind: 'taken'; readonly by: HostRecord }
  /** The other host, or this one, has a queue that no other host can use. */
  | { readonly kind: 'queueNotShared'; readonly other: HostRecord }
  | { readonly kind: 'sandboxNotShared'; readonly other: HostRecord };

/** How often a host renews its entry. */
export const hostSignEveryMs = 3_000;

/** The part of the ledger that knows the hosts. */
export interface HostLedger {
  /**
   * Enters a host at the start of its engine. The first one at work gives the queue a new identity, `queueId`.
   * @param isDead whether the process of a session is certainly dead.
   */
  enter(host: HostRecord, queueId: string, isDead: (session: string) => boolean): Promise<HostEntry>;
  /** Renews an entry. @returns false where it is not of this session any more. */
  renew(host: HostRecord): Promise<boolean>;
  /** The engine has stopped. Nothing where the entry is of another session. */
  leave(id: string, session: string): Promise<void>;
  /** By id. */
  list(): Promise<readonly HostRecord[]>;
  /** Null before the first host. */
  queueId(): Promise<string | null>;
  /**
   * The host does not come back: its open runs go to another host, and those whose file was not read are cancelled.
   * @returns how many runs went over.
   */
  forget(id: string, heir: string, atMs: number, act?: NewAct): Promise<number>;
}
