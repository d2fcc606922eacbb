/**
 * Carries out one operation under the faults that hit it, and lets other faults be set at run time.
 *
 * Order: latency, then what prevents the operation, then the operation, then what bends its reply, then what spoils
 * the answer. Of several faults of one group, the first given wins; latencies add up.
 */

import { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import { messageOf, PatchbayError, unreachable } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { AnswerChannel } from '#src/service/http/answer-channel.ts';
import { type BodySource, parseJson, readBodyBytes } from '#src/service/http/read-body.ts';
import { badRequest, Refusal } from '#src/service/http/refusal.ts';
import { replyHeaders, sendReply } from '#src/service/http/replies.ts';
import { type ListingFaults, objectOfBody, type Reply } from '#src/service/operations/operation.ts';
import { type Fault, type FaultSet, parseFault } from './faults.ts';

interface FaultyCall {
  readonly faults: readonly Fault[];
  /** The page token that the client sent; null without one. */
  readonly pageToken: string | null;
  /** A token that starts the listing anew, for a listing that gave none itself. */
  readonly firstPageToken: () => string;
  /** How much of the request is kept in memory while it waits. */
  readonly bodyBytes: number;
  /** Carries the operation out. Never throws: a refusal is a reply. */
  readonly run: (listing: ListingFaults) => Reply | Promise<Reply>;
  readonly statusReply: (status: number, retryAfterSeconds: number | null) => Reply;
  readonly channel: AnswerChannel;
  readonly clock: Clock;
  readonly background: Background;
}

/** The longest wait of a timer: 24 days. */
const latencyMsMax = 2 ** 31 - 1;

const noListingFaults: ListingFaults = { lagMs: 0, ignoreFilters: false };

export function answerWithFaults(call: FaultyCall): Response | Promise<Response> {
  if (call.faults.length > 0) return misbehave(call);
  const reply = call.run(noListingFaults);
  return reply instanceof Promise ? reply.then(call.channel.send) : call.channel.send(reply);
}

async function misbehave(call: FaultyCall): Promise<Response> {
  const { faults, channel } = call;
  const latencyMs = faults.reduce((sumMs, fault) => sumMs + (fault.kind === 'latency' ? fault.delayMs : 0), 0);
  // One wait for all of them: each would listen for the end of the connection.
  if (latencyMs > 0) await waitHere(call, Math.min(latencyMs, latencyMsMax));
  for (const fault of faults) {
    if (fault.kind === 'dropBefore') return channel.reset();
    if (fault.kind === 'status') return channel.send(call.statusReply(fault.status, fault.retryAfterSeconds));
  }
  // A service that closed while the request waited does no more work for it.
  if (call.background.closing.aborted) return channel.reset();
  const listing = listingUnder(faults);
  for (const fault of faults) {
    if (fault.kind !== 'lateCommit') continue;
    // Where too much waits already, this one never commits: to the client that is the same reset.
    call.background.later(fault.delayMs, call.bodyBytes, async () => call.run(listing));
    return channel.reset();
  }
  return spoil(call, bendPageToken(call, await call.run(listing)));
}

function listingUnder(faults: readonly Fault[]): ListingFaults {
  return {
    lagMs: faults.reduce((lagMs, fault) => (fault.kind === 'listLag' ? Math.max(lagMs, fault.delayMs) : lagMs), 0),
    ignoreFilters: faults.some((fault) => fault.kind === 'strangers'),
  };
}

async function spoil(call: FaultyCall, reply: Reply): Promise<Response> {
  const { channel } = call;
  for (const fault of call.faults) {
    switch (fault.kind) {
      case 'dropAfter':
        return channel.reset();
      case 'hangAfter':
        await waitHere(call, fault.delayMs);
        return channel.reset();
      case 'truncated':
        return channel.sendHalf(reply);
      case 'notJson':
        return webPage(reply.status);
      case 'latency':
      case 'status':
      case 'dropBefore':
      case 'lateCommit':
      case 'listLag':
      case 'strangers':
      case 'repeatToken':
      case 'nonStringToken':
        break;
      default:
        unreachable(fault);
    }
  }
  return channel.send(reply);
}

/** What a proxy in between likes to answer. */
function webPage(status: number): Response {
  const hasBody = status !== 204;
  return new Response(hasBody ? '<!doctype html><title>Just a moment</title><p>Please wait.</p>' : null, {
    status,
    headers: { ...replyHeaders, 'content-type': 'text/html' },
  });
}

/** Waits for that long, or for ever; ends early when the client leaves or the service closes. */
async function waitHere(call: FaultyCall, delayMs: number | null): Promise<void> {
  const over = AbortSignal.any([call.background.closing, call.channel.gone()]);
  if (over.aborted) return;
  // The one rejection is the abort: the client left or the service closes, and to wait no longer is all that it asks.
  if (delayMs !== null) return call.clock.sleep(delayMs, over).catch(() => {});
  await new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }));
}

/** The faults of page tokens: a token that never ends, and one that is no text. */
interface Paging {
  readonly faults: readonly Fault[];
  readonly pageToken: string | null;
  readonly firstPageToken: () => string;
}

/** Changes the next-page token of a listing's reply; any other reply stays as it is. */
function bendPageToken(paging: Paging, reply: Reply): Reply {
  const body = objectOfBody(reply.body);
  if (body === null || !Array.isArray(body.data)) return reply;
  for (const fault of paging.faults) {
    if (fault.kind === 'nonStringToken') return { ...reply, body: { ...body, nextPageToken: 7 } };
    if (fault.kind === 'repeatToken') {
      const nextPageToken = paging.pageToken ?? body.nextPageToken ?? paging.firstPageToken();
      return { ...reply, body: { ...body, nextPageToken } };
    }
  }
  return reply;
}

/**
 * Work that goes on after its request was answered (the fault lateCommit).
 *
 * What has not begun when the service closes never begins, as in a process that died; what has begun is awaited. What
 * waits holds its request in memory: above a limit, work is dropped.
 */
export interface Background {
  /** Aborts when the service closes. */
  readonly closing: AbortSignal;
  /** Starts the work after a delay, or drops it where too much waits already. The work must not throw. */
  readonly later: (delayMs: number, bodyBytes: number, work: () => Promise<unknown>) => void;
  readonly close: () => Promise<void>;
}

/** Each holds its request, some kilobytes, beside the body. */
export const lateWorksMax = 1_024;
export const lateBodyBytesMax = 64 * 1024 * 1024;

export function createBackground(clock: Clock, log: Logger): Background {
  const controller = new AbortController();
  const pending = new Set<Promise<void>>();
  let pendingBytes = 0;
  let isDroppingTold = false;
  const isFull = (bodyBytes: number) => {
    if (pending.size < lateWorksMax && pendingBytes + bodyBytes <= lateBodyBytesMax) return false;
    // Logged once: its cause recurs again and again.
    if (!isDroppingTold) log.warn({ lateWorksMax, lateBodyBytesMax }, 'late work dropped: too much waits');
    isDroppingTold = true;
    return true;
  };
  return {
    closing: controller.signal,
    later: (delayMs, bodyBytes, work) => {
      if (isFull(bodyBytes)) return;
      pendingBytes += bodyBytes;
      const one = clock
        .sleep(delayMs, controller.signal)
        .then(async () => void (await work()))
        .catch((error: unknown) => {
          // The abort is the service closing: what has not begun is dropped. What fails here is not waited for by others.
          if (!controller.signal.aborted) log.warn({ reason: messageOf(error) }, 'late work failed');
        })
        .finally(() => {
          pendingBytes -= bodyBytes;
          pending.delete(one);
        });
      pending.add(one);
    },
    close: async () => {
      controller.abort();
      await Promise.all(pending);
    },
  };
}

// `POST /__control {"faults":[SPEC…]}`: other faults at run time (`docs/contract.md`, "Service"). `GET` shows those in
// force.
//
// It is open only where it was asked for, and needs no key. Its JSON content type is one that a foreign web page cannot
// send without asking first.

const faultCountMax = 100;
const controlBody = z.object({ faults: z.array(z.string()).max(faultCountMax) });

export interface ControlParts {
  readonly faults: FaultSet;
  readonly bodyBytesMax: number;
}

/** Answers the faults in force, as they were written. */
export function showControl({ faults }: Pick<ControlParts, 'faults'>): Response {
  return sendReply({ status: 200, body: { faults: faults.specs().map((spec) => spec.text) } });
}

/** Answers the faults that are now in force. With one that cannot be read, those before stay in force. */
export async function answerControl(
  source: BodySource,
  { faults, bodyBytesMax }: ControlParts,
  refuse: (problem: unknown) => Response,
): Promise<Response> {
  try {
    const body = controlBody.safeParse(parseJson(await readBodyBytes(source, bodyBytesMax)));
    if (!body.success) {
      throw badRequest([
        { path: 'faults', message: `must be a list of at most ${faultCountMax} texts`, type: 'array' },
      ]);
    }
    faults.replace(body.data.faults.map(parseFault));
    return showControl({ faults });
  } catch (error) {
    return refuse(refusalOf(error));
  }
}

/** A fault that cannot be read is refused in its own words; anything else stays what it is. */
function refusalOf(error: unknown): unknown {
  return error instanceof PatchbayError && error.kind === 'usage' ? new Refusal(400, error.message) : error;
}
