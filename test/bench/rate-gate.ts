/**
 * How much of the allowed rate is used, and whether more than it arrives: `node test/bench/rate-gate.ts [SECONDS]`, seconds
 * per line, 15 without.
 *
 * Worker processes share one embedded Valkey of this process and read from a service on loopback, a process of its own that
 * notes each arrival. Share: arrivals a second over what is allowed, after two seconds to warm up. Highest: the most in any sliding
 * second, counted where requests arrive, and where they are written, which a busy machine does not blur. Ends with 1 where a share is below 98 % or a highest count above the rate, with 2
 * where the argument cannot be meant.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { silentLogger } from '#src/log.ts';
import { startEmbeddedValkey } from '#src/queue/embedded/embedded-valkey.ts';
import { launchFlags } from './launch-flags.ts';

const rates = [10, 50, 200] as const;
const workerCounts = [1, 2, 4] as const;
const shareMin = 0.98;
/** After the first arrival: the processes start. */
const warmUpSeconds = 2;
/** Beside the measured time: the warm-up, the silence of a new gate, and a late start. */
const unmeasuredSeconds = 5;

const seconds = readSeconds(process.argv.slice(2));
const folder = await mkdtemp(join(tmpdir(), 'pb-gate-'));
const valkey = await startEmbeddedValkey({ folder, log: silentLogger() });
const service = startProcess('rate-gate-service.ts', []);
try {
  const { connection } = valkey;
  if (!('path' in connection)) throw new Error('the embedded queue has no socket here');
  const port = await service.line();
  console.log(
    '| rate | workers | share of the rate | highest at the service | highest as written |\n|---|---|---|---|---|',
  );
  for (const rate of rates) {
    for (const workers of workerCounts) await measure(port, rate, workers, connection.path);
  }
} finally {
  service.child.kill();
  await valkey.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(port: string, rate: number, workers: number, place: string): Promise<void> {
  const args = [port, `${rate}`, `${seconds + unmeasuredSeconds}`, place];
  const started = Array.from({ length: workers }, () => startProcess('rate-gate-worker.ts', args));
  const written = await Promise.all(started.map(async (worker) => times(await worker.line())));
  await Promise.all(started.map(({ child }) => child.exitCode ?? once(child, 'exit')));
  service.child.stdin?.write('\n');
  const arrivedAtMs = times(await service.line());
  const share = shareOf(arrivedAtMs, rate);
  const most = mostInOneSecond(arrivedAtMs);
  const mostWritten = mostInOneSecond(written.flat().sort((a, b) => a - b));
  console.log(`| ${rate} | ${workers} | ${(share * 100).toFixed(1)} % | ${most} | ${mostWritten} |`);
  if (share < shareMin || most > rate) process.exitCode = 1;
}

function times(line: string): readonly number[] {
  return z.array(z.number()).parse(JSON.parse(line));
}

/**
 * Whole rounds of as many arrivals as a second allows, over the seconds that they took: a count within a fixed time would
 * depend on where in a round it ends.
 */
function shareOf(atMs: readonly number[], rate: number): number {
  const from = atMs.findIndex((one) => one >= (atMs[0] ?? 0) + warmUpSeconds * 1_000);
  const roundCount = Math.min(seconds, Math.floor((atMs.length - 1 - from) / rate));
  const tookMs = (atMs[from + roundCount * rate] ?? 0) - (atMs[from] ?? 0);
  return (roundCount * 1_000) / tookMs;
}

/** The most in any second, half open. */
function mostInOneSecond(atMs: readonly number[]): number {
  let most = 0;
  let first = 0;
  atMs.forEach((one, index) => {
    // Ends at the latest with this one.
    while (one - (atMs[first] ?? 0) >= 1_000) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}

interface Started {
  readonly child: ChildProcess;
  /** Its next line. */
  line(): Promise<string>;
}

function startProcess(file: string, args: readonly string[]): Started {
  const child = spawn(process.execPath, [...launchFlags, join(import.meta.dirname, file), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async () => String((await lines.next()).value) };
}

/** Ends the process with 2 where it cannot be meant. */
function readSeconds([text = '15', ...more]: readonly string[]): number {
  if (/^\d{1,4}$/.test(text) && Number(text) > 0 && more.length === 0) return Number(text);
  console.error(
    `SECONDS must be a whole number above 0, not “${[text, ...more].join(' ')}”\nusage: node test/bench/rate-gate.ts [SECONDS]`,
  );
  process.exit(2);
}
