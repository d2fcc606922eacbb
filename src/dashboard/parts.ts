/** What the page needs from its starter. It reads, and owns nothing: the caller opens and closes. */
import type { Home } from '#src/app.ts';
import type { Surroundings } from '#src/operations/status.ts';
import type { FolderFlags } from '#src/shell-words.ts';

/** Of Prometheus' text format. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Whether this process can take files now (`docs/contract.md`, "Page and probes"). */
export interface Readiness {
  readonly ready: boolean;
  /** Files are taken, and wait: the queue is paused. */
  readonly degraded: boolean;
  /** Sentences; empty where all is well. No personal data and no words of the service: probes need no token. */
  readonly reasons: readonly string[];
  /** For the page: the reasons in full, without the pause, which it shows by itself. */
  readonly troubles: readonly string[];
}

/** The data folder that is shown. */
type ShownHome = Pick<
  Home,
  | ('ledger' | 'ledgerPlace' | 'folders' | 'runFolders' | 'config' | 'feeds')
  | ('host' | 'identity' | 'clock' | 'log' | 'serviceName')
>;

export interface DashboardParts extends ShownHome {
  readonly version: string;
  /** `name` of the configuration; null: none. */
  readonly installation: string | null;
  readonly serviceOrigin: string;
  /** What the process was started with: the commands on its pages open the same data folder. */
  readonly folderFlags: FolderFlags;
  /** Where the queue is, without a password. */
  readonly queueDescription: string;
  /** Opens the page; null means that only this machine reaches it. */
  readonly token: string | null;
  /** What the process can see around it: the disk, and a queue of its own. */
  readonly surroundings: () => Promise<Surroundings>;
  readonly readiness: () => Promise<Readiness>;
  /** The metrics of this process in Prometheus' text format. */
  readonly metricsText: (readiness: Readiness) => Promise<string>;
}
