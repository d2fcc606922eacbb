/**
 * What an engine has of its own: the server of its queue, and its sandbox. The process that holds the lock of the data folder opens them; others
 * find them by the engine's registration.
 */
import { readFile } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { PatchbayError } from '#src/errors.ts';
import type { EngineRegistration } from '#src/ledger/engine-presence.ts';
import { openQueueServer, type QueueServer } from '#src/queue/connection.ts';
import type { Closers } from './closers.ts';
import { type BesideEngine, requireItsService } from './same-service.ts';
import type { Sandbox } from './sandbox.ts';
import type { SandboxPlace } from './workspace-client.ts';

/** The queue's server. The caller holds the lock. @throws what `openQueueServer` throws. */
export function openEngineQueue({ config, folders, ledgerPlace, log }: Home): Promise<QueueServer> {
  const { redisUrl } = config.queue;
  return openQueueServer({ redisUrl, isShared: ledgerPlace.kind !== 'file', folder: folders.queue, log });
}

/** Null for a real service. */
export async function openSandbox({ config, clock, log, mode }: Home, closers: Closers): Promise<Sandbox | null> {
  if (mode !== 'sandbox') return null;
  // The whole service is loaded where it is needed only.
  const { startSandbox } = await import('./sandbox.ts');
  const sandbox = await startSandbox(dataFolders(config, 'sandbox'), clock, log.child({ part: 'service' }));
  closers.add(() => sandbox.close());
  return sandbox;
}

/**
 * The address and the key of the engine's sandbox; null for a real service.
 * @throws PatchbayError `usage`: `otherService`, `sandboxNotShared`.
 */
export async function sandboxOf(
  home: Pick<Home, 'config' | 'mode'>,
  engine: Pick<EngineRegistration, 'serviceOrigin'>,
  role: BesideEngine,
): Promise<SandboxPlace | null> {
  requireItsService(home, engine, role);
  if (home.mode !== 'sandbox') return null;
  const apiKey = await readSandboxKey(dataFolders(home.config, 'sandbox').sandboxKeyFile);
  return { origin: engine.serviceOrigin, apiKey };
}

/** @throws PatchbayError `usage` `sandboxNotShared` where the engine's data folder is another one. */
async function readSandboxKey(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const message = 'the running engine has a sandbox of its own, which this data folder cannot reach';
    throw new PatchbayError('usage', 'sandboxNotShared', message, {
      hint: "Start the worker on the engine's data folder, or set PATCHBAY_BASE_URL to a service that all of them reach.",
      cause: error,
    });
  }
}
