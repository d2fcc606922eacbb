/**
 * What machines ask the page: readiness, and figures for Prometheus in its text format. Only what the ledger answers
 * cheaply, and no personal data: labels are states and a version.
 */

import { PatchbayError } from '#src/errors.ts';
import { activeRunStates, isFinal, pendingCount } from '#src/ledger/runs.ts';
import type { DashboardParts, Readiness } from './parts.ts';

/** Runs beyond it are not counted; a healthy installation never has that many unfinished ones. */
const runsCountedMax = 1_000;
const lastRunsMax = 20;

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];
}

/** Throws what the ledger throws. */
export async function metricsText(parts: DashboardParts): Promise<string> {
  const { ledger } = parts;
  const states = [...activeRunStates, 'stopped'] as const;
  const unfinished = await ledger.runs.list({ states: states, limit: runsCountedMax, oldestFirst: true });
  const pending = unfinished.reduce((sum, run) => sum + pendingCount(run.counts), 0);
  const last = await ledger.runs.list({ limit: lastRunsMax });
  const finished = last.filter((run) => isFinal(run.state)).flatMap((run) => run.finishedAtMs ?? []);
  const readiness = await askReadiness(parts);
  const gauges: readonly Gauge[] = [
    one('patchbay_build_info', 'The version that runs.', 1, { version: parts.version }),
    {
      name: 'patchbay_runs',
      help: 'Runs that are not finished, by state.',
      samples: states.map((state) => [{ state }, unfinished.filter((run) => run.state === state).length]),
    },
    one('patchbay_rows_pending', 'Rows of unfinished runs that have no outcome yet.', pending),
    one('patchbay_dead_letters_open', 'Rows given up and not settled since.', (await ledger.counts()).openLetters),
    one(
      'patchbay_paused',
      'Whether all work waits for the service or its key.',
      (await ledger.pause()) === null ? 0 : 1,
    ),
    one('patchbay_ready', 'Whether this process can take files.', readiness.ready ? 1 : 0),
    {
      name: 'patchbay_last_run_finished_timestamp_seconds',
      help: 'When a run finished last; absent before the first.',
      samples: finished.length === 0 ? [] : [[{}, Math.max(...finished) / 1_000]],
    },
  ];
  return gauges
    .filter(({ samples }) => samples.length > 0)
    .map(exposition)
    .join('');
}

function one(name: string, help: string, value: number, labels: Readonly<Record<string, string>> = {}): Gauge {
  return { name, help, samples: [[labels, value]] };
}

function exposition({ name, help, samples }: Gauge): string {
  const lines = samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, '_')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Asks whether this process can take files. A question that fails or hangs counts as not ready. */
const answerWithinMs = 3_000;

export async function askReadiness(parts: Pick<DashboardParts, 'readiness' | 'clock' | 'log'>): Promise<Readiness> {
  const waiting = new AbortController();
  const tooLate = parts.clock
    .sleep(answerWithinMs, waiting.signal)
    .then(() => notReady(`the process did not say within ${answerWithinMs / 1_000} s whether it can take files`));
  try {
    return await Promise.race([tooLate, ask(parts)]);
  } catch (error) {
    parts.log.warn({ code: error instanceof PatchbayError ? error.code : 'unexpected' }, 'readiness not known');
    return notReady('the process could not find out whether it can take files; see its log');
  } finally {
    waiting.abort();
  }
}

/** A throw becomes a rejection. */
async function ask(parts: Pick<DashboardParts, 'readiness'>): Promise<Readiness> {
  return await parts.readiness();
}

function notReady(reason: string): Readiness {
  return { ready: false, degraded: false, reasons: [reason] };
}
