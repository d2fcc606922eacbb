/** Figures whose default depends on the service: a real one, or the embedded sandbox (`contract.md`, "Environment"). */
import type { Config } from './schema.ts';

export type ServiceMode = 'sandbox' | 'real';

export interface ServiceFigures {
  /** Requests in any sliding second; null: no limit. */
  readonly requestsPerSecond: number | null;
  /** D of `rules.md`: how late a POST that was sent may still commit. */
  readonly latestCommitMs: number;
  /** V of `rules.md`: how long a committed contact may be missing from lists. */
  readonly visibilityLagMs: number;
}

/** A PATCH is sent at most so long after the read that it was planned from (`rules.md`, "Three pictures"). */
export const readAgeMaxMs = 2_000;

const defaults: Readonly<Record<ServiceMode, ServiceFigures>> = {
  real: { requestsPerSecond: 8, latestCommitMs: 30_000, visibilityLagMs: 10_000 },
  sandbox: { requestsPerSecond: null, latestCommitMs: 2_000, visibilityLagMs: 0 },
};

/** What is set wins; the rest is the default of the service in use. */
export function serviceFigures(config: Config, mode: ServiceMode): ServiceFigures {
  return {
    requestsPerSecond: config.service.requestsPerSecond ?? defaults[mode].requestsPerSecond,
    latestCommitMs: config.upsert.latestCommit ?? defaults[mode].latestCommitMs,
    visibilityLagMs: config.upsert.visibilityLag ?? defaults[mode].visibilityLagMs,
  };
}
