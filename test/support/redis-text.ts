/** All that a Redis holds, as text: what a curious operator could read there. */
import type { Redis } from 'ioredis';

/** Ends when the cursor is back at its start. Keys that vanish meanwhile are passed over. */
export async function keysOf(redis: Redis): Promise<readonly string[]> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, page] = await redis.scan(cursor, 'COUNT', 500);
    for (const key of page) keys.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...keys].sort();
}

export async function redisText(redis: Redis): Promise<string> {
  const parts: string[] = [];
  for (const key of await keysOf(redis)) parts.push(key, JSON.stringify(await contentOf(redis, key)));
  return parts.join('\n');
}

async function contentOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return await redis.get(key);
    case 'hash':
      return await redis.hgetall(key);
    case 'list':
      return await redis.lrange(key, 0, -1);
    case 'set':
      return await redis.smembers(key);
    case 'zset':
      return await redis.zrange(key, 0, '-1');
    case 'stream':
      return await redis.xrange(key, '-', '+');
    case 'none':
      return null;
    default:
      throw new Error(`nobody looks into ${key}, which is a ${type}`);
  }
}
