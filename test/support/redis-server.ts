/** A Redis of this machine, where its binary is on PATH: real, and gone when it is closed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
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
  /** The disk for its data fails, so that it takes no writes and no PING (`MISCONF`). */
  failDisk(): Promise<void>;
  /** It has a disk again. */
  mendDisk(): Promise<void>;
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
    failDisk: () => onClient(url, (redis) => failDisk(redis, folder)),
    mendDisk: () => onClient(url, (redis) => mendDisk(redis, folder)),
    close: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function onClient(url: string, work: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(url);
  try {
    await work(redis);
  } finally {
    redis.disconnect();
  }
}

async function failDisk(redis: Redis, folder: string): Promise<void> {
  rmSync(folder, { recursive: true });
  await redis.config('SET', 'save', '900 1');
  await redis.bgsave();
  await until('a save that fails', async () => /rdb_last_bgsave_status:err/.test(await redis.info('persistence')));
}

async function mendDisk(redis: Redis, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await redis.config('SET', 'save', '');
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
