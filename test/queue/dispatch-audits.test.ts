/** Audits are entries in the ledger that whichever engine runs carries out (`rules.md`, "One contact per key", step 7). */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { silentLogger } from '#src/log.ts';
import { createDispatcher } from '#src/queue/dispatcher.ts';
import type { JobToAdd } from '#src/queue/producer.ts';
import { applyingRun, pendingOf, settleAs, settled } from '#test/contracts/support/build.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { steppedClock } from '#test/runs/support/stepped-clock.ts';

async function opened() {
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  const clock = steppedClock();
  const jobs: JobToAdd[] = [];
  const producer = {
    add: async (added: readonly JobToAdd[]) => {
      jobs.push(...added);
      return true;
    },
    forget: async () => undefined,
    limitAtOnce: async () => undefined,
    schedule: async () => true,
    queue: () => {
      throw new Error('nobody looks at the queue');
    },
    close: async () => undefined,
  };
  const dispatcher = createDispatcher({ ledger, producer, clock, log: silentLogger(), jobsMax: 100 });
  /** Ends a run of that one key, whose audit is due `dueInMs` from now; answers the audit's id. */
  const audited = async (id: string, key: string, dueInMs: number): Promise<string> => {
    const run = await applyingRun(ledger, id, [key]);
    await settleAs(
      ledger,
      run,
      'w1',
      (await pendingOf(ledger, run)).map((record) => settled(record)),
    );
    const atMs = clock.nowMs();
    await ledger.audits.enter({ runId: id, atMs, firstDueAtMs: atMs + dueInMs, secondDueAtMs: atMs + dueInMs + 1 });
    await ledger.runs.move(id, ['applying'], 'done', { atMs });
    return (await ledger.audits.ofRun(id))[0]?.id ?? '';
  };
  const sweep = async () => {
    jobs.length = 0;
    await dispatcher.sweep();
    return jobs.filter((job) => job.name === 'audit').map(({ payload }) => payload);
  };
  return { ledger, clock, jobs, audited, sweep };
}

describe('the dispatcher', () => {
  it('hands out audits one at a time, the next one when the first has ended', async () => {
    const { ledger, audited, sweep } = await opened();
    const first = await audited('r1', 'k1', 0);
    const second = await audited('r2', 'k2', 0);
    expect(await sweep()).toEqual([{ auditId: first }]);
    await ledger.audits.finish(first, 1);
    expect(await sweep()).toEqual([{ auditId: second }]);
  });

  it('hands out one when it is due, and waits for that itself: what the queue delays ends by the wall clock', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { clock, jobs, audited, sweep } = await opened();
    const audit = await audited('r1', 'k1', 20_000);
    expect(await sweep()).toEqual([]);
    await clock.sleep(17_000);
    expect(await sweep()).toEqual([]);
    await clock.sleep(3_000);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(jobs).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(jobs.map((job) => job.payload)).toEqual([{ auditId: audit }]);
  });

  it('hands them out beside runs that are at work, and none while work is paused', async () => {
    const { ledger, audited, sweep, jobs } = await opened();
    const audit = await audited('r1', 'k1', 0);
    await applyingRun(ledger, 'r2', ['k2'], { feed: 'crm' });
    expect(await sweep()).toEqual([{ auditId: audit }]);
    expect(jobs.map((job) => job.name)).toEqual(['upsert-batch', 'audit']);
    await ledger.setPause({ code: 'unreachable', message: 'away', sinceMs: 1 });
    expect(await sweep()).toEqual([]);
  });
});
