import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { silentLogger } from '#src/log.ts';
import { type EmbeddedValkey, startEmbeddedValkey } from '#src/queue/embedded/embedded-valkey.ts';
import { sharedRateGateContract } from '../rate/shared-rate-gate-contract.ts';

describe('the shared rate gate on the embedded Valkey', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pb-gate-'));
  let valkey: EmbeddedValkey | null = null;
  beforeAll(async () => {
    valkey = await startEmbeddedValkey({ folder, log: silentLogger() });
  });
  afterAll(async () => {
    await valkey?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  sharedRateGateContract(() => valkey?.connection ?? { path: '' });
});
