/**
 * Why work that was waited for stood still, for people: what is known of it, the nearest cause first.
 *
 * 1. The engine's ledger, or the disk: nothing can be written, whatever the service says. A sandbox on the same disk fails with it.
 * 2. The pause of all work, or of writing: it names the service.
 * 3. A job that ends early again and again: a folder takes no file, or with an error of Patchbay's own.
 * 4. The queue.
 * 5. The last request that failed. One failure pauses nothing: the row waits until it is certain whether its write has landed.
 * 6. Such a job of another run of the feed: this one may wait behind it.
 * 7. How long was waited: nothing else is known.
 */
import { formatDuration } from '#src/config/forms.ts';
import type { FollowStop, Standstill } from '#src/ledger/follow.ts';
import { adviceFor } from './error-document.ts';
import { aheadWords, failureWords } from './job-failures.ts';

interface Cause {
  readonly code: string;
  readonly message: string;
}

/** Pure. @param again how to go on, for causes that have no advice of their own. */
export function standstillReason(
  stop: Exclude<FollowStop, { readonly kind: 'auth' }>,
  again: string,
): Cause & { readonly hint: string } {
  const { code, message } = stop.kind === 'unreachable' ? causeOf(stop) : engineGone;
  return { code, message, hint: code === 'serviceUnreachable' ? again : (adviceFor(code) ?? again) };
}

const engineGone: Cause = { code: 'engineGone', message: 'the engine that worked on it has ended' };

/** A queue that is away may be away because of something else, and what it holds comes back from the ledger. */
export function isOfQueue({ code }: Pick<Cause, 'code'>): boolean {
  return /queue/i.test(code);
}

function causeOf({ trouble = null, pause, failure, jobFailure, failureAhead, waitedMs }: Standstill): Cause {
  const waited = `no progress for ${formatDuration(Math.max(1_000, Math.floor(waitedMs / 1_000) * 1_000))}`;
  if (trouble !== null && !isOfQueue(trouble)) return { ...trouble, message: `${waited}: ${trouble.message}` };
  if (pause !== null) return { code: pause.errorCode ?? 'serviceUnreachable', message: pause.message };
  if (jobFailure !== null) return { code: jobFailure.code, message: `${waited}: ${failureWords(jobFailure)}` };
  const nearest = trouble ?? failure;
  if (nearest !== null) return { code: nearest.code, message: `${waited}: ${nearest.message}` };
  if (failureAhead !== null) return { code: failureAhead.code, message: `${waited}: ${aheadWords(failureAhead)}` };
  return { code: 'noProgress', message: `${waited}, and no request failed in that time` };
}
