/** What the job processors call into. */
import type { RunParts } from '#src/runs/parts.ts';
import type { UpsertParts } from '#src/upsert/parts.ts';

export interface JobContext {
  readonly runs: RunParts;
  readonly upsert: UpsertParts;
  /** Stops all work: the service refuses the key, or does not answer. */
  pause(error: unknown): Promise<boolean>;
  /** Whether this process is already reading the file of that run. */
  readonly staging: Set<string>;
  /** One round of the sweeper. */
  sweep(): Promise<void>;
}
