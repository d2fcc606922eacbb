/** Replies to what means no operation: an unknown path, a request that cannot be read, a failure on the way to one. */
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { Reply } from '../operations/operation.ts';
import { errorReply, newTrace } from './error-reply.ts';
import { Refusal } from './refusal.ts';

/**
 * What cannot be answered, as a reply whose trace stands in the log: a refusal at `debug`, as its sender knows what is
 * wrong; anything else is a failure of the service, and only the log says which.
 */
export function replyOutsideOperations(problem: unknown, log: Logger): Reply {
  const trace = newTrace();
  const isRefusal = problem instanceof Refusal;
  const refusal = isRefusal ? problem : new Refusal(500, 'The service failed. Its log names the trace.');
  if (isRefusal) log.debug({ status: refusal.status, trace }, 'request refused');
  else log.error({ error: messageOf(problem), trace }, 'request failed');
  // The code names no resource.
  return errorReply(refusal, '00', trace);
}
