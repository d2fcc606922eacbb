/** Clients that take their time, and too many of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '#src/log.ts';
import { listen } from '#src/service/http/listen.ts';
import { createReplyOutside } from '#src/service/http/replies.ts';
import { defaultErrorDocs } from '#src/service/service-options.ts';
import { sendRaw } from '#test/service/support/raw-http.ts';
import { person, startTestService, testKey } from '#test/service/test-service.ts';
import { until } from '#test/support/until.ts';

const head = `Host: localhost\r\nAuthorization: ${testKey}\r\n`;
const post = `POST /v1/contacts HTTP/1.1\r\n${head}Content-Type: application/json\r\n`;

/** Nothing at all, half of the headers, half of a body. */
const beginnings = [
  '',
  `GET /v1/contacts HTTP/1.1\r\nHost: loc`,
  `${post}Content-Length: 100\r\n\r\n{"defaultFields":`,
];

/** Starts the service in a process of its own. */
async function startApart(): Promise<number> {
  const script = join(import.meta.dirname, '../service/support/service-apart.ts');
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [port] = await once(child, 'message');
  return Number(port);
}

/** Opens slow sockets, a third of each kind. */
async function openSlowSockets(port: number, count: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, (_, index) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(beginnings[index % beginnings.length] ?? ''));
    socket.on('error', () => {});
    socket.resume();
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => (socket.connecting ? once(socket, 'connect').catch(() => {}) : null)));
  return sockets;
}

function statusOf(port: number, agent: Agent | false, body: string | null): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: testKey, 'content-type': 'application/json' };
    const method = body === null ? 'GET' : 'POST';
    const sent = request({ host: '127.0.0.1', port, path: '/v1/contacts', method, headers, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}

/** Healthy clients: two that keep their connection, two that come anew each time. */
async function healthyStatuses(port: number): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  const keepAlive = () => new Agent({ keepAlive: true, maxSockets: 1 });
  const agents = [keepAlive(), keepAlive(), false, false] as const;
  await Promise.all(
    agents.map(async (agent) => {
      for (let index = 0; index < 30; index += 1) {
        const body = index % 2 === 0 ? null : JSON.stringify(person(null));
        const status = await statusOf(port, agent, body);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    }),
  );
  for (const agent of agents) if (agent !== false) agent.destroy();
  return counts;
}

const allWell = new Map([
  [200, 60],
  [201, 60],
]);

describe('1,000 slow sockets', () => {
  test('leave healthy requests alone while they are all held', async () => {
    const port = await startApart();
    const [sockets, during] = await Promise.all([openSlowSockets(port, 1_000), healthyStatuses(port)]);
    expect([during, await healthyStatuses(port)]).toEqual([allWell, allWell]);
    expect(sockets.filter((socket) => !socket.closed)).toHaveLength(1_000);
  });
});

test('connections above the limit are closed as they come, and those that are open go on', async () => {
  const service = await startTestService({ socketLimits: { connectionsMax: 20 } });
  const open = connect(service.port, '127.0.0.1');
  onTestFinished(() => void open.destroy());
  await once(open, 'connect');
  const others = await openSlowSockets(service.port, 100);
  await until('the others are closed', () => others.filter((socket) => !socket.closed).length < 20);
  open.write(`GET /healthz HTTP/1.1\r\n${head}\r\n`);
  const [data] = await once(open, 'data');
  expect(String(data)).toMatch(/^HTTP\/1\.1 200 /);
});

describe('time', () => {
  const socketLimits = { headersTimeoutMs: 100, requestTimeoutMs: 200, connectionCheckMs: 20 };

  test.each([
    ['nothing', ''],
    ['half of the headers', beginnings[1] ?? ''],
    ['half of a body', beginnings[2] ?? ''],
    ['a body whose chunks do not end', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`],
  ])('a client that sends %s is answered 408 and closed', async (_, bytes) => {
    const service = await startTestService({ socketLimits });
    const { replies } = await sendRaw(service.port, bytes, { patienceMs: 5_000 });
    expect(replies[0]).toMatchObject({ status: 408, headers: { connection: 'close' }, body: { code: '0000408' } });
  });

  test('a client that idles between two requests is let go', async () => {
    const service = await startTestService({ socketLimits: { keepAliveMs: 50 } });
    const request = `GET /v1/contacts HTTP/1.1\r\n${head}\r\n`;
    const { replies, closed } = await sendRaw(service.port, request, { replyCount: 2, patienceMs: 5_000 });
    expect([replies.length, closed]).toEqual([1, true]);
  });

  test('a client that does not read its reply is given up', async () => {
    const gaveUp = Promise.withResolvers<void>();
    const fetch = (asked: Request) => {
      asked.signal.addEventListener('abort', () => gaveUp.resolve());
      // More than the system buffers.
      return new Response('a'.repeat(64 * 1024 * 1024));
    };
    const limits = { unreadReplyMs: 100 };
    const log = silentLogger();
    const replyOutside = createReplyOutside(log, defaultErrorDocs);
    const listening = await listen({ fetch, host: '127.0.0.1', port: 0, limits, replyOutside, log });
    onTestFinished(() => listening.close());
    const socket = connect(listening.port, '127.0.0.1', () => socket.write(`GET / HTTP/1.1\r\n${head}\r\n`));
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    socket.pause();
    await gaveUp.promise;
  });
});
