/** Authentication, paths, bodies, limits, the port (sections 5, 7, 9). */
import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { sendRaw } from './support/raw-http.ts';
import { manualClock, openTestService, person, send, startTestService, testKey } from './test-service.ts';

const json = { authorization: testKey, 'content-type': 'application/json' };

async function post(origin: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = json) {
  const response = await fetch(`${origin}/v1/contacts`, { method: 'POST', headers, body });
  return {
    status: response.status,
    body: (await response.json()) as { code?: string; errors?: { message: string }[] },
  };
}

test.each(['/v1/contacts', '/v1/contacts/x', '/v1/phone-numbers', '/v1/nothing'])(
  'no cache on the way keeps what %s answers',
  async (path) => {
    const service = await startTestService();
    const response = await fetch(service.origin + path, { headers: { authorization: testKey } });
    expect(response.headers.get('cache-control')).toBe('no-store');
  },
);

describe('authentication', () => {
  test.each([
    ['no key', {}, 'Missing authorization header'],
    ['a wrong key', { authorization: 'wrong' }, 'Unauthorized'],
    ['a scheme before the key', { authorization: `Bearer ${testKey}` }, 'Unauthorized'],
    ['an empty key', { authorization: '' }, 'Unauthorized'],
  ])('%s is 401 in the wrapped shape', async (_, headers, message) => {
    const service = await startTestService();
    for (const path of ['/v1/contacts', '/v1/contacts/x', '/v1/phone-numbers', '/v1/contact-custom-fields']) {
      const response = await fetch(service.origin + path, { headers });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({
        error: {
          message,
          docs: 'https://quo.com/docs',
          key: 'Unauthorized',
          trace: expect.any(String),
        },
      });
    }
  });

  test('each of several keys opens', async () => {
    const service = await startTestService({ apiKeys: ['one', 'two'] });
    for (const authorization of ['one', 'two']) {
      expect((await fetch(`${service.origin}/v1/contacts`, { headers: { authorization } })).status).toBe(200);
    }
  });
});

describe('docs in errors', () => {
  const docsOf = async (service: { readonly port: number; readonly origin: string }) => {
    const { replies } = await sendRaw(service.port, 'no HTTP\r\n\r\n');
    const stranger = (await (await fetch(`${service.origin}/v1/contacts`)).json()) as { error: { docs: string } };
    const answers = await Promise.all(
      ['/v1/nothing', '/v1/contacts/absent', '/v1/contacts?maxResults=0'].map((path) =>
        send(service.origin, 'GET', path),
      ),
    );
    return [replies[0]?.body.docs, stranger.error.docs, ...answers.map(({ body }) => body.docs)];
  };

  test('are those of the newest public description', async () => {
    const service = await startTestService();
    expect(new Set(await docsOf(service))).toEqual(new Set(['https://quo.com/docs']));
  });

  test('are those of the older one by an option, for clients that were generated from it', async () => {
    const service = await startTestService({ errorDocs: 'https://openphone.com/docs' });
    expect(new Set(await docsOf(service))).toEqual(new Set(['https://openphone.com/docs']));
    expect(JSON.stringify((await service.call('GET', '/openapi.json')).body.paths)).not.toContain('quo.com');
  });
});

describe('paths', () => {
  test('unknown paths are 404', async () => {
    const service = await startTestService();
    for (const path of ['/', '/v1', '/v1/contact', '/v1/contacts/', '/v1/contacts/a/b', '/v2/contacts']) {
      const { status, body } = await service.call('GET', path);
      expect([path, status, body.status]).toEqual([path, 404, 404]);
    }
  });

  test('wrong methods are 405 and told which are right', async () => {
    const service = await startTestService();
    const answer = await service.call('PUT', '/v1/contacts/abc', {});
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE');
    expect(answer.body.message).toContain('GET, HEAD, PATCH, DELETE');
    expect((await service.call('POST', '/v1/phone-numbers', {})).status).toBe(405);
  });

  test('/v0 is deprecated and names /v1', async () => {
    const service = await startTestService();
    const { status, body } = await service.call('GET', '/v0/contacts');
    expect(status).toBe(410);
    expect(body.message).toContain('/v1');
    expect(body.message).toContain('deprecated');
  });

  test('/healthz needs no key', async () => {
    const service = await startTestService();
    expect((await fetch(`${service.origin}/healthz`)).status).toBe(200);
  });

  test('requests are counted by operation', async () => {
    const service = await startTestService();
    await service.call('POST', '/v1/contacts', person('a'));
    await service.call('GET', '/v1/contacts');
    await service.call('GET', '/v1/contacts?maxResults=0');
    const others = {
      get: 0,
      update: 0,
      delete: 0,
      numbers: 0,
      fields: 0,
      calls: 0,
      recordings: 0,
      messages: 0,
      send: 0,
    };
    expect(service.counts()).toEqual({ ...others, create: 1, list: 2 });
  });
});

describe('bodies', () => {
  test.each(['', '{', '{"a":1,}', 'null', '[]', '"text"', '7', '{"defaultFields":NaN}'])(
    '%j is refused with 400 and no stack',
    async (body) => {
      const service = await startTestService();
      const answer = await post(service.origin, body);
      expect([answer.status, answer.body.code]).toEqual([400, '0800400']);
      expect(JSON.stringify(answer.body)).not.toMatch(/\bat .*:\d+|SyntaxError|node_modules/);
    },
  );

  test('bytes that are not UTF-8 are refused', async () => {
    const service = await startTestService();
    expect((await post(service.origin, new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', ''])(
    'the content type %j is 415',
    async (type) => {
      const service = await startTestService();
      const answer = await post(service.origin, '{}', { authorization: testKey, 'content-type': type });
      expect([answer.status, answer.body.code]).toEqual([415, '0800415']);
    },
  );

  test('a charset of UTF-8 is fine, a compressed body is not', async () => {
    const service = await startTestService();
    const body = JSON.stringify(person('a'));
    expect(
      (await post(service.origin, body, { ...json, 'content-type': 'application/json;charset=UTF-8' })).status,
    ).toBe(201);
    expect((await post(service.origin, body, { ...json, 'content-encoding': 'gzip' })).status).toBe(415);
  });

  test('32 levels are read, 33 are refused; brackets in texts do not count', async () => {
    const service = await startTestService();
    const nested = (depth: number) =>
      `{"defaultFields":{"firstName":"[[[[\\"[[["},"more":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect((await post(service.origin, nested(32))).status).toBe(201);
    const deep = await post(service.origin, nested(33));
    expect(deep.status).toBe(400);
    expect(deep.body.errors?.[0]?.message).toContain('32');
  });

  test('a body above the limit is 413, announced or not', async () => {
    const service = await startTestService({ requestBodyBytesMax: 1000 });
    const body = (byteCount: number) => JSON.stringify(person('a')).padEnd(byteCount);
    expect((await post(service.origin, body(1001))).body.code).toBe('0800413');
    const statusOfChunked = (byteCount: number) =>
      new Promise<number | undefined>((resolve, reject) => {
        const upload = request(`${service.origin}/v1/contacts`, { method: 'POST', headers: json }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        upload.on('error', reject);
        upload.write(body(byteCount));
        upload.end();
      });
    expect(await statusOfChunked(1001)).toBe(413);
    expect(await statusOfChunked(1000)).toBe(201);
  });

  test('256 KiB are read by default', async () => {
    const service = await startTestService();
    const body = (byteCount: number) => JSON.stringify(person(null)).padEnd(byteCount);
    expect((await post(service.origin, body(256 * 1024))).status).toBe(201);
    expect((await post(service.origin, body(256 * 1024 + 1))).status).toBe(413);
  });
});

describe('rate limit', () => {
  test('more than the allowed number in a sliding second is 429 with Retry-After', async () => {
    const clock = manualClock();
    const service = await startTestService({ clock, requestsPerSecond: 3 });
    const status = async () => (await service.call('GET', '/v1/contacts')).status;
    expect([await status(), await status()]).toEqual([200, 200]);
    clock.advance(600);
    expect(await status()).toBe(200);
    const refused = await service.call('GET', '/v1/contacts');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body.code).toBe('0800429');
    clock.advance(400);
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
  });

  test('every reply says how its key stands', async () => {
    const service = await startTestService({
      clock: manualClock(),
      requestsPerSecond: 4,
      faults: ['numbers:status=503', 'fields:truncated'],
    });
    const headersOf = async (path: string, authorization = testKey, method = 'GET') => {
      const { status, headers } = await fetch(`${service.origin}${path}`, { method, headers: { authorization } });
      return [status, headers.get('ratelimit-policy'), headers.get('ratelimit')];
    };
    const policy = '"per-second"; q=4; w=1';
    expect(await headersOf('/v1/contacts')).toEqual([200, policy, '"per-second"; r=3; t=1']);
    expect(await headersOf('/v1/contacts/absent')).toEqual([404, policy, '"per-second"; r=2; t=1']);
    expect(await headersOf('/v1/phone-numbers')).toEqual([503, policy, '"per-second"; r=1; t=1']);
    expect(await headersOf('/v1/contact-custom-fields')).toEqual([200, policy, '"per-second"; r=0; t=1']);
    expect(await headersOf('/v1/contacts')).toEqual([429, policy, '"per-second"; r=0; t=1']);
    expect(await headersOf('/v1/contacts', 'of a stranger')).toEqual([401, policy, '"per-second"; r=4; t=1']);
  });

  test('so does one to a request for no operation, which takes no place', async () => {
    const service = await startTestService({ clock: manualClock(), requestsPerSecond: 5 });
    await service.call('GET', '/v1/contacts');
    for (const [method, path, status] of [
      ['GET', '/v1/nothing', 404],
      ['PUT', '/v1/contacts', 405],
      ['GET', '/v0/contacts', 410],
      ['GET', '/nothing', 404],
      ['GET', '/v1/contacts', 200],
    ] as const) {
      const answer = await service.call(method, path);
      const left = status === 200 ? 3 : 4;
      expect([path, answer.status, answer.headers.get('ratelimit')]).toEqual([
        path,
        status,
        `"per-second"; r=${left}; t=1`,
      ]);
      expect(answer.headers.get('ratelimit-policy')).toBe('"per-second"; q=5; w=1');
    }
    const { headers } = await fetch(`${service.origin}/v1/nothing`);
    expect(headers.get('ratelimit')).toBe('"per-second"; r=5; t=1');
  });

  test('what is beside the interface has none, also where it refuses', async () => {
    const service = await startTestService({ clock: manualClock(), requestsPerSecond: 5, control: true });
    for (const [method, path, body, status] of [
      ['GET', '/healthz', undefined, 200],
      ['POST', '/healthz', {}, 405],
      ['DELETE', '/openapi.json', undefined, 405],
      ['POST', '/docs', {}, 405],
      ['GET', '/__control', undefined, 200],
      ['PUT', '/__control', {}, 405],
      ['POST', '/__control', { faults: 'all' }, 400],
      ['POST', '/__control', { faults: [] }, 200],
    ] as const) {
      const { status: got, headers } = await service.call(method, path, body);
      expect([path, got, headers.get('ratelimit-policy'), headers.get('ratelimit')]).toEqual([
        path,
        status,
        null,
        null,
      ]);
    }
  });

  test('without a limit no header tells one', async () => {
    const service = await startTestService();
    const { headers } = await service.call('GET', '/v1/contacts');
    expect([headers.get('ratelimit-policy'), headers.get('ratelimit')]).toEqual([null, null]);
  });

  test('each key has its own', async () => {
    const service = await startTestService({ clock: manualClock(), requestsPerSecond: 1, apiKeys: ['one', 'two'] });
    const status = async (authorization: string) =>
      (await fetch(`${service.origin}/v1/contacts`, { headers: { authorization } })).status;
    expect([await status('one'), await status('two'), await status('one')]).toEqual([200, 200, 429]);
  });
});

describe('the port', () => {
  test('a taken port is a usage error', async () => {
    const service = await startTestService();
    const error = await openTestService({ port: service.port }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PatchbayError);
    expect(error).toMatchObject({ kind: 'usage', code: 'portTaken' });
  });

  test('close ends open connections at once, and may be called again', async () => {
    const service = await openTestService();
    const socket = connect(service.port, '127.0.0.1');
    const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.on('error', () => {});
    await fetch(`${service.origin}/healthz`);
    await service.close();
    await service.close();
    await ended;
    await expect(fetch(`${service.origin}/healthz`)).rejects.toThrow();
  });

  test('two Host headers are refused', async () => {
    const service = await startTestService();
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(service.port, '127.0.0.1', () =>
        socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'),
      );
      socket.once('data', (data) => {
        resolve(data.toString());
        socket.destroy();
      });
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});
