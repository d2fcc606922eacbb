/**
 * The way to the service, as every process goes it: key, rate gate, client, and the check that it is the workspace that
 * the ledger belongs to.
 */
import type { RedisOptions } from 'bullmq';
import type { Home } from '#src/app.ts';
import { serviceFigures } from '#src/config/service-figures.ts';
import { invariant, PatchbayError } from '#src/errors.ts';
import { checkWorkspace } from '#src/runs/check-workspace.ts';
import { type Breakers, createBreakers, type OpenedBreaker } from '#src/workspace/breaker.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { parseOrigin } from '#src/workspace/origin.ts';
import type { Workspace } from '#src/workspace/port.ts';
import type { RateGate } from '#src/workspace/rate-gate.ts';
import { createKeyGates, type KeyGates } from './key-gates.ts';
import { createKeySource } from './key-source.ts';

export interface WorkspaceClient {
  readonly workspace: Workspace;
  readonly breakers: Breakers;
  /**
   * Asks whether key and origin still open the ledger's workspace. The sandbox belongs to the data folder by where it lies
   * and is not asked.
   * @throws what `checkWorkspace` and `requireApiKey` throw.
   */
  recheck(): Promise<void>;
  close(): Promise<void>;
}

export interface WorkspaceClientOptions {
  /** Null for a real service, which the configuration names. */
  readonly sandbox: { readonly origin: string; readonly apiKey: string } | null;
  /** Of the queue, which holds the rate gate that all processes share. */
  readonly connection: RedisOptions;
  /** A person says that origin or key changed and the workspace is the same. */
  readonly sameWorkspace: boolean;
  /** Must not throw. */
  readonly onOpenBreaker: (opened: OpenedBreaker) => void;
}

/** @throws PatchbayError `usage` `baseUrlInvalid`. Sends nothing. */
export function openWorkspaceClient(home: Home, options: WorkspaceClientOptions): WorkspaceClient {
  const { config, ledger, clock, log, mode } = home;
  const { sandbox, connection, sameWorkspace, onOpenBreaker } = options;
  const baseUrl = sandbox?.origin ?? config.service.baseUrl ?? '';
  const { requestsPerSecond } = serviceFigures(config, mode);
  const gates = createKeyGates({ origin: parseOrigin(baseUrl), requestsPerSecond, connection, clock, log });
  const keys = createKeySource(home, gates, sameWorkspace);
  const breakers = createBreakers({ clock, onOpen: onOpenBreaker });
  const workspace = createHttpWorkspace({
    baseUrl,
    readApiKey: () => sandbox?.apiKey ?? keys.read(),
    rateGate: gateInUse(gates, () => sandbox?.apiKey ?? keys.known()),
    breakers,
    clock,
    random: Math.random,
    log,
  });
  return {
    workspace,
    breakers,
    recheck: async () => {
      if (sandbox !== null) return;
      const apiKey = keys.known() ?? (await keys.read());
      await checkWorkspace(ledger, workspace, { origin: workspace.origin, apiKey, sameWorkspace });
    },
    close: async () => {
      await workspace.close();
      await gates.close();
    },
  };
}

/** The gate of the key that is in use at the moment. A request reads the key before it comes to the gate. */
function gateInUse(gates: KeyGates, keyInUse: () => string | null): RateGate {
  const gate = (): RateGate => {
    const apiKey = keyInUse();
    invariant(apiKey !== null, 'the key is read before the gate is passed');
    return gates.of(apiKey);
  };
  return {
    take: async (signal) => {
      try {
        return await gate().take(signal);
      } catch (error) {
        // The process stops: that is no trouble of the service, and must not pause the work of others.
        const closed = error instanceof PatchbayError && error.code === 'rateGateClosed';
        throw closed ? new DOMException(error.message, 'AbortError') : error;
      }
    },
    pause: async (untilMs) => await gate().pause(untilMs),
    requestsPerSecond: () => gate().requestsPerSecond(),
  };
}
