/**
 * One-shot work on a data folder: whoever finds no engine becomes it; else the running engine does the work, and this
 * process follows in the ledger. When that engine dies, the follower takes its place (`contract.md`).
 */
import type { Home } from '#src/app.ts';
import { parseDuration } from '#src/config/duration.ts';
import { type Engine, engineDiedError, startEngine } from '#src/engine/engine.ts';
import { PatchbayError } from '#src/errors.ts';
import { type EngineLock, takeEngineLock } from '#src/ledger/engine-lock.ts';
import { activeRunStates, pendingCount, type RunRecord } from '#src/ledger/run-record.ts';
import { type FollowEnd, followRun } from '#src/runs/follow-run.ts';
import { withdrawRun } from '#src/runs/submit-run.ts';
import type { Interrupt } from './interrupt.ts';

/** A run to follow. New ones are taken back where no engine can be started for them. */
export interface EnteredRun {
  readonly run: RunRecord;
  readonly isNew: boolean;
}

export interface OneShotOptions {
  readonly sameWorkspace: boolean;
  readonly patienceMs: number;
  readonly interrupt: Interrupt;
  readonly onEngine: (engine: Engine | null) => void;
  readonly onProgress: (run: RunRecord) => void;
  readonly onEnd: (end: FollowEnd) => void;
}

const defaultPatienceMs = 600_000;
/** For runs of others, once its own have ended: they are not lost, the next engine goes on with them. */
const othersPatienceMs = 60_000;

/** `--wait`, or ten minutes. @throws PatchbayError `usage` `waitInvalid`. */
export function patienceOf(wait: string | undefined): number {
  if (wait === undefined) return defaultPatienceMs;
  const patienceMs = parseDuration(wait);
  if (patienceMs !== null) return patienceMs;
  throw new PatchbayError('usage', 'waitInvalid', `--wait ${wait} is no duration`, {
    hint: 'Write it as 30s, 10m or 1h.',
  });
}

/**
 * Enters runs with `submit` and follows each to its rest.
 * @throws PatchbayError what the engine's start and `submit` throw; `AbortError` after Ctrl-C.
 */
export async function workUntilRest(
  home: Home,
  options: OneShotOptions,
  submit: () => Promise<readonly EnteredRun[]>,
): Promise<readonly FollowEnd[]> {
  const { interrupt } = options;
  const start = (lock: EngineLock): Promise<Engine> =>
    startEngine(home, lock, { sameWorkspace: options.sameWorkspace, waitFor: 'unreachable' });
  const lock = takeEngineLock(home.folders.lockFile);
  // Runs get their place in line before the engine is up: a later process must not overtake this one meanwhile.
  const entered = await submitUnderLock(lock, submit);
  let engine = lock === null ? null : await startOrWithdraw(home, entered, () => start(lock));
  try {
    options.onEngine(engine);
    engine?.wake();
    const ends: FollowEnd[] = [];
    for (const { run } of entered) {
      // Ends: each turn either ends the run or makes this process the engine, which happens once.
      for (;;) {
        const { end, lock: freed } = await follow(home, run, options, engine);
        if (end.kind === 'engineGone' && freed !== null) {
          engine = await start(freed);
          options.onEngine(engine);
          continue;
        }
        options.onEnd(end);
        ends.push(end);
        break;
      }
    }
    if (engine !== null && ends.every((end) => end.kind === 'rest')) await restOfAll(home, options);
    interrupt.signal.throwIfAborted();
    return ends;
  } finally {
    await engine?.stop();
  }
}

async function submitUnderLock(
  lock: EngineLock | null,
  submit: () => Promise<readonly EnteredRun[]>,
): Promise<readonly EnteredRun[]> {
  try {
    return await submit();
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** A wrong workspace or a refused key leaves nothing behind: what was entered for it is taken back. */
async function startOrWithdraw(
  home: Home,
  entered: readonly EnteredRun[],
  start: () => Promise<Engine>,
): Promise<Engine> {
  try {
    return await start();
  } catch (error) {
    for (const { run, isNew } of entered) if (isNew) await withdrawRun(home.submit, run);
    throw error;
  }
}

async function follow(
  home: Home,
  run: RunRecord,
  options: OneShotOptions,
  engine: Engine | null,
): Promise<{ end: FollowEnd; lock: EngineLock | null }> {
  const { ledger, clock, folders } = home;
  let lock: EngineLock | null = null;
  const isEngineGone = (): boolean => {
    lock = takeEngineLock(folders.lockFile);
    return lock !== null;
  };
  const following = followRun({
    ledger,
    clock,
    runId: run.id,
    patienceMs: options.patienceMs,
    onProgress: options.onProgress,
    ...(engine === null ? { isEngineGone } : {}),
    signal: options.interrupt.signal,
  });
  const death = engine?.died.then((cause): never => {
    throw engineDiedError(cause);
  });
  // When following ends first, nobody waits for the death any more.
  death?.catch(() => undefined);
  const end = await (death === undefined ? following : Promise.race([following, death]));
  return { end, lock };
}

/** An engine started by a one-shot ends when all runs have ended, those of others included; or when nothing moves. */
async function restOfAll(home: Home, { interrupt, patienceMs }: OneShotOptions): Promise<void> {
  const { clock, ledger } = home;
  let progress = '';
  let movedAtMs = clock.monotonicMs();
  for (;;) {
    const active = await ledger.runs.inState(activeRunStates, 1_000);
    if (active.length === 0) return;
    const seen = active
      .map(({ id, state, counts }) => `${id} ${state} ${counts.rows} ${pendingCount(counts)}`)
      .join(', ');
    if (seen !== progress) movedAtMs = clock.monotonicMs();
    progress = seen;
    if (clock.monotonicMs() - movedAtMs > Math.min(patienceMs, othersPatienceMs)) return;
    if ((await ledger.pause())?.code === 'auth') return;
    await clock.sleep(100, interrupt.signal);
  }
}
