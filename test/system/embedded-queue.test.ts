import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { chmod, cp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { describe, expect, vi } from 'vitest';
import type { Logger } from '#src/log.ts';
import { test } from '../queue/embedded/embedded-test.ts';

/** A log that remembers its lines. */
function recordingLog(): { log: Logger; lines: () => { level: number; msg: string }[] } {
  const written: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void written.push(line) });
  return { log, lines: () => written.map((line) => JSON.parse(line) as { level: number; msg: string }) };
}

function ownerProcess(task: 'wait' | 'stop', folder: string): ChildProcess {
  const script = fileURLToPath(new URL('../queue/embedded/owner-process.ts', import.meta.url));
  return spawn(process.execPath, [script, task, folder], { stdio: ['ignore', 'pipe', 'pipe'] });
}

describe('the life of the embedded queue', () => {
  test('finds at its start what it saved at its stop', async ({ start, clientOf, folder }) => {
    const first = await start();
    await clientOf(first).hset('job', { batch: '3', bytes: Buffer.from([0, 255, 13, 10]) });
    await first.stop();
    expect(readdirSync(folder).sort()).toEqual(['dump.rdb', 'valkey.log']);
    const client = clientOf(await start());
    expect(await client.hgetBuffer('job', 'bytes')).toEqual(Buffer.from([0, 255, 13, 10]));
  });

  test('saves changes by itself while it runs', async ({ start, clientOf, folder }) => {
    await clientOf(await start({ saveEveryMs: 20 })).set('key', 'value');
    await vi.waitFor(() => expect(existsSync(join(folder, 'dump.rdb'))).toBe(true), 10_000);
  });

  test('does not write a file while nothing changes', async ({ start, clientOf, folder }) => {
    const valkey = await start({ saveEveryMs: 20 });
    await clientOf(valkey).get('key');
    await valkey.stop();
    expect(existsSync(join(folder, 'dump.rdb'))).toBe(false);
  });

  test('starts after its process was killed, with the leftover socket and the saved data', async ({
    start,
    clientOf,
    folder,
  }) => {
    const home = join(folder, 'queue');
    const owner = ownerProcess('wait', home);
    const [said] = (await once(owner.stdout as NodeJS.EventEmitter, 'data')) as [Buffer];
    expect(said.toString()).toBe('saved\n');
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(statSync(join(home, 'valkey.sock')).isSocket()).toBe(true);
    writeFileSync(join(home, 'temp-42.rdb'), 'half of a save');
    const client = clientOf(await start({ folder: home }));
    expect(await client.get('survivor')).toBe('yes');
    expect(existsSync(join(home, 'temp-42.rdb'))).toBe(false);
  });

  test('lets a process end that only started and stopped it', async ({ folder }) => {
    const owner = ownerProcess('stop', folder);
    let printed = '';
    owner.stderr?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    const [code] = (await once(owner, 'exit')) as [number];
    expect({ code, printed }).toEqual({ code: 0, printed: '' });
  });

  const damages: Record<string, (dump: Buffer) => Buffer> = {
    'is not a dump at all': () => Buffer.from('not a dump'),
    'is empty': () => Buffer.alloc(0),
    'is cut short': (dump) => dump.subarray(0, dump.length - 20),
    'has wrong bytes in its middle': (dump) => Buffer.from(dump).fill(0xff, dump.length / 2, dump.length / 2 + 40),
  };
  /** Of the first test that damages one. */
  let dump: Buffer | null = null;
  for (const [kind, damage] of Object.entries(damages)) {
    test(`starts empty, with one warning, when its dump ${kind}`, async ({ start, clientOf, folder }) => {
      if (dump === null) {
        const first = await start({ folder: join(folder, 'first') });
        await clientOf(first).mset(
          Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, index])),
        );
        await first.stop();
        dump = await readFile(join(folder, 'first/dump.rdb'));
      }
      const damaged = damage(dump);
      writeFileSync(join(folder, 'dump.rdb'), damaged);

      const { log, lines } = recordingLog();
      const client = clientOf(await start({ log }));
      expect(await client.dbsize()).toBe(0);
      expect(await readFile(join(folder, 'dump.damaged.rdb'))).toEqual(damaged);
      expect(lines()).toMatchObject([
        { level: 40, msg: 'embedded queue started empty: its saved data was damaged and is set aside' },
      ]);
    });
  }

  test('warns once when it can not save, and goes on', async ({ start, clientOf, folder }) => {
    const { log, lines } = recordingLog();
    const valkey = await start({ log, saveEveryMs: 10 });
    mkdirSync(join(folder, 'dump.rdb'));
    const client = clientOf(valkey);
    await client.set('key', 'value');
    await vi.waitFor(() => expect(lines()).toHaveLength(1), 10_000);
    expect(await client.get('key')).toBe('value');
    await rm(join(folder, 'dump.rdb'), { recursive: true });
    await vi.waitFor(() => expect(existsSync(join(folder, 'dump.rdb'))).toBe(true), 10_000);
    expect(lines()).toMatchObject([{ level: 40, msg: 'embedded queue could not save; will try again' }]);
  });

  test('keeps its folder and its socket to its user', async ({ start, folder }) => {
    await chmod(folder, 0o755);
    await start();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'valkey.sock')).mode & 0o777).toBe(0o600);
  });

  test('listens in a private temporary folder when its path is too long for a socket', async ({
    start,
    clientOf,
    folder,
  }) => {
    const valkey = await start({ folder: join(folder, 'long'.repeat(25)) });
    const path = 'path' in valkey.connection ? valkey.connection.path : '';
    expect(path.startsWith(tmpdir())).toBe(true);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect(await clientOf(valkey).ping()).toBe('PONG');
    await valkey.stop();
    expect(existsSync(join(path, '..'))).toBe(false);
  });

  test('listens on a loopback port when the temporary folder has a long path too', async ({ start, folder }) => {
    vi.stubEnv('TMPDIR', join(folder, 'temporary'.repeat(12)));
    try {
      const valkey = await start({ folder: join(folder, 'long'.repeat(25)) });
      expect(valkey.connection).toMatchObject({ host: '127.0.0.1' });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('says why it can not start, and leaves no socket behind', async ({ start, folder }) => {
    mkdirSync(join(folder, 'valkey.log'));
    await expect(start()).rejects.toMatchObject({
      kind: 'unreachable',
      code: 'embeddedQueueStart',
      message: expect.stringContaining('EISDIR'),
    });
    expect(readdirSync(folder)).toEqual(['valkey.log']);
  });

  test('refuses to remove a file that is no socket', async ({ start, folder }) => {
    writeFileSync(join(folder, 'valkey.sock'), 'notes');
    await expect(start()).rejects.toMatchObject({ kind: 'usage', code: 'embeddedQueueFolder' });
  });

  test('refuses a folder that is a file', async ({ start, folder }) => {
    writeFileSync(join(folder, 'file'), '');
    await expect(start({ folder: join(folder, 'file') })).rejects.toMatchObject({ code: 'embeddedQueueFolder' });
  });

  test('tells its owner when the server ends by itself', async ({ start, clientOf, folder }) => {
    const valkey = await start();
    const death = new Promise<Error>((resolve) => valkey.onDeath(resolve));
    const client = clientOf(valkey, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
    await client.call('ACL', 'SETUSER', 'default', '+shutdown');
    await client.call('SHUTDOWN', 'NOSAVE').catch(() => undefined);
    expect(await death).toMatchObject({
      kind: 'unreachable',
      code: 'embeddedQueueDied',
      message: 'the embedded queue died: the embedded queue exited with code 0',
    });
    expect(existsSync(join(folder, 'valkey.sock'))).toBe(false);
    let told: Error | null = null;
    valkey.onDeath((error) => {
      told = error;
    });
    expect(told).toBe(await death);
    await valkey.stop();
  });

  test('does not call its own stop a death, and stops only once', async ({ start }) => {
    const valkey = await start();
    const deaths: Error[] = [];
    valkey.onDeath((error) => deaths.push(error));
    expect(valkey.stop()).toBe(valkey.stop());
    await valkey.stop();
    expect(deaths).toEqual([]);
  });

  test('ends in time even when a script never does', async ({ start, clientOf, folder }) => {
    const { log, lines } = recordingLog();
    const valkey = await start({ log, stopTimeoutMs: 100 });
    const client = clientOf(valkey, { retryStrategy: () => null });
    client.eval("redis.log(redis.LOG_WARNING, 'has begun') while true do end", 0).catch(() => undefined);
    const serverLog = () => readFile(join(folder, 'valkey.log'), 'utf8');
    await vi.waitFor(async () => expect(await serverLog()).toContain('has begun'), 10_000);
    await valkey.stop();
    expect(existsSync(join(folder, 'valkey.sock'))).toBe(false);
    expect(lines()).toMatchObject([{ msg: 'embedded queue did not stop in time; its last save is lost' }]);
  });

  test('leaves a successor in the same folder alone', async ({ start, clientOf, folder }) => {
    const first = await start();
    await first.stop();
    const second = await start();
    await first.stop();
    expect(existsSync(join(folder, 'valkey.sock'))).toBe(true);
    expect(await clientOf(second).ping()).toBe('PONG');
  });

  test('loads a copied folder', async ({ start, clientOf, folder }) => {
    const first = await start({ folder: join(folder, 'first') });
    await clientOf(first).set('key', 'value');
    await first.stop();
    await cp(join(folder, 'first'), join(folder, 'second'), { recursive: true });
    expect(await clientOf(await start({ folder: join(folder, 'second') })).get('key')).toBe('value');
  });
});
