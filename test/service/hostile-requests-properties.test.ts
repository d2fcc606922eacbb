/** Requests by chance, on a raw socket: every answer is one that the service means to give. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RawReply, sendRaw } from './support/raw-http.ts';
import { startTestService, testKey } from './test-service.ts';

const odd = fc.string({ unit: 'binary', maxLength: 20 });
const method = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE') },
  { weight: 2, arbitrary: fc.constantFrom('HEAD', 'PUT', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY', 'get', '') },
  { weight: 1, arbitrary: odd },
);
const target = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('/v1/contacts', '/v1/contacts/x', '/v1/phone-numbers', '/v1/calls', '/v1/messages'),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom('/', '/v1', '/v0', 'contacts', '%2F', '%00', '%ZZ', '..', '\\', '?', '#', '&', '=', '%'))
      .map((pieces) => pieces.join('')),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.constantFrom('maxResults=5', 'maxResults=x', 'pageToken=', 'externalIds=a', 'externalIds[]=a', '%', '='),
      )
      .map((pieces) => `/v1/contacts?${pieces.join('&')}`),
  },
  { weight: 1, arbitrary: fc.constantFrom('*', 'http://localhost/v1/contacts', 'http://example.com/', 'localhost:80') },
  { weight: 1, arbitrary: odd },
);
const version = fc.oneof(
  { weight: 8, arbitrary: fc.constant('HTTP/1.1') },
  { weight: 1, arbitrary: fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/1', 'http/1.1', '', 'HTTP/1.1 x') },
);
const someHeader = fc.oneof(
  fc.constantFrom(
    ...['Host: localhost', 'Host: example.com', 'Host:', `Authorization: ${testKey}`, 'Authorization: Bearer x'],
    ...['Content-Type: application/json', 'Content-Type: text/plain', 'Content-Encoding: gzip', 'Content-Length: 3'],
    ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip', 'Expect: tea', 'Connection: close', 'Connection: x'],
    ...['Upgrade: h2c', 'Connection: Upgrade', 'Range: bytes=0-1', 'X-HTTP-Method-Override: DELETE', ': x', 'x'],
  ),
  odd,
);
const body = fc.oneof(
  fc.constant(''),
  fc.constant('{"defaultFields":{"firstName":"Ada"}}'),
  fc.json({ maxDepth: 5 }),
  fc.json().map((json) => `{"defaultFields":{"firstName":${json}},"customFields":${json}}`),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

const request = fc
  .record({
    method,
    target,
    version,
    headers: fc.array(someHeader, { maxLength: 4 }),
    isWhole: fc.boolean(),
    lineEnd: fc.oneof({ weight: 9, arbitrary: fc.constant('\r\n') }, fc.constantFrom('\n', '\r', '')),
    body,
    times: fc.constantFrom(1, 1, 1, 3),
  })
  .map((parts) => {
    const usual = ['Host: localhost', `Authorization: ${testKey}`, 'Content-Type: application/json'];
    const length = parts.body === '' ? [] : [`Content-Length: ${Buffer.byteLength(parts.body)}`];
    // Half of them are whole but for their target, so that some get further than the head.
    const headers = parts.isWhole ? [...usual, ...length] : parts.headers;
    const line = `${parts.method} ${parts.target} ${parts.version}`;
    const bytes = `${[line, ...headers, '', ''].join(parts.lineEnd)}${parts.body}`;
    return { bytes: bytes.repeat(parts.method === 'HEAD' ? 1 : parts.times), bodiless: parts.method === 'HEAD' };
  });

const text = expect.any(String);

function expectMeant(reply: RawReply, bodiless: boolean): void {
  const { status } = reply;
  expect(reply.text).not.toMatch(/\bat (?:\/|file:|async |new |\w+[.(])|node:|node_modules|\.ts\b|HPE_|SQLITE/);
  if (status === 100 || status === 204 || bodiless) {
    expect(reply.text).toBe('');
    return;
  }
  expect(reply.headers['content-type']).toBe('application/json');
  if (status === 401) {
    expect(reply.body).toEqual({ error: { message: text, docs: text, key: 'Unauthorized', trace: text } });
  } else if (status >= 400) {
    expect(status < 500 || status === 501 || status === 505).toBe(true);
    expect(reply.body).toMatchObject({ message: text, code: text, status, docs: text, title: text, trace: text });
  } else {
    expect(reply.body.data ?? reply.body.status).toBeDefined();
  }
}

test('whatever is sent, each answer is valid HTTP in a shape of the interface, and the service lives on', async () => {
  const service = await startTestService({ seedContacts: 5, seedPhoneNumbers: 2 });
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ bytes, bodiless }) => {
      const sent = await sendRaw(service.port, Buffer.from(bytes, 'utf8'), { bodiless, patienceMs: 20 });
      for (const reply of sent.replies) {
        expectMeant(reply, bodiless);
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      }
      expect(sent.closed || sent.replies.length > 0).toBe(true);
    }),
    { numRuns: 400, seed: 20_261_121 },
  );
  // The dice reach more than the parser. A create is committed first, and may come after the patience has ended.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 421, 505]));
  expect((await service.call('GET', '/v1/contacts')).status).toBe(200);
});
