/** A changed key is used only after it was seen to open the same workspace (`docs/rules.md`, "Workspace, feed, key"). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { configSchema } from '#src/config/schema.ts';
import { createKeySource, failureNotes } from '#src/engine/workspace-client.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { silentLogger } from '#src/log.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import type { KeyGates } from '#src/rate/shared-rate-gate.ts';
import { createBreakers } from '#src/workspace/classify.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { openTestService } from '../service/test-service.ts';

async function keysOf(known: readonly string[]) {
  const service = await openTestService({ apiKeys: ['first', 'second'], seedPhoneNumbers: 1 });
  const ledger = openSqliteLedger(':memory:');
  onTestFinished(async () => {
    await ledger.close();
    await service.close();
  });
  const reply = await fetch(`${service.origin}/v1/phone-numbers`, { headers: { authorization: 'first' } });
  const [number] = ((await reply.json()) as { data: { id: string }[] }).data;
  await ledger.bind({
    origin: service.origin,
    keyHash: 'x',
    phoneNumberIds: known.length > 0 ? known : [number?.id ?? ''],
  });
  const clock = systemClock();
  const config = configSchema.parse({ service: { baseUrl: service.origin, apiKey: 'first' } });
  const rateGate = createPauseGate(clock);
  const gates: KeyGates = { of: () => rateGate, close: async () => undefined };
  const keys = createKeySource({ config, clock, log: silentLogger(), ledger }, gates, null);
  return { keys, rotate: (key: string) => Object.assign(config.service, { apiKey: key }) };
}

describe('a request that fails', () => {
  it.each([
    [500, 'serviceFailing', 'status 500'],
    [429, 'rateLimited', 'status 429, too many requests'],
  ])(
    'with %s is noted in the ledger, so that whichever process follows the work can name it',
    async (status, code, why) => {
      const service = await openTestService({ apiKeys: ['first'], faults: [`update:status=${status};retryAfter=0`] });
      const ledger = openSqliteLedger(':memory:');
      const clock = systemClock();
      const config = configSchema.parse({ service: { baseUrl: service.origin, apiKey: 'first' } });
      const noted = failureNotes({ ledger, clock, log: silentLogger() }, service.origin);
      const breakers = createBreakers({ clock, onOpen: () => undefined, onFailure: noted });
      const workspace = createHttpWorkspace({
        ...{ baseUrl: service.origin, readApiKey: () => config.service.apiKey ?? '', breakers, clock },
        ...{ rateGate: createPauseGate(clock), random: Math.random, log: silentLogger() },
      });
      onTestFinished(async () => {
        await workspace.close();
        await ledger.close();
        await service.close();
      });
      expect(await ledger.serviceFailure()).toBeNull();
      await workspace.updateContact('0123456789abcdef01234567', {
        defaultFields: { emails: [], phoneNumbers: [] },
        customFields: [],
      });
      await expect
        .poll(() => ledger.serviceFailure())
        .toMatchObject({
          code,
          message: `the last create or update at ${service.origin} failed: ${why}`,
        });
    },
  );
});

describe('a key that was changed while the engine runs', () => {
  it('is used where it opens the same workspace', async () => {
    const { keys, rotate } = await keysOf([]);
    expect(await keys.read()).toBe('first');
    rotate('second');
    expect(await keys.read()).toBe('second');
    expect(keys.known()).toBe('second');
  });

  it('is refused where it opens another one, and the old key stays', async () => {
    const { keys, rotate } = await keysOf(['PNelsewhere']);
    await keys.read();
    rotate('second');
    await expect(keys.read()).rejects.toMatchObject({ code: 'otherWorkspace' });
    expect(keys.known()).toBe('first');
  });
});
