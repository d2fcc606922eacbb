/** The engine's side to the queue: what puts jobs into it, and the view of the dead letters in it. */
import { upsertBatch } from '#jobs/upsert-batch.ts';
import type { Home } from '#src/app.ts';
import { serviceFigures } from '#src/config/service-figures.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import { createDispatcher, type Dispatcher } from '#src/queue/dispatcher.ts';
import { openProducer, type Producer, type QueueObserver } from '#src/queue/producer.ts';
import { type DeadLetterView, openDeadLetterView } from './dead-letter-view.ts';
import { shareOfRate } from './rate-share.ts';

export interface QueueSide {
  readonly producer: Producer;
  readonly dispatcher: Dispatcher;
  readonly view: DeadLetterView;
  /** Under a low rate few batches are at work at once. Again at each sweep: the queue may have been flushed. */
  limitBatches(): Promise<void>;
  /** The view first, then what feeds it. */
  close(): Promise<void>;
}

export function openQueue(home: Home, server: QueueServer, observe: QueueObserver): QueueSide {
  const { config, ledger, clock, log, submit, mode } = home;
  const producer = openProducer(ledger.id, server.producer, log, observe);
  const dispatcher = createDispatcher({ ledger, producer, clock, log, jobsMax: config.queue.jobsMax });
  const view = openDeadLetterView({
    ...{ ledger, producer, submit, log },
    connection: server.worker,
    onRedrive: dispatcher.wake,
  });
  const { batchesAtOnceMax } = shareOfRate(serviceFigures(config, mode).requestsPerSecond);
  return {
    producer,
    dispatcher,
    view,
    limitBatches: async () => {
      if (batchesAtOnceMax !== null) await producer.limitAtOnce(upsertBatch.name, batchesAtOnceMax);
    },
    close: async () => {
      await view.close();
      await dispatcher.stop();
      await producer.close();
    },
  };
}
