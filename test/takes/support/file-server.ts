/** A server of files on 127.0.0.1, with or without TLS, that remembers what it was asked. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Certificate, selfSigned } from './certificate.ts';

export const csvText = 'externalId,firstName\nc-1,Ann\n';

export interface FileServer {
  readonly port: number;
  /** `http://127.0.0.1:port` or `https://files.example.com:port`. */
  readonly origin: string;
  readonly requests: readonly IncomingMessage[];
  answer: Answer;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Names of the one certificate of all tests. */
export const serverName = 'files.example.com';
export const otherName = 'other.example.com';
let made: Certificate | null = null;

export function testCertificate(): Certificate {
  made ??= selfSigned([serverName, otherName]);
  return made;
}

/** Answers a CSV file, unless told otherwise. Closed when the test ends. */
export async function startFileServer(
  given: { readonly tls?: boolean; readonly answer?: Answer } = {},
): Promise<FileServer> {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    response.on('error', () => {});
    server.answer(request, response);
  };
  const web = given.tls === true ? createTlsServer(testCertificate(), listener) : createServer(listener);
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    web.closeAllConnections();
    await new Promise((resolve) => web.close(resolve));
  });
  // A TCP server has an address of this shape.
  const { port } = web.address() as AddressInfo;
  const origin = given.tls === true ? `https://${serverName}:${port}` : `http://127.0.0.1:${port}`;
  const server = { port, origin, requests, answer: given.answer ?? sends(csvText) };
  return server;
}

/** The text as CSV, with these headers. */
export function sends(text: string | Buffer, headers: Readonly<Record<string, string>> = {}): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv', 'content-length': Buffer.byteLength(text), ...headers });
    response.end(text);
  };
}

export function redirectsTo(location: string, status = 302): Answer {
  return (_request, response) => response.writeHead(status, { location }).end();
}
