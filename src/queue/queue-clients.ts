/** Makes BullMQ open its connections with `QuietRedis`. */
import { createIORedisClient, RedisConnection } from 'bullmq';
import { QuietRedis } from './quiet-redis.ts';

/** For all queues and workers that this process opens from now on. */
export function openWithQuietClients(): void {
  RedisConnection.clientFactory = (options) => createIORedisClient(new QuietRedis(options));
}
