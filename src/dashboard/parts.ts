/** What the page needs from its starter. It reads, and owns nothing: the caller opens and closes. */
import type { Home } from '#src/app.ts';

/** Of Prometheus' text format. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Whether this process can take files now (`docs/contract.md`, "Page and probes"). */
export interface Readiness {
  readonly ready: boolean;
  /** Files are taken, and wait: the queue is paused. */
  readonly degraded: boolean;
  /** Sentences; empty where all is well. No personal data: probes need no token. */
  readonly reasons: readonly string[];
}

export interface DashboardParts extends Pick<Home, 'ledger' | 'host' | 'clock' | 'log' | 'serviceName'> {
  readonly version: string;
  /** `name` of the configuration; null: none. */
  readonly installation: string | null;
  readonly serviceOrigin: string;
  /** Where the queue is, without a password. */
  readonly queueDescription: string;
  /** Absolute paths. The last one is where a newcomer drops the first file: the empty page names it first. */
  readonly importFolders: readonly string[];
  /** Absolute path of the folder of run reports. */
  readonly runFolders: { readonly reports: string };
  /** Opens the page; null means that only this machine reaches it. */
  readonly token: string | null;
  readonly readiness: () => Promise<Readiness>;
  /** The metrics of this process in Prometheus' text format. */
  readonly metricsText: (readiness: Readiness) => Promise<string>;
}
