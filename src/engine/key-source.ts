/**
 * The key of a real service. A key that was changed while the process runs is used only after it was seen to open the
 * same workspace: until then it could write into another one (`rules.md`, "Workspace, feed, key").
 */
import { type Home, requireApiKey } from '#src/app.ts';
import { checkWorkspace } from '#src/runs/check-workspace.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import type { KeyGates } from './key-gates.ts';

type KeyHome = Pick<Home, 'config' | 'clock' | 'log' | 'ledger'>;

export interface KeySource {
  /** Throws what `requireApiKey` and `checkWorkspace` throw: the old key then stays in use. */
  read(): Promise<string>;
  /** The key in use; null before the first read. */
  known(): string | null;
}

export function createKeySource(home: KeyHome, gates: KeyGates, sameWorkspace: boolean): KeySource {
  const { config, clock, log, ledger } = home;
  let known: string | null = null;
  const verify = async (apiKey: string): Promise<void> => {
    const baseUrl = config.service.baseUrl ?? '';
    const rateGate = gates.of(apiKey);
    const probe = createHttpWorkspace({ baseUrl, readApiKey: () => apiKey, rateGate, clock, random: Math.random, log });
    try {
      await checkWorkspace(ledger, probe, { origin: probe.origin, apiKey, sameWorkspace });
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
