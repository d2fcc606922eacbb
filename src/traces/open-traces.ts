/**
 * Traces for OpenTelemetry, from a file to its requests: run, staging and batches, chunks, requests, the end of the run.
 *
 * It learns of the work as an observer (`src/telemetry.ts`). A run is one trace, and its ids follow from the run's id (`runTrace`): a
 * worker process adds its batches without knowing who else works on the run. The run's own span is written when the run has ended, and
 * with it all work on it in this process: the file may still be closed then, or a batch. Requests that belong to no run have no span.
 *
 * Loaded only where `OTEL_*` variables ask for it (`traces-wanted.ts`). Invariant: spans hold ids, feeds, counts, line numbers, operations
 * and codes; never a path, a body or a message, which may quote a person.
 */

import { createHash } from 'node:crypto';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type Moment, timedOut, within } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { type Facts, observe, type WorkInHand, type WorkMessage } from '#src/telemetry.ts';
import { shareOfRuns } from './traces-wanted.ts';
import { watchedExporter } from './watched-exporter.ts';

export interface TracesOptions {
  readonly version: string;
  /** `name` of the configuration; null: none. */
  readonly installation: string | null;
  readonly clock: Moment;
  readonly log: Logger;
}

export interface Traces {
  /** Sends what is left, for two seconds at most. Never rejects; may be called again. */
  close(): Promise<void>;
}

/** Spans that wait to be sent; further ones are dropped. */
const spansWaitingMax = 8_192;
/** A collector that is away must not keep a command from its end. */
const closeMsMax = 2_000;

/** Observes from now on. Where spans are sent to, and with which headers, the exporter takes from the environment. */
export function openTraces({ version, installation, clock, log }: TracesOptions): Traces {
  const ids = createIds();
  const exporter = watchedExporter(new OTLPTraceExporter(), log);
  const provider = new TracerProvider({
    resource: resourceOf(version, installation),
    // By the id of the trace: all spans of a run or none, in every process.
    sampler: new TraceIdRatioBasedSampler(shareOfRuns(process.env)),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: spansWaitingMax })],
  });
  const tracer = provider.getTracer('patchbay', version);
  const spans = new WeakMap<WorkInHand, Span>();

  const ends = createRunEnds((ended) => writeRun(ended));

  const begin = (work: WorkInHand): void => {
    ends.begun(work);
    const parent = parentOf(work, spans);
    if (parent === null) return;
    const { name, attributes } = described(work);
    const kind = work.kind === 'request' ? SpanKind.CLIENT : SpanKind.INTERNAL;
    spans.set(work, tracer.startSpan(name, { kind, attributes }, parent));
  };
  const end = (work: WorkInHand, error: unknown): void => {
    const span = spans.get(work);
    if (span === undefined) return;
    span.setAttributes(learned(work));
    const failure = failureOf(work, error);
    if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    span.end();
  };
  const writeRun = ({ run, feed, state, code, startedAtMs, endedAtMs, rowCount }: Facts['runEnded']): void => {
    const attributes = {
      'patchbay.run': run,
      'patchbay.feed': feed,
      'patchbay.state': state,
      'patchbay.rows': rowCount,
    };
    const options = { root: true, startTime: startedAtMs, attributes };
    ids.give(runTrace(run), () => {
      const span = tracer.startSpan('run', options, ROOT_CONTEXT);
      if (state === 'failed') span.setStatus({ code: SpanStatusCode.ERROR, message: code ?? 'unexpected' });
      // Behind all that it holds: the run's own end is before its report. A span inside it may end within this millisecond.
      span.end(Math.max(endedAtMs, clock.nowMs() + 1));
    });
  };
  const stop = observe({
    onWork: (message: WorkMessage) => {
      if (message.moment === 'begins') begin(message.work);
      else {
        end(message.work, message.error);
        ends.workEnded(message.work);
      }
    },
    onFact: (message) => {
      if (message.kind === 'runEnded') ends.runEnded(message.known);
    },
  });
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    stop();
    ends.flush();
    try {
      const ended = await within(closeMsMax, provider.shutdown());
      if (ended === timedOut) log.warn({ seconds: closeMsMax / 1_000 }, 'traces not sent in time');
    } catch (error) {
      if (!exporter.isAway()) log.warn({ reason: messageOf(error) }, 'traces not sent');
    }
  };
  return {
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Puts off the end of a run until the work on it that this process has begun has ended, too. */
function createRunEnds(write: (ended: Facts['runEnded']) => void) {
  const inHand = new Map<string, number>();
  const putOff = new Map<string, Facts['runEnded']>();
  const settle = (run: string): void => {
    const ended = putOff.get(run);
    if (ended === undefined || inHand.has(run)) return;
    putOff.delete(run);
    write(ended);
  };
  return {
    begun: (work: WorkInHand): void => {
      if (work.kind !== 'request') inHand.set(work.known.run, 1 + (inHand.get(work.known.run) ?? 0));
    },
    workEnded: (work: WorkInHand): void => {
      if (work.kind === 'request') return;
      const { run } = work.known;
      const left = (inHand.get(run) ?? 1) - 1;
      if (left > 0) inHand.set(run, left);
      else inHand.delete(run);
      settle(run);
    },
    runEnded: (ended: Facts['runEnded']): void => {
      putOff.set(ended.run, ended);
      settle(ended.run);
    },
    /** Writes what is put off: nothing is waited for any more. */
    flush: (): void => {
      for (const ended of putOff.values()) write(ended);
      putOff.clear();
    },
  };
}

/** Random ids, but for the span of a run, which has those of its trace. */
function createIds() {
  const random = new RandomIdGenerator();
  let given: { readonly traceId: string; readonly rootSpanId: string } | null = null;
  return {
    generateTraceId: () => given?.traceId ?? random.generateTraceId(),
    generateSpanId: () => given?.rootSpanId ?? random.generateSpanId(),
    /** `start` starts one span, at once. */
    give: (ids: typeof given, start: () => void): void => {
      given = ids;
      start();
      given = null;
    },
  };
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win. */
function resourceOf(version: string, installation: string | null) {
  const own = resourceFromAttributes({
    'service.name': 'patchbay',
    'service.version': version,
    ...(installation === null ? {} : { 'patchbay.installation': installation }),
  });
  const named = process.env.OTEL_SERVICE_NAME?.trim() ?? '';
  const ofEnvironment = detectResources({ detectors: [resourceAttributesEnvDetector] });
  const all = defaultResource().merge(own).merge(ofEnvironment);
  return named === '' ? all : all.merge(resourceFromAttributes({ 'service.name': named }));
}

/** What a span is put into: the span of the work around it, else the trace of its run; null where there is neither. */
function parentOf(work: WorkInHand, spans: WeakMap<WorkInHand, Span>): Context | null {
  const around = work.within === null ? undefined : spans.get(work.within);
  if (around !== undefined) return trace.setSpan(ROOT_CONTEXT, around);
  if (work.kind === 'request') return null;
  const { traceId, rootSpanId } = runTrace(work.known.run);
  const root = { traceId, spanId: rootSpanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, root);
}

type Attributes = Record<string, string | number | boolean>;

/** What is known at the beginning. */
function described(work: WorkInHand): { readonly name: string; readonly attributes: Attributes } {
  if (work.kind === 'request') {
    const { operation, method, isRepeat } = work.known;
    const attributes = { 'patchbay.operation': operation, 'http.request.method': method, 'patchbay.repeat': isRepeat };
    return { name: operation, attributes };
  }
  const attributes: Attributes = { 'patchbay.run': work.known.run };
  if (work.kind === 'staging') attributes['patchbay.feed'] = work.known.feed;
  if (work.kind === 'batch' || work.kind === 'chunk') attributes['patchbay.batch'] = work.known.batch;
  if (work.kind === 'chunk') {
    attributes['patchbay.feed'] = work.known.feed;
    attributes['patchbay.rows'] = work.known.rowCount;
    attributes['patchbay.first_line'] = work.known.firstLine;
  }
  return { name: work.kind, attributes };
}

/** What the work has filled in. */
function learned(work: WorkInHand): Attributes {
  const found: Record<string, string | number | null> = {};
  switch (work.kind) {
    case 'staging':
      found['patchbay.rows'] = work.known.rowCount;
      break;
    case 'batch':
      found['patchbay.feed'] = work.known.feed;
      found['patchbay.end'] = work.known.end;
      break;
    case 'request':
      found['http.response.status_code'] = work.known.status;
      found['patchbay.gate_wait_ms'] = work.known.gateWaitMs === null ? null : Math.round(work.known.gateWaitMs);
      break;
    default:
  }
  return Object.fromEntries(Object.entries(found).filter((one): one is [string, string | number] => one[1] !== null));
}

/** A code, or the name of an error: its message may quote what must not leave. Null: nothing failed. */
function failureOf(work: WorkInHand, error: unknown): string | null {
  if (error instanceof Error && error.name === 'AbortError') return null;
  if (error instanceof PatchbayError) return error.code;
  if (error !== undefined) return error instanceof Error ? error.name : 'unexpected';
  if (work.kind === 'staging') return work.known.refused ?? null;
  if (work.kind !== 'request') return null;
  const { status, tookMs } = work.known;
  if (status === null) return tookMs === null ? 'notSent' : 'noAnswer';
  return status >= 400 ? `status ${status}` : null;
}

interface RunTrace {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Of the span of the run itself, the root: 16 hex digits. */
  readonly rootSpanId: string;
}

/**
 * The ids of a run's trace. They follow from the run's id alone, so that each process gives its spans to the same trace, and no job
 * in the queue has to carry them. Pure.
 */
export function runTrace(runId: string): RunTrace {
  const digits = createHash('sha256').update(`patchbay run ${runId}`).digest('hex');
  return { traceId: digits.slice(0, 32), rootSpanId: digits.slice(32, 48) };
}
