/**
 * One request over the connection pool, and what the transport saw of its end.
 *
 * Invariant: `exchange` never throws and never sends twice. Whether bytes were sent is not guessed from error codes: the
 * pool calls `onRequestStart` right before it writes, and throwing there means that nothing is sent.
 */
import { type Dispatcher, Pool } from 'undici';
import { type Clock, timedOut, within } from '#src/clock.ts';
import { endCodes, type TransportEnd } from './classify.ts';
import { connectionsMax, idleConnectionMs, type WorkspaceTimeouts } from './port.ts';

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Encoded, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Ends the request; a write that has begun is left to end by itself. */
  readonly signal: AbortSignal | undefined;
  /** How long the beginning of the reply may take, the connection included; undefined: as the time-outs say. */
  readonly answerMsMax: number | undefined;
  /** A larger reply is cut off. */
  readonly replyBytesMax: number;
  /** Called right before the write to the socket. */
  readonly onWrite: () => void;
}

export interface Exchanged {
  readonly end: TransportEnd;
  /** Monotonic: when the write to the socket began; null if it did not. */
  readonly writtenAtMs: number | null;
}

export interface Exchanger {
  exchange(request: WireRequest): Promise<Exchanged>;
  /** As `close` of a workspace (`port.ts`). */
  close(patienceMs?: number): Promise<void>;
}

/** It keeps nothing from one text to the next. */
const decoder = new TextDecoder();

export function createExchanger(origin: string, clock: Clock, timeouts: WorkspaceTimeouts): Exchanger {
  const pool = new Pool(origin, {
    connections: connectionsMax,
    pipelining: 1,
    // HTTP/2 shares a connection among requests and may resend an unprocessed one by itself.
    allowH2: false,
    connectTimeout: timeouts.connectMs,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    keepAliveTimeout: idleConnectionMs,
    // The service's own keep-alive hint may shorten the idle time, never extend it.
    keepAliveMaxTimeout: idleConnectionMs,
  });
  const handOn = fewEachTurn();
  let closing: Promise<void> | null = null;
  return {
    exchange: (request) => exchangeOnce(pool, handOn, request, clock, timeouts),
    close(patienceMs) {
      closing ??= closePool(pool, patienceMs);
      return closing;
    },
  };
}

async function closePool(pool: Pool, patienceMs?: number): Promise<void> {
  const closed = pool.close();
  if (patienceMs === undefined) return closed;
  // What is left behind ends with the connections.
  closed.catch(() => undefined);
  if ((await within(patienceMs, closed)) === timedOut) await pool.destroy();
}

type HandOn = (end: () => void) => void;

/**
 * Ends that came together are worked on a few in each turn of the loop. The pool writes to a used connection one turn after it was
 * asked, so that with all of them in one turn the service would have nothing to do until the last one is worked on.
 */
const endsPerTurn = 8;

function fewEachTurn(): HandOn {
  let endCount = 0;
  return function handOn(end): void {
    if (endCount === endsPerTurn) {
      setImmediate(handOn, end);
      return;
    }
    // The first one of the next turn.
    if (endCount === 0) setImmediate(() => (endCount = 0));
    endCount += 1;
    end();
  };
}

function exchangeOnce(
  pool: Pool,
  handOn: HandOn,
  request: WireRequest,
  clock: Clock,
  timeouts: WorkspaceTimeouts,
): Promise<Exchanged> {
  const { promise, resolve } = Promise.withResolvers<Exchanged>();
  const { replyBytesMax } = request;
  const isWrite = request.method !== 'GET';
  const askedAtMs = clock.monotonicMs();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let writtenAtMs: number | null = null;
  let status: number | null = null;
  let retryAfter: string | null = null;
  let settled = false;
  let controller: Dispatcher.DispatchController | null = null;

  function settle(end: TransportEnd): void {
    if (settled) return;
    settled = true;
    clearTimeout(deadline);
    clearTimeout(silence);
    request.signal?.removeEventListener('abort', onAbort);
    // The pool takes the connection back one turn after the end. Resolving after that lets the next request reuse it.
    queueMicrotask(() => setImmediate(handOn, () => resolve({ end, writtenAtMs })));
  }
  /** Ends the request from our side, and destroys the connection with what is still to come on it. */
  function breakOff(code: string, cause: unknown): void {
    settle(failedEnd(writtenAtMs !== null, code, status, cause));
    controller?.abort(new Error(code));
  }
  function onAbort(): void {
    if (!isWrite || writtenAtMs === null) breakOff(endCodes.aborted, request.signal?.reason);
  }

  const handler: Dispatcher.DispatchHandler = {
    // Throwing here keeps the request off the socket and the connection in the pool.
    onRequestStart(started) {
      if (settled) throw new Error(endCodes.aborted);
      if (writtenAtMs !== null) {
        // The pool would send the same request again on a new connection.
        settle(failedEnd(true, 'UND_ERR_SOCKET', status, undefined));
        throw new Error(endCodes.aborted);
      }
      const nowMs = clock.monotonicMs();
      if (nowMs - askedAtMs > timeouts.writeStartMs) {
        settle(failedEnd(false, endCodes.startedTooLate, null, undefined));
        throw new Error(endCodes.startedTooLate);
      }
      controller = started;
      writtenAtMs = nowMs;
      request.onWrite();
    },
    onResponseStart(_controller, statusCode, headers) {
      if (statusCode < 200) return;
      status = statusCode;
      clearTimeout(silence);
      const header = headers['retry-after'];
      retryAfter = (Array.isArray(header) ? header[0] : header) ?? null;
      if (Number(headers['content-length'] ?? 0) > replyBytesMax) breakOff(endCodes.replyTooLarge, undefined);
    },
    onResponseData(_controller, chunk) {
      bytes += chunk.length;
      if (bytes > replyBytesMax) breakOff(endCodes.replyTooLarge, undefined);
      else pieces.push(chunk);
    },
    onResponseEnd() {
      if (status === null) return;
      const text = decoder.decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
      settle({ phase: 'replied', status, text, retryAfter });
    },
    onResponseError(_controller, error) {
      settle(failedEnd(writtenAtMs !== null, codeOf(error), status, error));
    },
  };

  request.signal?.addEventListener('abort', onAbort, { once: true });
  const deadline = setTimeout(() => breakOff(endCodes.requestTimeout, undefined), timeouts.requestMs);
  const { method, path, headers, body, answerMsMax } = request;
  const silence =
    answerMsMax === undefined ? undefined : setTimeout(() => breakOff(endCodes.noAnswer, undefined), answerMsMax);
  pool.dispatch({ method, path, headers, body }, handler);
  return promise;
}

function failedEnd(written: boolean, code: string, status: number | null, cause: unknown): TransportEnd {
  if (!written) return { phase: 'notSent', code, cause };
  return { phase: 'sent', code, status, cause: withoutBytes(cause) };
}

/** The stable code of a transport error, or else its name. */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** A parser error carries the bytes of the reply, which must not get into a log. */
function withoutBytes(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('data' in cause)) return cause;
  return new Error(cause.message);
}
