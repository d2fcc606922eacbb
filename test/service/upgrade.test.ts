/** A request that offers another protocol is answered as if it had not, and so is what comes behind it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { readReplies, sendRaw } from './support/raw-http.ts';
import { startTestService, testKey } from './test-service.ts';

const head = `Host: localhost\r\nAuthorization: ${testKey}\r\n`;
const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
const body = (externalId: string) => JSON.stringify({ externalId, defaultFields: { firstName: 'Ada' } });

function create(externalId: string, more = ''): string {
  const sent = body(externalId);
  const length = `Content-Type: application/json\r\nContent-Length: ${sent.length}\r\n`;
  return `POST /v1/contacts HTTP/1.1\r\n${head}${length}${more}\r\n${sent}`;
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\n${head}${more}\r\n`;

test('requests that offer an upgrade, and those between and behind them, are all answered in their order', async () => {
  const { port } = await startTestService();
  const bytes = [
    create('first'),
    create('second', offer),
    get('/healthz'),
    create('third', offer),
    create('fourth', 'Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n'),
    get('/v1/contacts?maxResults=9', offer),
    get('/v1/contacts?externalIds=fourth'),
  ].join('');
  const { replies, rest } = await sendRaw(port, bytes, { replyCount: 7, patienceMs: 5_000 });
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 200, 201, 201, 200, 200]);
  expect(replies[5]?.body.data).toHaveLength(4);
  expect(replies[6]?.body.data).toHaveLength(1);
  expect(rest).toBe('');
});

test('what comes in pieces behind an offered upgrade is put together', async () => {
  const { port } = await startTestService();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let received = Buffer.alloc(0);
  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
  });
  const bytes = create('pieces', offer) + get('/healthz') + get('/healthz', offer);
  for (let at = 0; at < bytes.length; at += 40) {
    socket.write(bytes.slice(at, at + 40));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  while (readReplies(received).replies.length < 3) await once(socket, 'data');
  expect(readReplies(received).replies.map(({ status }) => status)).toEqual([201, 200, 200]);
  socket.destroy();
});

test('an offered upgrade changes nothing of what is refused, and of how a connection ends', async () => {
  const { port } = await startTestService();
  const foreign = await sendRaw(port, `GET / HTTP/1.1\r\nHost: example.com\r\n${offer}\r\n`);
  expect(foreign.replies.map(({ status }) => status)).toEqual([421]);
  const last = get('/healthz', 'Connection: close, Upgrade\r\nUpgrade: h2c\r\n') + create('behind the end');
  expect(await sendRaw(port, last, { replyCount: 2, patienceMs: 5_000 })).toMatchObject({
    closed: true,
    replies: [{ status: 200 }],
  });
  const broken = await sendRaw(port, `${get('/healthz', offer)}no HTTP at all\r\n\r\n`, {
    replyCount: 2,
    patienceMs: 5_000,
  });
  expect(broken.replies.map(({ status }) => status)).toEqual([200, 400]);
});

test.each(['CONNECT a:1', 'GET /healthz'])('a client that breaks off after %s harms nobody', async (start) => {
  const service = await startTestService({ faults: ['list:latency=20ms'] });
  for (let turn = 0; turn < 20; turn += 1) {
    const socket = connect(service.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`${get('/v1/contacts')}${start} HTTP/1.1\r\n${head}${offer}\r\n${'x'.repeat(turn * 100)}`);
    if (turn % 2 === 0) await new Promise((resolve) => setTimeout(resolve, turn));
    socket.resetAndDestroy();
  }
  expect((await service.call('GET', '/v1/contacts')).status).toBe(200);
});
