/** A Redis of this machine, where its binary is on PATH: real, and gone when it is closed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export interface RedisServer {
  readonly url: string;
  /** SIGKILL: its memory is gone, since it saves nothing. */
  kill(): Promise<void>;
  /** SIGSTOP: it answers nothing, and its connections stay up. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Starts it again, empty, on the same port. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

/** Null where there is none. */
export function findRedisServer(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'redis-server');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

export async function startRedisServer(binary: string): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'pb-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
    child = spawn(binary, args, { stdio: 'ignore' });
    await answers(url);
  };
  const kill = async (): Promise<void> => {
    const dying = child;
    child = null;
    if (dying === null || dying.exitCode !== null || dying.signalCode !== null) return;
    const gone = once(dying, 'exit');
    dying.kill('SIGKILL');
    await gone;
  };
  await start();
  return {
    url,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    startAgain: start,
    close: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  redis.on('error', () => undefined);
  try {
    await until('an answer of redis-server', () => redis.ping());
  } finally {
    redis.disconnect();
  }
}
