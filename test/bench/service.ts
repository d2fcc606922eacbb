/**
 * Benchmark of the workspace service: `node test/bench/service.ts [SECONDS] [CASE]`. SECONDS per line, 6 without;
 * CASE is one of get, list, create, patch, million, slow, all of them without.
 *
 * Each figure is a ratio to a bare server of the same framework (`service/bare-server.ts`), taken in short alternating
 * rounds; the median counts, since machines differ and drift. Servers are processes of their own, with equal flags.
 * Stores are files, synced to the disk. Ends with 1 where a floor is missed, with 2 where an argument cannot be meant.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { invariant } from '#src/errors.ts';
import {
  type BenchCase,
  type CaseName,
  caseNames,
  caseOf,
  fillWithContacts,
  listCase,
  sampleReply,
} from './service/cases.ts';
import { putLoad } from './service/load.ts';
import { type ServerProcess, startServer } from './service/server-process.ts';
import { openSlowSockets } from './service/slow-sockets.ts';

const { secondsPerLine, only } = readArguments(process.argv.slice(2));
const warmingRoundCount = 2;
const roundCount = 5;
const connectionCounts = [1, 10, 50] as const;
const connectionsOfFloors = 50;
const floors: Readonly<Record<CaseName, number>> = { get: 0.5, list: 0.5, create: 0.3, patch: 0.3 };
const storeSizes = { small: 10_000, large: 1_000_000 } as const;
const slownessMax = 2;
const slowSocketCount = 1_000;

interface Measured {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
const missed: string[] = [];
try {
  for (const name of caseNames) if (only === undefined || only === name) await overBareServer(name);
  if (only === undefined || only === 'million') await smallAgainstLarge();
  if (only === undefined || only === 'slow') await besideSlowSockets();
} finally {
  await rm(folder, { recursive: true, force: true });
}
for (const one of missed) console.log(`missed: ${one}`);
if (missed.length > 0) process.exitCode = 1;

interface Arguments {
  readonly secondsPerLine: number;
  /** Undefined: every case. */
  readonly only: string | undefined;
}

/** Ends the process with 2 where one cannot be meant. */
function readArguments([seconds = '6', only, ...more]: readonly string[]): Arguments {
  const cases = [...caseNames, 'million', 'slow'];
  const secondsPerLine = /^\d{1,4}(\.\d{1,3})?$/.test(seconds) ? Number(seconds) : 0;
  const problem =
    secondsPerLine <= 0
      ? `SECONDS must be a number above 0, not “${seconds}”`
      : only !== undefined && !cases.includes(only)
        ? `there is no case “${only}”; those are ${cases.join(', ')}`
        : more.length > 0
          ? 'there are more than two arguments'
          : null;
  if (problem === null) return { secondsPerLine, only };
  console.error(`${problem}\nusage: node test/bench/service.ts [SECONDS] [CASE]`);
  process.exit(2);
}

async function overBareServer(name: CaseName): Promise<void> {
  // A fresh store for each case.
  const ours = await startServer('./workspace-server.ts', [join(folder, `${name}.sqlite`)]);
  const bare = await startServer('./bare-server.ts', []);
  try {
    const one = caseOf(name, await fillWithContacts(ours.port));
    await bare.answer(one.status, await sampleReply(ours.port, one));
    for (const connections of connectionCounts) {
      const [our = [], base = []] = await inTurns([ours, bare], [one, one], connections);
      const ratio = ratioOf(our, base, 'perSecond');
      const cpuRatio = ratioOf(our, base, 'perCpuSecond');
      console.log(
        `${name.padEnd(6)} ${String(connections).padStart(2)} connections: ratio ${ratio.toFixed(2)}` +
          ` (${rate(our, 'perSecond')} over ${rate(base, 'perSecond')} a second), by CPU time ${cpuRatio.toFixed(2)}`,
      );
      if (connections === connectionsOfFloors && ratio < floors[name]) missed.push(`${name} below ${floors[name]}`);
    }
  } finally {
    await Promise.all([ours, bare].map((server) => server.stop()));
  }
}

async function smallAgainstLarge(): Promise<void> {
  const servers: ServerProcess[] = [];
  try {
    for (const [name, count] of Object.entries(storeSizes)) {
      const store = join(folder, `${name}.sqlite`);
      execFileSync(process.execPath, [join(import.meta.dirname, 'service/filled-store.ts'), store, String(count)]);
      servers.push(await startServer('./workspace-server.ts', [store]));
    }
    // Each server is asked for ids all over its own store, at the same places of it.
    const cases = Object.values(storeSizes).map((count) => listCase(count));
    const [small = [], large = []] = await inTurns(servers, cases, 1);
    const slowness = ratioOf(small, large, 'perSecond');
    const figure = `list of 20 ids, ${storeSizes.large.toLocaleString('en')} contacts over ${storeSizes.small.toLocaleString('en')}`;
    console.log(`${figure}: ${slowness.toFixed(2)} times as long (${rate(large, 'perSecond')} a second)`);
    if (slowness > slownessMax) missed.push(`${figure}: above ${slownessMax}`);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function besideSlowSockets(): Promise<void> {
  const ours = await startServer('./workspace-server.ts', [join(folder, 'slow.sqlite')]);
  try {
    const one = caseOf('get', await fillWithContacts(ours.port));
    const seconds = secondsPerLine / roundCount / 2;
    const ratios: number[] = [];
    for (let round = 0; round < roundCount; round += 1) {
      const alone = await measure(ours, one, 1, seconds);
      const letGo = await openSlowSockets(ours.port, slowSocketCount);
      const beside = await measure(ours, one, 1, seconds);
      letGo();
      ratios.push(alone.perSecond / beside.perSecond);
    }
    console.log(`get beside ${slowSocketCount} slow sockets: ${median(ratios).toFixed(2)} times as long as alone`);
  } finally {
    await ours.stop();
  }
}

/** Warming rounds, then those that count. Answers what each server did, round by round. */
async function inTurns(
  servers: readonly ServerProcess[],
  cases: readonly BenchCase[],
  connections: number,
): Promise<readonly Measured[][]> {
  const seconds = secondsPerLine / (warmingRoundCount + roundCount) / servers.length;
  const results: Measured[][] = servers.map(() => []);
  for (let round = 0; round < warmingRoundCount + roundCount; round += 1) {
    for (const [index, server] of servers.entries()) {
      const one = cases[index];
      invariant(one !== undefined, 'each server has a case');
      const measured = await measure(server, one, connections, seconds);
      if (round >= warmingRoundCount) results[index]?.push(measured);
    }
  }
  return results;
}

async function measure(server: ServerProcess, one: BenchCase, connections: number, seconds: number): Promise<Measured> {
  const cpuMsBefore = await server.cpuMs();
  const { requestCount, seconds: took } = await putLoad({ ...one, port: server.port, connections, seconds });
  const cpuSeconds = ((await server.cpuMs()) - cpuMsBefore) / 1_000;
  return { perSecond: requestCount / took, perCpuSecond: requestCount / cpuSeconds };
}

function ratioOf(ours: readonly Measured[], base: readonly Measured[], figure: keyof Measured): number {
  return median(ours.map((one, round) => one[figure] / (base[round]?.[figure] ?? Number.NaN)));
}

function rate(measured: readonly Measured[], figure: keyof Measured): string {
  return Math.round(median(measured.map((one) => one[figure]))).toLocaleString('en');
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
