/**
 * A page over a real data folder of the sandbox, and builders for runs and dead rows. Commands work on the folder as well, with
 * `PATCHBAY_DATA`. All people are invented.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { onTestFinished } from 'vitest';
import { type Home, openHome } from '#src/app.ts';
import { loadConfig } from '#src/config/load.ts';
import { createDashboard } from '#src/dashboard/dashboard-app.ts';
import type { DashboardParts } from '#src/dashboard/parts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { type NewRun, noOptions, type RunRecord } from '#src/ledger/runs.ts';
import type { DeadRow, RunEvent } from '#src/ledger/staging.ts';
import { createLogger } from '#src/log.ts';
import { openMetrics } from '#src/metrics/metrics.ts';
import { writeFixFile } from '#src/runs/fix/fix-file.ts';
import { newLedgerFile } from '#test/ledger/support/temp-ledger.ts';
import type { LiteralJson } from '#test/support/literal-json.ts';

export const startMs = Date.UTC(2026, 10, 21, 14, 0, 0);

export interface DashboardBench {
  /** The data folder. */
  readonly folder: string;
  readonly ledger: Ledger;
  readonly parts: DashboardParts;
  readonly app: Hono;
  /** Every line that was logged. */
  readonly logLines: readonly string[];
  readonly advance: (ms: number) => void;
  /** Asks for a page as a browser on this machine does. */
  readonly page: (path: string, headers?: Record<string, string>) => Promise<Answer>;
  /** Asks for the JSON twin. */
  readonly json: (path: string, headers?: Record<string, string>) => Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; its shape is what the tests are about. */
  readonly body: LiteralJson;
}

/** Closed and removed when the test ends. */
export async function dashboardBench(given: Partial<DashboardParts> = {}): Promise<DashboardBench> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-page-'));
  await mkdir(join(folder, 'sandbox'));
  newLedgerFile(join(folder, 'sandbox'));
  const { config } = await loadConfig({ env: { PATCHBAY_DATA: folder }, flags: {}, configPath: null, cwd: folder });
  const logLines: string[] = [];
  const log = createLogger({ level: 'trace', stream: { write: (line: string) => void logLines.push(line) } });
  const home = await openHome(config, log, { sandboxAsked: true, look: false });
  const { ledger } = home;
  onTestFinished(async () => {
    await ledger.close().catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });
  let nowMs = startMs;
  // What waits behind a wrong token is shorter than the wait for an answer about readiness.
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> =>
    ms < 3_000 ? undefined : home.clock.sleep(ms, signal);
  const shown = openPages({ ...home, clock: { ...home.clock, sleep, nowMs: () => nowMs } }, given);
  return { ...shown, folder, logLines, ledger, advance: (ms) => (nowMs += ms) };
}

/** The pages over a data folder, which the caller closes. */
export function openPages(
  home: Home,
  given: Partial<DashboardParts> = {},
): Pick<DashboardBench, 'parts' | 'app' | 'page' | 'json'> {
  const { ledger, clock } = home;
  const metrics = openMetrics({ version: '0.1.0', installation: null, feeds: [] });
  onTestFinished(() => metrics.close());
  const parts: DashboardParts = {
    ...home,
    version: '0.1.0',
    installation: null,
    serviceOrigin: 'http://127.0.0.1:40123',
    folderFlags: {},
    queueDescription: 'embedded Valkey',
    token: null,
    surroundings: async () => ({ diskFreeBytes: null, queueAnswers: null, troubles: [] }),
    readiness: async () => ({ ready: true, degraded: false, reasons: [], troubles: [] }),
    metricsText: (readiness) => {
      return metrics.text({ ledger, nowMs: clock.nowMs(), expectEveryMs: {}, queueJobs: null, readiness, leads: true });
    },
    ...given,
  };
  const app = createDashboard(parts);
  const page: DashboardBench['page'] = async (path, headers = {}) => {
    const response = await app.request(path, {
      headers: { host: 'localhost:8080', accept: 'text/html,*/*;q=0.8', ...headers },
    });
    return await answerOf(response);
  };
  const json: DashboardBench['json'] = (path, headers) => page(path, { accept: 'application/json', ...headers });
  return { parts, app, page, json };
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}

export async function enterRun(bench: DashboardBench, given: Partial<NewRun> = {}): Promise<RunRecord> {
  const id = given.id ?? '20261121T140000Z-00000a';
  return await bench.ledger.runs.create({
    id,
    feed: 'main',
    kind: 'file',
    fileName: 'crm.csv',
    claimedPath: join(bench.folder, 'claimed', `${id}__crm.csv`),
    importFolder: join(bench.folder, 'import'),
    sha256: 'ab'.repeat(32),
    bytes: 1_234,
    options: noOptions,
    mapping: null,
    createdAtMs: startMs,
    ...given,
  });
}

/** Takes a queued run to `staging` with these dead rows and counts. */
export async function stageRun(
  bench: DashboardBench,
  run: RunRecord,
  counts: Partial<RunRecord['counts']>,
  dead: readonly DeadRow[] = [],
  events: readonly RunEvent[] = [],
): Promise<void> {
  await bench.ledger.runs.beginStaging(run.id, startMs);
  await bench.ledger.runs.stage({
    runId: run.id,
    feed: run.feed,
    rowsPerBatch: 100,
    records: [],
    dead,
    events,
    counts,
    atMs: startMs,
  });
}

export function deadRow(given: Partial<DeadRow> & { readonly message?: string; readonly cell?: string } = {}): DeadRow {
  const { message = 'phone mobile is not a phone number', cell = 'call me', ...rest } = given;
  const problem = {
    code: 'phoneLetters',
    line: 3,
    field: 'phone mobile',
    value: cell,
    message,
    hint: 'Write the number with its country code, such as +1 415 555 0101.',
  };
  return {
    class: 'invalid',
    code: 'phoneLetters',
    line: 3,
    key: 'c-1',
    problems: [problem],
    row: {
      kind: 'cells',
      line: 3,
      record: 2,
      columns: ['externalId', 'firstName', 'phone mobile'],
      cells: ['c-1', 'Ada', cell],
    },
    desired: null,
    answer: null,
    ...rest,
  };
}

/** One run with dead rows, finished, with a report beside it as `import` leaves it. */
export async function finishedRun(bench: DashboardBench, dead: readonly DeadRow[]): Promise<RunRecord> {
  const run = await enterRun(bench);
  const rows = 3 + dead.length;
  await stageRun(bench, run, { rows, created: 1, updated: 1, unchanged: 1, dead: dead.length, deadNew: 0 }, dead);
  await bench.ledger.runs.record(run.id, { requests: { get: 2, post: 1, patch: 1 } });
  await bench.ledger.runs.move(run.id, ['staging'], 'applying', { atMs: startMs });
  if (dead.length > 0) await writeFixFile(bench.ledger.runs, run);
  await bench.ledger.runs.move(run.id, ['applying'], 'doneWithDead', { atMs: startMs + 2_500 });
  return run;
}
