/** An engine's way to the queue: its server, what puts jobs into it, and what takes those of every engine from it. */
import type { JobContext } from '#jobs/context.ts';
import { finishRunJob } from '#jobs/finish-run.ts';
import { engineCatalog } from '#jobs/index.ts';
import type { Home } from '#src/app.ts';
import { downloadHost } from '#src/config/feed-schema.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import { createDispatcher, type Dispatcher, type DispatchScope } from '#src/queue/dispatcher.ts';
import { openProducer, type Producer, type QueueObserver } from '#src/queue/producer.ts';
import { startWorkers, type Workers } from '#src/queue/workers.ts';
import type { Closers } from './closers.ts';
import { createHeapRoom } from './heap-room.ts';
import { jobFailureNotes } from './job-failure-notes.ts';
import type { LedWork } from './led-work.ts';
import { openEngineQueue } from './own-services.ts';
import type { Standing } from './standing.ts';

/** The embedded one needs a second, in which the rest of the start goes on. */
export function beginQueue(home: Home, closers: Closers): Promise<QueueServer> {
  const queue = openEngineQueue(home);
  // It may fail before it is waited for, and is to fail the start then, and not the process.
  const stopped = queue.catch(() => null);
  closers.add(async () => (await stopped)?.stop());
  return queue;
}

export interface QueueSide {
  readonly producer: Producer;
  readonly dispatcher: Dispatcher;
}

/** What puts jobs into the queue. */
export function openQueue(
  home: Home,
  server: QueueServer,
  { standing, observe }: { readonly standing: Standing; readonly observe: QueueObserver },
  closers: Closers,
): QueueSide {
  const { config, ledger, clock, log, identity } = home;
  const producer = openProducer(ledger.id, server.producer, log, observe, home.host?.id);
  closers.add(() => producer.close());
  const hostOf = (feed: string): string | null => downloadHost(config.feeds[feed]?.take);
  const scope = (nowMs: number): DispatchScope => ({ ...standing.scope(nowMs), isOwnerDead: identity.isDead, hostOf });
  const dispatcher = createDispatcher({ ledger, producer, clock, log, jobsMax: config.queue.jobsMax, scope });
  closers.add(() => {
    producer.giveUp();
    return dispatcher.stop();
  });
  return { producer, dispatcher };
}

export interface EngineWorkerParts {
  readonly server: QueueServer;
  readonly context: JobContext;
  readonly dispatcher: Dispatcher;
  readonly led: LedWork;
}

/** What takes the jobs of every engine from the queue. */
export function startEngineWorkers(home: Home, { server, context, dispatcher, led }: EngineWorkerParts): Workers {
  const { config, ledger, log } = home;
  const heapRoom = createHeapRoom();
  return startWorkers({
    ...{ ledgerId: ledger.id, host: home.host?.id ?? null, connection: server.worker, context, log },
    catalog: engineCatalog,
    concurrency: { 'upsert-batch': config.upsert.batchesAtOnce },
    onJobBegin: heapRoom.begins,
    onOutcome: jobFailureNotes(home),
    onJobEnd: (name, id, failed) => {
      heapRoom.ends(name);
      dispatcher.ended(id, failed);
      if (name === finishRunJob.name) void led.refreshView();
    },
  });
}
