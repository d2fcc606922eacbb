/** Whether a process beside a running engine is configured for the service that the engine works for: what it asks for, the engine does there. */
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { type EngineRegistration, isEngineRunning } from '#src/ledger/engine-presence.ts';
import { engineHere, type HomeBesideEngine } from '#src/operations/engine-here.ts';
import { parseOrigin } from '#src/workspace/http-workspace.ts';

/** What a process is that works beside an engine. */
export type BesideEngine = 'worker' | 'command';

const otherServiceHints: Readonly<Record<BesideEngine, string>> = {
  worker: 'Start the worker with the same configuration and environment variables as the engine.',
  command:
    'Nothing was begun. Give the command the service of the engine (PATCHBAY_BASE_URL, or service.baseUrl of the configuration), or stop the engine and start it with the other one. A data folder belongs to one workspace: for another, name another folder with --data.',
};

/**
 * Whether this process is configured for the service that the engine works for. The engine's sandbox is always that of its data folder.
 * @throws PatchbayError `usage` `otherService`.
 */
export function requireItsService(
  { config, mode }: Pick<Home, 'config' | 'mode'>,
  { serviceOrigin }: Pick<EngineRegistration, 'serviceOrigin'>,
  role: BesideEngine,
): void {
  // Without a service a command only looks.
  if (mode === 'sandbox' || config.service.baseUrl === null) return;
  const origin = parseOrigin(config.service.baseUrl);
  if (origin === serviceOrigin) return;
  const message = `the running engine writes to ${serviceOrigin}, and this process is configured for ${origin}`;
  throw new PatchbayError('usage', 'otherService', message, { hint: otherServiceHints[role] });
}

/**
 * The same of a command, before it hands over any work or reads: nothing where no engine has come up on its data folder.
 * @throws PatchbayError `usage` `otherService`; what the ledger throws.
 */
export async function requireServiceOfEngine(
  home: HomeBesideEngine & Pick<Home, 'config' | 'mode' | 'folders'>,
): Promise<void> {
  // The lock tells: a registration outlives an engine that was killed.
  const engine = isEngineRunning(home) ? await engineHere(home) : null;
  if (engine !== null) requireItsService(home, engine, 'command');
}
