/**
 * The listening server: Node's own, under limits that suit a sandbox, with a check of each request's head. What is not
 * HTTP is answered in the shape of every other error, and the connection closed.
 *
 * The opener closes it: `close` ends idle and hanging connections alike.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import { invariant, messageOf, PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { type Reply, textOfBody } from '#src/service/operations/operation.ts';
import { createHeadCheck, unspokenVersion } from './check-head.ts';
import { createConnectionEnds, type EndLimits } from './connection-ends.ts';
import { Refusal } from './refusal.ts';
import { type ReplyOutside, replyHeaders, sendReply } from './replies.ts';

/** Limits of the port, in place of Node's generous defaults. */
export interface SocketLimits extends EndLimits {
  /** From the connection, or from a request's first byte, to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From a request's first byte to the end of its body. */
  readonly requestTimeoutMs: number;
  /** The interval at which Node checks the two above. */
  readonly connectionCheckMs: number;
  /** Between two requests of one connection. */
  readonly keepAliveMs: number;
  /** A reply of which the client takes nothing for this long is given up, and its connection closed. */
  readonly unreadReplyMs: number;
  readonly headerBytesMax: number;
  /** Further connections are closed as they come. */
  readonly connectionsMax: number;
}

const defaultSocketLimits: SocketLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  connectionCheckMs: 1_000,
  keepAliveMs: 5_000,
  unreadReplyMs: 30_000,
  droppedBytesMax: 64 * 1024 * 1024,
  droppedMs: 5_000,
  /** Twenty ids of 75 characters, percent-encoded, fit into it. */
  headerBytesMax: 32 * 1024,
  /** Each may hold a body up to its limit while it comes in. */
  connectionsMax: 2_048,
};

export interface ListenOptions {
  readonly fetch: Parameters<typeof getRequestListener>[0];
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly limits: Partial<SocketLimits> | undefined;
  /** What is answered where a request gets no further than the port. */
  readonly replyOutside: ReplyOutside;
  readonly log: Logger;
}

export interface Listening {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** @throws PatchbayError `usage`: `portTaken`, or `portRefused` for any other reason. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { fetch, host, port, limits: given, replyOutside, log } = options;
  const limits = { ...defaultSocketLimits, ...given };
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.connectionCheckMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytesMax,
    // A repeated header is seen as such; otherwise Node would silently take the first one.
    joinDuplicateHeaders: true,
    // Refused by `check-head.ts`, with a body.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connectionsMax;
  await bind(server, host, port);
  const address = server.address();
  invariant(address !== null && typeof address === 'object', 'a listening server has an address');
  const newest = new WeakMap<Socket, ServerResponse>();
  const ends = createConnectionEnds(limits);
  const respond = createAnswer(fetch, isLoopback(address), limits.unreadReplyMs, replyOutside);
  const answer: Answer = (incoming, outgoing) => {
    newest.set(incoming.socket, outgoing);
    respond(incoming, outgoing);
  };
  server.on('request', answer);
  // Without this, Node answers an unknown expectation by itself, with an empty body.
  server.on('checkExpectation', answer);
  server.on('connection', (socket) => {
    const destroySoon = socket.destroySoon.bind(socket);
    // Node closes a connection so, once its last reply is out.
    socket.destroySoon = () => {
      if (newest.get(socket)?.req.complete === false) ends.end(socket);
      else destroySoon();
    };
  });
  server.on('clientError', (error: ParserError, stream) => {
    // The port opens no connections of another kind.
    const socket = stream as Socket;
    const refusal = refusalOfParserError(error);
    if (refusal === null) socket.destroy();
    if (refusal === null || !ends.dropRest(socket)) return;
    const before = newest.get(socket);
    const refuseNow = () => {
      // One reply to a request: what is wrong in the rest of a body that was refused is not told any more.
      const isAnswered = before?.headersSent === true && !before.req.complete;
      if (socket.writable) ends.end(socket, isAnswered ? undefined : writtenRefusal(replyOutside(refusal)));
    };
    const isBusy = before !== undefined && !before.destroyed && (before.headersSent || before.req.complete);
    // Bytes written now would get into the reply to the request before.
    if (isBusy) before.once('close', refuseNow);
    else refuseNow();
  });
  server.once('drop', () =>
    log.warn({ connectionsMax: limits.connectionsMax }, 'connection refused: too many are open'),
  );
  // For example, when the system has no file descriptor left: the service continues with the connections that it has.
  server.on('error', (error) => log.warn({ reason: messageOf(error) }, 'connection not accepted'));
  return { port: address.port, close: () => closeServer(server) };
}

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

function createAnswer(
  fetch: ListenOptions['fetch'],
  loopbackOnly: boolean,
  unreadReplyMs: number,
  replyOutside: ReplyOutside,
): Answer {
  const checkHead = createHeadCheck(loopbackOnly);
  const answer = getRequestListener(fetch, {
    // The globals stay as they are: the process may hold a client as well.
    overrideGlobalObjects: false,
    // HTTP/1.0 may come without one.
    hostname: 'localhost',
    errorHandler: (error) => {
      const problem = error instanceof RequestError ? new Refusal(400, 'The target is not a path.') : error;
      return sendReply(replyOutside(problem));
    },
  });
  return (incoming, outgoing) => {
    const refusal = checkHead(incoming);
    // A request at work may take its time; the fault `hangAfter` takes all of it.
    outgoing.setTimeout(unreadReplyMs, () => {
      if (outgoing.headersSent) outgoing.destroy();
    });
    // HTTP/1.0 has no chunks: intermediaries may disagree about where such a body ends (RFC 9112, 6.1).
    if (incoming.httpVersion === '1.0' && incoming.headers['transfer-encoding'] !== undefined) {
      outgoing.setHeader('connection', 'close');
    }
    // The listener answers its own failures; its promise never rejects.
    if (refusal === null) void answer(incoming, outgoing);
    else refuse(outgoing, replyOutside(refusal));
  };
}

function refuse(outgoing: ServerResponse, reply: Reply): void {
  const body = Buffer.from(textOfBody(reply.body) ?? '');
  const headers = { ...replyHeaders, 'content-length': body.byteLength, connection: 'close' };
  outgoing.writeHead(reply.status, headers);
  outgoing.end(body);
}

interface ParserError extends Error {
  readonly code?: string;
  /** In the words of Node's parser. */
  readonly reason?: string;
  /** The bytes that came in last, and how many of them were read. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** Null: the client has gone, so there is nothing to answer. */
function refusalOfParserError({ code, reason, rawPacket, bytesParsed = 0 }: ParserError): Refusal | null {
  switch (code) {
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ECONNABORTED':
      return null;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal(408, 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal(431, 'The request line and its headers are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Refusal(413, 'The extensions of a chunk are too large.');
    case 'HPE_INVALID_VERSION':
      // The same code stands for a line that is malformed there, as one that ends in a bare LF.
      if (reason === 'Invalid HTTP version') return unspokenVersion();
      break;
    case 'HPE_INVALID_METHOD':
      if (isRequestLine(rawPacket?.toString('latin1') ?? '', bytesParsed)) {
        return new Refusal(501, 'This method is not known here. GET /openapi.json lists those that are.');
      }
      break;
  }
  return new Refusal(400, 'The request is not well-formed HTTP.');
}

/** Whether the parser stopped in a whole line of a request, at a method that it does not know; and not in what is no HTTP. */
function isRequestLine(packet: string, readCount: number): boolean {
  const start = readCount === 0 ? 0 : packet.lastIndexOf('\n', readCount - 1) + 1;
  return /^[!#$%&'*+.^_`|~\dA-Za-z-]+ \S+ HTTP\/1\.\d\r\n/.test(packet.slice(start));
}

/** Section 7, what is answered for a malformed request: not shown. The flat shape, written by hand: Node gives no reply object. */
function writtenRefusal({ status, body }: Reply): string {
  const text = textOfBody(body) ?? '';
  const head = [
    `HTTP/1.1 ${status} Refused`,
    ...Object.entries(replyHeaders).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}

function isLoopback({ address }: AddressInfo): boolean {
  return address === '::1' || address.startsWith('127.');
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port));
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): PatchbayError {
  const facts = { host, port };
  if (cause.code === 'EADDRINUSE') {
    return new PatchbayError('usage', 'portTaken', `port ${port} on ${host} is in use by another program`, {
      facts,
      hint: 'Choose another port, or port 0 for a free one.',
      cause,
    });
  }
  return new PatchbayError('usage', 'portRefused', `cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
    facts,
    hint: 'Choose a port above 1023 and an address of this machine.',
    cause,
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
