/**
 * What the ledger and the engine answer when Prometheus asks: how much waits, what is wrong, how late feeds are. Read anew each time,
 * and only what is answered cheaply.
 *
 * A figure that cannot be read is absent rather than wrong: the others are still there when the ledger or the queue is not.
 */
import { Gauge, Registry } from 'prom-client';
import type { Ledger } from '#src/ledger/port.ts';
import { fileAwaitedSinceMs } from '#src/ledger/rules/feeds.ts';
import { activeRunStates, isFinal, pendingCount } from '#src/ledger/runs.ts';

/** Rows of runs beyond it are not counted; a healthy installation never has that many unfinished ones. */
const runsCountedMax = 1_000;
const lastRunsMax = 20;

export interface QueueJobs {
  /** The name of the job, as `upsert-batch`. */
  readonly job: string;
  readonly waiting: number;
  readonly active: number;
}

export interface FigureSources {
  readonly ledger: Ledger;
  readonly nowMs: number;
  /** By feed, how often a file is expected; null: whenever it comes. */
  readonly expectEveryMs: Readonly<Record<string, number | null>>;
  readonly labels: FeedLabels;
  /** Null where the queue does not answer. */
  readonly queueJobs: readonly QueueJobs[] | null;
  readonly readiness: { readonly ready: boolean; readonly degraded: boolean };
  /** Whether this engine leads. What all engines share is reported by that one alone, so that sums over processes are right. */
  readonly leads: boolean;
}

type Samples = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

/** In the text format. Never rejects. */
export async function figuresText(
  sources: FigureSources,
  defaultLabels: Readonly<Record<string, string>>,
): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels(defaultLabels);
  const add = (name: string, help: string, samples: Samples): void => {
    if (samples.length === 0) return;
    const labelNames = [...new Set(samples.flatMap(([labels]) => Object.keys(labels)))];
    const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
    for (const [labels, value] of samples) gauge.set(labels, value);
  };
  const { readiness, queueJobs, leads } = sources;
  add('patchbay_ready', 'Whether this process can take files.', [[{}, readiness.ready ? 1 : 0]]);
  add('patchbay_degraded', 'Whether files are taken, and their work waits.', [[{}, readiness.degraded ? 1 : 0]]);
  add('patchbay_leads', 'Whether this engine does what is done once for all that share the ledger.', [
    [{}, leads ? 1 : 0],
  ]);
  if (!leads) return await registry.metrics();
  add(
    'patchbay_queue_jobs',
    'Jobs in the queue, by name and by whether they wait or are worked on.',
    (queueJobs ?? []).flatMap(({ job, waiting, active }) => [
      // Not `job`, which Prometheus sets itself.
      [{ queue: job, state: 'waiting' }, waiting] as const,
      [{ queue: job, state: 'active' }, active] as const,
    ]),
  );
  // The engine logs what is wrong with the ledger, and readiness reports it.
  for (const part of [addRuns, addWaiting, addFeeds]) await part(sources, add).catch(() => undefined);
  return await registry.metrics();
}

type Add = (name: string, help: string, samples: Samples) => void;

async function addRuns({ ledger }: FigureSources, add: Add): Promise<void> {
  const states = [...activeRunStates, 'stopped'] as const;
  const unfinished = await ledger.runs.list({ states, limit: runsCountedMax, oldestFirst: true });
  const pending = unfinished.reduce((sum, run) => sum + pendingCount(run.counts), 0);
  const last = await ledger.runs.list({ limit: lastRunsMax });
  const finished = last.filter((run) => isFinal(run.state)).flatMap((run) => run.finishedAtMs ?? []);
  const counts = states.map(async (state) => [{ state }, await ledger.runs.count({ states: [state] })] as const);
  add('patchbay_runs', 'Runs that are not finished, by state.', await Promise.all(counts));
  add('patchbay_rows_pending', 'Rows of unfinished runs that have no outcome yet.', [[{}, pending]]);
  add(
    'patchbay_last_run_finished_timestamp_seconds',
    'When a run finished last; absent before the first.',
    finished.length === 0 ? [] : [[{}, Math.max(...finished) / 1_000]],
  );
}

async function addWaiting({ ledger }: FigureSources, add: Add): Promise<void> {
  const { openLetters, waitingAudits, waitingDeliveries, deadDeliveries } = await ledger.counts();
  const pause = await ledger.pause();
  add(
    'patchbay_dead_letters_open',
    'Dead letters that are not settled: one for each key and reason, also of several rejected rows.',
    [[{}, openLetters]],
  );
  add('patchbay_held_fields', 'Fields that wait for a decision, since file and app differ.', [
    [{}, await ledger.contacts.heldCount({})],
  ]);
  add('patchbay_paused', 'Whether all work waits for the service or its key.', [[{}, pause === null ? 0 : 1]]);
  add('patchbay_audits_waiting', 'Audits that are to be done.', [[{}, waitingAudits]]);
  add('patchbay_notices', 'Notices that wait to be delivered, and that were given up.', [
    [{ state: 'waiting' }, waitingDeliveries],
    [{ state: 'dead' }, deadDeliveries],
  ]);
}

/** Of feeds that share a label, the worst value counts. */
async function addFeeds(sources: FigureSources, add: Add): Promise<void> {
  const { ledger, nowMs, expectEveryMs, labels } = sources;
  const standings = await ledger.deliveries.standings();
  const conditions = await ledger.deliveries.conditions();
  const lags = standings.flatMap(({ feed, acceptedAtMs }) =>
    acceptedAtMs === null ? [] : [[feed, (nowMs - acceptedAtMs) / 1_000] as const],
  );
  const standingOf = new Map(standings.map((one) => [one.feed, one]));
  const conditionOf = new Map(conditions.map((one) => [one.feed, one]));
  const scheduleOf = new Map((await ledger.schedules.list()).map((one) => [one.name, one]));
  const overdue = Object.entries(expectEveryMs).flatMap(([feed, everyMs]) => {
    if (everyMs === null) return [];
    const { knownSinceMs = nowMs, ahead } = conditionOf.get(feed) ?? {};
    const awaited = { standing: standingOf.get(feed) ?? null, schedule: scheduleOf.get(feed) ?? null, knownSinceMs };
    const sinceMs = fileAwaitedSinceMs(awaited, ahead);
    return [[feed, Math.max(0, nowMs - (sinceMs ?? nowMs) - everyMs) / 1_000] as const];
  });
  const unhealthy = [...new Set([...conditionOf.keys(), ...standingOf.keys()])].map((feed) => {
    const troubles = conditionOf.get(feed)?.troubles ?? [];
    return [feed, troubles.length > 0 ? 1 : 0] as const;
  });
  const byLabel = (values: readonly (readonly [feed: string, value: number])[]): Samples => {
    const worst = new Map<string, number>();
    for (const [feed, value] of values) {
      const label = labels.of(feed);
      worst.set(label, Math.max(value, worst.get(label) ?? 0));
    }
    return [...worst].map(([feed, value]) => [{ feed }, value]);
  };
  add('patchbay_feed_lag_seconds', 'Since the newest file of the feed that was accepted had arrived.', byLabel(lags));
  add(
    'patchbay_feed_overdue_seconds',
    'Since a file of the feed was expected (expectEvery); 0 while it is not late.',
    byLabel(overdue),
  );
  add('patchbay_feed_unhealthy', 'Whether something is wrong with the feed, as its page says.', byLabel(unhealthy));
}

/** Feeds with a label of their own. */
const feedLabelsMax = 100;
/** No feed is called that way by itself: its files would share the label, and nothing else. */
const otherFeeds = 'other';

/** Feeds as labels: the first ones keep their names, all others share one, so that no import folder can flood Prometheus. */
interface FeedLabels {
  /** The label of a feed: the same for as long as the process lives. */
  of(feed: string): string;
}

/** @param first feeds that have a label of their own in any case, as long as there are any: those of the configuration. */
export function createFeedLabels(first: readonly string[], labelsMax = feedLabelsMax): FeedLabels {
  const known = new Set(first.slice(0, labelsMax));
  return {
    of: (feed) => {
      if (known.has(feed)) return feed;
      if (known.size >= labelsMax) return otherFeeds;
      known.add(feed);
      return feed;
    },
  };
}
