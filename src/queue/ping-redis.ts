/** Asks a Redis whether it is there. */
import { Redis } from 'ioredis';
import { messageOf } from '#src/errors.ts';
import { timedOut, within } from './embedded/deadline.ts';

/** @returns null where it answers, else why not, in a few words. Never rejects, and leaves nothing open. */
export async function pingRedis(redisUrl: string, timeoutMs: number): Promise<string | null> {
  const redis = new Redis(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  let reason: string | null = null;
  redis.on('error', (error) => {
    reason ??= messageOf(error);
  });
  try {
    const answer = await within(timeoutMs, redis.ping());
    return answer === timedOut ? `no answer within ${timeoutMs / 1_000} s` : null;
  } catch (error) {
    return reason ?? messageOf(error);
  } finally {
    redis.disconnect();
  }
}
