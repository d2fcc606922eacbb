/** A pause in the words of the page and of `patchbay doctor`: its cause, and what ends it (`docs/rules.md`, "Retries, rate, outages"). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { pauseAdvice } from '#src/operations/pause-advice.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

const refused = { code: 'auth', errorCode: 'keyRefused', message: 'the key is refused', sinceMs: 1_000 } as const;

describe('what ends the pause of a refused key', () => {
  it('is another key in its file, which is read again and again', () => {
    const advice = pauseAdvice(refused, { apiKey: null, apiKeyFile: '/etc/key' });
    expect(advice).toMatch(/^Set a working key in \/etc\/key: work continues by itself/);
  });

  it('is a restart with another key where that is in the environment, also where a key file is beside it', () => {
    for (const apiKeyFile of [null, '/etc/key']) {
      const advice = pauseAdvice(refused, { apiKey: 'old', apiKeyFile });
      expect(advice).toMatch(/^Set a working key in PATCHBAY_API_KEY and start Patchbay again: /);
    }
  });
});

describe('doctor', () => {
  async function dataFolder() {
    const data = tempFolder();
    mkdirSync(join(data, 'sandbox'));
    const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
    onTestFinished(() => ledger.close());
    await ledger.setPause(refused);
    const config = join(data, 'patchbay.yaml');
    writeFileSync(config, 'feeds: { crm: { take: "*.csv", every: 1h } }\n');
    const engine = async () => {
      const given = ['doctor', '--json', '--data', data, '--sandbox', '--config', config];
      const { code, documents } = await callPatchbay(given, {});
      const found = documents[0].checks.find(({ check }: { readonly check: string }) => check === 'engine');
      return { code, ...found };
    };
    return { ledger, lockFile: join(data, 'sandbox', 'engine.lock'), engine };
  }

  it('shows why the running engine has paused work, as a finding of the exit code of the cause', async () => {
    const { lockFile, engine } = await dataFolder();
    const lock = takeEngineLock(lockFile);
    onTestFinished(() => lock?.release());
    expect(await engine()).toMatchObject({
      ...{ code: 4, ok: false },
      detail: expect.stringContaining(
        'work is paused since 1970-01-01T00:00:01.000Z: the key is refused. Set a working key',
      ),
    });
  });

  it('names the schedules that are due while no engine runs', async () => {
    const { ledger, engine } = await dataFolder();
    const rule = { kind: 'every', everyMs: 3_600_000 } as const;
    await ledger.schedules.put({ name: 'crm', work: 'take', rule, dueAtMs: 0, createdAtMs: 0 });
    const { code, ok, detail } = await engine();
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(detail).toMatch(
      /^not running, while schedules are due \(crm since 1970-01-01T00:00:00.000Z\): patchbay .*start$/,
    );
  });

  it('says nothing of a pause that the next engine begins without', async () => {
    const { engine } = await dataFolder();
    expect(await engine()).toMatchObject({ code: 0, ok: true, detail: expect.stringContaining('not running') });
  });
});
