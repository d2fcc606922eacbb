/** A Redis that refuses writes, as with a failed disk (`MISCONF`): an engine that starts says so once, not for each kind of job. */
import { expect, onTestFinished, test } from 'vitest';
import { createHealth } from '#src/engine/health.ts';
import { createLogger } from '#src/log.ts';
import { openProducer } from '#src/queue/producer.ts';
import { manualClock } from '#test/service/test-service.ts';
import { openQueueBench } from './support/queue-bench.ts';

test('jobs of an earlier engine that cannot be deleted are one problem, which ends with a job that is taken', async () => {
  const bench = await openQueueBench(null);
  const lines: string[] = [];
  const write = (line: string): void => {
    const { level, code, msg } = JSON.parse(line);
    lines.push(`${level} ${code} ${msg}`);
  };
  const log = createLogger({ level: 'info', stream: { write } });
  const health = createHealth({ clock: manualClock(), log, queueDescription: 'Redis', folder: '/nowhere' });
  const producer = openProducer(bench.ledger.id, bench.server.producer, log, health.queueEnded);
  onTestFinished(() => producer.close());
  await bench.redis.config('SET', 'min-replicas-to-write', '1');
  await producer.forget(['import-file', 'upsert-batch', 'finish-run']);
  expect(lines).toEqual(['warn queueRefuses a problem began']);
  expect(health.troubles()[0]?.message).toContain('NOREPLICAS');
  await bench.redis.config('SET', 'min-replicas-to-write', '0');
  expect(await producer.add([{ name: 'import-file', id: 'a-1', payload: {} }])).toBe(true);
  expect(lines.slice(1)).toEqual(['info queueRefuses a problem ended']);
});
