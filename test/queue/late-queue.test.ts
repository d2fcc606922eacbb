/** Workers that begin while their queue cannot be reached yet: they wait for it, and hold up nothing meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '#src/log.ts';
import { openQueueServer } from '#src/queue/connection.ts';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { openProducer } from '#src/queue/producer.ts';
import { startWorkers, type Workers } from '#src/queue/workers.ts';
import { until } from '#test/support/until.ts';

const log = silentLogger();
const ledgerId = 'late-ledger';

async function openLateQueue() {
  const folder = mkdtempSync(join(tmpdir(), 'pb-l-'));
  const server = await openQueueServer({ redisUrl: null, isShared: false, folder: join(folder, 'queue'), log });
  const producer = openProducer(ledgerId, server.producer, log);
  const path = join(folder, 'late.sock');
  const { path: there } = server.worker;
  if (there === undefined) throw new Error('the embedded queue listens on a socket');
  const door = createServer((socket) => {
    const beyond = connect(there);
    socket.pipe(beyond).pipe(socket);
    for (const one of [socket, beyond]) one.on('error', () => undefined);
  });
  const worked: string[] = [];
  const sweep: JobDefinition<{ slot: number }, null> = {
    name: 'sweep',
    schema: z.object({ slot: z.number() }),
    concurrency: 1,
    process: async ({ slot }) => void worked.push(`slot ${slot}`),
  };
  const started: Workers[] = [];
  const told: (Error | null)[] = [];
  const lateProducer = openProducer(ledgerId, { ...server.producer, path }, log, (trouble) => told.push(trouble));
  onTestFinished(async () => {
    await server.giveUp();
    for (const workers of started) await workers.stop(1_000);
    await Promise.all([producer.close(), lateProducer.close()]);
    door.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    producer,
    lateProducer,
    /** What the late producer said of the queue. */
    told,
    worked,
    giveUp: server.giveUp,
    work: (): Workers => {
      const workers = startWorkers({
        ...{ ledgerId, catalog: [sweep], context: null, log, onJobEnd: () => undefined },
        connection: { ...server.worker, path },
      });
      started.push(workers);
      return workers;
    },
    open: () => new Promise<void>((resolve) => door.listen(path, resolve)),
  };
}

test('workers take jobs once their queue is there, and timers fire while it is not', async () => {
  const { producer, worked, work, open } = await openLateQueue();
  work();
  // If the workers asked without a pause, no timer would fire.
  await sleep(200);
  expect(await producer.add([{ name: 'sweep', id: 'sweep-1', payload: { slot: 1 } }])).toBe(true);
  await open();
  await until('the job is worked on', async () => worked.length > 0);
  expect(worked).toEqual(['slot 1']);
});

test('workers that begin when their queue has been given up hold up no timer, and are stopped', async () => {
  const { giveUp, work, worked } = await openLateQueue();
  await giveUp();
  const workers = work();
  await expect(sleep(200, 'a timer has fired')).resolves.toBe('a timer has fired');
  await expect(workers.stop(1_000)).resolves.toBeUndefined();
  expect(worked).toEqual([]);
});

test('a producer that gives up ends the call that waits for the queue, as no trouble, and takes no more jobs', async () => {
  const { lateProducer, told } = await openLateQueue();
  const job = { name: 'sweep', id: 'sweep-1', payload: { slot: 1 } };
  const adding = lateProducer.add([job]);
  lateProducer.giveUp();
  expect(await adding).toBe(false);
  expect(await lateProducer.add([job])).toBe(false);
  expect(told.map((trouble) => trouble?.message)).not.toContain('Command timed out');
});
