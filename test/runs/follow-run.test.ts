/** Following a run through the ledger, whichever process works on it (`docs/contract.md`). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { type FollowEnd, type FollowOptions, followRun } from '#src/ledger/follow.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { passing } from '#src/ledger/trouble.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { type SteppedClock, steppedClock } from './support/stepped-clock.ts';

const minute = 60_000;

interface Followed {
  readonly ledger: Ledger;
  readonly clock: SteppedClock;
  readonly run: RunRecord;
  follow(given?: Partial<FollowOptions>): Promise<FollowEnd>;
}

async function followed(): Promise<Followed> {
  const opened = await openTempLedger();
  onTestFinished(() => opened.close());
  const { ledger } = opened;
  const clock = steppedClock();
  const run = await ledger.runs.create(newRun('r-1'));
  const follow: Followed['follow'] = (given = {}) =>
    followRun({
      ledger,
      clock,
      runId: 'r-1',
      patienceMs: minute,
      onProgress: () => undefined,
      signal: new AbortController().signal,
      ...given,
    });
  return { ledger, clock, run, follow };
}

describe('following ends', () => {
  it.each(['done', 'doneWithDead', 'failed', 'cancelled', 'stopped'] as const)('when the run is %s', async (state) => {
    const { ledger, clock, follow } = await followed();
    clock.onSleep = (ms) => (ms >= 5_000 ? ledger.runs.move('r-1', ['queued'], state, { atMs: 1 }) : undefined);
    expect(await follow()).toMatchObject({ kind: 'rest', run: { state } });
  });

  it('at a refused key, at once, with the pause', async () => {
    const { ledger, clock, follow } = await followed();
    const pause = { code: 'auth', message: 'the key was refused', sinceMs: 1 } as const;
    clock.onSleep = (ms) => (ms >= 300 ? ledger.setPause(pause) : undefined);
    expect(await follow()).toMatchObject({ kind: 'auth', pause, run: { id: 'r-1', state: 'queued' } });
  });

  it('at rest, also where a pause stands', async () => {
    const { ledger, follow } = await followed();
    await ledger.setPause({ code: 'auth', message: 'the key was refused', sinceMs: 1 });
    await ledger.runs.move('r-1', ['queued'], 'failed', { atMs: 1 });
    expect((await follow()).kind).toBe('rest');
  });

  it('when nothing moved for the whole patience, and not a moment earlier', async () => {
    const { clock, follow } = await followed();
    const startMs = clock.monotonicMs();
    expect(await follow()).toMatchObject({ kind: 'unreachable', pause: null });
    expect(clock.monotonicMs() - startMs).toBeGreaterThan(minute);
    expect(clock.monotonicMs() - startMs).toBeLessThan(minute + 500);
  });

  it('and meanwhile tells again and again that nothing moves, from ten seconds on', async () => {
    const { clock, follow } = await followed();
    const startMs = clock.monotonicMs();
    const toldMs: number[] = [];
    await follow({ onStill: () => void toldMs.push(clock.monotonicMs() - startMs) });
    expect(toldMs.length).toBeGreaterThan(10);
    expect(Math.min(...toldMs)).toBeGreaterThan(10_000);
    expect(Math.min(...toldMs)).toBeLessThan(11_500);
  });

  it('within seconds where a job of the run ends again and again with an error of Patchbay’s own', async () => {
    const { ledger, clock, follow } = await followed();
    const startMs = clock.monotonicMs();
    const note = (runId: string) =>
      ledger.noteJobFailure({
        ...{ job: 'upsert-batch', runId, code: 'unexpected' },
        ...{ message: 'datatype mismatch', atMs: clock.nowMs() },
      });
    for (let times = 0; times < 3; times += 1) await note('r-2');
    clock.onSleep = (ms) => (ms % 5_000 === 0 ? note('r-1') : undefined);
    expect(await follow()).toMatchObject({
      kind: 'unreachable',
      jobFailure: { runId: 'r-1', job: 'upsert-batch', count: 3 },
    });
    expect(clock.monotonicMs() - startMs).toBeLessThan(minute / 2);
  });

  it('with the pause that stands, where the service does not answer', async () => {
    const { ledger, follow } = await followed();
    const pause = { code: 'unreachable', message: 'the service does not answer', sinceMs: 1 } as const;
    await ledger.setPause(pause);
    expect(await follow()).toMatchObject({ kind: 'unreachable', pause });
  });

  it('with the last request that failed, unless that was long before', async () => {
    const { ledger, clock, follow } = await followed();
    const failure = {
      code: 'serviceFailing',
      message: 'the last read failed: status 500',
      atMs: clock.nowMs() - 30_000,
    };
    await ledger.noteServiceFailure(failure);
    const end = await follow();
    expect(end).toMatchObject({ kind: 'unreachable', pause: null, failure });
    if (end.kind === 'unreachable') expect(end.waitedMs).toBeGreaterThan(minute);
    expect(await follow(), 'more than a minute before this wait').toMatchObject({ failure: null });
  });

  it('when the engine is gone, which is asked about once a second', async () => {
    const { clock, follow } = await followed();
    let askedCount = 0;
    const end = await follow({
      isEngineGone: () => {
        askedCount += 1;
        return askedCount === 3;
      },
    });
    expect(end.kind).toBe('engineGone');
    expect(clock.monotonicMs() - Date.UTC(2026, 10, 21)).toBeGreaterThanOrEqual(3_000);
    expect(clock.monotonicMs() - Date.UTC(2026, 10, 21)).toBeLessThan(4_000);
  });

  it('with an AbortError when somebody presses Ctrl-C', async () => {
    const { clock, follow } = await followed();
    const controller = new AbortController();
    clock.onSleep = (ms) => (ms >= 500 ? controller.abort() : undefined);
    await expect(follow({ signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('with a bug where the run is not in the ledger', async () => {
    const { follow } = await followed();
    await expect(follow({ runId: 'nobody' })).rejects.toMatchObject({ kind: 'bug' });
  });
});

describe('patience', () => {
  it('counts what was waited for before, until something moves', async () => {
    const { ledger, clock, run, follow } = await followed();
    const startMs = clock.monotonicMs();
    expect(await follow({ stillMs: 50_000 })).toMatchObject({ kind: 'unreachable' });
    expect(clock.monotonicMs() - startMs).toBeLessThan(11_000);

    await ledger.runs.beginStaging(run.id, 1);
    const againMs = clock.monotonicMs();
    clock.onSleep = () =>
      clock.monotonicMs() - againMs === 5_000
        ? ledger.runs.move('r-1', ['staging'], 'applying', { atMs: 1 })
        : undefined;
    expect(await follow({ stillMs: 50_000 })).toMatchObject({ kind: 'unreachable' });
    expect(clock.monotonicMs() - againMs).toBeGreaterThan(minute);
  });

  it('begins anew with each row that is settled', async () => {
    const { ledger, clock, run, follow } = await followed();
    await ledger.runs.beginStaging(run.id, 1);
    let rows = 0;
    clock.onSleep = async (ms) => {
      if (rows < 5 && ms >= (rows + 1) * 50_000) {
        rows += 1;
        await ledger.runs.record(run.id, { counts: { rows: 1 } });
      }
    };
    expect((await follow()).kind).toBe('unreachable');
    expect(clock.monotonicMs() - Date.UTC(2026, 10, 21)).toBeGreaterThan(5 * 50_000 + minute);
  });

  it('of a run that waits begins anew with what the runs before it do', async () => {
    const { ledger, clock, follow } = await followed();
    await ledger.runs.create(newRun('r-2'));
    await ledger.runs.beginStaging('r-1', 1);
    let rows = 0;
    clock.onSleep = async (ms) => {
      if (rows < 3 && ms >= (rows + 1) * 50_000) {
        rows += 1;
        await ledger.runs.record('r-1', { counts: { rows: 1 } });
      }
    };
    expect(await follow({ runId: 'r-2' })).toMatchObject({ kind: 'unreachable', run: { id: 'r-2', state: 'queued' } });
    expect(clock.monotonicMs() - Date.UTC(2026, 10, 21)).toBeGreaterThan(3 * 50_000 + minute);
  });

  it('is told of every look, with the run as it stands', async () => {
    const { ledger, clock, follow } = await followed();
    const states: string[] = [];
    clock.onSleep = async (ms) => {
      if (ms === 100) await ledger.runs.beginStaging('r-1', 1);
      if (ms === 200) await ledger.runs.move('r-1', ['staging'], 'applying', { atMs: 1 });
      if (ms === 300) await ledger.runs.move('r-1', ['applying'], 'done', { atMs: 1 });
    };
    await follow({ onProgress: (one) => states.push(one.state) });
    expect(states).toEqual(['queued', 'staging', 'applying', 'done']);
  });
});

describe('while the ledger is away', () => {
  /** Reads of runs fail from the first time to the second, in milliseconds since the beginning. */
  async function awayBetween(fromMs: number, untilMs: number) {
    const one = await followed();
    const beganAtMs = one.clock.monotonicMs();
    const get: Ledger['runs']['get'] = async (id) => {
      const sinceMs = one.clock.monotonicMs() - beganAtMs;
      if (sinceMs >= fromMs && sinceMs < untilMs) throw passing('ledgerAway', 'the database does not answer', null);
      return one.ledger.runs.get(id);
    };
    const ledger: Ledger = { ...one.ledger, runs: { ...one.ledger.runs, get } };
    return { ...one, follow: (given: Partial<FollowOptions> = {}) => one.follow({ ledger, ...given }) };
  }

  it('following goes on, and ends with the run once the ledger answers', async () => {
    const { ledger, clock, follow } = await awayBetween(2_000, 30_000);
    clock.onSleep = (ms) => (ms >= 5_000 ? ledger.runs.move('r-1', ['queued'], 'done', { atMs: 1 }) : undefined);
    expect(await follow()).toMatchObject({ kind: 'rest', run: { state: 'done' } });
    expect(clock.monotonicMs() - Date.UTC(2026, 10, 21)).toBe(30_000);
  });

  it('also from the first look on', async () => {
    const { ledger, follow } = await awayBetween(0, 30_000);
    await ledger.runs.move('r-1', ['queued'], 'done', { atMs: 1 });
    expect(await follow()).toMatchObject({ kind: 'rest' });
  });

  it('the engine is not taken for gone before the ledger can be asked', async () => {
    const { clock, follow } = await awayBetween(0, 30_000);
    expect(await follow({ isEngineGone: () => true })).toMatchObject({ kind: 'engineGone' });
    expect(clock.monotonicMs() - Date.UTC(2026, 10, 21)).toBeGreaterThanOrEqual(30_000);
  });

  it('it ends with that cause when patience is over', async () => {
    const { clock, follow } = await awayBetween(2_000, Number.POSITIVE_INFINITY);
    await expect(follow()).rejects.toMatchObject({ kind: 'transient', code: 'ledgerAway' });
    expect(clock.monotonicMs() - Date.UTC(2026, 10, 21)).toBeGreaterThan(minute);
  });

  it('it ends at once where the ledger is damaged', async () => {
    const { ledger, follow } = await followed();
    const damaged = new PatchbayError('damaged', 'ledgerDamaged', 'a broken page');
    const requireSound = (): Promise<void> => Promise.reject(damaged);
    await expect(follow({ ledger: { ...ledger, requireSound } })).rejects.toBe(damaged);
  });
});
