/** An engine's way to the service: the client, the watch over it, and what batch jobs work with. */
import type { BatchContext } from '#jobs/context.ts';
import { workOnBatch } from '#jobs/upsert-batch.ts';
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { firstLookHeldMsMax, firstLookSilentMsMax, isHeldBack, onlyLookSilentMsMax } from '#src/workspace/port.ts';
import { batchContext } from './job-context.ts';
import { createServiceWatch, createWriteTrial, type ServiceWatch } from './service-watch.ts';
import type { Standing } from './standing.ts';
import { openWorkspaceClient, type WorkspaceClient, type WorkspaceClientOptions } from './workspace-client.ts';

export interface EngineService {
  readonly client: WorkspaceClient;
  readonly watch: ServiceWatch;
  readonly batches: BatchContext;
}

export interface EngineServiceOptions extends Omit<WorkspaceClientOptions, 'onOpenBreaker'> {
  readonly standing: Standing;
}

/** Which failures of the service at the start are waited out instead of thrown. */
export type WaitedOut = 'unreachable' | 'everything';

/** Sends nothing. @throws PatchbayError `usage` `baseUrlInvalid`. */
export function openService(home: Home, { standing, ...options }: EngineServiceOptions): EngineService {
  const { ledger, clock, log } = home;
  // A breaker opens only after requests were sent: by then the watch exists.
  const client = openWorkspaceClient(home, { ...options, onOpenBreaker: (opened) => void watch.opened(opened) });
  const tryWrite = createWriteTrial(ledger, clock, client.breakers, (batch, signal) =>
    workOnBatch(batch, batches, signal, { recordsMax: 1 }),
  );
  const watch = createServiceWatch({ ledger, ...client, clock, log, tryWrite });
  const failures = { ...watch, pause: watch.pauseFor };
  const batches = batchContext(home, client.workspace, failures, standing.hasFeedElsewhere);
  return { client, watch, batches };
}

/**
 * A failure that is waited out pauses all work; the probe of the sweep ends the pause. Beside other hosts a pause stays, and neither a key that
 * only this one is refused with nor a rate gate that holds this look back pauses them, and silence pauses them only after as long as one whole
 * request may take.
 * @returns for how long, in milliseconds, this look waited for a service that did not answer; 0 where it did, or held the look back with 429.
 * @throws what `recheck` of the client throws.
 */
export async function checkService(
  { ledger, clock }: Pick<Home, 'ledger' | 'clock'>,
  { client, watch }: EngineService,
  { isBesideOthers }: Standing,
  waitFor: WaitedOut,
): Promise<number> {
  if (!isBesideOthers) await ledger.setPause(null);
  const beganAtMs = clock.monotonicMs();
  try {
    const silentMsMax = isBesideOthers ? onlyLookSilentMsMax : firstLookSilentMsMax;
    await client.recheck({ heldMsMax: firstLookHeldMsMax, silentMsMax });
    return 0;
  } catch (error) {
    if (isBesideOthers && isHeldBack(error)) return 0;
    const waitsForKey = waitFor === 'everything' && !isBesideOthers;
    const refused = error instanceof PatchbayError && error.kind === 'auth' && !waitsForKey;
    if (refused || !(await watch.pauseFor(error))) throw error;
    return isHeldBack(error) ? 0 : clock.monotonicMs() - beganAtMs;
  }
}
