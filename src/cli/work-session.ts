/**
 * A command's part in the work that it asks for: it becomes the engine of the data folder, or it follows the running engine
 * through the ledger and takes its place when that engine dies (`docs/contract.md`, "One engine per data folder").
 */
import type { Home } from '#src/app.ts';
import { sleepUnlessCut } from '#src/clock.ts';
import { type Engine, type EngineOptions, startEngine } from '#src/engine/engine.ts';
import { isEngineUp } from '#src/engine/registration.ts';
import { requireServiceOfEngine } from '#src/engine/same-service.ts';
import { checkSurroundings } from '#src/engine/surroundings.ts';
import { type EngineLock, takeEngineLock } from '#src/ledger/engine-presence.ts';
import type { Following, Standstill } from '#src/ledger/follow.ts';
import type { JobFailure } from '#src/ledger/port.ts';
import { isLedgerAway, isPassingTrouble } from '#src/ledger/trouble.ts';
import { waitOut } from '#src/ledger/wait-out.ts';
import { waitedFor } from '#src/operations/job-failures.ts';
import { isOfQueue } from '#src/operations/standstill.ts';
import { type Interrupt, NothingEntered } from './interrupt.ts';
import type { Output } from './output.ts';
import { diskNotes, folderTakenText, ledgerNotes, otherEntryNote, waitingNotes } from './waiting.ts';

export interface WorkOptions {
  readonly sameWorkspace: boolean;
  /** How long to follow without any progress. */
  readonly patienceMs: number;
  readonly interrupt: Interrupt;
  /** For people: that another engine does the work, and what the work waits for. */
  readonly note: (text: string) => void;
}

export interface WorkSession {
  /** Follows to an end. If the engine dies meanwhile, this process becomes the engine and continues to follow. */
  follow<End extends { readonly kind: string }>(follow: (following: Following) => Promise<End>): Promise<End>;
  isEngine(): boolean;
  /** Stops the engine, if this process is it; after its last work, unless it could not go on, or Ctrl-C was pressed. */
  leave(): Promise<void>;
}

/**
 * Enters the work, knowing whether this process is the engine. Called once nothing refuses that any more: a command that is refused leaves
 * nothing behind, and can be given again.
 */
export type Enter<Entered> = (isEngine: boolean) => Promise<Entered>;

/**
 * Enters work and sees to it that an engine is there. The caller leaves the session.
 * @throws PatchbayError what the engine's start and `enter` throw; `usage` `otherService`; `NothingEntered`, `AbortError`.
 */
export async function beginWork<Entered>(
  home: Home,
  options: WorkOptions,
  enter: Enter<Entered>,
): Promise<{ readonly session: WorkSession; readonly entered: Entered }> {
  const start = (lock: EngineLock, first: Pick<EngineOptions, 'enter'> = {}): Promise<Engine> => {
    const { sameWorkspace, interrupt, note } = options;
    return startEngine(home, lock, {
      ...{ sameWorkspace, waitFor: 'unreachable', runsSchedules: false, signal: interrupt.signal },
      ...{ onOtherEntry: otherEntryNote(note), ...first },
    });
  };
  let engine: Engine | null = null;
  let isEntering = false;
  const entering = Promise.withResolvers<Entered>();
  const enterAs = async (isEngine: boolean): Promise<void> => {
    isEntering = true;
    entering.resolve(await enter(isEngine));
  };
  try {
    await requireWritable(home, options);
    const lock = await takeLockUnlessUp(home, options);
    if (lock === null) {
      // It may have come up since the command began.
      await requireServiceOfEngine(home);
      await enterAs(false);
    } else engine = await start(lock, { enter: () => enterAs(true) });
  } catch (error) {
    throw options.interrupt.signal.aborted && !isEntering ? new NothingEntered() : error;
  }
  const entered = await entering.promise;
  /** What is followed first was waited for during the start already. */
  let stillMs = engine?.unansweredMs ?? 0;
  /** Whether what is followed came to its end. */
  let canGoOn = true;
  if (engine === null) options.note('an engine is already running on this data folder: handing over to it');
  engine?.wake();
  return {
    entered,
    session: {
      follow: async (follow) => {
        // Ends: each turn either has an end or makes this process the engine, which happens once.
        for (;;) {
          canGoOn = false;
          const following = followOnce(home, options, engine, (common) => follow({ ...common, stillMs }));
          const { end: seen, lock: freed } = await following;
          stillMs = 0;
          canGoOn = seen.kind !== 'unreachable';
          // Asked of this process: the end of what is followed knows the ledger only.
          const end = seen.kind === 'unreachable' ? { ...seen, trouble: await troubleOf(home, engine) } : seen;
          if (end.kind !== 'engineGone' || freed === null) return end;
          engine = await startWhenWritable(home, options, freed, start);
          stillMs = engine.unansweredMs;
        }
      },
      isEngine: () => engine !== null,
      leave: async () => {
        if (engine !== null && canGoOn) await engine.doLastWork(options.interrupt.signal);
        await engine?.stop();
      },
    },
  };
}

/** A database that takes no writes, or is away once more, is waited for: nothing can be entered, and no engine starts. */
function requireWritable({ ledger, clock }: Home, { patienceMs, interrupt, note }: WorkOptions): Promise<void> {
  const onWait = ledgerNotes(note, patienceMs);
  return waitOut({ clock, patienceMs, signal: interrupt.signal, onWait }, () => ledger.requireWritable(), isLedgerAway);
}

async function startWhenWritable(
  home: Home,
  options: WorkOptions,
  lock: EngineLock,
  start: (lock: EngineLock) => Promise<Engine>,
): Promise<Engine> {
  try {
    await requireWritable(home, options);
  } catch (error) {
    lock.release();
    throw error;
  }
  return await start(lock);
}

const startLookMs = 100;
/** A start takes about a second. */
const startWithoutNoteMs = 2_000;

/**
 * The engine's lock, or null where an engine is up. One that is only starting is waited for: what it was started for has its place in line
 * first, and where it is refused, this command is to know that of itself. After the patience its work is handed over in any case.
 */
async function takeLockUnlessUp(
  home: Home,
  { patienceMs, interrupt, note }: Pick<WorkOptions, 'patienceMs' | 'interrupt' | 'note'>,
): Promise<EngineLock | null> {
  const { clock, folders } = home;
  const startedAtMs = clock.monotonicMs();
  let isNoted = false;
  // Ends with the lock, with an engine, with the signal, or with the patience.
  for (;;) {
    const lock = takeEngineLock(folders.lockFile);
    if (lock !== null || (await isEngineUp(home))) return lock;
    const waitedMs = clock.monotonicMs() - startedAtMs;
    if (waitedMs >= patienceMs) return null;
    if (!isNoted && waitedMs >= startWithoutNoteMs) {
      note(folderTakenText);
      isNoted = true;
    }
    await clock.sleep(startLookMs, interrupt.signal);
  }
}

async function followOnce<End>(
  home: Home,
  { patienceMs, interrupt, note }: WorkOptions,
  engine: Engine | null,
  follow: (following: Following) => Promise<End>,
): Promise<{ end: End; lock: EngineLock | null }> {
  const { ledger, clock, folders } = home;
  let lock: EngineLock | null = null;
  const isEngineGone = (): boolean => {
    lock = takeEngineLock(folders.lockFile);
    return lock !== null;
  };
  const say = waitingNotes(note, patienceMs);
  const onFailure = (failure: JobFailure): void => say(waitedFor(failure), failure.message);
  const watching = new AbortController();
  // What was asked may be answered when following has ended.
  const ask = async () => (watching.signal.aborted ? null : await troubleOf(home, engine));
  const onStill = diskNotes(clock, ask, (...what) => (watching.signal.aborted ? undefined : say(...what)));
  const common = { ledger, clock, patienceMs, onFailure, onStill, signal: interrupt.signal };
  const following = follow(engine === null ? { ...common, isEngineGone } : common);
  const death = engine?.died.then((cause): never => {
    throw cause;
  });
  // When following ends first, the death is no longer awaited.
  death?.catch(() => undefined);
  void notePauses(home, note, patienceMs, watching.signal);
  try {
    const end = await (death === undefined ? following : Promise.race([following, death]));
    return { end, lock };
  } finally {
    watching.abort();
  }
}

/** What keeps this data folder from its work, if anything does: of an engine elsewhere only the ledger, the disk and a Redis can be seen. */
async function troubleOf(home: Home, engine: Engine | null): Promise<Standstill['trouble']> {
  // A schedule that has stopped keeps no other work.
  const known = (engine?.troubles() ?? []).filter(({ code }) => code !== 'scheduleStopped');
  const first = known.find((trouble) => !isOfQueue(trouble)) ?? known[0];
  const trouble = first ?? (await checkSurroundings(home)).standstill;
  if (trouble === null) return null;
  // It is named within a sentence.
  const { code, message } = trouble;
  return { code, message: `${message.charAt(0).toLowerCase()}${message.slice(1).replace(/\.$/, '')}` };
}

const pauseLookMs = 1_000;

/** Says what the work waits for, once for each cause. Never rejects: following reports what is wrong with the ledger. */
async function notePauses(
  { ledger, clock }: Home,
  note: (text: string) => void,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const say = waitingNotes(note, patienceMs);
  // Ends with the following. A refused key ends that at once; what is left is a service that does not answer, or the ledger.
  for (;;) {
    await sleepUnlessCut(clock, pauseLookMs, signal);
    if (signal.aborted) return;
    try {
      await ledger.requireWritable();
      const pause = await ledger.pause();
      if (pause === null || pause.code === 'auth') continue;
      say(isOfQueue({ code: pause.errorCode ?? pause.code }) ? 'queue' : 'service', pause.message);
    } catch (error) {
      if (isPassingTrouble(error)) say('ledger', `${error.message} [${error.code}]`);
    }
  }
}

/** For work of which people see nothing but its end. */
export function beginRequest<Entered>(
  home: Home,
  output: Output,
  { patienceMs, interrupt }: Pick<WorkOptions, 'patienceMs' | 'interrupt'>,
  enter: Enter<Entered>,
): Promise<{ readonly session: WorkSession; readonly entered: Entered }> {
  return beginWork(home, { sameWorkspace: false, patienceMs, interrupt, note: output.note }, enter);
}
