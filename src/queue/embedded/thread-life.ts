/**
 * Follows the thread of the embedded queue by what it says, from its start to its end.
 *
 * Invariant: `ended` resolves once, whatever ended the thread: its own word, an error that nobody caught, or a
 * termination.
 */
import type { Worker } from 'node:worker_threads';
import { messageOf, unreachable } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { FromThread } from './thread-messages.ts';

type Ready = Extract<FromThread, { kind: 'ready' }>;

export interface ThreadLife {
  /** Never settles when the thread ends first. */
  readonly ready: Promise<Ready>;
  /** Resolves with the reason once the thread has ended, whatever ended it. */
  readonly ended: Promise<string>;
}

/** Must be called before the thread can have said anything: in the same turn in which it was made. */
export function followThread(thread: Worker, log: Logger): ThreadLife {
  const ready = Promise.withResolvers<Ready>();
  const ended = Promise.withResolvers<string>();
  let reason = 'its thread ended';
  thread.on('message', (message: FromThread) => {
    switch (message.kind) {
      case 'ready':
        return ready.resolve(message);
      case 'saveFailed':
        return log.warn({ reason: message.message }, 'embedded queue could not save; trying on');
      case 'stopped':
        if (!message.saved) log.warn('embedded queue stopped without its last save');
        return;
      case 'died':
        reason = message.message;
        return;
      default:
        unreachable(message);
    }
  });
  thread.on('error', (error) => {
    reason = messageOf(error);
  });
  thread.once('exit', () => ended.resolve(reason));
  return { ready: ready.promise, ended: ended.promise };
}
