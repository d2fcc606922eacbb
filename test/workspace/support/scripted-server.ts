/**
 * A service by script: real sockets on loopback, one scripted step per request, literal JSON.
 *
 * A step sees the whole request before it acts, so that a reset comes after the service had read everything.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Tells one connection from another. */
  readonly port: number;
}

export type Step = (response: ServerResponse, request: SeenRequest) => void;

export interface ScriptedServer {
  readonly origin: string;
  readonly seen: readonly SeenRequest[];
  readonly openSockets: ReadonlySet<Socket>;
  /** The next requests get these steps, in order; a request without a step gets status 599. */
  script(...steps: Step[]): void;
  /** All requests without a step of their own get this one. */
  always(step: Step): void;
  close(): Promise<void>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const steps: Step[] = [];
  const openSockets = new Set<Socket>();
  let fallback: Step = reply(599, '{"message":"no step is left"}');
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { method = '', url = '', headers, socket } = request;
    const body = Buffer.concat(pieces).toString('utf8');
    const one = { method, url, headers, body, port: socket.remotePort ?? 0 };
    seen.push(one);
    (steps.shift() ?? fallback)(response, one);
  });
  server.on('connection', (socket) => {
    openSockets.add(socket);
    socket.on('close', () => openSockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    seen,
    openSockets,
    script: (...more) => void steps.push(...more),
    always: (step) => {
      fallback = step;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A whole reply with this text as its body. */
export function reply(status: number, text: string, headers: Record<string, string> = {}): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };
}

/** Resets the connection after the request was read. */
export const reset: Step = (response) => void response.socket?.resetAndDestroy();

/** Never answers. */
export const hang: Step = () => {};

/** Says 200 and a length, sends the first half, and closes. */
export function half(status: number, text: string): Step {
  return (response) => {
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    });
    response.write(text.slice(0, text.length / 2), () => response.socket?.destroy());
  };
}

/** Sends headers and the beginning of a body, then nothing. */
export function stall(status: number, text: string): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.write(text.slice(0, text.length / 2));
  };
}

/** 10 MB without a length, as long as somebody reads. */
export const tenMegabytes: Step = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('error', () => {});
  response.write('{"data":[');
  for (let megabyte = 0; megabyte < 10; megabyte += 1) response.write(' '.repeat(1_000_000));
  response.end('],"nextPageToken":null}');
};
