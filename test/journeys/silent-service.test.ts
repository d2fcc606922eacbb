/** A service that takes connections and never answers is an outage like others (`docs/operations.md`, "Outages"). */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect } from 'vitest';
import { test as base, type Journey } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';

interface SilentService {
  /** What names it to a command. */
  readonly env: Readonly<Record<string, string>>;
  requestCount(): number;
}

const test = base.extend<{ readonly silent: SilentService }>({
  // biome-ignore lint/correctness/noEmptyPattern: the fixture needs no other one.
  silent: async ({}, use) => {
    const sockets = new Set<Socket>();
    let requestCount = 0;
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => (requestCount += 1));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    await use({
      env: { PATCHBAY_BASE_URL: `http://127.0.0.1:${port}`, PATCHBAY_API_KEY: 'key' },
      requestCount: () => requestCount,
    });
    for (const socket of sockets) socket.destroy();
    server.close();
  },
});

describe.concurrent('while the service answers nothing', () => {
  const anImport = (journey: Journey, patience: string, { env }: SilentService) =>
    journey.run(['import', journey.file('people.csv', peopleCsv(3)), '--wait', patience, '--json'], env);
  const unreachable = { code: 'serviceUnreachable', message: expect.stringContaining('no answer within 3 s') };

  test('an import says what it waits for', async ({ journey, silent }) => {
    const { code, stderr, documents } = await anImport(journey, '12s', silent);
    expect([code, documents], stderr).toMatchObject([6, [{ error: unreachable }]]);
    expect(stderr).toMatch(/waiting for the service for up to 12s \(--wait\): .*: no answer within 3 s\./);
  });

  test('the first look counts for --wait: five seconds are over with it', async ({ journey, silent }) => {
    const { code, stderr, documents } = await anImport(journey, '5s', silent);
    expect([code, documents], stderr).toMatchObject([6, [{ error: unreachable }]]);
    expect(stderr).not.toContain('waiting for');
  });

  test('start has its page, and says there what is the matter', async ({ journey, silent }) => {
    const engine = journey.start(['start', '--json'], silent.env);
    const { page } = JSON.parse(await engine.firstLine());
    const readiness = await (await fetch(`${page}/readyz`)).json();
    expect(readiness).toMatchObject({ degraded: true, reasons: [unreachable.message] });
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(143);
  });

  test('a plan ends after one request for the phone numbers and one for a contact', async ({ journey, silent }) => {
    const args = ['plan', journey.file('people.csv', peopleCsv(3)), '--wait', '1s', '--json'];
    const { code, documents } = await journey.run(args, silent.env);
    expect([code, documents]).toMatchObject([6, [{ error: unreachable }]]);
    expect(silent.requestCount()).toBe(2);
  });
});

describe.concurrent('while only the list of phone numbers gets no answer', () => {
  test('a file is imported', async ({ journey }) => {
    const service = await journey.service(['numbers:hangAfter']);
    const { code, stderr } = await journey.run(['import', journey.file('people.csv', peopleCsv(3)), '--wait', '30s']);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('waiting for');
    expect(await service.keys()).toHaveLength(3);
  });

  test('a pause that the silence of the whole service began ends', async ({ journey }) => {
    const service = await journey.service(['*:hangAfter=4s']);
    const engine = journey.start(['start', '--json']);
    const { page } = JSON.parse(await engine.firstLine());
    expect(await (await fetch(`${page}/readyz`)).json()).toMatchObject({ degraded: true });
    await service.setFaults(['numbers:hangAfter']);
    const { code, stderr } = await journey.run(['import', journey.file('people.csv', peopleCsv(3)), '--wait', '60s']);
    expect(code, stderr).toBe(0);
    engine.signal('SIGTERM');
    await engine.ended();
  });
});
