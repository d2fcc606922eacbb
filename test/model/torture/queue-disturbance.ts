/**
 * What is done to the queue in the middle of the work: it is flushed, it dies and comes back empty, it stands still.
 *
 * A real Redis is a process of its own. The embedded one lives in the engine: it dies and stands still with it.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Crew } from './crew.ts';
import type { Ground } from './ground.ts';

export interface QueueDisturbance {
  /** FLUSHALL. Answers whether the queue was there to be flushed. */
  flush(): Promise<boolean>;
  /** SIGKILL; it comes back empty, on the same address. */
  restart(awayMs: number): Promise<void>;
  /** SIGSTOP, and SIGCONT after that time. Answers whether the process was there. */
  freeze(forMs: number): Promise<boolean>;
}

export function disturbanceOf(ground: Ground, data: string, crew: Crew): QueueDisturbance {
  const { redis } = ground;
  if (redis === null) return embedded(data, crew);
  return {
    flush: () => flushAt({ url: redis.url }),
    restart: async (awayMs) => {
      await redis.kill();
      await sleep(awayMs);
      await redis.startAgain();
    },
    freeze: async (forMs) => {
      const pid = await withClient({ url: redis.url }, async (client) =>
        Number(/process_id:(\d+)/.exec(await client.info('server'))?.[1]),
      );
      return pid !== null && freezeProcess(pid, forMs);
    },
  };
}

function embedded(data: string, crew: Crew): QueueDisturbance {
  const folder = join(data, 'queue');
  return {
    flush: () => flushAt({ path: join(folder, 'valkey.sock') }),
    restart: async () => {
      const [engine] = crew.members;
      if (engine === undefined) return;
      await crew.killAndRestart(engine);
      // What it saved last is gone, too, unless the new one was faster.
      rmSync(join(folder, 'dump.rdb'), { force: true });
    },
    freeze: async (forMs) => {
      const engine = crew.members[0]?.process;
      return engine?.running === true && freezeProcess(engine.pid, forMs);
    },
  };
}

/** Of a process of this torture. Answers whether it was there. */
export async function freezeProcess(pid: number, forMs: number): Promise<boolean> {
  try {
    process.kill(pid, 'SIGSTOP');
    await sleep(forMs);
    process.kill(pid, 'SIGCONT');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** Where a queue is. */
type Address = { readonly url: string } | { readonly path: string };

/** FLUSHALL. Answers whether the queue was there to be flushed. */
export async function flushAt(address: Address): Promise<boolean> {
  return (await withClient(address, (client) => client.flushall())) === 'OK';
}

/** Null where the queue is away just now. */
async function withClient<Result>(address: Address, work: (client: Redis) => Promise<Result>): Promise<Result | null> {
  const options = { lazyConnect: true, retryStrategy: () => null, commandTimeout: 2_000, connectTimeout: 1_000 };
  const client = 'url' in address ? new Redis(address.url, options) : new Redis({ ...options, path: address.path });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } catch {
    return null;
  } finally {
    client.disconnect();
  }
}
