/**
 * How creates grow with processes and with the rate of the key: `node test/bench/scale.ts [--seconds N] [--processes 1,2,4,8]
 * [--rates 10,50,200,1000] [--latency MS] [--batches N]`.
 *
 * For each pair an engine and as many worker processes as are missing work on one file, over a Redis of this machine, with a ledger in a file
 * and a service that takes the latency for each request. Once creates flow they are counted for the given time. Each figure stands
 * beside what the model says: the rate, less the look-ups, or Little's law. docs/operations.md, "How many workers", explains it.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import { batchesAtOnceMax } from '#src/rate/rate-share.ts';
import { parseFault } from '#src/service/faults/faults.ts';
import { type RunningService, startService } from '#src/service/start-service.ts';
import { writesAtOnceMax } from '#src/upsert/chunk.ts';
import { connectionsMax } from '#src/workspace/port.ts';
import { type PatchbayProcess, startPatchbay } from '#test/support/patchbay-process.ts';
import { peopleCsv } from '#test/support/people.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '#test/support/redis-server.ts';
import { until } from '#test/support/until.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    processes: { type: 'string', default: '1,2,4,8' },
    rates: { type: 'string', default: '10,50,200,1000' },
    latency: { type: 'string', default: '100' },
    batches: { type: 'string', default: '2' },
  },
});
const windowMs = Number(values.seconds) * 1_000;
const latencyMs = Number(values.latency);
const apiKey = 'key-of-the-bench';
/** Before counting: the first look-ups have gone, and the pace has settled. */
const warmMs = 2_000;
const keysPerLookUp = 20;
/** `upsert.batchesAtOnce`. */
const batchesAtOnce = Number(values.batches);
/** Of Linux. */
const ticksPerSecond = 100;

interface Measured {
  readonly processes: number;
  readonly rate: number;
  readonly createsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Of all processes and the service, in cores. */
  readonly cores: number;
}

const binary = findRedisServer();
if (binary === null) {
  console.error('there is no redis-server on PATH');
  process.exit(2);
}
const redis = await startRedisServer(binary);
console.log(
  `${cpus().length} cores, Node ${process.version}, ${latencyMs} ms for each request, ${values.seconds} s counted for each figure\n`,
);
console.log(
  '| processes | rate | creates/s | requests/s | of the rate | model, creates/s | cores busy |\n|---|---|---|---|---|---|---|',
);
try {
  for (const processes of listOf(values.processes)) {
    for (const rate of listOf(values.rates)) {
      const one = await measure(redis, processes, rate);
      const share = Math.round((one.requestsPerSecond / rate) * 100);
      console.log(
        `| ${processes} | ${rate} | ${one.createsPerSecond.toFixed(1)} | ${one.requestsPerSecond.toFixed(1)} | ${share} % | ${model(processes, rate).toFixed(0)} | ${one.cores.toFixed(1)} |`,
      );
    }
  }
} finally {
  await redis.close();
}

/** Creates per second: what the rate leaves beside one look-up for twenty keys, or what connections and batches bring about. */
function model(processes: number, rate: number): number {
  const byRate = (rate * keysPerLookUp) / (keysPerLookUp + 1);
  const batches = Math.min(processes * batchesAtOnce, batchesAtOnceMax(rate) ?? Number.POSITIVE_INFINITY);
  // A chunk of one look-up's keys: the look-up, then its creates, sixteen at a time.
  const chunkSeconds = ((1 + Math.ceil(keysPerLookUp / writesAtOnceMax)) * latencyMs) / 1_000;
  const byConnections = (((processes * connectionsMax * 1_000) / latencyMs) * keysPerLookUp) / (keysPerLookUp + 1);
  return Math.min(byRate, byConnections, (batches * keysPerLookUp) / chunkSeconds);
}

async function measure({ url }: RedisServer, processes: number, rate: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'pb-scale-'));
  const service = await startService({
    ...{ port: 0, apiKeys: [apiKey], store: ':memory:', seedContacts: 0, seedPhoneNumbers: 1, patchMode: 'merge' },
    ...{ requestsPerSecond: null, pageNumbers: null, faults: [parseFault(`*:latency=${latencyMs}ms`)], faultSeed: 1 },
    ...{ control: false, clock: systemClock(), log: silentLogger() },
  });
  const env = {
    ...{ PATCHBAY_DATA: join(folder, 'data'), PATCHBAY_BASE_URL: service.origin, PATCHBAY_API_KEY: apiKey },
    ...{ PATCHBAY_RATE: `${rate}`, REDIS_URL: url, PORT: '0', PATCHBAY_UPSERT_BATCHES_AT_ONCE: values.batches },
  };
  const started: PatchbayProcess[] = [];
  try {
    const engine = startPatchbay(['start', '--json'], env);
    started.push(engine);
    const { importFolder } = JSON.parse(await engine.firstLine()) as { readonly importFolder: string };
    const workers = Array.from({ length: processes - 1 }, () => startPatchbay(['start', '--worker', '--json'], env));
    started.push(...workers);
    for (const worker of workers) await worker.firstLine();
    mkdirSync(importFolder, { recursive: true });
    // More than can be written while it is counted.
    const rows = Math.ceil(Math.min(rate, 600) * ((warmMs + windowMs) / 1_000 + 4));
    writeFileSync(join(folder, 'people.csv'), peopleCsv(rows));
    renameSync(join(folder, 'people.csv'), join(importFolder, 'people.csv'));
    await until('the first create', () => createsOf(service) > 0);
    await sleep(warmMs);
    return { processes, rate, ...(await counted(service, started, rows)) };
  } finally {
    for (const one of started.toReversed()) one.signal('SIGTERM');
    for (const one of started) await one.ended();
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function counted(
  service: RunningService,
  started: readonly PatchbayProcess[],
  rows: number,
): Promise<Omit<Measured, 'processes' | 'rate'>> {
  const before = {
    creates: createsOf(service),
    requests: requestsOf(service),
    busy: secondsBusy(started),
    atMs: performance.now(),
  };
  await sleep(windowMs);
  const seconds = (performance.now() - before.atMs) / 1_000;
  if (createsOf(service) >= rows) throw new Error(`${rows} rows were too few for the time`);
  return {
    createsPerSecond: (createsOf(service) - before.creates) / seconds,
    requestsPerSecond: (requestsOf(service) - before.requests) / seconds,
    cores: (secondsBusy(started) - before.busy) / seconds,
  };
}

function listOf(text: string): readonly number[] {
  return text.split(',').map(Number);
}

function createsOf(service: RunningService): number {
  return service.counts().create ?? 0;
}

function requestsOf(service: RunningService): number {
  return Object.values(service.counts()).reduce((sum, count) => sum + count, 0);
}

/** Processor time of Patchbay's processes, and of this one, which is the service; Redis is not counted. */
function secondsBusy(started: readonly PatchbayProcess[]): number {
  const { user, system } = process.cpuUsage();
  let seconds = (user + system) / 1e6;
  for (const { pid } of started) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    seconds += (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }
  return seconds;
}
