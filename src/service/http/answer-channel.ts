/**
 * The way back to the client: a reply, or, under faults, what a reply is not.
 *
 * Over a socket the reply is written straight to it: a Response of Node's, with its headers and its stream, costs more
 * than all else of a read. Where the app runs without a port there is no socket: a reset is then a body that breaks off.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { textOfBody } from '#src/service/operations/operation.ts';
import type { Reply } from '../operations/operation.ts';
import { replyHeaders, sendReply } from './replies.ts';

// Where another server of this process has put its own Response into the globals, a response is written from a shortcut
// that overlooks the mark of this one. Reading the body takes the shortcut away.
void RESPONSE_ALREADY_SENT.body;

export interface AnswerChannel {
  readonly send: (reply: Reply) => Response;
  /** Ends the connection without an answer, as a crashed peer does. */
  readonly reset: () => Response;
  /** Announces the whole body, sends half of it, and closes. */
  readonly sendHalf: (reply: Reply) => Response;
  /** Aborts when the client has gone. A function and no getter: an object literal with one costs as much as a reply. */
  readonly gone: () => AbortSignal;
}

/** The connection of a request that came over a socket. */
export function socketChannel(outgoing: ServerResponse): AnswerChannel {
  const reset = () => {
    if (outgoing.socket === null) outgoing.destroy();
    else outgoing.socket.resetAndDestroy();
    return RESPONSE_ALREADY_SENT;
  };
  const send = (reply: Reply) => {
    outgoing.statusCode = reply.status;
    if (takesReply(outgoing)) writeReply(outgoing, reply);
    return RESPONSE_ALREADY_SENT;
  };
  return {
    send,
    reset,
    sendHalf: (reply) => {
      const text = textOfBody(reply.body);
      if (text === null) return reset();
      // The answer to HEAD has no body of which half could be missing.
      if (outgoing.req.method === 'HEAD') return send(reply);
      const bytes = Buffer.from(text);
      outgoing.writeHead(reply.status, headersOf(reply, bytes.byteLength));
      outgoing.write(bytes.subarray(0, bytes.byteLength >> 1), () => outgoing.destroy());
      return RESPONSE_ALREADY_SENT;
    },
    gone: () => {
      const leaving = new AbortController();
      if (outgoing.destroyed) leaving.abort();
      else outgoing.once('close', () => leaving.abort());
      return leaving.signal;
    },
  };
}

/** A client that has left meanwhile takes no reply, nor one whose request turned out to be broken and was answered so. */
function takesReply({ destroyed, headersSent, socket }: ServerResponse): boolean {
  return !destroyed && !headersSent && socket?.writable !== false;
}

function writeReply(outgoing: ServerResponse, reply: Reply): void {
  const text = textOfBody(reply.body);
  if (text === null) {
    outgoing.writeHead(reply.status, reply.headers).end();
    return;
  }
  outgoing.writeHead(reply.status, headersOf(reply, Buffer.byteLength(text))).end(text);
}

function headersOf({ headers }: Reply, byteCount: number): OutgoingHttpHeaders {
  return { ...replyHeaders, 'content-length': byteCount, ...headers };
}

/** The stand-in where the app is called without a port. */
export function detachedChannel(request: Request): AnswerChannel {
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
    send: sendReply,
    reset: () => brokenAfter(200, null),
    sendHalf: (reply) => {
      const bytes = Buffer.from(textOfBody(reply.body) ?? '');
      return brokenAfter(reply.status, bytes.subarray(0, bytes.byteLength >> 1));
    },
    gone: () => request.signal,
  };
}
