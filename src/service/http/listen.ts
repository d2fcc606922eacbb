/**
 * The listening server: from connections to requests, under `socket-limits.ts`. What is no request is answered here,
 * in the shape of every other error.
 *
 * Whoever listens, closes: `close` ends idle and hanging connections alike.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import { invariant, messageOf, PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { textOfBody } from '#src/service/operations/operation.ts';
import { createHeadCheck } from './check-head.ts';
import { continueOnRead } from './continue-on-read.ts';
import { type ParserError, refusalOfParserError } from './malformed-request.ts';
import { withoutUpgrade } from './plain-request.ts';
import { Refusal } from './refusal.ts';
import { replyOutsideOperations } from './reply-outside-operations.ts';
import { sendReply } from './send-reply.ts';
import {
  affordableConnections,
  backlog,
  defaultSocketLimits,
  openFilesMax,
  type SocketLimits,
} from './socket-limits.ts';
import { type Connections, createConnections } from './turns.ts';

export interface ListenOptions {
  readonly fetch: Parameters<typeof getRequestListener>[0];
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly limits: Partial<SocketLimits> | undefined;
  readonly log: Logger;
}

export interface Listening {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Throws a `usage` error: `portTaken`, or `portRefused` for any other reason. */
export async function listen({ fetch, host, port, limits: given, log }: ListenOptions): Promise<Listening> {
  const wished = { ...defaultSocketLimits, ...given };
  const limits = { ...wished, connectionsMax: affordableConnections(wished.connectionsMax, openFilesMax()) };
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.connectionCheckMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytesMax,
    // A header that came twice is seen as such, instead of the first being taken in silence.
    joinDuplicateHeaders: true,
    // Refused by `check-head.ts`, with a body.
    requireHostHeader: false,
  });
  server.timeout = limits.unreadReplyMs;
  // The system may accept a backlog of newcomers before room was made for one.
  server.maxConnections = limits.connectionsMax + backlog + 1;
  await bind(server, host, port);
  const address = server.address();
  invariant(address !== null && typeof address === 'object', 'a listening server has an address');
  const connections = createConnections(createAnswer(fetch, isLoopback(address), log), limits, log);
  serve(server, connections, limits, log);
  return { port: address.port, close: () => closeServer(server, connections) };
}

/** Nothing came in yet: the port was bound in this very turn. */
function serve(server: Server, connections: Connections, limits: SocketLimits, log: Logger): void {
  server.on('connection', connections.opened);
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, behind: Buffer) => {
    const bytes = withoutUpgrade(incoming, behind);
    // Until it is read again nobody else listens.
    socket.on('error', () => undefined);
    connections.interrupted(socket, () => {
      socket.unshift(bytes);
      server.emit('connection', socket);
    });
  });
  server.on('request', connections.requested);
  // Without this, Node asks for every body, also where the head is refused.
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    continueOnRead(incoming, outgoing);
    connections.requested(incoming, outgoing);
  });
  // Without this, Node answers an unknown expectation by itself, and with an empty body.
  server.on('checkExpectation', connections.requested);
  server.on('timeout', connections.stalled);
  server.on('clientError', (error: ParserError, socket: Socket) => {
    log.debug({ code: error.code }, 'malformed request');
    connections.broken(socket, refusalOfParserError(error));
  });
  server.on('connect', (_, socket: Socket) => {
    // A client that breaks off is no failure of the service.
    socket.on('error', () => undefined);
    connections.broken(socket, new Refusal(501, 'This service is no proxy.'));
  });
  // Told once: whoever causes it can cause it a thousand times in a second.
  server.once('drop', () => log.warn({ connectionsMax: limits.connectionsMax }, 'connection refused: all are at work'));
  // As where the system has no more files to give: the service goes on with the connections that it has.
  server.on('error', (error) => log.warn({ reason: messageOf(error) }, 'connection not accepted'));
}

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

function createAnswer(fetch: ListenOptions['fetch'], loopbackOnly: boolean, log: Logger): Answer {
  const checkHead = createHeadCheck(loopbackOnly);
  const answer = getRequestListener(fetch, {
    // The globals stay as they are: the process may hold a client as well.
    overrideGlobalObjects: false,
    // HTTP/1.0 may come without one.
    hostname: 'localhost',
    errorHandler: (error) => {
      const problem = error instanceof RequestError ? new Refusal(400, 'The target is not a path.') : error;
      return sendReply(replyOutsideOperations(problem, log));
    },
  });
  return (incoming, outgoing) => {
    const refusal = checkHead(incoming);
    // HTTP/1.0 knows no chunks: where such a body ends, others on the way may see otherwise (RFC 9112, 6.1).
    if (incoming.httpVersion === '1.0' && incoming.headers['transfer-encoding'] !== undefined) {
      outgoing.setHeader('connection', 'close');
    }
    // The listener answers its own failures; its promise never rejects.
    if (refusal === null) void answer(incoming, outgoing);
    else refuse(outgoing, refusal, log);
  };
}

function refuse(outgoing: ServerResponse, refusal: Refusal, log: Logger): void {
  const body = Buffer.from(textOfBody(replyOutsideOperations(refusal, log).body) ?? '');
  const headers = { 'content-type': 'application/json', 'content-length': body.byteLength, connection: 'close' };
  outgoing.writeHead(refusal.status, headers);
  outgoing.end(body);
}

function isLoopback({ address }: AddressInfo): boolean {
  return address === '::1' || address.startsWith('127.');
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port));
    server.once('error', fail);
    server.listen({ host, port, backlog }, () => {
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

function closeServer(server: Server, connections: Connections): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    connections.close();
  });
}
