/** What runs work with. */
import type { Clock } from '#src/clock.ts';
import type { Feeds } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import type { Workspace } from '#src/workspace/port.ts';

/** Where a run's files go. Absolute paths. */
export interface RunFolders {
  /** Files taken from an import folder, until they are archived; those of a named feed in a folder of its name. */
  readonly claimed: string;
  /** Copies of files that were named on the command line. */
  readonly handedOver: string;
  readonly reports: string;
  /** The first one also takes the archives of files that were named on the command line. */
  readonly importFolders: readonly string[];
}

export interface RunParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly log: Logger;
  readonly folders: RunFolders;
  /** Mapping, label and limits of each feed. */
  readonly feeds: Feeds;
  /** Ids of runs whose files this process has claimed, or is about to, and not entered yet: they are no orphans. */
  readonly entering: Set<string>;
  readonly rowsPerBatch: number;
  readonly defaultCountry: string | null;
  readonly onBlank: 'keep' | 'clear';
  /** The service's name for people: `sandbox`, or its origin. */
  readonly serviceName: string;
  /** D: what was sent lands at most so much later. */
  readonly latestCommitMs: number;
  /** V: what landed is visible in lists at most so much later; then the run is audited. */
  readonly visibilityLagMs: number;
}
