import { describe, expect, test } from 'vitest';
import { type RawOptions, type RawReply, sendRaw } from './support/raw-http.ts';
import { shareTestService, startTestService, type TestServiceOptions, testKey } from './test-service.ts';

const host = 'Host: localhost\r\n';
const head = `${host}Authorization: ${testKey}\r\n`;
const jsonHead = `${head}Content-Type: application/json\r\n`;
const body = '{"defaultFields":{"firstName":"Ada"}}';

const get = (target: string) => `GET ${target} HTTP/1.1\r\n${head}\r\n`;
const post = (headers: string, sent: string) => `POST /v1/contacts HTTP/1.1\r\n${jsonHead}${headers}\r\n${sent}`;
const create = (sent: string) => post(`Content-Length: ${Buffer.byteLength(sent)}\r\n`, sent);

const shared = shareTestService();

/** Of the shared service, or of one with options of its own. */
async function repliesTo(bytes: string | Uint8Array, options: RawOptions = {}, service?: TestServiceOptions) {
  const { port } = service === undefined ? shared() : await startTestService(service);
  return (await sendRaw(port, bytes, options)).replies;
}

async function statusesOf(bytes: string, replyCount = 1, service?: TestServiceOptions): Promise<readonly number[]> {
  return (await repliesTo(bytes, { replyCount }, service)).map((reply) => reply.status);
}

function expectFlat(reply: RawReply | undefined, status: number): void {
  expect(reply?.status).toBe(status);
  expect(reply?.headers['content-type']).toBe('application/json');
  expect(reply?.headers['cache-control']).toBe('no-store');
  expect(reply?.body).toMatchObject({
    message: expect.stringMatching(/./),
    code: expect.stringMatching(new RegExp(`^\\d{4}${status}$`)),
    status,
    docs: expect.any(String),
    title: expect.stringMatching(/^[A-Z]/),
    trace: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
}

describe('what is not HTTP is answered, and the connection closed', () => {
  test.each([
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['half of a request line', 'GET\r\n\r\n', 400],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['HTTP/2.0 in the request line', `GET / HTTP/2.0\r\n${head}\r\n`, 505],
    ['a version that nobody speaks', `GET / HTTP/9.9\r\n${head}\r\n`, 505],
    ['a line that ends without CR', 'GET /healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n', 400],
    ['a space behind the version', `GET /healthz HTTP/1.1 \r\n${host}\r\n`, 400],
    ['a version that is no number', `GET /healthz HTTP/1.x\r\n${host}\r\n`, 400],
    ['a method that nobody knows', `FETCH /v1/contacts HTTP/1.1\r\n${head}\r\n`, 501],
    ['a method in lower case', `get /v1/contacts HTTP/1.1\r\n${head}\r\n`, 501],
    ['a header without a colon', `GET /v1/contacts HTTP/1.1\r\n${head}none\r\n\r\n`, 400],
    ['white space before a colon', `GET /v1/contacts HTTP/1.1\r\n${head}Accept : a\r\n\r\n`, 400],
    ['a header on two lines', `GET /v1/contacts HTTP/1.1\r\n${head}Accept: a\r\n b\r\n\r\n`, 400],
    ['a NUL in the path', `GET /v1/contacts/\0 HTTP/1.1\r\n${head}\r\n`, 400],
    ['letters beyond ASCII in the path', `GET /v1/contacts/ü HTTP/1.1\r\n${head}\r\n`, 400],
    ['headers above 32 KB', `GET /v1/contacts HTTP/1.1\r\n${head}X: ${'a'.repeat(33_000)}\r\n\r\n`, 431],
    ['a path above 32 KB', get(`/v1/contacts/${'a'.repeat(33_000)}`), 431],
    ['no Host', `GET /v1/contacts HTTP/1.1\r\nAuthorization: ${testKey}\r\n\r\n`, 400],
    ['an empty Host', 'GET /healthz HTTP/1.1\r\nHost:\r\n\r\n', 400],
    ['a Host that is none', 'GET /healthz HTTP/1.1\r\nHost: localhost/v1\r\n\r\n', 400],
    ['two Hosts', `GET /healthz HTTP/1.1\r\n${host}${host}\r\n`, 400],
    ['two lengths', post('Content-Length: 37\r\nContent-Length: 38\r\n', body), 400],
    ['a length below zero', post('Content-Length: -1\r\n', body), 400],
    ['a length with a sign', post('Content-Length: +37\r\n', body), 400],
    ['a length and chunks', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 400],
    ['chunks within another encoding', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), 501],
    ['an encoding that ends nowhere', post('Transfer-Encoding: gzip\r\n', body), 501],
    ['a chunk without a size', post('Transfer-Encoding: chunked\r\n', 'x\r\n{}'), 400],
    ['a chunk longer than its size', post('Transfer-Encoding: chunked\r\n', '1\r\n{}\r\n0\r\n\r\n'), 400],
    ['endless extensions of a chunk', post('Transfer-Encoding: chunked\r\n', `1;${'a'.repeat(33_000)}`), 413],
    ['a body that breaks off', post('Content-Length: 100\r\n', '{'), 400],
    ['an expectation that nobody knows', post('Expect: tea\r\nContent-Length: 37\r\n', body), 417],
    ['another protocol in the target', get('ftp://localhost/v1/contacts'), 400],
    ['a target that is no path', get('v1/contacts'), 400],
    ['a line that is none of HTTP', 'FOO\r\n\r\n', 400],
    ['a star as the target', `OPTIONS * HTTP/1.1\r\n${head}\r\n`, 400],
  ])('%s', async (_, bytes, status) => {
    const [reply] = await repliesTo(Buffer.from(bytes, 'latin1'));
    expectFlat(reply, status);
    expect(reply?.headers.connection).toBe('close');
    expect(reply?.text).not.toMatch(/\bat .*:\d+|node:|HPE_|src\//);
  });
});

describe('the host', () => {
  test.each(['localhost', 'LOCALHOST:80', 'localhost.', '127.0.0.1', '127.1.2.3:65000', '[::1]', '[::1]:8787'])(
    '%s is a name of this machine',
    async (name) => {
      expect(await statusesOf(`GET /healthz HTTP/1.1\r\nHost: ${name}\r\n\r\n`)).toEqual([200]);
    },
  );

  test.each(['example.com', 'localhost.example.com', '127.0.0.1.example.com', '10.0.0.1', '[::2]', 'evil-localhost'])(
    '%s is refused where the service listens for this machine alone',
    async (name) => {
      const service = await startTestService({ control: true });
      for (const path of ['/healthz', '/v1/contacts', '/__control', '/nowhere']) {
        const request = `GET ${path} HTTP/1.1\r\nHost: ${name}\r\nAuthorization: ${testKey}\r\n\r\n`;
        expectFlat((await sendRaw(service.port, request)).replies[0], 421);
      }
    },
  );

  test('any name will do where the service listens for others too', async () => {
    const service = await startTestService({ host: '0.0.0.0' });
    const request = 'GET /healthz HTTP/1.1\r\nHost: service.example.com\r\n\r\n';
    expect((await sendRaw(service.port, request)).replies[0]?.status).toBe(200);
  });

  test('HTTP/1.0 needs none, and is closed after its reply', async () => {
    const [reply] = await repliesTo(`GET /v1/contacts HTTP/1.0\r\nAuthorization: ${testKey}\r\n\r\n`);
    expect([reply?.status, reply?.headers.connection]).toEqual([200, 'close']);
  });

  test('the host of a target counts', async () => {
    expect(await statusesOf(get('http://localhost/v1/contacts?maxResults=1'))).toEqual([200]);
    expect(await statusesOf(get('http://localhost'))).toEqual([404]);
    expect(await statusesOf(get('http://example.com/v1/contacts'))).toEqual([421]);
  });
});

describe('paths and methods', () => {
  test.each([
    ['//v1/contacts', 404, '0000404'],
    ['/v1/contacts/', 404, '0000404'],
    ['/V1/contacts', 404, '0000404'],
    ['/v1/Contacts', 404, '0000404'],
    ['/v1', 404, '0000404'],
    ['/v2', 404, '0000404'],
    ['/v2/contacts', 404, '0000404'],
    ['/v0x', 404, '0000404'],
    ['/__control', 404, '0000404'],
    ['/v1/contacts%2Fabc', 404, '0000404'],
    ['/v1/contacts/a%2Fb', 404, '0800404'],
    ['/v1/contacts/%ZZ', 404, '0800404'],
    ['/v1/contacts/%', 404, '0800404'],
    ['/v1/contacts/%00', 404, '0800404'],
    ['/v1/contacts/%ff%fe', 404, '0800404'],
    [`/v1/contacts/${'a'.repeat(20_000)}`, 404, '0800404'],
    ['/v1\\contacts', 400, '0000400'],
    ['/v0', 410, '0000410'],
    ['/v0/', 410, '0000410'],
    ['/v0/contacts/x', 410, '0000410'],
  ])('%.40s is %d with the code %s', async (path, status, code) => {
    const [reply] = await repliesTo(get(path));
    expectFlat(reply, status);
    expect(reply?.body.code).toBe(code);
    if (status === 410) expect(reply?.body.message).toContain('/v1');
  });

  test('the query begins at the question mark, whatever it holds', async () => {
    for (const query of ['?', '?%', '?%ZZ=%ZZ', '?a=\\', '?/v0/']) {
      expect(await statusesOf(get(`/v1/contacts${query}`))).toEqual([200]);
    }
  });

  test.each([
    ['TRACE', '/v1/contacts', ['GET', 'HEAD', 'POST']],
    ['OPTIONS', '/v1/contacts', ['GET', 'HEAD', 'POST']],
    ['PUT', '/v1/contacts/x', ['DELETE', 'GET', 'HEAD', 'PATCH']],
    ['M-SEARCH', '/v1/phone-numbers', ['GET', 'HEAD']],
    ['POST', '/healthz', ['GET', 'HEAD']],
    ['DELETE', '/openapi.json', ['GET', 'HEAD']],
    ['DELETE', '/__control', ['GET', 'HEAD', 'POST']],
  ])('%s %s is 405 and says what is answered', async (method, path, allowed) => {
    const request = `${method} ${path} HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`;
    const [reply] = await repliesTo(request, {}, { control: true });
    expectFlat(reply, 405);
    expect(reply?.headers.allow?.split(', ').toSorted()).toEqual(allowed);
  });

  test('HEAD is GET without a body, and the next reply is found', async () => {
    const service = await startTestService();
    const request = `HEAD /v1/contacts HTTP/1.1\r\n${head}\r\nHEAD /v1/contacts/x HTTP/1.1\r\n${head}\r\n`;
    const { replies, rest } = await sendRaw(service.port, request, { replyCount: 2, bodiless: true });
    expect([replies.map((reply) => reply.status), rest]).toEqual([[200, 404], '']);
  });

  test('a request to upgrade is answered as it stands', async () => {
    const upgrade = `GET /v1/contacts HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    expect(await statusesOf(upgrade)).toEqual([200]);
  });
});

describe('bodies', () => {
  test('a client that waits for 100 Continue gets it, and then its reply', async () => {
    expect(await statusesOf(post('Expect: 100-continue\r\nContent-Length: 37\r\n', body), 2)).toEqual([100, 201]);
  });

  test('a body of a GET is read past and never taken for a request', async () => {
    const smuggled = `DELETE /v1/contacts/x HTTP/1.1\r\n${head}\r\n`;
    const first = `GET /healthz HTTP/1.1\r\n${head}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`;
    const service = await startTestService();
    const { replies } = await sendRaw(service.port, first + get('/v1/contacts'), { replyCount: 2 });
    expect(replies.map((reply) => reply.status)).toEqual([200, 200]);
    expect(service.counts()).toMatchObject({ delete: 0, list: 1 });
  });

  test('a body of a refused request is read past as well', async () => {
    const wrong = create(body).replace(testKey, 'wrong');
    expect(await statusesOf(wrong + get('/v1/contacts'), 2)).toEqual([401, 200]);
  });

  test('a length above the limit is refused before the body comes, and one that was kept small holds the body', async () => {
    const options = { requestBodyBytesMax: 100 };
    expect(await statusesOf(post('Content-Length: 101\r\n', ''), 1, options)).toEqual([413]);
    expect(await statusesOf(post('Content-Length: 99999999999999999999\r\n', ''), 1, options)).toEqual([400]);
    // What comes behind the announced length is the next request, and none.
    expect(await statusesOf(post('Content-Length: 37\r\n', `${body}${'x'.repeat(500)}`), 2, options)).toEqual([
      201, 400,
    ]);
  });

  test('chunks are counted while they come', async () => {
    const chunk = `20\r\n${' '.repeat(32)}\r\n`;
    const request = post('Transfer-Encoding: chunked\r\n', chunk.repeat(4));
    const [reply] = await repliesTo(request, {}, { requestBodyBytesMax: 100 });
    expectFlat(reply, 413);
  });

  test('a body in chunks of one byte is refused long before it is whole', async () => {
    const request = post('Transfer-Encoding: chunked\r\n', '1\r\n \r\n'.repeat(20_000));
    const [reply] = await repliesTo(request);
    expectFlat(reply, 413);
    expect(reply?.body.message).toContain('more than 16384 transfer chunks');
  });

  test.each([
    ['a byte order mark is skipped', `\uFEFF${body}`, 201],
    ['of two members with one name, the last counts', '{"defaultFields":7,"defaultFields":{"firstName":"A"}}', 201],
    [
      '`__proto__` is a member like any other',
      '{"__proto__":{"a":1},"defaultFields":{"firstName":"A","__proto__":7}}',
      201,
    ],
    [
      '`constructor` is a member like any other',
      '{"constructor":{"prototype":1},"defaultFields":{"firstName":"A"}}',
      201,
    ],
    ['no body at all is not JSON', '', 400],
    ['white space is not JSON', ' \r\n', 400],
    ['a number beyond all numbers is not one', '{"defaultFields":{"firstName":1e999}}', 400],
  ])('%s', async (_, sent, status) => {
    const [reply] = await repliesTo(create(sent));
    expect(reply?.status).toBe(status);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
    if (status !== 201) expectFlat(reply, status);
  });

  test.each([
    ['two content types', 'Content-Type: application/json\r\n', 415],
    ['one encoding', 'Content-Encoding: gzip\r\n', 415],
    ['an encoding beside none', 'Content-Encoding: identity, gzip\r\n', 415],
    ['no encoding, said aloud', 'Content-Encoding: identity\r\n', 201],
  ])('%s: %#', async (_, header, status) => {
    expect(await statusesOf(post(`${header}Content-Length: 37\r\n`, body))).toEqual([status]);
  });
});

describe('requests that are sent ahead', () => {
  test('1,000 in one write are answered in their order', async () => {
    const service = await startTestService();
    const kinds = [get('/healthz'), get('/v1/contacts/x'), create(body), get('/v1/contacts?maxResults=1')];
    const requests = Array.from({ length: 1_000 }, (_, index) => kinds[index % kinds.length]).join('');
    const { replies } = await sendRaw(service.port, requests, { replyCount: 1_000, patienceMs: 30_000 });
    expect(replies.map((reply) => reply.status)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => [200, 404, 201, 200][index % kinds.length]),
    );
  });
});

describe('the control endpoint', () => {
  test('shows the faults in force, and takes JSON alone', async () => {
    const service = await startTestService({ control: true, faults: ['get:dropBefore:5%'] });
    const control = (headers: string, sent: string) =>
      sendRaw(
        service.port,
        `POST /__control HTTP/1.1\r\n${host}${headers}Content-Length: ${sent.length}\r\n\r\n${sent}`,
      ).then(({ replies }) => replies[0]);
    const type = 'Content-Type: application/json\r\n';
    const shown = async () => (await sendRaw(service.port, get('/__control'))).replies[0]?.body;
    expect(await shown()).toEqual({ faults: ['get:dropBefore:5%'] });
    expectFlat(await control('Content-Type: text/plain\r\n', '{"faults":[]}'), 415);
    expectFlat(await control(type, '{"faults":7}'), 400);
    expectFlat(await control(type, '{"faults":["nonsense"]}'), 400);
    expectFlat(await control(type, `{"faults":["${'x'.repeat(300_000)}"]}`), 413);
    expectFlat(await control(type, JSON.stringify({ faults: Array(101).fill('get:dropBefore') })), 400);
    expect(await shown()).toEqual({ faults: ['get:dropBefore:5%'] });
    expect((await control(type, '{"faults":["list:dropBefore"]}'))?.status).toBe(200);
    expect(await shown()).toEqual({ faults: ['list:dropBefore'] });
  });
});
