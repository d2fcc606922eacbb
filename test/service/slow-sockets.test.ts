/** Clients that take their time, and too many of them (`toolchain.md`, "HTTP"; issue 3, "Hardening"). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '#src/log.ts';
import { listen } from '#src/service/http/listen.ts';
import { affordableConnections } from '#src/service/http/socket-limits.ts';
import { until } from '../support/until.ts';
import { sendRaw } from './support/raw-http.ts';
import { person, startTestService, testKey } from './test-service.ts';

const head = `Host: localhost\r\nAuthorization: ${testKey}\r\n`;
const post = `POST /v1/contacts HTTP/1.1\r\n${head}Content-Type: application/json\r\n`;

/** Nothing at all, half of the headers, half of a body. */
const beginnings = [
  '',
  `GET /v1/contacts HTTP/1.1\r\nHost: loc`,
  `${post}Content-Length: 100\r\n\r\n{"defaultFields":`,
];

/** Starts the service under a limit on its open files; null leaves it as it is. */
async function startLimited(socketLimits: Record<string, number>, openFilesMax: number | null): Promise<number> {
  const script = join(import.meta.dirname, 'support/limited-service.ts');
  const limit = openFilesMax === null ? '' : `ulimit -n ${openFilesMax};`;
  const words = [process.execPath, script, JSON.stringify(socketLimits)];
  const child = spawn('sh', ['-c', `${limit} exec "$@"`, 'sh', ...words], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
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
    const port = await startLimited({}, null);
    const [sockets, during] = await Promise.all([openSlowSockets(port, 1_000), healthyStatuses(port)]);
    expect([during, await healthyStatuses(port)]).toEqual([allWell, allWell]);
    expect(sockets.filter((socket) => !socket.closed)).toHaveLength(1_000);
  });

  test.each([
    ['a limit of 300 connections', { connectionsMax: 300 }, null, 300],
    ['1,024 open files', {}, 1_024, affordableConnections(1_000, 1_024)],
  ])('make room under %s, the oldest first', async (_, limits, openFilesMax, heldMax) => {
    const port = await startLimited(limits, openFilesMax);
    const [sockets, during] = await Promise.all([openSlowSockets(port, 1_000), healthyStatuses(port)]);
    expect([during, await healthyStatuses(port)]).toEqual([allWell, allWell]);
    const held = () => sockets.filter((socket) => !socket.closed).length;
    await until('room is made', () => held() <= heldMax);
    expect(held()).toBeGreaterThan(heldMax / 2 - 10);
  });
});

test('an idle client is not shut out by silent newcomers, nor a newcomer by idle clients', async () => {
  const service = await startTestService({ socketLimits: { connectionsMax: 20 } });
  const idle = connect(service.port, '127.0.0.1');
  onTestFinished(() => void idle.destroy());
  const request = `GET /healthz HTTP/1.1\r\n${head}\r\n`;
  const answered = async () => {
    idle.write(request);
    const [data] = await once(idle, 'data');
    return String(data);
  };
  expect(await answered()).toMatch(/^HTTP\/1\.1 200 /);
  const newcomers = await openSlowSockets(service.port, 100);
  await until('room is made', () => newcomers.filter((socket) => !socket.closed).length < 20);
  expect(await answered()).toMatch(/^HTTP\/1\.1 200 /);

  const others = Array.from({ length: 40 }, () => new Agent({ keepAlive: true }));
  onTestFinished(() => {
    for (const agent of others) agent.destroy();
  });
  for (const agent of others) expect(await statusOf(service.port, agent, null)).toBe(200);
});

test('requests that are at work are never closed for newcomers', async () => {
  const service = await startTestService({ faults: ['list:latency=300ms'], socketLimits: { connectionsMax: 10 } });
  const slow = Array.from({ length: 8 }, () => statusOf(service.port, false, null));
  await until('all are at work', () => service.counts().list === 8);
  await openSlowSockets(service.port, 50);
  expect(await Promise.all(slow)).toEqual(Array.from({ length: 8 }, () => 200));
});

test.each([
  [20_000, 2_048],
  [4_096, 2_048],
  [1_024, 385],
  [256, 32],
  [Number.POSITIVE_INFINITY, 2_048],
])('of %d open files, the connections leave enough for everything else: %d', (openFilesMax, expected) => {
  expect(affordableConnections(2_048, openFilesMax)).toBe(expected);
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
    const listening = await listen({ fetch, host: '127.0.0.1', port: 0, limits, log: silentLogger() });
    onTestFinished(() => listening.close());
    const socket = connect(listening.port, '127.0.0.1', () => socket.write(`GET / HTTP/1.1\r\n${head}\r\n`));
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    socket.pause();
    await gaveUp.promise;
  });
});
