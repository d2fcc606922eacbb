import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';
import type { PatchbayProcess } from '#test/support/patchbay-process.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

/** One batch at a time in each process, so that all of them have work; their log tells who did what. */
const shared = {
  PATCHBAY_UPSERT_ROWS_PER_BATCH: '5',
  PATCHBAY_UPSERT_BATCHES_AT_ONCE: '1',
  LOG_LEVEL: 'debug',
};

async function startBoth(journey: Journey): Promise<{ engine: PatchbayProcess; worker: PatchbayProcess }> {
  const engine = await startEngine(journey);
  const worker = journey.start(['start', '--worker', '--json'], shared);
  await worker.firstLine();
  return { engine, worker };
}

async function startEngine(journey: Journey): Promise<PatchbayProcess> {
  const engine = journey.start(['start', '--json'], shared);
  await engine.firstLine();
  return engine;
}

/** Its own log lines of batches that ended. */
const batchesOf = (one: PatchbayProcess): number => one.stderr.match(/"job":"upsert-batch".*"job done"/g)?.length ?? 0;

async function interrupted(one: PatchbayProcess): Promise<void> {
  one.signal('SIGINT');
  const { code, stderr } = await one.ended();
  expect(code, stderr).toBe(130);
  expect(stderr).not.toContain('"level":"error"');
}

async function runAtEnd(journey: Journey) {
  return await until('the end of the run', async () => {
    const [run] = await journey.runs();
    return run?.state === 'done' && run;
  });
}

describe.concurrent('a worker process', () => {
  test('without an engine ends with 2 and says what to start', async ({ journey }) => {
    const { code, documents, stderr } = await journey.run(['start', '--worker', '--json']);
    expect(code, stderr).toBe(2);
    expect(documents).toMatchObject([{ error: { code: 'noEngine' }, exitCode: 2 }]);
    expect(documents[0].error.hint).toContain('patchbay start');
  });

  test('works for the sandbox of an engine, says for whom, and is counted', async ({ journey }) => {
    const engine = await startEngine(journey);
    const { service } = JSON.parse(await engine.firstLine());
    const worker = journey.start(['start', '--worker', '--json'], shared);
    expect(JSON.parse(await worker.firstLine())).toMatchObject({
      worker: { pid: worker.pid },
      service,
      queue: 'embedded Valkey',
      engine: { since: expect.stringMatching(/^20.*Z$/) },
    });
    const during = await journey.call(['status', '--json']);
    expect(during.documents[0]).toMatchObject({ engine: 'running', workers: 1 });

    const { code, documents } = await journey.call(
      ['import', '--sandbox', '--json', journey.file('people.csv', peopleCsv(60))],
      shared,
    );
    expect(code).toBe(0);
    expect(documents).toMatchObject([{ state: 'done', rows: 60, created: 60 }]);
    await until('a batch of the worker', () => batchesOf(worker) > 0);

    await interrupted(worker);
    await interrupted(engine);
  });

  test('that is killed in the middle leaves its batch to the engine: each key gets exactly one contact', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=60ms']);
    const { engine, worker } = await startBoth(journey);
    const follower = journey.start(['import', '--json', journey.file('people.csv', peopleCsv(120))], shared);
    await until('two batches of the worker', () => batchesOf(worker) >= 2);
    await worker.kill();

    const { code, documents, stderr } = await follower.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ state: 'done', rows: 120, created: 120, adopted: 0, dead: 0 }]);
    expect(await service.keys()).toEqual(peopleKeys(120));
    expect(service.createCount(), 'no POST is repeated').toBe(120);
    await interrupted(engine);
  });

  test('waits when its engine is killed, without taking its place, and goes on with the next one', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=60ms']);
    const { engine, worker } = await startBoth(journey);
    await journey.call(['import', '--detach', journey.file('people.csv', peopleCsv(120))], shared);
    await until('two batches of the worker', () => batchesOf(worker) >= 2);
    await engine.kill();
    await until('a word of it', () => worker.stderr.includes('the engine is gone'));
    const before = batchesOf(worker);

    const next = await startEngine(journey);
    const run = await runAtEnd(journey);
    expect(run.counts).toMatchObject({ rows: 120, created: 120, adopted: 0, dead: 0 });
    expect(await service.keys()).toEqual(peopleKeys(120));
    expect(service.createCount(), 'no POST is repeated').toBe(120);
    expect(worker.stderr).toContain('working for the engine');
    expect(batchesOf(worker)).toBeGreaterThan(before);
    await interrupted(worker);
    await interrupted(next);
  });

  test('that is stopped before its work has begun says so in its document', async ({ journey }) => {
    const service = await journey.service();
    const engine = await startEngine(journey);
    await service.setFaults(['*:status=503']);
    const worker = journey.start(['start', '--worker', '--json'], shared);
    await until('a word of what it waits for', () => worker.stderr.includes('patchbay: waiting: '));
    worker.signal('SIGTERM');
    const { code, documents, stderr } = await worker.ended();
    expect(documents, stderr).toEqual([
      { error: { code: 'interrupted', message: 'interrupted before its work had begun', hint: null }, exitCode: 143 },
    ]);
    expect(code).toBe(143);
    await service.setFaults([]);
    await interrupted(engine);
  });

  test('that is configured for another service than the engine ends with 2 and sends nothing', async ({ journey }) => {
    await journey.service();
    const engine = await startEngine(journey);
    const other = await journey.service();
    const { code, documents } = await journey.run(['start', '--worker', '--json']);
    expect(code).toBe(2);
    expect(documents).toMatchObject([{ error: { code: 'otherService' } }]);
    expect(other.writeCount()).toBe(0);
    await interrupted(engine);
  });
});
