/** What the job processors call into. */
import type { AuditParts } from '#src/audits/parts.ts';
import type { PatchbayError } from '#src/errors.ts';
import type { RunParts } from '#src/runs/parts.ts';
import type { UpsertParts } from '#src/upsert/parts.ts';

export interface JobContext {
  readonly runs: RunParts;
  readonly upsert: UpsertParts;
  readonly audits: AuditParts;
  /** Stops all work: the service refuses the key, or does not answer as it should. */
  pause(error: unknown): Promise<boolean>;
  /** A read got no answer after all its tries; work stops where that happens again and again. */
  exhausted(error: PatchbayError): Promise<void>;
  /** Fires when this process stops all work. */
  atWork(): AbortSignal;
  /** Whether this process is already reading the file of that run. */
  readonly staging: Set<string>;
  /** One round of the sweeper. */
  sweep(): Promise<void>;
}
