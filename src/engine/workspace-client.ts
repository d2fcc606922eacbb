/**
 * The way to the service, the same for every process: key, rate gate, client, and the check that the key opens the workspace
 * that the ledger belongs to.
 */
import { type Home, requireApiKey } from '#src/app.ts';
import { serviceFigures } from '#src/config/schema.ts';
import { invariant, messageOf, PatchbayError } from '#src/errors.ts';
import { actOf } from '#src/operations/acts.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import type { RateGate } from '#src/rate/rate-gate.ts';
import { createKeyGates, type KeyGates } from '#src/rate/shared-rate-gate.ts';
import { type Cut, checkWorkspace, type WorkspaceIdentity } from '#src/runs/check-workspace.ts';
import {
  type BreakerKind,
  type Breakers,
  createBreakers,
  type OpenedBreaker,
  type RequestFailure,
} from '#src/workspace/classify.ts';
import { createHttpWorkspace, parseOrigin } from '#src/workspace/http-workspace.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { queueTrouble } from './health.ts';

export interface WorkspaceClient {
  readonly workspace: Workspace;
  readonly breakers: Breakers;
  /**
   * Checks that key and origin still open the ledger's workspace. Does nothing for the sandbox, which belongs to the data
   * folder by its location.
   * @throws what `checkWorkspace` and `requireApiKey` throw.
   */
  recheck(cut?: Cut): Promise<void>;
  /** As `close` of the workspace. */
  close(patienceMs?: number): Promise<void>;
}

export interface SandboxPlace {
  readonly origin: string;
  readonly apiKey: string;
}

export interface WorkspaceClientOptions {
  /** Null for a real service, which the configuration names. */
  readonly sandbox: SandboxPlace | null;
  /** Its Redis holds the rate that all processes share. */
  readonly queue: Pick<QueueServer, 'producer' | 'description'>;
  /** A person confirms that the workspace is the same although origin or key changed. */
  readonly sameWorkspace: boolean;
  /** Must not throw. */
  readonly onOpenBreaker: (opened: OpenedBreaker) => void;
  /** Cuts all reads that have no signal of their own: the process stops. */
  readonly stopping: AbortSignal;
}

/** @throws PatchbayError `usage` `baseUrlInvalid`. Sends nothing. */
export function openWorkspaceClient(home: Home, options: WorkspaceClientOptions): WorkspaceClient {
  const { config, ledger, clock, log, mode } = home;
  const { sandbox, queue, sameWorkspace, onOpenBreaker, stopping } = options;
  const baseUrl = sandbox?.origin ?? config.service.baseUrl ?? '';
  const { requestsPerSecond } = serviceFigures(config, mode);
  const gates = createKeyGates({
    origin: parseOrigin(baseUrl),
    requestsPerSecond,
    connection: queue.producer,
    clock,
    log,
  });
  const confirmed = sameWorkspace ? () => actOf(home, 'sameWorkspace') : null;
  const keys = createKeySource(home, gates, confirmed, stopping);
  const onFailure = failureNotes(home, parseOrigin(baseUrl));
  const breakers = createBreakers({ clock, onOpen: onOpenBreaker, onFailure });
  const workspace = createHttpWorkspace({
    baseUrl,
    readApiKey: () => sandbox?.apiKey ?? keys.read(),
    rateGate: gateInUse(gates, () => sandbox?.apiKey ?? keys.known(), queue.description),
    breakers,
    clock,
    random: Math.random,
    log,
    stopping,
  });
  return {
    workspace,
    breakers,
    recheck: async (cut) => {
      if (sandbox !== null) return;
      const apiKey = keys.known() ?? (await keys.read());
      await checkWorkspace(ledger, workspace, { origin: workspace.origin, apiKey, confirmed }, cut);
    },
    close: async (patienceMs) => {
      await workspace.close(patienceMs);
      await gates.close();
    },
  };
}

/** A service that fails fails often: one note a second is enough to tell why work stands still. */
const failureNoteEveryMs = 1_000;

/** Notes in the ledger what failed last, so that whichever process follows the work can name it. */
export function failureNotes(
  { ledger, clock, log }: Pick<Home, 'ledger' | 'clock' | 'log'>,
  origin: string,
): (kind: BreakerKind, failure: RequestFailure) => void {
  let notedAtMs = Number.NEGATIVE_INFINITY;
  return (kind, { code, why }) => {
    if (clock.monotonicMs() - notedAtMs < failureNoteEveryMs) return;
    notedAtMs = clock.monotonicMs();
    const message = `the last ${kind === 'read' ? 'read' : 'create or update'} at ${origin} failed: ${why}`;
    ledger.noteServiceFailure({ code, message, atMs: clock.nowMs() }).catch((error: unknown) => {
      // The next failure is noted again; trouble of the ledger is reported by `health.ts`.
      log.debug({ reason: messageOf(error) }, 'failure not noted');
    });
  };
}

/** The gate of the key that is currently in use. A request reads the key before it comes to the gate. */
function gateInUse(gates: KeyGates, keyInUse: () => string | null, queueDescription: string): RateGate {
  const gate = (): RateGate => {
    const apiKey = keyInUse();
    invariant(apiKey !== null, 'the key is read before the gate is passed');
    return gates.of(apiKey);
  };
  return {
    take: async (signal, heldMsMax) => {
      try {
        return await gate().take(signal, heldMsMax);
      } catch (error) {
        throw error instanceof PatchbayError ? ofGate(error, queueDescription) : error;
      }
    },
    pause: async (untilMs) => await gate().pause(untilMs),
  };
}

/** What callers get for an error of the gate. Pure. */
function ofGate(error: PatchbayError, queueDescription: string): Error {
  const { code, kind, message, hint, cause } = error;
  // The process is stopping: not a failure of the service, and no reason to pause the work of others.
  if (code === 'rateGateClosed') return new DOMException(message, 'AbortError');
  if (code !== 'rateGateAway' || !(cause instanceof Error)) return error;
  const trouble = queueTrouble(queueDescription, cause, 0);
  return trouble === null
    ? error
    : new PatchbayError(kind, trouble.code, trouble.message, { ...(hint === null ? {} : { hint }), cause });
}

/**
 * The key of a real service. A key that changed while the process runs is used only after it was seen to open the same
 * workspace: until then it might write into another one (`docs/rules.md`, "Workspace, feed, key").
 */
export interface KeySource {
  /** Throws what `requireApiKey` and `checkWorkspace` throw: the old key then stays in use. */
  read(): Promise<string>;
  /** The key in use; null before the first read. */
  known(): string | null;
}

export function createKeySource(
  { config, clock, log, ledger }: Pick<Home, 'config' | 'clock' | 'log' | 'ledger'>,
  gates: KeyGates,
  confirmed: WorkspaceIdentity['confirmed'],
  stopping?: AbortSignal,
): KeySource {
  let known: string | null = null;
  const verify = async (apiKey: string): Promise<void> => {
    const baseUrl = config.service.baseUrl ?? '';
    const rateGate = gates.of(apiKey);
    const probe = createHttpWorkspace({ baseUrl, readApiKey: () => apiKey, rateGate, clock, random: Math.random, log });
    try {
      const cut = stopping === undefined ? {} : { signal: stopping };
      await checkWorkspace(ledger, probe, { origin: probe.origin, apiKey, confirmed }, cut);
    } finally {
      await probe.close();
    }
  };
  return {
    read: async () => {
      const apiKey = await requireApiKey(config);
      if (known !== null && apiKey !== known) await verify(apiKey);
      known = apiKey;
      return apiKey;
    },
    known: () => known,
  };
}
