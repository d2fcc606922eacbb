/** Each fault does what the catalog says (`docs/contract.md`, "Service"). */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { manualClock, person, startTestService, type TestService, testKey } from './test-service.ts';

const createA = (service: TestService) => service.call('POST', '/v1/contacts', person('a'));
const keysListed = async (service: TestService) =>
  (await service.call('GET', '/v1/contacts')).body.data.map((one: { externalId: string }) => one.externalId);

/** How a request ended that got no whole answer. */
async function failureOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'answered';
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return cause instanceof Error && 'code' in cause ? String(cause.code) : 'failed';
  }
}

describe('before the operation', () => {
  test('latency answers after the wait', async () => {
    const clock = manualClock();
    const service = await startTestService({ clock, faults: ['create:latency=3s'] });
    const answer = createA(service);
    await vi.waitFor(() => expect(clock.sleeperCount()).toBe(1));
    expect(await keysListed(service)).toEqual([]);
    clock.advance(3000);
    expect((await answer).status).toBe(201);
  });

  test('status answers it with Retry-After and does nothing', async () => {
    const service = await startTestService({ faults: ['create:status=503;retryAfter=2'] });
    const answer = await createA(service);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.body).toMatchObject({ code: '0800503', status: 503 });
    expect(await keysListed(service)).toEqual([]);
  });

  test('status 401 has the wrapped shape', async () => {
    const service = await startTestService({ faults: ['*:status=401'] });
    expect((await createA(service)).body).toHaveProperty('error.message');
  });

  test('dropBefore resets the connection and does nothing', async () => {
    const service = await startTestService({ faults: ['create:dropBefore'] });
    expect(await failureOf(createA(service))).toBe('ECONNRESET');
    expect(await keysListed(service)).toEqual([]);
  });
});

test('many waits of one request, and many that wait at once, listen no more often than is watched for', async () => {
  const warnings: Error[] = [];
  const listener = (warning: Error) => void warnings.push(warning);
  process.on('warning', listener);
  onTestFinished(() => void process.off('warning', listener));
  const latencies = Array.from({ length: 15 }, () => 'list:latency=1ms');
  const service = await startTestService({ faults: [...latencies, 'create:lateCommit=1m', 'update:hangAfter=1ms'] });
  await Promise.all(Array.from({ length: 15 }, () => service.call('GET', '/v1/contacts')));
  await Promise.all(Array.from({ length: 15 }, () => failureOf(createA(service))));
  await failureOf(service.call('PATCH', '/v1/contacts/x', {}));
  // Warnings are told in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

test('latencies add up', async () => {
  const clock = manualClock();
  const service = await startTestService({ clock, faults: ['list:latency=2s', 'list:latency=3s'] });
  const answer = service.call('GET', '/v1/contacts');
  await vi.waitFor(() => expect(clock.sleeperCount()).toBe(1));
  clock.advance(4_999);
  expect(clock.sleeperCount()).toBe(1);
  clock.advance(1);
  expect((await answer).status).toBe(200);
});

describe('after the operation', () => {
  test('dropAfter commits, then resets the connection', async () => {
    const service = await startTestService({ faults: ['create:dropAfter'] });
    expect(await failureOf(createA(service))).toBe('ECONNRESET');
    expect(await keysListed(service)).toEqual(['a']);
  });

  test('hangAfter commits and never answers', async () => {
    const service = await startTestService({ faults: ['create:hangAfter'] });
    const leave = new AbortController();
    const hanging = fetch(`${service.origin}/v1/contacts`, {
      method: 'POST',
      headers: { authorization: testKey, 'content-type': 'application/json' },
      body: JSON.stringify(person('a')),
      signal: leave.signal,
    }).then(
      () => 'answered',
      () => 'left',
    );
    await vi.waitFor(async () => expect(await keysListed(service)).toEqual(['a']));
    leave.abort();
    expect(await hanging).toBe('left');
  });

  test('hangAfter with a duration resets in the end', async () => {
    const service = await startTestService({ faults: ['create:hangAfter=20ms'] });
    expect(await failureOf(createA(service))).toBe('ECONNRESET');
    expect(await keysListed(service)).toEqual(['a']);
  });

  test('a service with hanging requests closes at once', async () => {
    const service = await startTestService({ faults: ['create:hangAfter', 'list:latency=1m'] });
    const hanging = [failureOf(createA(service)), failureOf(service.call('GET', '/v1/contacts'))];
    await vi.waitFor(() => expect(service.counts()).toMatchObject({ create: 1, list: 1 }));
    await service.close();
    expect(await Promise.all(hanging)).not.toContain('answered');
  });

  test('lateCommit resets at once and commits later', async () => {
    const clock = manualClock();
    const service = await startTestService({ clock, faults: ['create:lateCommit=30s'] });
    expect(await failureOf(createA(service))).toBe('ECONNRESET');
    clock.advance(29_999);
    expect(await keysListed(service)).toEqual([]);
    clock.advance(1);
    await vi.waitFor(async () => expect(await keysListed(service)).toEqual(['a']));
  });

  test('truncated announces the whole body and sends half of it', async () => {
    const service = await startTestService({ faults: ['create:truncated'] });
    const response = await fetch(`${service.origin}/v1/contacts`, {
      method: 'POST',
      headers: { authorization: testKey, 'content-type': 'application/json' },
      body: JSON.stringify(person('a')),
    });
    expect(response.status).toBe(201);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
    await expect(response.text()).rejects.toThrow();
    expect(await keysListed(service)).toEqual(['a']);
  });

  test('truncated leaves the answer to HEAD whole: it has no body', async () => {
    const service = await startTestService({ faults: ['list:truncated'] });
    const response = await fetch(`${service.origin}/v1/contacts`, {
      method: 'HEAD',
      headers: { authorization: testKey },
    });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(10);
  });

  test('notJson commits and answers a web page', async () => {
    const service = await startTestService({ faults: ['create:notJson'] });
    await expect(createA(service)).rejects.toThrow(SyntaxError);
    expect(await keysListed(service)).toEqual(['a']);
  });

  test('no cache keeps the web page of notJson either', async () => {
    const service = await startTestService({ faults: ['fields:notJson'] });
    const response = await fetch(`${service.origin}/v1/contact-custom-fields`, { headers: { authorization: testKey } });
    const headers = ['content-type', 'cache-control'].map((name) => response.headers.get(name));
    expect(headers).toEqual(['text/html', 'no-store']);
  });
});

describe('listings', () => {
  test('listLag lists a contact only when it is that old; get finds it at once', async () => {
    const clock = manualClock();
    const service = await startTestService({ clock, faults: ['list:listLag=2s'] });
    const { body } = await createA(service);
    expect((await service.call('GET', `/v1/contacts/${body.data.id}`)).status).toBe(200);
    clock.advance(1999);
    expect(await keysListed(service)).toEqual([]);
    clock.advance(1);
    expect(await keysListed(service)).toEqual(['a']);
  });

  test.each([null, 2])('repeatToken answers the same token for ever, with %s numbers per page', async (pageNumbers) => {
    const service = await startTestService({ seedPhoneNumbers: 5, pageNumbers, faults: ['numbers:repeatToken'] });
    const first = await service.call('GET', '/v1/phone-numbers');
    const token = first.body.nextPageToken;
    expect(token).toEqual(expect.any(String));
    for (let page = 0; page < 3; page += 1) {
      const again = await service.call('GET', `/v1/phone-numbers?pageToken=${token}`);
      expect([again.status, again.body.nextPageToken]).toEqual([200, token]);
    }
  });

  test('repeatToken works on contacts, also on an empty list', async () => {
    const service = await startTestService({ faults: ['list:repeatToken'] });
    const token = (await service.call('GET', '/v1/contacts')).body.nextPageToken;
    const again = await service.call('GET', `/v1/contacts?pageToken=${token}`);
    expect([again.status, again.body.nextPageToken]).toEqual([200, token]);
  });

  test('nonStringToken answers a number', async () => {
    const service = await startTestService({ seedPhoneNumbers: 1, faults: ['*:nonStringToken'] });
    expect((await service.call('GET', '/v1/phone-numbers')).body.nextPageToken).toBe(7);
    expect((await service.call('GET', '/v1/contacts')).body.nextPageToken).toBe(7);
    expect((await createA(service)).body).not.toHaveProperty('nextPageToken');
  });

  test('strangers ignores the filters', async () => {
    const service = await startTestService({ seedPhoneNumbers: 3, faults: ['*:strangers'] });
    await createA(service);
    expect((await service.call('GET', '/v1/contacts?externalIds=b&sources=c')).body.data).toHaveLength(1);
    expect((await service.call('GET', '/v1/phone-numbers?userId=USnobody')).body.data).toHaveLength(3);
  });
});

describe('dice', () => {
  const statuses = async (faultSeed: number) => {
    const service = await startTestService({ faultSeed, faults: ['list:status=500:50%'] });
    const seen: number[] = [];
    for (let index = 0; index < 32; index += 1) {
      // What happens on another operation moves no dice of this one.
      if (index % 3 === faultSeed % 3) await service.call('GET', '/v1/phone-numbers');
      seen.push((await service.call('GET', '/v1/contacts')).status);
    }
    return seen;
  };

  test('the same seed gives the same faults, another seed others', async () => {
    const [one, again, other] = await Promise.all([statuses(7), statuses(7), statuses(8)]);
    expect(one).toEqual(again);
    expect(one).not.toEqual(other);
    expect(new Set(one)).toEqual(new Set([200, 500]));
  });

  test('a stranger without the key meets no fault', async () => {
    const service = await startTestService({ faults: ['*:dropBefore'] });
    expect((await fetch(`${service.origin}/v1/contacts`)).status).toBe(401);
  });
});

describe('control', () => {
  const control = async (service: TestService, faults: unknown) => service.call('POST', '/__control', { faults });

  test('replaces the faults at run time', async () => {
    const service = await startTestService({ control: true, faults: ['list:status=500'] });
    expect((await service.call('GET', '/v1/contacts')).status).toBe(500);
    const answer = await control(service, ['create:status=503']);
    expect([answer.status, answer.body]).toEqual([200, { faults: ['create:status=503'] }]);
    expect((await service.call('GET', '/v1/contacts')).status).toBe(200);
    expect((await createA(service)).status).toBe(503);
    await control(service, []);
    expect((await createA(service)).status).toBe(201);
  });

  test('refuses what it cannot read, and the faults before stay', async () => {
    const service = await startTestService({ control: true, faults: ['list:status=500'] });
    const answer = await control(service, ['list:explode']);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('dropAfter');
    expect((await control(service, 'list:notJson')).status).toBe(400);
    expect((await service.call('GET', '/v1/contacts')).status).toBe(500);
  });

  test('is not there unless it was asked for', async () => {
    const service = await startTestService();
    expect((await control(service, [])).status).toBe(404);
  });
});
