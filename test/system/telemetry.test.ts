/** Metrics and traces of several processes: each tells its own work, and a run is one trace, whichever process works on it. */
import { describe, expect } from 'vitest';
import { runTrace } from '#src/traces/open-traces.ts';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';
import { startTraceReceiver } from '#test/traces/support/trace-receiver.ts';

const batches = { PATCHBAY_UPSERT_ROWS_PER_BATCH: '5', PATCHBAY_UPSERT_BATCHES_AT_ONCE: '1' };

describe('a run', () => {
  test('that an engine and a worker process share is one trace, with the batches of both', async ({ journey }) => {
    const receiver = await startTraceReceiver();
    await journey.service(['create:latency=20ms']);
    const env = (who: string) => ({
      ...batches,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_RESOURCE_ATTRIBUTES: `who=${who}`,
    });
    const engine = journey.start(['start', '--json'], env('engine'));
    await engine.firstLine();
    const worker = journey.start(['start', '--worker', '--json'], env('worker'));
    await worker.firstLine();
    const { code, documents } = await journey.call(
      ['import', '--json', journey.file('people.csv', peopleCsv(100))],
      batches,
    );
    expect(code).toBe(0);
    for (const one of [worker, engine]) {
      one.signal('SIGINT');
      expect((await one.ended()).code).toBe(130);
    }
    const { traceId } = runTrace(documents[0].run);
    const ofRun = receiver.spans.filter((span) => span.traceId === traceId);
    const root = ofRun.filter(({ name }) => name === 'run');
    expect(root).toMatchObject([{ parentSpanId: null, resource: { who: 'engine' } }]);
    const batchSpans = ofRun.filter(({ name }) => name === 'batch');
    expect(new Set(batchSpans.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root[0]?.spanId]));
    expect(new Set(batchSpans.map(({ resource }) => resource.who))).toEqual(new Set(['engine', 'worker']));
    expect(ofRun.filter(({ name }) => name === 'create a contact')).toHaveLength(100);
  });

  test('of a one-shot has sent its spans before the command ends', async ({ journey }) => {
    const receiver = await startTraceReceiver();
    await journey.service();
    const { code, stderr } = await journey.run(['import', '--json', journey.file('people.csv', peopleCsv(3))], {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('OTEL_EXPORTER_OTLP_PROTOCOL: http/protobuf is not available; traces go as http/json');
    const names = new Set(receiver.spans.map(({ name }) => name));
    for (const name of ['run', 'staging', 'batch', 'chunk', 'create a contact']) expect(names).toContain(name);
  });
});

describe('an installation with a name', () => {
  test('says it at its start, on its page, in its metrics and in each log line', async ({ journey }) => {
    const engine = journey.start(['start', '--json'], { PATCHBAY_NAME: 'berlin', LOG_LEVEL: 'debug' });
    const { name, page } = JSON.parse(await engine.firstLine());
    expect(name).toBe('berlin');
    expect(await (await fetch(page)).text()).toContain('<title>Overview · berlin · Patchbay</title>');
    expect(await (await fetch(`${page}/metrics`)).text()).toContain('patchbay_ready{installation="berlin"} 1');
    const { code } = await journey.call(['import', '--sandbox', journey.file('people.csv', peopleCsv(3))]);
    expect(code).toBe(0);
    engine.signal('SIGINT');
    const { stderr } = await engine.ended();
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter((line) => JSON.parse(line).installation !== 'berlin')).toEqual([]);
  });
});

describe('a worker process with a port', () => {
  test('answers with what it counted itself, and without what is in the ledger', async ({ journey }) => {
    await journey.service(['create:latency=20ms']);
    const engine = journey.start(['start', '--json'], batches);
    const { page } = JSON.parse(await engine.firstLine());
    const worker = journey.start(['start', '--worker', '--json'], { ...batches, PATCHBAY_PAGE_WORKER_PORT: '0' });
    const { metrics } = JSON.parse(await worker.firstLine());
    const { code } = await journey.call(['import', journey.file('people.csv', peopleCsv(100))], batches);
    expect(code).toBe(0);
    const createdIn = async (url: string): Promise<number> => {
      const text = await (await fetch(url)).text();
      return Number(/^patchbay_rows_total\{feed="main",outcome="created"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    await until('all rows counted, by the process that wrote them', async () => {
      const [inWorker, inEngine] = [await createdIn(metrics), await createdIn(`${page}/metrics`)];
      return inWorker > 0 && inEngine > 0 && inWorker + inEngine === 100;
    });
    const ofWorker = await (await fetch(metrics)).text();
    expect(ofWorker).toContain('process_cpu_seconds_total');
    expect(ofWorker).not.toContain('patchbay_dead_letters_open');
    const ofEngine = await (await fetch(`${page}/metrics`)).text();
    expect(ofEngine).toMatch(/^patchbay_queue_jobs\{queue="upsert-batch",state="waiting"\} 0$/m);
    for (const one of [worker, engine]) {
      one.signal('SIGINT');
      expect((await one.ended()).code).toBe(130);
    }
  });
});
