/**
 * What a process that is no engine can see of the surroundings by itself, for people: the room on the disk, and whether a
 * Redis answers.
 */

import type { Home } from '#src/app.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { freeBytesOf, isDiskFull, roomInWords } from './disk-room.ts';

export interface Surroundings {
  /** Null where the file system does not tell. */
  readonly diskFreeBytes: number | null;
  /** Null for the embedded queue: only its engine can use it. */
  readonly queueAnswers: boolean | null;
  /** Sentences; empty where all is well. */
  readonly troubles: readonly string[];
}

const answerWithinMs = 2_000;

/** Takes two seconds at most, and changes nothing. */
export async function lookAround({ config, mode }: Pick<Home, 'config' | 'mode'>): Promise<Surroundings> {
  const { root } = dataFolders(config, mode);
  const { redisUrl } = config.queue;
  // Null: this file system does not tell. That is no trouble, only nothing to warn by.
  const diskFreeBytes = await freeBytesOf(root).catch(() => null);
  const troubles = diskFreeBytes !== null && isDiskFull(diskFreeBytes) ? [roomInWords(diskFreeBytes, root)] : [];
  if (redisUrl === null) return { diskFreeBytes, queueAnswers: null, troubles };
  // Loaded only here: most calls need no queue.
  const { pingRedis } = await import('#src/queue/ping-redis.ts');
  const reason = await pingRedis(redisUrl, answerWithinMs);
  if (reason !== null) troubles.push(`The queue cannot be reached: Redis at ${new URL(redisUrl).host} (${reason}).`);
  return { diskFreeBytes, queueAnswers: reason === null, troubles };
}
