/** What an engine does at its sweeps (`periodic-tasks.ts`). Where several share a ledger, most of it is a matter of the one that leads. */
import { upsertBatch } from '#jobs/upsert-batch.ts';
import type { Home } from '#src/app.ts';
import { serviceFigures } from '#src/config/schema.ts';
import type { NoticeWatch } from '#src/notices/watch-feeds.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import type { Dispatcher } from '#src/queue/dispatcher.ts';
import type { Producer } from '#src/queue/producer.ts';
import { batchesAtOnceMax } from '#src/rate/rate-share.ts';
import { tidyFinished } from '#src/runs/finish-run.ts';
import { expireAll, expireEveryMs } from './expiry.ts';
import type { LedWork } from './led-work.ts';
import { type PeriodicTask, sweepEveryMs } from './periodic-tasks.ts';
import type { QueueClaim } from './queue-ledger.ts';
import type { ServiceWatch } from './service-watch.ts';
import type { HostTaskParts, Standing } from './standing.ts';

export interface EngineTaskParts extends HostTaskParts {
  readonly home: Home;
  readonly standing: Standing;
  readonly server: QueueServer;
  readonly claim: QueueClaim;
  readonly producer: Producer;
  readonly dispatcher: Dispatcher;
  readonly led: LedWork;
  readonly watch: ServiceWatch;
  readonly noticeWatch: NoticeWatch;
}

/** The dead-letter view is for people and may lag. */
const viewEverySweeps = 6;
const expireEverySweeps = expireEveryMs / sweepEveryMs;
/** A probe waits for the rate gate, which may wait for Redis; the next sweep probes again. */
const probeMsMax = 60_000;

/** In this order: due ticks are entered before the dispatcher looks for them. */
export function engineTasks(parts: EngineTaskParts): readonly PeriodicTask[] {
  const { home, standing, server, claim, producer, dispatcher, led, watch, noticeWatch, health, runs } = parts;
  const byLeader = (everySweeps: number, run: PeriodicTask['run']): PeriodicTask => ({
    everySweeps,
    run: async (signal) => (standing.leads() ? run(signal) : undefined),
  });
  return [
    { everySweeps: 1, run: () => health.look() },
    { everySweeps: 1, run: async () => health.queueClaimed(await claim.renew()) },
    // Again and again: a flushed queue has forgotten the limit.
    byLeader(1, () => limitBatches(home, producer)),
    // A beginning that met trouble goes on.
    byLeader(1, () => led.begin()),
    byLeader(1, () => led.look()),
    { everySweeps: 1, run: () => dispatcher.sweep() },
    byLeader(1, async (signal) => {
      if (await watch.probe(AbortSignal.any([signal, AbortSignal.timeout(probeMsMax)]))) dispatcher.wake();
    }),
    byLeader(1, async () => {
      await noticeWatch.look();
      dispatcher.wake();
    }),
    // A run that another process was ending when it died, too.
    byLeader(1, () => tidyFinished(home)),
    byLeader(viewEverySweeps, () => led.refreshView()),
    { everySweeps: expireEverySweeps, run: (signal) => expireAll({ home, standing }, signal) },
    ...standing.tasks(server, { health, runs }),
  ];
}

/** Limits how many batches all processes work on at once, where the rate of the service does. Never rejects. */
export async function limitBatches({ config, mode }: Home, producer: Pick<Producer, 'limitAtOnce'>): Promise<void> {
  const batchesMax = batchesAtOnceMax(serviceFigures(config, mode).requestsPerSecond);
  if (batchesMax !== null) await producer.limitAtOnce(upsertBatch.name, batchesMax);
}
