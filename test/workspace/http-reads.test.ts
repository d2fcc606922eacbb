import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { createPauseGate, type RateGate } from '#src/rate/rate-gate.ts';
import { adaJson, listJson, refusalJson, wrappedAuthJson } from './support/contact-json.ts';
import { half, hang, reply, reset, stall, tenMegabytes } from './support/scripted-server.ts';
import { openTestWorkspace, testKey } from './support/test-workspace.ts';

/** What a promise was rejected with. */
async function rejectionOf(promise: Promise<unknown>): Promise<PatchbayError> {
  const error = await promise.then(
    () => new Error('it was fulfilled'),
    (reason: unknown) => reason,
  );
  if (error instanceof PatchbayError) return error;
  throw error;
}

const shortTimeouts = { connectMs: 300, headersMs: 300, bodyMs: 300, requestMs: 800, writeStartMs: 1_000 };

describe('a look-up', () => {
  test('sends the keys as a repeated plain parameter, the raw key, and who it is', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(200, listJson(['a&b', 'x y+é', 'stranger'], 'null')));
    const before = systemClock().monotonicMs();
    const { contacts, readAtMs } = await workspace.listByExternalIds(['a&b', 'x y+é']);
    expect(contacts.map((contact) => contact.externalId)).toEqual(['a&b', 'x y+é', 'stranger']);
    expect(readAtMs).toBeGreaterThanOrEqual(before);
    expect(readAtMs).toBeLessThanOrEqual(systemClock().monotonicMs());
    const [seen] = server.seen;
    expect(seen?.url).toBe('/v1/contacts?externalIds=a%26b&externalIds=x%20y%2B%C3%A9&maxResults=50');
    expect(new URL(`http://x${seen?.url}`).searchParams.getAll('externalIds')).toEqual(['a&b', 'x y+é']);
    expect(seen?.headers.authorization).toBe(testKey);
    expect(seen?.headers.accept).toBe('application/json');
    expect(seen?.headers['user-agent']).toMatch(/^patchbay\/\d+\.\d+\.\d+$/);
  });

  test('follows the tokens, and is as old as its first page', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(200, listJson(['a'], '"t 1"')), reply(200, listJson(['b'], 'null')));
    const { contacts } = await workspace.listByExternalIds(['a', 'b']);
    expect(contacts.map((contact) => contact.externalId)).toEqual(['a', 'b']);
    expect(server.seen[1]?.url).toBe('/v1/contacts?externalIds=a&externalIds=b&maxResults=50&pageToken=t%201');
    expect(workspace.counts()).toEqual({ get: 2, post: 0, patch: 0, delete: 0, retried: 0, rateLimited: 0 });
  });

  test('refuses a repeated token, a token that is no text, and more pages than 20', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(200, listJson(['a'], '"t"')), reply(200, listJson(['a'], '"t"')));
    expect(await rejectionOf(workspace.listByExternalIds(['a']))).toMatchObject({ code: 'pageTokenRepeated' });
    server.script(reply(200, listJson(['a'], '5')));
    expect(await rejectionOf(workspace.listByExternalIds(['a']))).toMatchObject({ code: 'pageTokenNotText' });
    let page = 0;
    server.always((response, request) => reply(200, listJson(['s'], `"t${page++}"`))(response, request));
    expect(await rejectionOf(workspace.listByExternalIds(['a']))).toMatchObject({ code: 'tooManyPages' });
    expect(page).toBe(20);
  });

  test('throws a bug for too many keys, and sends nothing', async () => {
    const { server, workspace } = await openTestWorkspace();
    expect(await rejectionOf(workspace.listByExternalIds([]))).toMatchObject({ kind: 'bug' });
    expect(await rejectionOf(workspace.listByExternalIds(Array(21).fill('a')))).toMatchObject({ kind: 'bug' });
    expect(server.seen).toEqual([]);
  });
});

describe('the other reads', () => {
  test('a contact is read by its id as one path segment; 404 is null', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(200, adaJson), reply(404, '{"message":"Not found","code":"0800404"}'));
    const contact = await workspace.getContact('a/b?c');
    expect(contact).toMatchObject({ externalId: 'crm-1', defaultFields: { emails: [{ id: 'e1' }] } });
    expect(server.seen[0]?.url).toBe('/v1/contacts/a%2Fb%3Fc');
    expect(await workspace.getContact('64aa00000000000000000009')).toBeNull();
    expect(await rejectionOf(workspace.getContact('..'))).toMatchObject({ kind: 'rejected', code: 'contactIdOdd' });
  });

  test('custom fields are listed; a service without the list gives null', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(200, '{"data":[{"name":"Tags","key":"65f0","type":"multi-select"}]}'), reply(404, '{}'));
    expect(await workspace.listCustomFields()).toEqual([{ name: 'Tags', key: '65f0', type: 'multi-select' }]);
    expect(await workspace.listCustomFields()).toBeNull();
  });

  test('phone-number ids are read with and without pages, each once; no such list is null', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(200, '{"data":[{"id":"PN1"},{"id":"PN2"}]}'));
    expect(await workspace.listPhoneNumberIds()).toEqual(['PN1', 'PN2']);
    server.script(
      reply(200, '{"data":[{"id":"PN1"}],"nextPageToken":"n"}'),
      reply(200, '{"data":[{"id":"PN1"},{"id":"PN3"}],"nextPageToken":null}'),
    );
    expect(await workspace.listPhoneNumberIds()).toEqual(['PN1', 'PN3']);
    expect(server.seen.at(-1)?.url).toBe('/v1/phone-numbers?pageToken=n');
    server.script(reply(404, '{}'));
    expect(await workspace.listPhoneNumberIds()).toBeNull();
  });

  test('a 404 on a later page is no absence of the list', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(200, '{"data":[{"id":"PN1"}],"nextPageToken":"n"}'), reply(404, '{}'));
    expect(await rejectionOf(workspace.listPhoneNumberIds())).toMatchObject({ code: 'serviceAnswersOddly' });
  });
});

describe('what a read does when it fails', () => {
  test('one that is not answered is given up after the time that the caller allows, and none is written again then', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.always(hang);
    const error = await rejectionOf(workspace.listPhoneNumberIds({ silentMsMax: 300 }));
    expect(error).toMatchObject({
      ...{ kind: 'unreachable', code: 'serviceUnreachable' },
      message: expect.stringContaining('list the phone numbers: no answer within 1 s.'),
    });
    expect(error.facts, 'no status, and no code of a connection').toEqual({
      operation: 'list the phone numbers',
      silentMs: 300,
    });
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['the beginning of its reply', stall(200, adaJson)],
    ['a failure', reply(503, '<html>')],
    ['a reset', reset],
  ])('%s is no silence', async (_name, fault) => {
    const { server, workspace } = await openTestWorkspace({ timeouts: { ...shortTimeouts, bodyMs: 700 } });
    server.script(fault, reply(200, adaJson));
    expect(await workspace.getContact('c1', { silentMsMax: 600 })).not.toBeNull();
    expect(server.seen).toHaveLength(2);
  });

  test('it is tried again after a reset, half a body, a hang, a stall and a 503, and then succeeds', async () => {
    for (const fault of [reset, half(200, adaJson), hang, stall(200, adaJson), reply(503, '<html>')]) {
      const { server, workspace } = await openTestWorkspace({ timeouts: shortTimeouts });
      server.script(fault, reply(200, adaJson));
      const kinds: string[] = [];
      const contact = await workspace.getContact('c1', { onRequest: (kind) => kinds.push(kind) });
      expect(contact).toMatchObject({ externalId: 'crm-1' });
      expect(kinds).toEqual(['get', 'get', 'retried']);
      expect(workspace.counts()).toMatchObject({ get: 2, retried: 1 });
    }
  });

  test('after four tries it is given up: what failed is said, by kind', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.always(reset);
    expect(await rejectionOf(workspace.getContact('c1'))).toMatchObject({
      kind: 'unreachable',
      code: 'serviceUnreachable',
    });
    expect(server.seen).toHaveLength(4);
    server.always(reply(500, '{"message":"broken","code":"0801500","trace":"t-9"}'));
    expect(await rejectionOf(workspace.getContact('c1'))).toMatchObject({
      kind: 'unreachable',
      code: 'serviceFailing',
      facts: { status: 500, serviceCode: '0801500', message: 'broken', trace: 't-9' },
    });
    expect(server.seen).toHaveLength(8);
  });

  test('a refused connection counts as no request', async () => {
    const { server, workspace } = await openTestWorkspace();
    await server.close();
    const error = await rejectionOf(workspace.getContact('c1'));
    expect(error).toMatchObject({ kind: 'unreachable', code: 'serviceUnreachable', facts: { code: 'ECONNREFUSED' } });
    expect(workspace.counts()).toMatchObject({ get: 0, retried: 0 });
  });

  test.each([
    ['no JSON', reply(200, '<html>welcome</html>')],
    ['no body', reply(200, '')],
    ['another shape', reply(200, '{"data":{"name":"x"}}')],
    ['10 MB', tenMegabytes],
    ['a length of 10 MB', reply(200, '{}', { 'content-length': '10000000' })],
  ])('a reply with %s ends it at once', async (_name, step) => {
    const { server, workspace } = await openTestWorkspace();
    server.always(step);
    const error = await rejectionOf(workspace.getContact('c1'));
    expect(error).toMatchObject({ kind: 'unreachable', code: 'serviceAnswersOddly' });
    expect(server.seen).toHaveLength(1);
  });

  test('a redirect is refused: the key goes to the configured origin only', async () => {
    const elsewhere = await openTestWorkspace();
    const { server, workspace } = await openTestWorkspace();
    for (const status of [301, 302, 303, 307, 308]) {
      server.script(reply(status, '{}', { location: `${elsewhere.server.origin}/v1/contacts/c1` }));
      const error = await rejectionOf(workspace.getContact('c1'));
      expect(error).toMatchObject({ kind: 'unreachable', code: 'serviceAnswersOddly', facts: { status } });
    }
    expect(elsewhere.server.seen).toEqual([]);
  });

  test('another 4xx is a refusal with the words of the service', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(400, refusalJson));
    expect(await rejectionOf(workspace.listByExternalIds(['a']))).toMatchObject({
      kind: 'rejected',
      code: 'requestRefused',
      facts: { status: 400, serviceCode: '0801400', paths: 'customFields.0.value' },
    });
    expect(server.seen).toHaveLength(1);
  });

  test('a list that answers 404 is not the service', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(404, '{}'));
    expect(await rejectionOf(workspace.listByExternalIds(['a']))).toMatchObject({ code: 'serviceAnswersOddly' });
  });

  test('an abort cuts a read on its way and is not tried again', async () => {
    const { server, workspace } = await openTestWorkspace();
    const stop = new AbortController();
    server.script(() => stop.abort(new Error('the caller left')));
    await expect(workspace.getContact('c1', { signal: stop.signal })).rejects.toThrow('the caller left');
    await expect(workspace.getContact('c1', { signal: stop.signal })).rejects.toThrow('the caller left');
    expect(server.seen).toHaveLength(1);
  });

  test('a reply that drips is cut off after the time of a whole request', async () => {
    const timeouts = { ...shortTimeouts, bodyMs: 5_000, requestMs: 250 };
    const { server, workspace } = await openTestWorkspace({ timeouts });
    server.always((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const error = await rejectionOf(workspace.getContact('c1'));
    expect(error).toMatchObject({ code: 'serviceUnreachable' });
    expect(error.message).toContain('no complete reply in time');
    expect(server.seen).toHaveLength(4);
  });
});

describe('429', () => {
  /** A gate that lets all pass and notes for how long it was paused. */
  function notingGate(): { gate: RateGate; pausedMs: number[] } {
    const clock = systemClock();
    const pausedMs: number[] = [];
    const gate: RateGate = {
      take: async () => ({ written: () => {} }),
      pause: (untilMs) => void pausedMs.push(untilMs - clock.monotonicMs()),
    };
    return { gate, pausedMs };
  }

  test('pauses the gate for Retry-After, seconds or date, or for a second, and counts no try', async () => {
    const { gate, pausedMs } = notingGate();
    const { server, workspace } = await openTestWorkspace({ rateGate: gate });
    server.script(
      reply(429, '{}', { 'retry-after': '2' }),
      reply(429, '{}', { 'retry-after': new Date(Date.now() + 30_000).toUTCString() }),
      reply(429, '{}'),
      reply(429, '{}', { 'retry-after': '86400' }),
      reply(429, '{}'),
      reply(500, '{}'),
      reply(200, adaJson),
    );
    expect(await workspace.getContact('c1')).not.toBeNull();
    expect(workspace.counts()).toMatchObject({ get: 7, retried: 6, rateLimited: 5 });
    const [seconds, date, none, cap] = pausedMs;
    expect(seconds).toBeGreaterThan(1_000);
    expect(seconds).toBeLessThanOrEqual(2_000);
    expect(date).toBeGreaterThan(20_000);
    expect(date).toBeLessThanOrEqual(30_000);
    expect(none).toBeLessThanOrEqual(1_000);
    expect(cap).toBeLessThanOrEqual(60_000);
  });

  test('without end is given up at last', async () => {
    const { gate } = notingGate();
    const { server, workspace } = await openTestWorkspace({ rateGate: gate });
    server.always(reply(429, '{"message":"slow down"}'));
    expect(await rejectionOf(workspace.getContact('c1'))).toMatchObject({ kind: 'unreachable', code: 'rateLimited' });
    expect(server.seen).toHaveLength(21);
  });

  test.each([
    ['one pause lasts longer than the caller lets itself be held back', 4_000, '60', 1],
    ['several pauses do together', 4_000, '3', 2],
    ['the pauses of two minutes do', undefined, '50', 3],
  ])('is given up at once where %s', async (_name, heldMsMax, retryAfter, sentCount) => {
    const system = systemClock();
    let waitedMs = 0;
    const clock = { ...system, monotonicMs: () => system.monotonicMs() + waitedMs };
    /** Time passes by itself until the end of each pause. */
    const gate: RateGate = {
      take: async () => ({ written: () => {} }),
      pause: (untilMs) => {
        waitedMs += untilMs - clock.monotonicMs();
      },
    };
    const { server, workspace } = await openTestWorkspace({ rateGate: gate, clock });
    server.always(reply(429, '{}', { 'retry-after': retryAfter }));
    const end = rejectionOf(workspace.getContact('c1', heldMsMax === undefined ? {} : { heldMsMax }));
    expect(await end).toMatchObject({ kind: 'unreachable', code: 'rateLimited' });
    expect(server.seen).toHaveLength(sentCount);
  });

  test('makes every request wait that comes after it', async () => {
    const clock = systemClock();
    const rateGate = createPauseGate(clock);
    const { server, workspace } = await openTestWorkspace({ rateGate });
    const startMs = clock.monotonicMs();
    server.script(reply(429, '{}', { 'retry-after': '1' }), reply(200, adaJson));
    await workspace.getContact('c1');
    expect(clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(990);
  });
});

describe('the API key', () => {
  test('is read anew after a 401, and the read is tried once more', async () => {
    const keys = ['old-key', 'new-key'];
    const { server, workspace } = await openTestWorkspace({ readApiKey: () => `${keys.shift()}\n` });
    server.script(reply(401, wrappedAuthJson), reply(200, adaJson), reply(200, adaJson));
    expect(await workspace.getContact('c1')).not.toBeNull();
    await workspace.getContact('c1');
    expect(server.seen.map((one) => one.headers.authorization)).toEqual(['old-key', 'new-key', 'new-key']);
  });

  test('is read anew at most once per 5 s', async () => {
    let readCount = 0;
    const readApiKey = () => {
      readCount += 1;
      return testKey;
    };
    const { server, workspace } = await openTestWorkspace({ readApiKey });
    server.always(reply(401, wrappedAuthJson));
    for (let call = 0; call < 3; call += 1) {
      expect(await rejectionOf(workspace.getContact('c1'))).toMatchObject({
        kind: 'auth',
        code: 'keyRefused',
        facts: { status: 401, message: 'Unauthorized', serviceCode: '0800401' },
      });
    }
    expect(readCount).toBe(2);
    expect(server.seen).toHaveLength(4);
  });

  test('a 403 is a matter of the key too, but reads no key', async () => {
    const { server, workspace } = await openTestWorkspace();
    server.script(reply(403, '{"message":"no access"}'));
    expect(await rejectionOf(workspace.getContact('c1'))).toMatchObject({ kind: 'auth', facts: { status: 403 } });
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['', 'keyMissing'],
    [' \n', 'keyMissing'],
    ['canary key', 'keyMalformed'],
    ['canary\r\nx: y', 'keyMalformed'],
    ['canary-é', 'keyMalformed'],
  ])('the key %j is refused before anything is sent, without repeating it', async (key, code) => {
    const { server, workspace } = await openTestWorkspace({ readApiKey: () => key });
    const error = await rejectionOf(workspace.getContact('c1'));
    expect(error).toMatchObject({ kind: 'auth', code });
    expect(inspect(error, { depth: 10 })).not.toContain('canary');
    expect(server.seen).toEqual([]);
  });

  test('never appears in an error or a log line, even when the service repeats it', async () => {
    const timeouts = { ...shortTimeouts, requestMs: 200 };
    const { server, workspace, logLines } = await openTestWorkspace({ timeouts });
    const echo = JSON.stringify({ message: `bad key ${testKey}`, code: testKey, title: testKey, trace: testKey });
    const errors: unknown[] = [];
    const statuses = [301, 400, 401, 403, 404, 409, 500];
    for (const step of [
      reset,
      hang,
      half(200, echo),
      reply(200, testKey),
      ...statuses.map((one) => reply(one, echo)),
    ]) {
      server.always(step);
      errors.push(await workspace.listByExternalIds(['a']).catch((error: unknown) => error));
      errors.push(await workspace.createContact({ defaultFields: { firstName: 'Ada' } }));
    }
    server.always((response) => void response.socket?.end(`HTTP/1.1 200 OK\r\nbroken ${testKey}\r\n\r\n`));
    errors.push(await workspace.listByExternalIds(['a']).catch((error: unknown) => error));
    expect(errors).toHaveLength(23);
    expect(inspect(errors, { depth: 20, showHidden: true })).not.toContain(testKey);
    expect(logLines.length).toBeGreaterThan(0);
    expect(logLines.join('')).not.toContain(testKey);
  });
});
