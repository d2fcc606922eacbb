/**
 * The client of Redis, for BullMQ and for questions of our own. It differs from that of ioredis in INFO alone.
 *
 * Both libraries ask INFO at each connection. BullMQ cannot do without an answer, ioredis and BullMQ write lines of their own about it to
 * standard error, and many users of Redis may not ask: INFO is among the commands that it calls dangerous. What follows from it for people is said
 * once, by `doctor`, `status` and the log.
 */
import { createIORedisClient, RedisConnection } from 'bullmq';
import { Redis } from 'ioredis';

/** What is known of a Redis that does not answer INFO: it has users with rights of their own, which version 6 brought. BullMQ has no advice from 6.2 on. */
const unasked = 'redis_version:6.2.0\r\n';

type Callback = (error: Error | null | undefined, text?: string) => void;

export class QuietRedis extends Redis {
  override info(...words: readonly unknown[]): Promise<string> {
    const callback = words.find((word): word is Callback => typeof word === 'function');
    const sections = words.filter((word) => typeof word === 'string');
    const answered = super.info(...sections).then(withoutPolicy, (error: unknown) => {
      if (error instanceof Error && error.message.startsWith('NOPERM ')) return unasked;
      throw error;
    });
    if (callback !== undefined) answered.then((text) => callback(null, text), callback);
    return answered;
  }
}

/** Whether it may evict jobs is asked by `askRedis`. */
function withoutPolicy(text: string): string {
  return text.replace(/^maxmemory_policy:.*$/m, '');
}

/** Makes BullMQ open its connections so: for all queues and workers that this process opens from now on. */
export function openWithQuietClients(): void {
  RedisConnection.clientFactory = (options) => createIORedisClient(new QuietRedis(options));
}
