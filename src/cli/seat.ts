/**
 * Where a one-shot sits: it is the engine of the data folder, or it follows the running one through the ledger and takes its
 * place when it dies (`contract.md`, "One engine per data folder").
 */
import type { Home } from '#src/app.ts';
import { type Engine, startEngine } from '#src/engine/engine.ts';
import { type EngineLock, takeEngineLock } from '#src/ledger/engine-presence.ts';
import type { Following } from '#src/ledger/follow.ts';
import type { Interrupt } from './interrupt.ts';
import type { Output } from './output.ts';

/** What is printed where another process is the engine. */
export const handedOverText = 'an engine is already running on this data folder: handing over to it';

export interface SeatOptions {
  readonly sameWorkspace: boolean;
  readonly patienceMs: number;
  readonly interrupt: Interrupt;
  readonly onEngine: (engine: Engine | null) => void;
}

export interface Seat {
  /** Follows to an end. Where the engine dies meanwhile, this process becomes it and follows on. */
  follow<End extends { readonly kind: string }>(follow: (following: Following) => Promise<End>): Promise<End>;
  isEngine(): boolean;
  /** Stops the engine, if this process is it. */
  leave(): Promise<void>;
}

export interface Entry<Entered> {
  /** Enters the work: before the engine is up, so that a later process does not overtake this one meanwhile. */
  readonly enter: () => Promise<Entered>;
  /** Takes it back where no engine can be started for it. */
  readonly withdraw: (entered: Entered) => Promise<void>;
}

/**
 * Enters work and sees to it that an engine is there. The caller leaves the seat.
 * @throws PatchbayError what the engine's start and `enter` throw: a wrong workspace or a refused key leaves nothing behind.
 */
export async function takeSeat<Entered>(
  home: Home,
  options: SeatOptions,
  entry: Entry<Entered>,
): Promise<{ readonly seat: Seat; readonly entered: Entered }> {
  const start = (lock: EngineLock): Promise<Engine> =>
    startEngine(home, lock, { sameWorkspace: options.sameWorkspace, waitFor: 'unreachable', runsSchedules: false });
  const lock = takeEngineLock(home.folders.lockFile);
  const entered = await enterUnderLock(lock, entry.enter);
  let engine: Engine | null = null;
  try {
    engine = lock === null ? null : await start(lock);
  } catch (error) {
    await entry.withdraw(entered);
    throw error;
  }
  options.onEngine(engine);
  engine?.wake();
  return {
    entered,
    seat: {
      follow: async (follow) => {
        // Ends: each turn either has an end or makes this process the engine, which happens once.
        for (;;) {
          const { end, lock: freed } = await followOnce(home, options, engine, follow);
          if (end.kind !== 'engineGone' || freed === null) return end;
          engine = await start(freed);
          options.onEngine(engine);
        }
      },
      isEngine: () => engine !== null,
      leave: async () => engine?.stop(),
    },
  };
}

async function enterUnderLock<Entered>(lock: EngineLock | null, enter: () => Promise<Entered>): Promise<Entered> {
  try {
    return await enter();
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function followOnce<End>(
  { ledger, clock, folders }: Home,
  { patienceMs, interrupt }: SeatOptions,
  engine: Engine | null,
  follow: (following: Following) => Promise<End>,
): Promise<{ end: End; lock: EngineLock | null }> {
  let lock: EngineLock | null = null;
  const isEngineGone = (): boolean => {
    lock = takeEngineLock(folders.lockFile);
    return lock !== null;
  };
  const common = { ledger, clock, patienceMs, signal: interrupt.signal };
  const following = follow(engine === null ? { ...common, isEngineGone } : common);
  const death = engine?.died.then((cause): never => {
    throw cause;
  });
  // When following ends first, nobody waits for the death any more.
  death?.catch(() => undefined);
  const end = await (death === undefined ? following : Promise.race([following, death]));
  return { end, lock };
}

/**
 * For commands that ask for work and leave it where it stands: the next engine that can be started carries it out, and that
 * does no harm. Says so where another process is the engine.
 */
export function takeSeatFor<Entered>(
  home: Home,
  output: Output,
  { patienceMs, interrupt }: Pick<SeatOptions, 'patienceMs' | 'interrupt'>,
  enter: Entry<Entered>['enter'],
  withdraw: Entry<Entered>['withdraw'] = async () => undefined,
): Promise<{ readonly seat: Seat; readonly entered: Entered }> {
  const onEngine = (engine: Engine | null): void => {
    if (engine === null) output.note(handedOverText);
  };
  return takeSeat(home, { sameWorkspace: false, patienceMs, interrupt, onEngine }, { enter, withdraw });
}
