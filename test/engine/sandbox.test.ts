/** The sandbox is what a first import meets: as harsh as the service may be. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { startSandbox } from '#src/engine/sandbox.ts';
import { silentLogger } from '#src/log.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';

test('an update in the sandbox empties the lists that it leaves out', async () => {
  const root = tempFolder();
  const folders = { serviceStore: join(root, 'service.sqlite'), sandboxKeyFile: join(root, 'service.key') };
  const sandbox = await startSandbox(folders, systemClock(), silentLogger());
  try {
    const send = async (method: string, path: string, body: object) => {
      const headers = { authorization: sandbox.apiKey, 'content-type': 'application/json' };
      const reply = await fetch(sandbox.origin + path, { method, headers, body: JSON.stringify(body) });
      return ((await reply.json()) as { data: { id: string; defaultFields: object } }).data;
    };
    const emails = [{ name: 'work', value: 'ada@example.com' }];
    const { id } = await send('POST', '/v1/contacts', { defaultFields: { firstName: 'Ada', emails } });
    const { defaultFields } = await send('PATCH', `/v1/contacts/${id}`, { defaultFields: { firstName: 'Eve' } });
    expect(defaultFields).toMatchObject({ firstName: 'Eve', emails: [] });
  } finally {
    await sandbox.close();
  }
});
