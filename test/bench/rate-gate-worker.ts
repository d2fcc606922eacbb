/**
 * A worker for the measurement of the rate gate, as a process of its own: reads one contact with the real client, as often
 * as the gate lets it. Arguments: the service's port, the rate, how many seconds, and where the queue is. Prints when each request was written, on the monotonic clock that all processes share.
 */
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import type { RateGate } from '#src/rate/rate-gate.ts';
import { openSharedRateGate } from '#src/rate/shared-rate-gate.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { connectionsMax } from '#src/workspace/port.ts';

const [, , port = '', rate = '', seconds = '', place = ''] = process.argv;
const clock = systemClock();
const log = silentLogger();
const requestsPerSecond = Number(rate);
const writtenAtMs: number[] = [];
const connection = { path: place };
const name = `bench-${port}-${rate}`;
const shared = openSharedRateGate({ connection, name, requestsPerSecond, clock, log });
const workspace = createHttpWorkspace({
  baseUrl: `http://127.0.0.1:${port}`,
  readApiKey: () => 'bench-key',
  rateGate: noting(shared),
  clock,
  random: Math.random,
  log,
});
const signal = AbortSignal.timeout(Number(seconds) * 1_000);

function noting(gate: RateGate): RateGate {
  const take: RateGate['take'] = async (signal) => {
    const pass = await gate.take(signal);
    return {
      written: () => {
        writtenAtMs.push(Number(process.hrtime.bigint()) / 1e6);
        return pass.written();
      },
    };
  };
  return { ...gate, take };
}

async function lane(): Promise<void> {
  // Ends when the time is over.
  while (!signal.aborted) await workspace.getContact('C1', { signal }).catch(stopOrThrow);
}

function stopOrThrow(error: unknown): void {
  if (!signal.aborted) throw error;
}

await Promise.all(Array.from({ length: connectionsMax }, lane));
await workspace.close();
await shared.close();
process.stdout.write(`${JSON.stringify(writtenAtMs)}\n`);
