/**
 * The metrics of one process, for Prometheus: what it counted while it worked, what the ledger answers, and the basics of the process.
 *
 * It learns of the work as an observer (`src/telemetry.ts`): nothing that works knows it. Loaded by the processes that are asked for
 * metrics alone: `start`, and worker processes with a port for them.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type FactMessage, observe, type WorkMessage, type Works } from '#src/telemetry.ts';
import { createFeedLabels, type FigureSources, figuresText } from './figures.ts';
import { createInstruments, type Instruments } from './instruments.ts';

export interface MetricsOptions {
  readonly version: string;
  /** `name` of the configuration; null: none. */
  readonly installation: string | null;
  /** Names of feeds that have a label of their own in any case. */
  readonly feeds: readonly string[];
}

export interface Metrics {
  /**
   * All metrics in Prometheus' text format. Never rejects.
   * @param sources of the engine; null for a worker process, whose engine tells what is in the ledger.
   */
  text(sources: Omit<FigureSources, 'labels'> | null): Promise<string>;
  /** Ends the counting. */
  close(): void;
}

/** Counts from now on. The caller closes it. */
export function openMetrics({ version, installation, feeds }: MetricsOptions): Metrics {
  const defaultLabels = installation === null ? {} : { installation };
  const registry = new Registry();
  registry.setDefaultLabels(defaultLabels);
  const labels = createFeedLabels(feeds);
  const instruments = createInstruments(registry);
  const build = { name: 'patchbay_build_info', help: 'The version that runs.', labelNames: ['version'] as const };
  new Gauge({ ...build, registers: [registry] }).set({ version }, 1);
  const close = observe({
    onWork: (message) => noteWork(instruments, message),
    onFact: (message) => noteFact(instruments, labels.of, message),
  });
  return {
    text: async (sources) => {
      const figures = sources === null ? '' : await figuresText({ ...sources, labels }, defaultLabels);
      ofProcess().setDefaultLabels(defaultLabels);
      return [await registry.metrics(), figures, await ofProcess().metrics()]
        .filter((text) => text.trim() !== '')
        .map((text) => `${text.trimEnd()}\n`)
        .join('\n');
    },
    close,
  };
}

function noteWork(instruments: Instruments, message: WorkMessage): void {
  if (message.moment !== 'ended') return;
  const { work, tookMs, error } = message;
  const seconds = tookMs / 1_000;
  switch (work.kind) {
    case 'staging':
      instruments.stagingDuration.observe(seconds);
      return;
    case 'batch':
      instruments.batchDuration.observe({ end: error === undefined ? (work.known.end ?? 'done') : 'cutOff' }, seconds);
      return;
    case 'request':
      noteRequest(instruments, work.known);
      return;
    default:
  }
}

function noteRequest(
  { requests, retries, rateLimited, gateWait, requestDuration }: Instruments,
  { operation, isRepeat, gateWaitMs, tookMs, status }: Works['request'],
): void {
  if (gateWaitMs !== null) gateWait.observe(gateWaitMs / 1_000);
  if (tookMs === null) return;
  requests.inc({ operation, status: status === null ? 'none' : `${Math.floor(status / 100)}xx` });
  requestDuration.observe({ operation }, tookMs / 1_000);
  if (isRepeat) retries.inc();
  if (status === 429) rateLimited.inc();
}

function noteFact(instruments: Instruments, labelOf: (feed: string) => string, { kind, known }: FactMessage): void {
  switch (kind) {
    case 'rows': {
      const feed = labelOf(known.feed);
      for (const [outcome, count] of Object.entries(known.outcomes)) instruments.rows.inc({ feed, outcome }, count);
      return;
    }
    case 'runEnded':
      instruments.runDuration.observe({ state: known.state }, known.seconds);
      return;
    case 'paused':
      instruments.pauses.inc({ scope: known.scope });
      return;
    default:
  }
}

let processRegistry: Registry | null = null;

/** The basics belong to the process, not to one set of metrics: they are collected once. */
function ofProcess(): Registry {
  if (processRegistry === null) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}
