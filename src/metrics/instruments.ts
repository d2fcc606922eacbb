/**
 * What is counted and measured while work is done: each process counts its own work, and Prometheus adds processes up.
 *
 * Labels are states, outcomes, operations and feeds: few values each, and never a key, a line or a run. Durations are in seconds, as
 * Prometheus expects; the buckets are those that a person would ask about.
 */
import { Counter, Histogram, type Registry } from 'prom-client';

/** Metrics that need no feed, named here once: the dashboards and alerts in `deploy` use these names. */
export type Instruments = ReturnType<typeof createInstruments>;

const requestBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const gateBuckets = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const batchBuckets = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const fileBuckets = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

export function createInstruments(registry: Registry) {
  const registers = [registry];
  return {
    rows: new Counter({
      name: 'patchbay_rows_total',
      help: 'Rows that got their outcome, by feed.',
      labelNames: ['feed', 'outcome'] as const,
      registers,
    }),
    requests: new Counter({
      name: 'patchbay_requests_total',
      help: 'Requests that were written to the service, by what they were for and the class of the answer; none: no answer came.',
      labelNames: ['operation', 'status'] as const,
      registers,
    }),
    retries: new Counter({
      name: 'patchbay_request_retries_total',
      help: 'Reads that were sent again.',
      registers,
    }),
    rateLimited: new Counter({
      name: 'patchbay_rate_limited_total',
      help: 'Answers with 429: too many requests.',
      registers,
    }),
    pauses: new Counter({
      name: 'patchbay_pauses_total',
      help: 'How often this process paused the work of all, by what waits: all work, or writes alone.',
      labelNames: ['scope'] as const,
      registers,
    }),
    gateWait: new Histogram({
      name: 'patchbay_rate_gate_wait_seconds',
      help: 'How long requests waited at the rate gate.',
      buckets: gateBuckets,
      registers,
    }),
    requestDuration: new Histogram({
      name: 'patchbay_request_duration_seconds',
      help: 'From the first byte of a request to the end of its answer.',
      labelNames: ['operation'] as const,
      buckets: requestBuckets,
      registers,
    }),
    batchDuration: new Histogram({
      name: 'patchbay_batch_duration_seconds',
      help: 'How long jobs worked on a batch, by how that ended.',
      labelNames: ['end'] as const,
      buckets: batchBuckets,
      registers,
    }),
    stagingDuration: new Histogram({
      name: 'patchbay_staging_duration_seconds',
      help: 'How long files were read, compared and staged.',
      buckets: fileBuckets,
      registers,
    }),
    runDuration: new Histogram({
      name: 'patchbay_run_duration_seconds',
      help: 'How long runs worked, without the time that they were stopped, by how they ended.',
      labelNames: ['state'] as const,
      buckets: fileBuckets,
      registers,
    }),
  };
}
