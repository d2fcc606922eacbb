import { stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import type { CreateContactBody, UpdateContactBody } from '#src/wire/contact.ts';
import { type WorkspaceTimeouts, workspaceTimeouts } from '#src/workspace/port.ts';
import { adaJson, refusalJson, wrappedAuthJson } from './support/contact-json.ts';
import { half, hang, reply, reset, type Step, stall, tenMegabytes } from './support/scripted-server.ts';
import { openTestWorkspace } from './support/test-workspace.ts';

const ada: CreateContactBody = { externalId: 'crm-1', defaultFields: { firstName: 'Ada' } };
const change: UpdateContactBody = {
  defaultFields: { firstName: 'Ada', emails: [{ id: 'e1', name: 'email', value: null }], phoneNumbers: [] },
  customFields: [],
};
const shortTimeouts = { connectMs: 300, headersMs: 300, bodyMs: 300, requestMs: 800, writeStartMs: 1_000 };

describe('a write that is answered', () => {
  test('a create is one POST with a JSON body, and gives the contact of the reply', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(201, adaJson));
    const kinds: string[] = [];
    const result = await workspace.createContact(ada, { onRequest: (kind) => kinds.push(kind) });
    expect(result).toMatchObject({ kind: 'done', contact: { id: '64aa00000000000000000001', externalId: 'crm-1' } });
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'POST', url: '/v1/contacts' });
    expect(seen?.body).toBe('{"externalId":"crm-1","defaultFields":{"firstName":"Ada"}}');
    expect(seen?.headers['content-type']).toBe('application/json');
    expect(kinds).toEqual(['post']);
  });

  test('an update is one PATCH to the id', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(200, adaJson));
    expect(await workspace.updateContact('c/1', change)).toMatchObject({ kind: 'done' });
    expect(server.seen[0]).toMatchObject({ method: 'PATCH', url: '/v1/contacts/c%2F1', body: JSON.stringify(change) });
    expect(workspace.counts()).toEqual({ get: 0, post: 0, patch: 1, delete: 0, retried: 0, rateLimited: 0 });
  });

  test('a deletion is one DELETE to the id, answered without a body; a lost answer is doubt, 404 a refusal', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(204, ''), reply(503, ''), reply(404, refusalJson));
    expect(await workspace.deleteContact('c/1')).toEqual({ kind: 'done' });
    expect(server.seen[0]).toMatchObject({ method: 'DELETE', url: '/v1/contacts/c%2F1', body: '' });
    expect(await workspace.deleteContact('c/1')).toMatchObject({ kind: 'doubt', status: 503 });
    expect(await workspace.deleteContact('c/1')).toMatchObject({ kind: 'refused', status: 404 });
    expect(workspace.counts()).toMatchObject({ delete: 3, retried: 0 });
  });

  test('an update that is answered without a body is in doubt', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(204, ''));
    expect(await workspace.updateContact('c1', change)).toMatchObject({ kind: 'doubt' });
  });

  test.each([400, 404, 409, 410, 422])('%i is a refusal with the words of the service', async (status) => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(status, refusalJson));
    expect(await workspace.createContact(ada)).toEqual({
      kind: 'refused',
      status,
      body: {
        code: '0801400',
        title: 'Invalid Custom Field Item',
        message: 'Invalid custom field item',
        trace: null,
        paths: ['customFields.0.value'],
      },
    });
  });

  test.each([401, 403])(
    '%i is about the key, is not repeated, and a new key serves the next request',
    async (status) => {
      const keys = ['old-key', 'new-key'];
      const { server, workspace } = await openTestWorkspace({ readApiKey: () => keys.shift() ?? 'no-more' });
      server.script(reply(status, wrappedAuthJson), reply(201, adaJson));
      expect(await workspace.createContact(ada)).toMatchObject({
        kind: 'unauthorized',
        status,
        body: { code: '0800401' },
      });
      await workspace.createContact(ada);
      const used = status === 401 ? 'new-key' : 'old-key';
      expect(server.seen.map((one) => one.headers.authorization)).toEqual(['old-key', used]);
    },
  );

  test('429 is not sent, pauses the gate, and is not repeated here', async () => {
    const clock = systemClock();
    const rateGate = createPauseGate(clock);
    const { server, workspace } = await openTestWorkspace({ rateGate });
    server.script(reply(429, '{}', { 'retry-after': '1' }), reply(201, adaJson));
    const startMs = clock.monotonicMs();
    const result = await workspace.createContact(ada);
    expect(result).toMatchObject({ kind: 'notSent', rateLimited: true, error: { code: 'rateLimited' } });
    expect(server.seen).toHaveLength(1);
    await workspace.createContact(ada);
    expect(clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(990);
    expect(workspace.counts()).toMatchObject({ post: 2, rateLimited: 1, retried: 0 });
  });
});

describe('a write in doubt', () => {
  // Each waits for what it is about only: a busy machine may need longer for all else.
  const faults: readonly (readonly [string, Step, number | null, Partial<WorkspaceTimeouts>?])[] = [
    ['a reset', reset, null],
    ['no reply in time', hang, null, { headersMs: 300 }],
    ['half a body', half(201, adaJson), 201],
    ['a body that stops', stall(201, adaJson), 201, { bodyMs: 300 }],
    ['a 2xx without JSON', reply(201, '<html>'), 201],
    ['a 2xx without a body', (response) => void response.writeHead(204).end(), 204],
    ['a 2xx with another shape', reply(201, '{"data":{"ok":true}}'), 201],
    ['10 MB', tenMegabytes, 200],
    ['a redirect', reply(302, '{}', { location: '/v1/contacts' }), 302],
    ['408', reply(408, '{}'), 408],
    ['425', reply(425, '{}'), 425],
    ['500', reply(500, '{}'), 500],
    ['503 with Retry-After', reply(503, '{}', { 'retry-after': '1' }), 503],
    ['rubbish for HTTP', (response) => void response.socket?.end('hello\r\n\r\n'), null],
  ];

  for (const [name, step, status, timeouts] of faults)
    test(`${name} is a doubt, and nothing is sent again`, async () => {
      const { server, workspace } = await openTestWorkspace({ timeouts: { ...workspaceTimeouts, ...timeouts } });
      server.always(step);
      expect(await workspace.createContact(ada)).toEqual({ kind: 'doubt', why: expect.stringMatching(/./), status });
      expect(await workspace.updateContact('c1', change)).toMatchObject({ kind: 'doubt', status });
      expect(server.seen.map((one) => one.method)).toEqual(['POST', 'PATCH']);
    });

  test('an abort does not cut a write that is on its way', async () => {
    const { server, workspace } = await openTestWorkspace();
    const stop = new AbortController();
    server.script((response, request) => {
      stop.abort();
      setTimeout(() => reply(201, adaJson)(response, request), 20);
    });
    expect(await workspace.createContact(ada, { signal: stop.signal })).toMatchObject({ kind: 'done' });
  });
});

describe('a write that was certainly not sent', () => {
  test('a refused connection', async () => {
    const { server, workspace } = await openTestWorkspace();
    await server.close();
    expect(await workspace.createContact(ada)).toMatchObject({
      kind: 'notSent',
      rateLimited: false,
      error: { kind: 'unreachable', code: 'serviceUnreachable' },
    });
    expect(workspace.counts().post).toBe(0);
  });

  test('an unknown host', async () => {
    const { workspace } = await openTestWorkspace({ baseUrl: 'http://workspace.invalid' });
    expect(await workspace.createContact(ada)).toMatchObject({ kind: 'notSent' });
  });

  /** Accepts connections and never says a word, so that TLS never comes about. */
  async function startMuteServer(): Promise<{ port: number; receivedBytes: () => number }> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).resume();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return { port, receivedBytes: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0) };
  }

  test('a connection that does not come about in time', async () => {
    const { port } = await startMuteServer();
    const { workspace } = await openTestWorkspace({ baseUrl: `https://127.0.0.1:${port}`, timeouts: shortTimeouts });
    expect(await workspace.createContact(ada)).toMatchObject({ kind: 'notSent', rateLimited: false });
    expect(workspace.counts().post).toBe(0);
  });

  test('a TLS handshake that fails', async () => {
    const { server, workspace: plain } = await openTestWorkspace();
    const { workspace } = await openTestWorkspace({ baseUrl: plain.origin.replace('http:', 'https:') });
    expect(await workspace.createContact(ada)).toMatchObject({ kind: 'notSent' });
    expect(server.seen).toEqual([]);
  });

  test('a connection that is ready too late after the last check', async () => {
    // Time runs a second and more with each look at the clock, so that the write always comes too late.
    const real = systemClock();
    let looks = 0;
    const clock = { ...real, monotonicMs: () => real.monotonicMs() + 2_000 * looks++ };
    const { server, workspace } = await openTestWorkspace({ clock });
    server.always(reply(201, adaJson));
    const result = await workspace.createContact(ada);
    expect(result).toMatchObject({ kind: 'notSent' });
    if (result.kind === 'notSent') expect(result.error.message).toContain('nothing was sent');
    expect(server.seen).toEqual([]);
  });

  test('an abort before it was written', async () => {
    const { server, workspace } = await openTestWorkspace();
    const stop = new AbortController();
    const result = workspace.createContact(ada, { signal: stop.signal, beforeSend: () => stop.abort() });
    expect(await result).toMatchObject({ kind: 'notSent', error: { kind: 'transient', code: 'aborted' } });
    expect(await workspace.createContact(ada, { signal: stop.signal })).toMatchObject({ kind: 'notSent' });
    expect(server.seen).toEqual([]);
  });

  test('a missing key', async () => {
    const { server, workspace } = await openTestWorkspace({ readApiKey: () => '' });
    expect(await workspace.createContact(ada)).toMatchObject({ kind: 'notSent', error: { code: 'keyMissing' } });
    expect(server.seen).toEqual([]);
  });
});

describe('the last check before a request', () => {
  test('is called each time, after the gate; what it throws passes through and nothing is sent', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reset, reply(200, adaJson));
    let calls = 0;
    await workspace.getContact('c1', {
      beforeSend: async () => {
        calls += 1;
      },
    });
    expect(calls).toBe(2);
    const lost = new Error('the lease is lost');
    const beforeSend = () => {
      throw lost;
    };
    await expect(workspace.createContact(ada, { beforeSend })).rejects.toBe(lost);
    await expect(workspace.updateContact('c1', change, { beforeSend })).rejects.toBe(lost);
    await expect(workspace.getContact('c1', { beforeSend })).rejects.toBe(lost);
    expect(server.seen).toHaveLength(2);
  });
});

describe('connections', () => {
  test('are used again at once, and closed when idle, so that no POST meets an old one', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.always(reply(201, adaJson, { 'keep-alive': 'timeout=60' }));
    await workspace.createContact(ada);
    await workspace.createContact(ada);
    const [first, second] = server.seen;
    expect(second?.port).toBe(first?.port);
    await sleep(1_000);
    await workspace.createContact(ada);
    expect(server.seen[2]?.port).not.toBe(first?.port);
  });

  test('are closed when idle, also where the program was too busy to close them', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.always(reply(201, adaJson));
    await workspace.createContact(ada);
    // Right after a piece of I/O the event loop comes to its timers last.
    await stat('.');
    const busyUntilMs = performance.now() + 1_000;
    while (performance.now() < busyUntilMs);
    await workspace.createContact(ada);
    const [first, second] = server.seen;
    expect(second?.port).not.toBe(first?.port);
  });

  test('are 40 at most, and every call gets its turn', async () => {
    const { server, workspace } = await openTestWorkspace();
    let openMost = 0;
    server.always((response, request) => {
      openMost = Math.max(openMost, server.openSockets.size);
      setTimeout(() => reply(201, adaJson)(response, request), 5);
    });
    const results = await Promise.all(Array.from({ length: 100 }, () => workspace.createContact(ada)));
    expect(results.every((result) => result.kind === 'done')).toBe(true);
    expect(openMost).toBe(40);
  });

  test('are free again after every kind of end', async () => {
    const { server, workspace } = await openTestWorkspace();
    for (const step of [reset, half(200, adaJson), tenMegabytes, reply(500, 'x'), reply(302, 'x')]) {
      server.always(step);
      await Promise.all(Array.from({ length: 20 }, () => workspace.createContact(ada)));
    }
    server.always(reply(201, adaJson));
    expect(await workspace.createContact(ada)).toMatchObject({ kind: 'done' });
  });

  test('close lets what is on its way end; later calls are not sent', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.always((response, request) => void setTimeout(() => reply(201, adaJson)(response, request), 30));
    const underway = workspace.createContact(ada);
    while (server.seen.length === 0) await sleep(1);
    await Promise.all([workspace.close(), workspace.close()]);
    expect(await underway).toMatchObject({ kind: 'done' });
    expect(await workspace.createContact(ada)).toMatchObject({ kind: 'notSent' });
  });

  test('close cuts what has not ended within the time for it, and a write is then in doubt', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.always(hang);
    const underway = workspace.createContact(ada);
    while (server.seen.length === 0) await sleep(1);
    await workspace.close(20);
    expect(await underway).toMatchObject({ kind: 'doubt', why: 'the client is closed (UND_ERR_DESTROYED)' });
  });

  test('the gate is passed by every request, repeated ones included', async () => {
    const clock = systemClock();
    const inner = createPauseGate(clock);
    let passes = 0;
    const rateGate = {
      ...inner,
      take: (signal?: AbortSignal) => {
        passes += 1;
        return inner.take(signal);
      },
    };
    const { server, workspace } = await openTestWorkspace({ rateGate });
    server.script(reset, reply(500, '{}'), reply(200, adaJson), reply(201, adaJson));
    await workspace.getContact('c1');
    await workspace.createContact(ada);
    expect(passes).toBe(4);
  });
});
