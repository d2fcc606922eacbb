/**
 * How long a run took is how long it was worked on. A pause in which no engine ran counts as the time in which it was stopped: it is left
 * out (`docs/contract.md`, "Commands"). An engine that ends in order marks its runs; of one that was killed its last sign of life tells.
 */
import type { Home } from '#src/app.ts';
import type { EngineRegistration } from '#src/ledger/engine-presence.ts';
import type { RunRecord } from '#src/ledger/runs.ts';

type PauseParts = Pick<Home, 'ledger' | 'clock'>;

/** One feed has one of them at a time; of more feeds than that the pauses of some count as work. */
const runsMax = 1_000;

/** Of a ledger in a file: over several hosts another engine goes on. For an engine that begins, before it works on any run. */
export async function endPauses({ ledger, clock }: PauseParts): Promise<void> {
  const { engine } = await ledger.registrations();
  const nowMs = clock.nowMs();
  for (const run of await runsAtWork(ledger)) {
    const sinceMs = run.stoppedAtMs ?? lastSignFor(run, engine);
    if (sinceMs === null) continue;
    const stoppedMs = run.stoppedMs + Math.max(0, nowMs - sinceMs);
    await ledger.runs.record(run.id, { stoppedAtMs: null, stoppedMs });
  }
}

/** For an engine that ends, after its work. */
export async function beginPauses({ ledger, clock }: PauseParts): Promise<void> {
  for (const run of await runsAtWork(ledger)) await ledger.runs.record(run.id, { stoppedAtMs: clock.nowMs() });
}

/** The engine was alive then; a run that was begun or approved since has not waited before. */
function lastSignFor({ startedAtMs, approvals }: RunRecord, engine: EngineRegistration | null): number | null {
  if (engine?.seenAtMs === undefined) return null;
  return Math.max(engine.seenAtMs, startedAtMs ?? 0, ...approvals.map(({ atMs }) => atMs));
}

async function runsAtWork({ runs }: PauseParts['ledger']): Promise<readonly RunRecord[]> {
  const found = await runs.list({ states: ['staging', 'applying'], limit: runsMax });
  return found.filter(({ startedAtMs }) => startedAtMs !== null);
}
