/** Traces from a file to its requests, as a receiver on loopback gets them (`docs/operations.md`, "Traces"). */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import { inWork, publishFact } from '#src/telemetry.ts';
import { openTraces, runTrace } from '#src/traces/open-traces.ts';
import { csv, openRunsBench } from '#test/runs/support/runs-bench.ts';
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from './support/trace-receiver.ts';

async function traced(receiver: TraceReceiver, env: Readonly<Record<string, string>> = {}) {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [name, value] of Object.entries({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env }))
    vi.stubEnv(name, value);
  const bench = await openRunsBench();
  const traces = openTraces({ version: '0.1.0', installation: 'berlin', clock: systemClock(), log: silentLogger() });
  onTestFinished(() => traces.close());
  return { bench, traces };
}

const people = csv(['c-1,Ada,Engineer', 'c-2,Ben,Pilot']);

/** Names from the root to that span. */
function wayTo(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? span.name : `${wayTo(parent, spans)} > ${span.name}`;
}

describe('The trace of a run', () => {
  it('leads from the run over staging, batch and chunk to each request, and to the end', async () => {
    const receiver = await startTraceReceiver();
    const { bench, traces } = await traced(receiver);
    const run = await bench.import('people.csv', people);
    await traces.close();
    const { traceId, rootSpanId } = runTrace(run.id);
    expect(new Set(receiver.spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(receiver.spans.map((span) => wayTo(span, receiver.spans)).toSorted()).toEqual([
      'run',
      'run > batch',
      'run > batch > chunk',
      'run > batch > chunk > create a contact',
      'run > batch > chunk > create a contact',
      'run > batch > chunk > look up contacts',
      'run > finishing',
      'run > staging',
    ]);
    const root = receiver.spans.find(({ name }) => name === 'run');
    expect(root).toMatchObject({
      ...{ spanId: rootSpanId, parentSpanId: null, failure: null },
      attributes: { 'patchbay.run': run.id, 'patchbay.feed': 'main', 'patchbay.state': 'done', 'patchbay.rows': 2 },
    });
    expect(receiver.spans.find(({ name }) => name === 'chunk')?.attributes).toMatchObject({
      ...{ 'patchbay.batch': 1, 'patchbay.rows': 2, 'patchbay.first_line': 2 },
    });
    expect(receiver.spans.find(({ name }) => name === 'create a contact')?.attributes).toMatchObject({
      ...{ 'http.request.method': 'POST', 'http.response.status_code': 201, 'patchbay.operation': 'create a contact' },
    });
  });

  it.each([
    ['done', people, []],
    ['failed', 'externalId,externalId,phone\nc-1,c-2,1\n', ['run', 'staging']],
  ])('that is %s says so, with its code, and its span ends behind all others', async (state, text, failing) => {
    const receiver = await startTraceReceiver();
    const { bench, traces } = await traced(receiver);
    const run = await bench.import('people.csv', text);
    await traces.close();
    expect(run.state).toBe(state);
    const failed = receiver.spans.filter(({ failure }) => failure !== null);
    expect(failed.map(({ name, failure }) => `${name}: ${failure}`).toSorted()).toEqual(
      failing.map((name) => `${name}: ${run.reason?.code}`),
    );
    const root = receiver.spans.find(({ name }) => name === 'run');
    for (const { name, endedAt } of receiver.spans.filter((span) => span !== root))
      expect(`${name} ${endedAt <= (root?.endedAt ?? 0n)}`).toBe(`${name} true`);
  });

  it('ends behind the work on it that goes on after its end, and is not lost where the process ends before', async () => {
    const receiver = await startTraceReceiver();
    const { traces } = await traced(receiver);
    const ended = (run: string) =>
      publishFact('runEnded', {
        ...{ run, feed: 'crm', state: 'done', code: null },
        ...{ startedAtMs: 1, endedAtMs: 2, seconds: 1, rowCount: 3 },
      });
    await inWork('staging', { run: 'r1', feed: 'crm', rowCount: 3 }, async () => {
      ended('r1');
      await inWork('finishing', { run: 'r1' }, async () => undefined);
    });
    const left = Promise.withResolvers<void>();
    const going = inWork('finishing', { run: 'r2' }, () => left.promise);
    ended('r2');
    await traces.close();
    left.resolve();
    await going;
    expect(receiver.spans.map(({ name }) => name)).toEqual(['finishing', 'staging', 'run', 'run']);
  });

  it('says which request failed, by its status or its code, and no more', async () => {
    const receiver = await startTraceReceiver();
    const { bench, traces } = await traced(receiver);
    const run = await bench.stage(await bench.submit('people.csv', people));
    await bench.world.faults('list:status=503');
    await bench.world.workOnce(run).catch(() => undefined);
    await traces.close();
    const failed = receiver.spans.filter(({ failure }) => failure !== null);
    expect(failed.length).toBeGreaterThanOrEqual(4);
    expect(new Set(failed.map(({ name, failure }) => `${name}: ${failure}`))).toEqual(
      new Set(['look up contacts: status 503', 'chunk: serviceFailing', 'batch: serviceFailing']),
    );
  });

  it('holds no name, phone number, key or file name', async () => {
    const receiver = await startTraceReceiver();
    const { bench, traces } = await traced(receiver);
    const person = 'c-77,Augusta,+14155550142,augusta@example.com';
    await bench.import('augusta.csv', csv([person, 'c-78,Bad,no phone,'], 'externalId,firstName,phone,email'));
    await traces.close();
    expect(receiver.spans.length).toBeGreaterThan(5);
    const sent = receiver.requests.map(({ text }) => text).join();
    for (const word of ['c-77', 'ugusta', '415555', 'no phone', 'externalIds']) expect(sent).not.toContain(word);
  });
});

describe('The environment', () => {
  it('says where traces go, with which headers, and what the resource is called', async () => {
    const receiver = await startTraceReceiver();
    const { bench, traces } = await traced(receiver, {
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=blue',
      OTEL_SERVICE_NAME: 'contacts',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
    });
    await bench.import('people.csv', people);
    await traces.close();
    expect(receiver.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-tenant': 'blue' } });
    expect(receiver.spans[0]?.resource).toMatchObject({
      'service.name': 'contacts',
      'service.version': '0.1.0',
      'patchbay.installation': 'berlin',
      'deployment.environment.name': 'staging',
    });
  });

  it('may turn the sampling down to none', async () => {
    const receiver = await startTraceReceiver();
    const { bench, traces } = await traced(receiver, { OTEL_TRACES_SAMPLER: 'always_off' });
    await bench.import('people.csv', people);
    await traces.close();
    expect(receiver.requests).toEqual([]);
  });
});

describe('A collector that is away', () => {
  it('keeps no work from its end', async () => {
    const receiver = await startTraceReceiver();
    const { bench, traces } = await traced(receiver, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    const run = await bench.import('people.csv', people);
    await traces.close();
    expect(run.state).toBe('done');
  });
});
