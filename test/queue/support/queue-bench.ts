/** A ledger and a queue with all that hands work out, and processors that the test writes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { z } from 'zod';
import { systemClock } from '#src/clock.ts';
import { type DeadLetterView, openDeadLetterView } from '#src/engine/dead-letter-view.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { type Logger, silentLogger } from '#src/log.ts';
import { openQueueServer, type QueueServer } from '#src/queue/connection.ts';
import { createDispatcher, type Dispatcher } from '#src/queue/dispatcher.ts';
import { type EmbeddedValkey, startEmbeddedValkey } from '#src/queue/embedded/embedded-valkey.ts';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { openProducer, type Producer } from '#src/queue/producer.ts';
import { startWorkers, type Workers } from '#src/queue/workers.ts';
import { createdAtMs, settleAs, settled } from '#test/contracts/support/build.ts';
import { plainFeeds } from '#test/feeds/support/test-feeds.ts';
import { newLedgerFile } from '#test/ledger/support/temp-ledger.ts';

const batchPayload = z.object({ runId: z.string(), batch: z.number(), generation: z.number() });
const runPayload = z.object({ runId: z.string() });
export type BatchPayload = z.infer<typeof batchPayload>;

export interface QueueBench {
  readonly ledger: Ledger;
  readonly server: QueueServer;
  readonly producer: Producer;
  readonly dispatcher: Dispatcher;
  /** A client of its own. */
  readonly redis: Redis;
  /** Processes batch jobs with `process`, and finish jobs by moving their run on. */
  work(
    process: (payload: BatchPayload, signal: AbortSignal) => Promise<void>,
    onOutcome?: Parameters<typeof startWorkers<null>>[0]['onOutcome'],
  ): Workers;
  openView(onRedrive: () => void): DeadLetterView;
}

/** The address of one server for all tests of a file: each bench has a ledger, and so queues, of its own. */
export function shareServer(): () => string {
  const folder = mkdtempSync(join(tmpdir(), 'pb-q-'));
  let valkey: EmbeddedValkey | null = null;
  beforeAll(async () => {
    valkey = await startEmbeddedValkey({ folder, listen: { kind: 'port' }, log: silentLogger() });
  });
  afterAll(async () => {
    await valkey?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const connection = valkey?.connection;
    if (connection === undefined || !('port' in connection)) throw new Error('no test runs');
    return `redis://${connection.host}:${connection.port}`;
  };
}

/** On the Redis of that address, or on the embedded one. Closed when the test ends. */
export async function openQueueBench(redisUrl: string | null, log: Logger = silentLogger()): Promise<QueueBench> {
  const folder = mkdtempSync(join(tmpdir(), 'pb-q-'));
  const clock = systemClock();
  const ledger = openSqliteLedger(newLedgerFile(folder));
  const server = await openQueueServer({ redisUrl, isShared: false, folder: join(folder, 'queue'), log });
  const producer = openProducer(ledger.id, server.producer, log);
  const dispatcher = createDispatcher({ ledger, producer, clock, log, jobsMax: 200 });
  const redis = new Redis({ ...server.worker });
  redis.on('error', () => undefined);
  const started: Workers[] = [];
  const views: DeadLetterView[] = [];
  onTestFinished(async () => {
    await server.giveUp();
    for (const workers of started) await workers.stop(5_000);
    for (const view of views) await view.close();
    await dispatcher.stop();
    await producer.close();
    redis.disconnect();
    await server.stop();
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const work: QueueBench['work'] = (process, onOutcome) => {
    const batches: JobDefinition<BatchPayload, null> = {
      name: 'upsert-batch',
      schema: batchPayload,
      concurrency: 2,
      about: async ({ runId }) => ({ feed: (await ledger.runs.get(runId))?.feed ?? '' }),
      process: (payload, _context, signal) => process(payload, signal),
    };
    const finish: JobDefinition<z.infer<typeof runPayload>, null> = {
      name: 'finish-run',
      schema: runPayload,
      concurrency: 1,
      process: async ({ runId }) => {
        await ledger.runs.move(runId, ['applying'], 'done', { atMs: createdAtMs + 100 });
      },
    };
    const workers = startWorkers({
      ledgerId: ledger.id,
      connection: server.worker,
      catalog: [batches, finish],
      context: null,
      log,
      onJobEnd: (_name, id, failed) => dispatcher.ended(id, failed),
      ...(onOutcome === undefined ? {} : { onOutcome }),
    });
    started.push(workers);
    return workers;
  };
  const folders = {
    claimed: folder,
    handedOver: folder,
    drafts: join(folder, 'drafts'),
    reports: folder,
    importFolders: [folder],
  };
  const openView: QueueBench['openView'] = (onRedrive) => {
    const submit = { ledger, clock, log, folders, feeds: plainFeeds(), host: null, entering: new Set<string>() };
    const view = openDeadLetterView({ ledger, producer, connection: server.worker, submit, log, onRedrive });
    views.push(view);
    return view;
  };
  return { ledger, server, producer, dispatcher, redis, work, openView };
}

/** Settles what is pending in a batch, as the ledger allows it; answers how many records it wrote. */
export async function settleBatch(ledger: Ledger, { runId, batch, generation }: BatchPayload): Promise<number> {
  const run = await ledger.runs.get(runId);
  const known = await ledger.runs.batch(runId, batch);
  if (run === null || known?.generation !== generation) return 0;
  const records = await ledger.runs.pendingRecords(runId, batch, createdAtMs * 2, 100);
  const written = await settleAs(
    ledger,
    run,
    `worker-${batch}`,
    records.map((record) => settled(record)),
  );
  await ledger.runs.releaseBatch(runId, batch, generation, 0);
  return written;
}
