/** Migration 2: the host whose file a run reads. */
export const hostsOfRuns = `ALTER TABLE runs ADD COLUMN host text COLLATE "C" NOT NULL DEFAULT ''`;
