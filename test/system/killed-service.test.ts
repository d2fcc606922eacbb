/** A workspace service as a process: its keys outlive it, and its store is free when it is killed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTestService, person, send, startTestService } from '#test/service/test-service.ts';
import { type PatchbayProcess, startPatchbay } from '#test/support/patchbay-process.ts';

const serviceProcess = join(import.meta.dirname, '../service/store/service-process.ts');

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'killed-service-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function serve(folder: string, ...args: string[]): PatchbayProcess {
  const words = ['serve', '--json', '--port', '0', '--store', join(folder, 'service.sqlite')];
  const started = startPatchbay([...words, ...args], { PATCHBAY_DATA: join(folder, 'data') });
  onTestFinished(() => started.kill());
  return started;
}

async function statusUnder(origin: string, authorization: string): Promise<number> {
  return (await fetch(`${origin}/v1/contacts`, { headers: { authorization } })).status;
}

test('serve takes keys from arguments and from a file, and remembers them', async () => {
  const folder = folderOfTest();
  const keyFile = join(folder, 'keys.txt');
  writeFileSync(keyFile, '\uFEFFfrom-file\r\n\n  second-line \n', { mode: 0o600 });
  const first = serve(folder, '--key', 'one', '--key', 'two', '--key-file', keyFile);
  const { origin, key } = JSON.parse(await first.firstLine());
  const keys = ['one', 'two', 'from-file', 'second-line', 'three'];
  expect(await Promise.all(keys.map((one) => statusUnder(origin, one)))).toEqual([200, 200, 200, 200, 401]);
  expect(key).toBeNull();
  first.signal('SIGINT');
  await first.ended();

  const second = serve(folder);
  const again = JSON.parse(await second.firstLine());
  expect(await statusUnder(again.origin, 'second-line')).toBe(200);
  expect(await statusUnder(again.origin, again.key)).toBe(200);
  second.signal('SIGINT');
  expect((await second.ended()).stderr).not.toContain('second-line');
});

test('a store whose service was killed is free at once', async () => {
  const store = join(folderOfTest(), 'store.sqlite');
  const child = fork(serviceProcess, [store], { execArgv: [] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [origin] = await once(child, 'message');
  expect((await send(String(origin), 'POST', '/v1/contacts', person('kept'))).status).toBe(201);
  await expect(openTestService({ store })).rejects.toMatchObject({ code: 'storeInUse' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const service = await startTestService({ store });
  expect((await service.call('GET', '/v1/contacts?externalIds=kept')).body.data).toHaveLength(1);
});
