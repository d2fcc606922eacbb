/** How long a run took: the time in which it was worked on, without pauses in which no engine ran. */
import { describe, expect, it } from 'vitest';
import { beginPauses, endPauses } from '#src/engine/standing.ts';
import { approveRun } from '#src/operations/run-acts.ts';
import { csv, fillers, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { defaultGuards } from '#test/runs/support/tallies.ts';

const hourMs = 3_600_000;
const registration = { identity: 'gone', serviceOrigin: 'http://localhost', queue: { kind: 'redis' } } as const;

async function runAtWork(): Promise<{ bench: RunsBench; finished: () => Promise<number> }> {
  const bench = await openRunsBench();
  const run = await bench.stage(await bench.submit('a.csv', csv(fillers(5))));
  expect(run.state).toBe('applying');
  const finished = async () => (await bench.report(await bench.finish(await bench.apply(run)))).seconds;
  return { bench, finished };
}

describe('the time that a run took', () => {
  it('is without the pause after an engine that ended in order', async () => {
    const { bench, finished } = await runAtWork();
    const { clock } = bench.world;
    clock.advance(20_000);
    const home = { ledger: bench.ledger, clock };
    await beginPauses(home);
    clock.advance(hourMs);
    await endPauses(home);
    clock.advance(10_000);
    const seconds = await finished();
    expect(seconds).toBeGreaterThanOrEqual(30);
    expect(seconds).toBeLessThan(60);
  });

  it('is without the pause after an engine that was killed, from its last sign of life on', async () => {
    const { bench, finished } = await runAtWork();
    const { clock } = bench.world;
    clock.advance(20_000);
    await bench.ledger.register('engine', { ...registration, startedAtMs: 0, seenAtMs: clock.nowMs() });
    clock.advance(hourMs);
    await endPauses({ ledger: bench.ledger, clock });
    const seconds = await finished();
    expect(seconds).toBeGreaterThanOrEqual(20);
    expect(seconds).toBeLessThan(60);
  });

  it('stands still while no engine runs, also in a run that is cancelled then', async () => {
    const { bench } = await runAtWork();
    const { clock } = bench.world;
    await beginPauses({ ledger: bench.ledger, clock });
    clock.advance(hourMs);
    const [run] = await bench.ledger.runs.list({ limit: 1 });
    if (run === undefined) throw new Error('there is no run');
    await bench.ledger.runs.move(run.id, ['applying'], 'cancelling', { atMs: clock.nowMs() });
    expect((await bench.report(await bench.finish(run))).seconds).toBeLessThan(60);
  });

  it('of a run that was approved meanwhile counts from its approval', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    const { clock } = bench.world;
    await bench.import('a.csv', csv(fillers(20)));
    const stopped = await bench.import('b.csv', csv(fillers(20)).replaceAll('Engineer', 'Pilot'));
    await bench.ledger.register('engine', { ...registration, startedAtMs: 0, seenAtMs: clock.nowMs() });
    clock.advance(hourMs);
    await approveRun(bench.parts, stopped, 'expected', null);
    clock.advance(5_000);
    await endPauses({ ledger: bench.ledger, clock });
    const { stoppedMs, state } = await bench.again(stopped);
    expect(state).toBe('applying');
    expect(stoppedMs).toBeGreaterThanOrEqual(hourMs + 5_000);
    expect(stoppedMs).toBeLessThan(hourMs + 60_000);
  });
});
