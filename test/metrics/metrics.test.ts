/** What Prometheus is told while files are imported (`docs/operations.md`, "Metrics"). */
import { describe, expect, it } from 'vitest';
import { openMetrics } from '#src/metrics/metrics.ts';
import { publishFact } from '#src/telemetry.ts';
import { csv } from '#test/runs/support/runs-bench.ts';
import { openMetricsBench, samplesIn } from './support/metrics-bench.ts';

const twoPeople = csv(['c-1,Ada,Engineer', 'c-2,Ben,Pilot']);
const rows = 'patchbay_rows_total';

describe('An import', () => {
  it('counts its rows by outcome and feed, whether they were settled while the file was read or by a request', async () => {
    const bench = await openMetricsBench();
    await bench.import('people.csv', twoPeople);
    await bench.import('again.csv', csv(['c-1,Ada,Engineer', 'c-2,Ben,Captain', ',nobody,x']));
    expect(await bench.value(rows, { feed: 'main', outcome: 'created' })).toBe(2);
    expect(await bench.value(rows, { feed: 'main', outcome: 'unchanged' })).toBe(1);
    expect(await bench.value(rows, { feed: 'main', outcome: 'updated' })).toBe(1);
    expect(await bench.value(rows, { feed: 'main', outcome: 'dead' })).toBe(1);
    expect(await bench.value('patchbay_dead_letters_open')).toBe(1);
    expect(await bench.value('patchbay_rows_pending')).toBe(0);
  });

  it('counts its requests by what they were for and by the class of the answer, and how long they took', async () => {
    const bench = await openMetricsBench();
    await bench.import('people.csv', twoPeople);
    expect(await bench.value('patchbay_requests_total', { operation: 'create a contact', status: '2xx' })).toBe(2);
    expect(await bench.value('patchbay_request_duration_seconds_count', { operation: 'create a contact' })).toBe(2);
    const sent = (await bench.samples()).filter(({ name }) => name === 'patchbay_requests_total');
    const sentCount = sent.reduce((sum, { value }) => sum + value, 0);
    expect(await bench.value('patchbay_rate_gate_wait_seconds_count')).toBe(sentCount);
  });

  it('counts an answer that never came, a repetition, and a 429', async () => {
    const bench = await openMetricsBench();
    const run = await bench.stage(await bench.submit('people.csv', twoPeople));
    await bench.world.faults('list:dropBefore');
    await bench.world.workOnce(run).catch(() => undefined);
    expect(await bench.value('patchbay_requests_total', { operation: 'look up contacts', status: 'none' })).toBe(4);
    expect(await bench.value('patchbay_request_retries_total')).toBe(3);
    await bench.world.faults('create:status=429;retryAfter=0');
    await bench.world.workOnce(run);
    expect(await bench.value('patchbay_requests_total', { operation: 'create a contact', status: '4xx' })).toBe(2);
    expect(await bench.value('patchbay_rate_limited_total')).toBe(2);
  });

  it('measures staging, batches and the run', async () => {
    const bench = await openMetricsBench();
    await bench.import('people.csv', twoPeople);
    expect(await bench.value('patchbay_staging_duration_seconds_count')).toBe(1);
    expect(await bench.value('patchbay_batch_duration_seconds_count', { end: 'done' })).toBe(1);
    expect(await bench.value('patchbay_run_duration_seconds_count', { state: 'done' })).toBe(1);
  });

  it('leaves no name, phone, key or file name in the metrics', async () => {
    const bench = await openMetricsBench();
    const person = 'c-77,Augusta,+14155550142,augusta@example.com';
    await bench.import('augusta.csv', csv([person, 'c-78,Bad,no phone,'], 'externalId,firstName,phone,email'));
    const text = await bench.text();
    for (const word of ['c-77', 'ugusta', '415555', 'no phone']) expect(text).not.toContain(word);
  });
});

describe('Feeds', () => {
  it('are told how long ago their newest file came, and since when the next one is late', async () => {
    const hourMs = 3_600_000;
    const configured = { crm: { expectEvery: '2h' } };
    const bench = await openMetricsBench({ configured, expectEveryMs: { crm: 2 * hourMs } });
    await bench.import('people.csv', twoPeople, { feed: 'crm' });
    bench.world.clock.advance(hourMs);
    expect(await bench.value('patchbay_feed_lag_seconds', { feed: 'crm' })).toBeCloseTo(3_600, -1);
    expect(await bench.value('patchbay_feed_overdue_seconds', { feed: 'crm' })).toBe(0);
    bench.world.clock.advance(3 * hourMs);
    expect(await bench.value('patchbay_feed_overdue_seconds', { feed: 'crm' })).toBeCloseTo(7_200, -1);
    expect(await bench.value('patchbay_feed_unhealthy', { feed: 'crm' })).toBe(0);
  });

  it('whose schedule is paused are not late, and wait anew for a file when it is resumed, as their notices do', async () => {
    const hourMs = 3_600_000;
    const configured = { crm: { expectEvery: '2h' } };
    const bench = await openMetricsBench({ configured, expectEveryMs: { crm: 2 * hourMs } });
    const { ledger, world } = bench;
    const createdAtMs = world.clock.nowMs();
    await ledger.schedules.put({ name: 'crm', work: 'take', rule: null, dueAtMs: null, createdAtMs });
    await bench.import('people.csv', twoPeople, { feed: 'crm' });
    world.clock.advance(3 * hourMs);
    const overdue = () => bench.value('patchbay_feed_overdue_seconds', { feed: 'crm' });
    expect(await overdue()).toBeCloseTo(3_600, -1);
    await ledger.schedules.setPaused('crm', world.clock.nowMs(), null);
    expect(await overdue()).toBe(0);
    await ledger.schedules.resume('crm', world.clock.nowMs(), null);
    expect(await overdue()).toBe(0);
    world.clock.advance(3 * hourMs);
    expect(await overdue()).toBeCloseTo(3_600, -1);
  });

  it('that are configured and have had no file yet are not late', async () => {
    const bench = await openMetricsBench({ expectEveryMs: { crm: 3_600_000 } });
    expect(await bench.value('patchbay_feed_overdue_seconds', { feed: 'crm' })).toBe(0);
  });

  it('beyond a hundred share one label, and those of the configuration keep theirs', async () => {
    const metrics = openMetrics({ version: '0.1.0', installation: null, feeds: ['crm'] });
    try {
      for (let feed = 0; feed < 300; feed += 1) publishFact('rows', { feed: `f-${feed}`, outcomes: { created: 1 } });
      publishFact('rows', { feed: 'crm', outcomes: { created: 5 } });
      const samples = samplesIn(await metrics.text(null)).filter(({ name }) => name === rows);
      expect(samples).toHaveLength(101);
      expect(samples.find(({ labels }) => labels.feed === 'other')?.value).toBe(201);
      expect(samples.find(({ labels }) => labels.feed === 'crm')?.value).toBe(5);
    } finally {
      metrics.close();
    }
  });
});

describe('The process', () => {
  it('is told with its version and its basics, once, whoever else has opened metrics', async () => {
    const bench = await openMetricsBench();
    const names = (await bench.samples()).map(({ name }) => name);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds'])
      expect(names.filter((one) => one === name)).toEqual([name]);
    expect(await bench.value('patchbay_build_info', { version: '0.1.0' })).toBe(1);
  });

  it('carries its installation on every sample, once it has a name', async () => {
    const bench = await openMetricsBench({ metrics: { installation: 'berlin' } });
    await bench.import('people.csv', twoPeople);
    const samples = await bench.samples();
    expect(samples.length).toBeGreaterThan(100);
    expect(samples.filter(({ labels }) => labels.installation !== 'berlin')).toEqual([]);
  });

  it('that works for an engine tells what it did, and leaves the ledger to the engine', async () => {
    const metrics = openMetrics({ version: '0.1.0', installation: null, feeds: [] });
    try {
      const names = new Set(samplesIn(await metrics.text(null)).map(({ name }) => name));
      expect(names).toContain('patchbay_rate_limited_total');
      expect(names).not.toContain('patchbay_dead_letters_open');
    } finally {
      metrics.close();
    }
  });
});
