/** The engine's side to the service: the client, the watch over it, and what batches work with. */
import type { RedisOptions } from 'bullmq';
import type { BatchContext } from '#jobs/context.ts';
import { workOnBatch } from '#jobs/upsert-batch.ts';
import type { Home } from '#src/app.ts';
import { batchContext } from './job-context.ts';
import { createServiceWatch, type ServiceWatch } from './service-watch.ts';
import { openWorkspaceClient, type WorkspaceClient, type WorkspaceClientOptions } from './workspace-client.ts';
import { createWriteTrial } from './write-trial.ts';

export interface ServiceSide {
  readonly client: WorkspaceClient;
  readonly watch: ServiceWatch;
  readonly batches: BatchContext;
  close(): Promise<void>;
}

export interface ServiceOptions extends Pick<WorkspaceClientOptions, 'sandbox' | 'sameWorkspace'> {
  /** Of the queue, which holds the rate gate that all processes share. */
  readonly connection: RedisOptions;
}

/** Sends nothing. @throws PatchbayError `usage` `baseUrlInvalid`. */
export function openService(home: Home, options: ServiceOptions): ServiceSide {
  const { ledger, clock, log } = home;
  // A breaker opens only after requests were sent: by then the watch is there.
  const client = openWorkspaceClient(home, { ...options, onOpenBreaker: (opened) => void watch.opened(opened) });
  const tryWrite = createWriteTrial({
    ledger,
    clock,
    breakers: client.breakers,
    workOnOne: (batch, signal) => workOnBatch(batch, batches, signal, { recordsMax: 1 }),
  });
  const watch = createServiceWatch({ ledger, ...client, clock, log, tryWrite });
  const batches = batchContext(home, client.workspace, { ...watch, pause: watch.pauseFor });
  return { client, watch, batches, close: () => client.close() };
}
