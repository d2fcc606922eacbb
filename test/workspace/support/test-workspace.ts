/** A scripted service, a client on it, and everything the client logged; closed when the test ends. */
import { onTestFinished } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { createLogger } from '#src/log.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import { createHttpWorkspace, type HttpWorkspaceOptions } from '#src/workspace/http-workspace.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

export const testKey = 'canary-key-4711';

export interface TestWorkspace {
  readonly server: ScriptedServer;
  readonly workspace: Workspace;
  readonly logLines: readonly string[];
}

/** Backoff is drawn as zero, so that repeated reads do not wait; the gate is unlimited. */
export async function openTestWorkspace(options: Partial<HttpWorkspaceOptions> = {}): Promise<TestWorkspace> {
  const server = await startScriptedServer();
  const clock = systemClock();
  const logLines: string[] = [];
  const workspace = createHttpWorkspace({
    baseUrl: server.origin,
    readApiKey: () => testKey,
    rateGate: createPauseGate(clock),
    clock,
    random: () => 0,
    log: createLogger({ level: 'trace', stream: { write: (line) => void logLines.push(line) } }),
    ...options,
  });
  onTestFinished(async () => {
    server.openSockets.forEach((socket) => {
      socket.destroy();
    });
    await workspace.close();
    await server.close();
  });
  return { server, workspace, logLines };
}
