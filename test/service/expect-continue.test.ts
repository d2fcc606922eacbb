/** `Expect: 100-continue`, and chunks under HTTP/1.0. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { sendRaw } from './support/raw-http.ts';
import { startTestService, testKey } from './test-service.ts';

const body = '{"externalId":"late","defaultFields":{"firstName":"Ada"}}';
const key = `Authorization: ${testKey}\r\n`;
const json = 'Content-Type: application/json\r\n';
const head = (more: string) => `POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n${more}\r\n`;

/** What comes first after the head alone. */
async function firstAnswer(port: number, bytes: string) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  const [data] = await once(socket, 'data');
  return { socket, text: String(data) };
}

test('a body that is wanted is asked for, once, and the connection is kept', async () => {
  const service = await startTestService();
  const { socket, text } = await firstAnswer(service.port, head(`${key}${json}Content-Length: ${body.length}\r\n`));
  expect(text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(body);
  const [created] = await once(socket, 'data');
  expect(String(created)).toMatch(/^HTTP\/1\.1 201 /);
  expect(String(created).toLowerCase()).not.toContain('connection: close');
  socket.write(`GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const [healthy] = await once(socket, 'data');
  expect(String(healthy)).toMatch(/^HTTP\/1\.1 200 /);
});

test('what comes behind a reply that ends the connection is not carried out', async () => {
  const service = await startTestService();
  const sent = body.replace('late', 'behind');
  const behind = `POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\n${key}${json}Content-Length: ${sent.length}\r\n\r\n${sent}`;
  const packed = `Host: localhost\r\n${key}${json}Content-Length: 300000\r\n\r\n${' '.repeat(300_000)}`;
  const { replies } = await sendRaw(service.port, `POST /v1/contacts HTTP/1.1\r\n${packed}${behind}`, {
    replyCount: 2,
    patienceMs: 5_000,
  });
  expect(replies.map(({ status }) => status)).toEqual([413]);
  expect((await service.call('GET', '/v1/contacts?externalIds=behind')).body.data).toEqual([]);
});

test('a request of HTTP/1.0 with chunks is answered, and its connection closed before anything behind it is answered', async () => {
  const service = await startTestService();
  const chunked = (version: string, id: string) => {
    const sent = body.replace('late', id);
    const heads = `Host: localhost\r\n${key}${json}Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n`;
    return `POST /v1/contacts HTTP/${version}\r\n${heads}\r\n${sent.length.toString(16)}\r\n${sent}\r\n0\r\n\r\n`;
  };
  const { replies, closed } = await sendRaw(service.port, chunked('1.0', 'one') + chunked('1.1', 'two'), {
    replyCount: 2,
    patienceMs: 5_000,
  });
  expect(replies.map(({ status, headers }) => [status, headers.connection])).toEqual([[201, 'close']]);
  expect(closed).toBe(true);
});

test.each([
  ['localhost:99999', 'not a host'],
  ['127.0.0.999', 'not a host'],
  ['300.1.1.1', 'not a host'],
  ['127.0.0.1:65535', null],
  ['127.255.0.9', null],
])('Host: %s', async (host, problem) => {
  const { port } = await startTestService();
  const { replies } = await sendRaw(port, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  expect(replies[0]?.status).toBe(problem === null ? 200 : 400);
  if (problem !== null) expect(replies[0]?.body.message).toContain(problem);
});
