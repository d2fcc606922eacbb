/**
 * The client's connection, for faults that treat it badly.
 *
 * Where the app runs without a port there is no socket: a reset is then a body that breaks off.
 */
import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Reply } from '../operation.ts';

// Where another server of this process has put its own Response into the globals, a response is written from a shortcut
// that overlooks the mark of this one. Reading the body takes the shortcut away.
void RESPONSE_ALREADY_SENT.body;

export interface Connection {
  /** Ends the connection without an answer, as a crashed peer does. */
  readonly reset: () => Response;
  /** Announces the whole body, sends half of it, and closes. */
  readonly sendHalf: (reply: Reply) => Response;
  /** Aborts when the client has gone. */
  readonly gone: AbortSignal;
}

/** The connection of a request that came over a socket. */
export function socketConnection(outgoing: ServerResponse): Connection {
  const reset = () => {
    if (outgoing.socket === null) outgoing.destroy();
    else outgoing.socket.resetAndDestroy();
    return RESPONSE_ALREADY_SENT;
  };
  return {
    reset,
    sendHalf: (reply) => {
      if (reply.body === null) return reset();
      const bytes = Buffer.from(JSON.stringify(reply.body));
      outgoing.writeHead(reply.status, { 'content-type': 'application/json', 'content-length': bytes.byteLength });
      outgoing.write(bytes.subarray(0, bytes.byteLength >> 1), () => outgoing.destroy());
      return RESPONSE_ALREADY_SENT;
    },
    get gone() {
      const leaving = new AbortController();
      if (outgoing.destroyed) leaving.abort();
      else outgoing.once('close', () => leaving.abort());
      return leaving.signal;
    },
  };
}

/** The stand-in where the app is called without a port. */
export function detachedConnection(request: Request): Connection {
  const brokenAfter = (status: number, start: Uint8Array | null) =>
    new Response(
      new ReadableStream({
        pull(controller) {
          // The start is handed out first: an error at once would discard it.
          if (start !== null && start.byteLength > 0) controller.enqueue(start);
          start = null;
          queueMicrotask(() => controller.error(new Error('connection reset')));
        },
      }),
      { status },
    );
  return {
    reset: () => brokenAfter(200, null),
    sendHalf: (reply) => {
      const bytes = Buffer.from(JSON.stringify(reply.body));
      return brokenAfter(reply.status, bytes.subarray(0, bytes.byteLength >> 1));
    },
    gone: request.signal,
  };
}
