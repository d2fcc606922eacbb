/** Replies that end their connection: they reach a client that is still sending, and no connection outlives them for long. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '#test/support/until.ts';
import { readReplies } from './support/raw-http.ts';
import { startTestService, testKey } from './test-service.ts';

const bodyBytes = 5 * 1024 * 1024;
const key = `Authorization: ${testKey}\r\n`;
const json = 'Content-Type: application/json\r\n';
const post = (headers: string) => `POST /v1/contacts HTTP/1.1\r\n${headers}\r\n`;
const announced = `Content-Length: ${bodyBytes}\r\n`;

/** In one chunk of 64 KiB after the other. */
function inChunks(byteCount: number): string {
  const chunkBytes = 65_536;
  return `${chunkBytes.toString(16)}\r\n${' '.repeat(chunkBytes)}\r\n`.repeat(byteCount / chunkBytes);
}

async function connected(port: number): Promise<Socket> {
  // A client that goes on sending, whatever the service says.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Sends everything before it reads, as many clients do. Rejects where the connection breaks meanwhile. */
async function statusAfterSending(port: number, head: string, body: string): Promise<readonly number[]> {
  const socket = await connected(port);
  const broken = once(socket, 'error').then(([error]) => Promise.reject(error));
  const sent = new Promise<void>((resolve) => {
    socket.write(head);
    socket.write(body, () => resolve());
  });
  await Promise.race([sent, broken]);
  const received: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => received.push(bytes));
  await Promise.race([once(socket, 'end'), broken]);
  return readReplies(Buffer.concat(received)).replies.map(({ status }) => status);
}

test.each([
  ['a length above the limit', post(`Host: localhost\r\n${key}${json}${announced}`), ' '.repeat(bodyBytes), 413],
  [
    'chunks above the limit',
    post(`Host: localhost\r\n${key}${json}Transfer-Encoding: chunked\r\n`),
    inChunks(bodyBytes),
    413,
  ],
  [
    'too many chunks',
    post(`Host: localhost\r\n${key}${json}Transfer-Encoding: chunked\r\n`),
    '1\r\n \r\n'.repeat(100_000),
    413,
  ],
  ['another host', post(`Host: example.com\r\n${announced}`), ' '.repeat(bodyBytes), 421],
  ['an unknown encoding', post('Host: localhost\r\nTransfer-Encoding: gzip\r\n'), ' '.repeat(bodyBytes), 501],
  ['endless headers', 'GET /healthz HTTP/1.1\r\n', `X: ${'a'.repeat(bodyBytes)}`, 431],
  ['what is not HTTP', 'no HTTP\r\n\r\n', ' '.repeat(bodyBytes), 400],
  [
    'what is not HTTP in a body',
    post(`Host: localhost\r\n${key}${json}Transfer-Encoding: chunked\r\n`),
    `x${inChunks(bodyBytes)}`,
    400,
  ],
])('the reply to %s reaches a client that sends everything first', async (_, head, body, status) => {
  const { port } = await startTestService();
  // The first attempt alone may be lucky.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    expect(await statusAfterSending(port, head, body)).toEqual([status]);
  }
});

test('a request that was refused for its head has no second reply for its body', async () => {
  const { port } = await startTestService();
  const head = post('Host: localhost\r\nTransfer-Encoding: chunked\r\n');
  const socket = await connected(port);
  socket.write(head);
  const [refused] = await once(socket, 'data');
  socket.write('no chunk\r\n');
  const received: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => received.push(bytes));
  await once(socket, 'end');
  expect([readReplies(refused).replies.map(({ status }) => status), Buffer.concat(received).toString()]).toEqual([
    [401],
    '',
  ]);
});

test.each([
  ['a refused body that does not end', post(`Host: localhost\r\n${key}${json}Content-Length: 99999999\r\n`)],
  ['a body that does not come', post(`Host: localhost\r\n${key}${json}Content-Length: 10\r\n`)],
  ['a head that does not come', 'GET /healthz HTTP/1.1\r\n'],
  ['what is not HTTP', 'no HTTP\r\n\r\n'],
])('after the reply to %s the connection is not held forever', async (_, bytes) => {
  const socketLimits = { headersTimeoutMs: 50, requestTimeoutMs: 50, connectionCheckMs: 10, droppedMs: 50 };
  const { port } = await startTestService({ socketLimits });
  const socket = await connected(port);
  socket.on('error', () => {});
  socket.write(bytes);
  socket.resume();
  await once(socket, 'end');
  // What is written to a connection that is gone is answered by a reset.
  await until('the connection is gone', () => {
    socket.write(' ');
    return socket.destroyed;
  });
});

test('no more than droppedBytesMax is dropped behind a reply', async () => {
  const { port } = await startTestService({ socketLimits: { droppedBytesMax: 1_000_000 } });
  const socket = await connected(port);
  const broken = once(socket, 'error');
  socket.write(post(`Host: localhost\r\n${key}${json}Content-Length: 9999999999\r\n`));
  const sendOn = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
  };
  socket.on('drain', sendOn);
  sendOn();
  await broken;
});
