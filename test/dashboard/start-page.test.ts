/** The page on a real port. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DashboardParts } from '#src/dashboard/parts.ts';
import { type PageAddress, type RunningPage, startPage } from '#src/dashboard/start-page.ts';
import { dashboardBench } from './dashboard-bench.ts';

/** A loopback address of its own, where the system has more than one: the well-known ports are left to others. */
const ownHost = process.platform === 'linux' ? '127.0.0.77' : '127.0.0.1';

type Given = Partial<PageAddress & Pick<DashboardParts, 'token'>>;

async function startTestPage({ host = '127.0.0.1', port = 0, token = null }: Given): Promise<RunningPage> {
  const { parts } = await dashboardBench();
  const page = await startPage({ ...parts, token }, { host, port });
  onTestFinished(() => page.close());
  return page;
}

/** Takes a port of `ownHost`, if another program does not have it already; answers which. */
async function occupy(port: number): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen({ host: ownHost, port });
  if (!(await listening)) return port;
  onTestFinished(() => void server.close());
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

/** Sends bytes and reads until the other end closes. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.setEncoding('utf8');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

describe('the page on a port', () => {
  it('answers at the address it names', async () => {
    const page = await startTestPage({});
    expect(page.address).toBe(`http://127.0.0.1:${page.port}`);
    const response = await fetch(`${page.address}/healthz`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
    expect((await fetch(page.address)).headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('takes 8080 or the next free port where none was chosen', async () => {
    const first = await startTestPage({ host: ownHost, port: null });
    const second = await startTestPage({ host: ownHost, port: null });
    expect(first.port).toBeGreaterThanOrEqual(8_080);
    expect(second.port).toBeGreaterThan(first.port);
    expect(second.port).toBeLessThanOrEqual(8_099);
    expect((await fetch(`${second.address}/readyz`)).status).toBe(200);
  });

  it('says so when all of them are taken', async () => {
    for (let port = 8_080; port <= 8_099; port += 1) await occupy(port);
    await expect(startTestPage({ host: ownHost, port: null })).rejects.toMatchObject({
      kind: 'usage',
      code: 'portTaken',
      facts: { firstPort: 8_080, lastPort: 8_099 },
    });
  });

  it('does not move away from a port that was chosen', async () => {
    const port = await occupy(0);
    await expect(startTestPage({ host: ownHost, port })).rejects.toMatchObject({
      kind: 'usage',
      code: 'portTaken',
      facts: { port },
    });
  });

  it('does not listen where others can reach it without a token', async () => {
    for (const host of ['0.0.0.0', '::', 'patchbay.example.com']) {
      await expect(startTestPage({ host })).rejects.toMatchObject({ kind: 'usage', code: 'tokenNeeded' });
    }
  });

  it('refuses a foreign Host', async () => {
    const { port } = await startTestPage({});
    const answer = await exchange(port, 'GET / HTTP/1.1\r\nHost: rebound.example.com\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('refuses two Host headers and none at all', async () => {
    const { port } = await startTestPage({});
    const two = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: rebound.example.com\r\nConnection: close\r\n\r\n';
    expect(await exchange(port, two)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await exchange(port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('refuses a Host that is none, with a token and without', async () => {
    for (const token of [null, 'a token of some length']) {
      const { port } = await startTestPage({ token });
      for (const host of ['127.999.0.1', '127.0.0.1:99999', '[::1', ''])
        expect(await exchange(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`), host).toMatch(
          /^HTTP\/1\.1 400 /,
        );
    }
  });

  it('refuses a whole address of another host than the Host header names', async () => {
    const { port } = await startTestPage({});
    const ask = (address: string, host: string) =>
      exchange(port, `GET ${address} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    for (const address of [
      'http://rebound.example.com/',
      'http://rebound.example.com:8080/healthz',
      'http://127.0.0.1/',
    ])
      expect(await ask(address, 'localhost'), address).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask('http://rebound.example.com/', 'rebound.example.com')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await ask('http://localhost:8080/healthz', 'LOCALHOST:8080')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('http://localhost/healthz', 'localhost:80')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('closes at once although somebody is still connected', async () => {
    const page = await startTestPage({});
    const idle = connect({ host: '127.0.0.1', port: page.port });
    idle.on('error', () => undefined);
    await once(idle, 'connect');
    // Half a request keeps the connection busy for as long as the server allows.
    idle.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
    await fetch(`${page.address}/healthz`);
    const closed = once(idle, 'close');
    await page.close();
    await closed;
    await expect(fetch(`${page.address}/healthz`)).rejects.toThrow();
  });
});
