/**
 * A process that only reads from the service: it carries out no job and enters none. Where an engine runs on the data folder, it uses
 * that engine's queue for the rate that all processes share, and its sandbox; where none runs, it holds the engine's lock
 * meanwhile, so that it can open these itself.
 */
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { attachQueueServer, type QueueServer } from '#src/queue/connection.ts';
import { firstLookHeldMsMax, firstLookSilentMsMax, onlyLookSilentMsMax, type Workspace } from '#src/workspace/port.ts';
import { type Closers, createClosers } from './closers.ts';
import { openEngineQueue, openSandbox, sandboxOf } from './own-services.ts';
import { findEngine, queueOf } from './registration.ts';
import { openWorkspaceClient, type SandboxPlace } from './workspace-client.ts';

export interface ReadingSession {
  readonly workspace: Workspace;
  close(): Promise<void>;
}

export interface ReadingOptions {
  readonly sameWorkspace: boolean;
  /**
   * How long another process that opens or holds the data folder without being an engine is waited for; and what holds the first look at the
   * service back, for at most `firstLookHeldMsMax`; and a service that is silent, for `firstLookSilentMsMax` to `onlyLookSilentMsMax`.
   */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** Called before each thing that may have to be waited for. Must not throw. */
  readonly onStage?: (stage: ReadingStage) => void;
}

/** Another process that has the data folder, the queue, or the first look at the service. */
export type ReadingStage = 'folder' | 'queue' | 'service';

const lookEveryMs = 250;

/**
 * The caller closes it.
 * @throws PatchbayError `usage`, `auth`, `unreachable` as the start of an engine; `transient` `dataFolderBusy`; the signal's reason.
 */
export async function openReadingSession(home: Home, options: ReadingOptions): Promise<ReadingSession> {
  const closers = createClosers(home.log);
  try {
    const { server, sandbox } = await openQueueAndSandbox(home, options, closers);
    const client = openWorkspaceClient(home, {
      sandbox,
      queue: server,
      sameWorkspace: options.sameWorkspace,
      // Reads that fail are thrown, and pause no other process.
      onOpenBreaker: () => undefined,
      stopping: options.signal,
    });
    closers.add(() => client.close());
    const { patienceMs, onStage } = options;
    onStage?.('service');
    await client.recheck({
      heldMsMax: Math.min(patienceMs, firstLookHeldMsMax),
      silentMsMax: Math.min(Math.max(patienceMs, firstLookSilentMsMax), onlyLookSilentMsMax),
    });
    return { workspace: client.workspace, close: closers.closeAll };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

interface Opened {
  readonly server: QueueServer;
  /** Null for a real service. */
  readonly sandbox: SandboxPlace | null;
}

async function openQueueAndSandbox(
  home: Home,
  { patienceMs, signal, onStage = () => undefined }: ReadingOptions,
  closers: Closers,
): Promise<Opened> {
  const { config, clock, folders, ledgerPlace } = home;
  const { redisUrl } = config.queue;
  const deadlineMs = clock.monotonicMs() + patienceMs;
  onStage('folder');
  // Ends with the lock, with an engine, with the signal, or with the deadline.
  for (;;) {
    signal.throwIfAborted();
    const engine = await findEngine(home);
    if (engine !== null && !home.identity.isDead(engine.identity)) {
      const lock = takeEngineLock(folders.lockFile);
      lock?.release();
      // The lock is held: the engine runs here. It is free: another host's engine was found, and all hosts share one Redis.
      // Where the queue is embedded, that engine has just stopped.
      if (lock === null || (ledgerPlace.kind !== 'file' && engine.queue.kind === 'redis')) {
        const sandbox = await sandboxOf(home, engine, 'command');
        onStage('queue');
        const server = await attachQueueServer({ redisUrl, place: queueOf(home, engine) });
        closers.add(() => server.stop());
        return { server, sandbox };
      }
    }
    const lock = takeEngineLock(folders.lockFile);
    if (lock !== null) {
      closers.add(() => lock.release());
      onStage('queue');
      const sandbox = await openSandbox(home, closers);
      const server = await openEngineQueue(home);
      closers.add(() => server.stop());
      return { server, sandbox };
    }
    if (clock.monotonicMs() > deadlineMs) throw busy(folders.root);
    await clock.sleep(lookEveryMs, signal);
  }
}

function busy(folder: string): PatchbayError {
  return new PatchbayError('transient', 'dataFolderBusy', `another command is reading with the data folder ${folder}`, {
    hint: 'Wait until it has ended, then run the same command again.',
  });
}
