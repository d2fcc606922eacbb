/**
 * The load: a number of connections, each with one request under way. Written on bare sockets, so that the load costs
 * less than what is measured. Understands replies with a Content-Length, and nothing else.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** The bytes of the next request. */
  readonly nextRequest: () => string;
  readonly status: number;
}

export interface LoadResult {
  readonly requestCount: number;
  readonly seconds: number;
}

const headEnd = '\r\n\r\n';

/** Rejects where a reply has another status than the one wanted. */
export async function putLoad(load: Load): Promise<LoadResult> {
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.port)));
  const startedAt = performance.now();
  const untilAt = startedAt + load.seconds * 1_000;
  try {
    const counts = await Promise.all(sockets.map((socket) => keepAsking(socket, load, untilAt)));
    const requestCount = counts.reduce((sum, count) => sum + count, 0);
    return { requestCount, seconds: (performance.now() - startedAt) / 1_000 };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.setEncoding('latin1');
  await once(socket, 'connect');
  return socket;
}

/** Ends at the instant given, with the reply to the last request. */
function keepAsking(socket: Socket, { nextRequest, status }: Load, untilAt: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let requestCount = 0;
    let received = '';
    let replyLength = 0;
    const startLine = `HTTP/1.1 ${status} `;
    socket.on('data', (text: string) => {
      received += text;
      if (replyLength === 0) replyLength = lengthOf(received);
      if (replyLength === 0 || received.length < replyLength) return;
      if (!received.startsWith(startLine)) return reject(new Error(`not ${status}: ${received.slice(0, 600)}`));
      requestCount += 1;
      received = '';
      replyLength = 0;
      if (performance.now() >= untilAt) resolve(requestCount);
      else socket.write(nextRequest());
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed a connection')));
    socket.write(nextRequest());
  });
}

/** The length of head and body; 0 while the head is not complete. */
function lengthOf(received: string): number {
  const end = received.indexOf(headEnd);
  if (end < 0) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, end))?.[1];
  if (length === undefined) throw new Error(`a reply without a length: ${received.slice(0, end)}`);
  return end + headEnd.length + Number(length);
}
