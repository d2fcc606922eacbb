/**
 * What keeps an engine going through an outage, over real parts: the service with its faults, a ledger in a file, the
 * client with its breakers, the watch and the job of a batch. What queue and timers would do is done by hand.
 */
import { onTestFinished } from 'vitest';
import { upsertBatch, workOnBatch } from '#jobs/upsert-batch.ts';
import { createServiceWatch, createWriteTrial, type ServiceWatch } from '#src/engine/service-watch.ts';
import { createLogger } from '#src/log.ts';
import { jobsToDo } from '#src/queue/dispatcher.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import { createBreakers } from '#src/workspace/classify.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { testKey } from '#test/service/test-service.ts';

export interface OutageBench extends RunsBench {
  readonly watch: ServiceWatch;
  /** `level code message` of every line. */
  readonly lines: readonly string[];
  /** The jobs that the dispatcher would hand out now, by name. */
  jobNames(): Promise<readonly string[]>;
  /** Each batch that is due now, once, as its job does it. */
  work(): Promise<void>;
  /** Five seconds later: one sweep, then what is due. */
  sweep(): Promise<void>;
  /** Requests that reached the service, by method. */
  sent(): { readonly reads: number; readonly writes: number };
}

export const sweepEveryMs = 5_000;

export async function openOutageBench(given: { readonly upsert?: Partial<UpsertParts> } = {}): Promise<OutageBench> {
  const runs = await openRunsBench();
  const { world, ledger } = runs;
  const { clock } = world;
  const lines: string[] = [];
  const write = (line: string): void => {
    const { level, code, msg } = JSON.parse(line);
    lines.push([level, code, msg].filter((part) => part !== undefined).join(' '));
  };
  const log = createLogger({ level: 'info', stream: { write } });
  const breakers = createBreakers({ clock, onOpen: (opened) => void watch.opened(opened) });
  const workspace = createHttpWorkspace({
    baseUrl: world.service.origin,
    readApiKey: () => testKey,
    rateGate: createPauseGate(clock),
    breakers,
    clock,
    random: () => 0,
    log,
    timeouts: { writeStartMs: 10_000 },
  });
  onTestFinished(() => workspace.close());
  const context = {
    runs: runs.parts,
    upsert: { ...world.parts, workspace, log, ...given.upsert },
    pause: (error: unknown) => watch.pauseFor(error),
    exhausted: (error: Parameters<ServiceWatch['exhausted']>[0]) => watch.exhausted(error),
    atWork: () => watch.atWork(),
  };
  const tryWrite = createWriteTrial(ledger, clock, breakers, (batch, signal) =>
    workOnBatch(batch, context, signal, { recordsMax: 1 }),
  );
  const watch = createServiceWatch({ ledger, workspace, breakers, clock, log, recheck: async () => {}, tryWrite });
  const work = async (): Promise<void> => {
    const audits = { ...runs.parts, reports: runs.parts.folders.reports };
    const job = { ...context, audits, staging: new Set<string>(), sweep: async () => {} };
    const nowMs = await ledger.nowMs(clock);
    for (const batch of await ledger.runs.nextBatches(nowMs, 100)) {
      if (batch.dueAtMs > nowMs) continue;
      try {
        await upsertBatch.process(batch, job, new AbortController().signal);
      } catch (error) {
        if (!(error instanceof Error && error.name === 'AbortError')) throw error;
      }
    }
  };
  return {
    ...runs,
    watch,
    lines,
    jobNames: async () => (await jobsToDo(ledger, await ledger.nowMs(clock), 100)).map((job) => job.name),
    work,
    sweep: async () => {
      clock.advance(sweepEveryMs);
      await watch.probe();
      await work();
    },
    sent: () => {
      const { get, post, patch } = workspace.counts();
      return { reads: get, writes: post + patch };
    },
  };
}
