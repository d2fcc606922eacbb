/** The app without a port: from request to response. */
import { expect, onTestFinished, test } from 'vitest';
import { workspaceSeed } from '#src/service/seed/seed-workspace.ts';
import { createServiceApp } from '#src/service/service-app.ts';
import { openStore } from '#src/service/store/open-store.ts';
import { serviceOptions, type TestServiceOptions, testKey } from './test-service.ts';

function app(overrides: TestServiceOptions = {}) {
  const options = serviceOptions(overrides);
  const store = openStore(':memory:', workspaceSeed(options, options.clock));
  const service = createServiceApp(options, store);
  onTestFinished(async () => {
    await service.close();
    store.close();
  });
  return service.app;
}

const create = {
  method: 'POST',
  headers: { authorization: testKey, 'content-type': 'application/json' },
  body: JSON.stringify({ externalId: 'a', defaultFields: { firstName: 'Ada' } }),
};
const asked = { headers: { authorization: testKey } };

test('answers requests', async () => {
  const service = app();
  const created = await service.request('/v1/contacts', create);
  expect(created.status).toBe(201);
  const listed = (await (await service.request('/v1/contacts', asked)).json()) as { data: unknown[] };
  expect(listed.data).toHaveLength(1);
});

test.each(['dropAfter', 'truncated'])('%s is a body that breaks off', async (fault) => {
  const service = app({ faults: [`create:${fault}`] });
  const response = await service.request('/v1/contacts', create);
  await expect(response.text()).rejects.toThrow('connection reset');
  const listed = (await (await service.request('/v1/contacts', asked)).json()) as { data: unknown[] };
  expect(listed.data).toHaveLength(1);
});

test('a failure inside is 500 with a trace and without its message', async () => {
  const options = serviceOptions();
  const store = openStore(':memory:', workspaceSeed(options, options.clock));
  const service = createServiceApp(options, store);
  store.close();
  const response = await service.app.request('/v1/contacts', asked);
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({
    message: 'The service failed. Its log names the trace.',
    code: '0801500',
    status: 500,
    docs: expect.any(String),
    title: 'Unknown',
    trace: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
});

test.each([
  [{ requestsPerSecond: 0 }, 'the requests per second must be a whole number above 0, not 0', /no limit/],
  [
    { pageNumbers: 0 },
    'the phone numbers of a page must be a whole number above 0, not 0',
    /all phone numbers at once/,
  ],
  [{ pageNumbers: 1.5 }, 'the phone numbers of a page must be a whole number above 0, not 1.5', /at once/],
])('refuses %j', (overrides, message, hint) => {
  const refusal = { kind: 'usage', code: 'limitMalformed', message, hint: expect.stringMatching(hint) };
  expect(() => app(overrides)).toThrow(expect.objectContaining(refusal));
});
