/** Whatever a reply says of its trace, the log has a line with it. */
import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '#src/log.ts';
import { listen } from '#src/service/http/listen.ts';
import { createReplyOutside } from '#src/service/http/replies.ts';
import { defaultErrorDocs } from '#src/service/service-options.ts';
import { sendRaw } from './support/raw-http.ts';
import { startTestService } from './test-service.ts';

function collectingLog() {
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', stream: { write: (line) => void lines.push(line) } });
  const of = (trace: string) => lines.map((line) => JSON.parse(line)).filter((line) => line.trace === trace);
  return { log, of };
}

test('a failure outside of every operation is logged with its trace and its cause', async () => {
  const { log, of } = collectingLog();
  // The description is written when it is first asked for; here that fails.
  const service = await startTestService({ log });
  const stringify = JSON.stringify;
  onTestFinished(() => {
    JSON.stringify = stringify;
  });
  JSON.stringify = ((value: unknown, ...more: []) => {
    if (typeof value === 'object' && value !== null && 'openapi' in value) throw new Error('no description today');
    return stringify(value, ...more);
  }) as typeof stringify;
  const { replies } = await sendRaw(service.port, 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(replies[0]).toMatchObject({ status: 500, body: { code: '0001500' } });
  expect(of(replies[0]?.body.trace)).toMatchObject([{ level: 'error', error: 'no description today' }]);
});

test('a failure of the listener itself is logged with its trace and its cause', async () => {
  const { log, of } = collectingLog();
  const fetch = () => {
    throw new Error('no answer today');
  };
  const replyOutside = createReplyOutside(log, defaultErrorDocs);
  const listening = await listen({ fetch, host: '127.0.0.1', port: 0, limits: undefined, replyOutside, log });
  onTestFinished(() => listening.close());
  const { replies } = await sendRaw(listening.port, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(replies[0]?.status).toBe(500);
  expect(of(replies[0]?.body.trace)).toMatchObject([{ level: 'error', error: 'no answer today' }]);
});

test.each([
  ['an unknown path', 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
  ['a host that is not meant', 'GET / HTTP/1.1\r\nHost: other.example\r\n\r\n', 421],
  ['what is no HTTP', 'no HTTP at all\r\n\r\n', 400],
  [
    'a fault that cannot be read',
    'POST /__control HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{',
    400,
  ],
])('%s is refused under a trace that the debug log has', async (_name, request, status) => {
  const { log, of } = collectingLog();
  const service = await startTestService({ log, control: true });
  const { replies } = await sendRaw(service.port, request);
  expect(replies[0]?.status).toBe(status);
  expect(of(replies[0]?.body.trace)).toMatchObject([{ level: 'debug', status }]);
});
