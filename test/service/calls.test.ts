/** List calls (4.5, sections 7 and 9; `docs/facts.md`, "Calls, recordings, messages"). */
import { describe, expect, test } from 'vitest';
import { storedCall } from '#src/service/stored-records.ts';
import { type ActiveService, idsOf, listing, startActiveService } from './activity.ts';
import { manualClock } from './test-service.ts';

interface CallReply {
  readonly id: string;
  readonly createdAt: string;
  readonly userId: string;
  readonly participants: readonly string[];
}

const pathOf = (service: ActiveService, more: Record<string, string | number | readonly string[]> = {}) =>
  listing('/v1/calls', {
    phoneNumberId: service.phoneNumber.id,
    participants: service.person,
    maxResults: 100,
    ...more,
  });
const callsOf = async (
  service: ActiveService,
  more: Record<string, string | number | readonly string[]> = {},
): Promise<CallReply[]> => (await service.call('GET', pathOf(service, more))).body.data;

describe('a listing', () => {
  test('holds the calls of one number with one other party, the newest first', async () => {
    const service = await startActiveService();
    const answer = await service.call('GET', pathOf(service));
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['data', 'totalItems', 'nextPageToken']);
    const calls: CallReply[] = answer.body.data;
    expect(calls.length).toBeGreaterThan(2);
    expect(answer.body).toMatchObject({ totalItems: calls.length, nextPageToken: null });
    for (const call of calls) {
      expect(storedCall.strict().safeParse(call).error).toBeUndefined();
      expect(call).toMatchObject({
        phoneNumberId: service.phoneNumber.id,
        participants: [service.person, service.phoneNumber.number],
      });
    }
    const instants = calls.map((call) => call.createdAt);
    expect(instants).toEqual(instants.toSorted().toReversed());
  });

  test('without userId holds those of the owner of the number, who is not the workspace owner', async () => {
    const service = await startActiveService();
    expect(service.phoneNumber.users[0]?.role).not.toBe('owner');
    expect(service.phoneNumber.users[1]?.role).toBe('owner');
    const byDefault = await callsOf(service);
    expect(new Set(byDefault.map((call) => call.userId))).toEqual(new Set([service.ownerId]));
    expect(await callsOf(service, { userId: service.ownerId })).toEqual(byDefault);
    const ofSecond = await callsOf(service, { userId: service.secondId });
    expect(new Set(ofSecond.map((call) => call.userId))).toEqual(new Set([service.secondId]));
    expect(await callsOf(service, { userId: 'USnobody' })).toEqual([]);
  });

  test('holds ten by default, and at most a hundred', async () => {
    const service = await startActiveService();
    const { phoneNumber, person } = service;
    const path = (more: object) =>
      listing('/v1/calls', { phoneNumberId: phoneNumber.id, participants: person, ...more });
    const byDefault = await service.call('GET', path({}));
    expect(byDefault.body.data).toEqual((await service.call('GET', path({ maxResults: 10 }))).body.data);
    expect((await service.call('GET', path({ maxResults: 1 }))).body.data).toHaveLength(1);
    for (const maxResults of ['0', '101', 'ten', '1.5', '']) {
      const answer = await service.call('GET', path({ maxResults }));
      expect([answer.status, answer.body.errors[0].path], maxResults).toEqual([400, 'maxResults']);
    }
  });
});

describe('times', () => {
  test('createdAfter and createdBefore leave out the instant itself', async () => {
    const service = await startActiveService();
    const all = await callsOf(service);
    const at = all[1]?.createdAt ?? '';
    expect(await callsOf(service, { createdAfter: at })).toEqual(all.slice(0, 1));
    expect(await callsOf(service, { createdBefore: at })).toEqual(all.slice(2));
    const oneMsLater = new Date(Date.parse(at) + 1).toISOString();
    expect(await callsOf(service, { createdBefore: oneMsLater })).toEqual(all.slice(1));
    expect(await callsOf(service, { createdAfter: all.at(-1)?.createdAt ?? '', createdBefore: oneMsLater })).toEqual(
      all.slice(1, -1),
    );
  });

  test('an instant may have an offset', async () => {
    const service = await startActiveService();
    const all = await callsOf(service);
    const shifted = new Date(Date.parse(all[1]?.createdAt ?? '') + 7_200_000).toISOString().replace('Z', '+02:00');
    expect(await callsOf(service, { createdBefore: shifted })).toEqual(all.slice(2));
  });

  test.each(['yesterday', '2026-11-21', '2026-11-21T10:00:00', '2026-13-21T10:00:00Z', ''])(
    '%j is no instant: 400',
    async (text) => {
      const service = await startActiveService();
      for (const name of ['createdAfter', 'createdBefore', 'since']) {
        const answer = await service.call('GET', pathOf(service, { [name]: text }));
        expect([answer.status, answer.body.errors[0].path]).toEqual([400, name]);
      }
    },
  );

  test('since is deprecated: it behaves as createdBefore, and the reply says so', async () => {
    const service = await startActiveService();
    const all = await callsOf(service);
    const at = all[1]?.createdAt ?? '';
    const answer = await service.call('GET', pathOf(service, { since: at }));
    expect(answer.body.data).toEqual(all.slice(2));
    expect(answer.headers.get('warning')).toMatch(/^299 - "since is deprecated: .*createdBefore/);
    expect((await service.call('GET', pathOf(service))).headers.get('warning')).toBeNull();
    // Of two upper bounds the earlier counts.
    const first = all[0]?.createdAt ?? '';
    expect(await callsOf(service, { since: first, createdBefore: at })).toEqual(all.slice(2));
    expect(await callsOf(service, { since: at, createdBefore: first })).toEqual(all.slice(2));
  });
});

describe('participants', () => {
  test.each([
    ['empty', '&participants=', /participants.*empty/],
    ['missing', '', /participants.*required/],
    ['a national number', '&participants=4155550104', /participants.*E\.164/],
    ['a plus that was not escaped', '&participants=+14155550104', /participants.*%2B/],
    ['another spelling of the key', '&participants[]=%2B14155550104', /participants.*required/],
  ])('%s is 400 with a descriptive message', async (_, query, message) => {
    const service = await startActiveService();
    const answer = await service.call('GET', `/v1/calls?phoneNumberId=${service.phoneNumber.id}${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: '0100400',
      title: 'Bad Request',
      message: expect.stringMatching(message),
    });
    expect(answer.body.errors[0].path).toMatch(/^participants/);
  });

  test('two are too many, by a code and a title of their own; what is malformed is told first', async () => {
    const service = await startActiveService();
    const two = { participants: [service.person, '+14155550105'] };
    for (const phoneNumberId of [service.phoneNumber.id, 'PNabsent']) {
      const answer = await service.call(
        'GET',
        pathOf(service, { ...two, phoneNumberId, since: '2026-11-21T00:00:00Z' }),
      );
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        code: '0101400',
        title: 'Too Many Participants',
        description: 'Too Many Participants',
        message: expect.stringMatching(/participants.*exactly one/),
        errors: [{ path: 'participants', schema: { type: 'array' } }],
      });
      expect(answer.headers.get('warning')).toContain('since');
    }
    const malformed = await service.call('GET', pathOf(service, { ...two, maxResults: 0 }));
    expect([malformed.body.code, malformed.body.errors[0].path]).toEqual(['0100400', 'maxResults']);
  });

  test('somebody who never called has no calls', async () => {
    const service = await startActiveService();
    expect(await callsOf(service, { participants: '+14155550199' })).toEqual([]);
  });
});

describe('phoneNumberId and userId', () => {
  test('a missing or malformed one is 400, one that the workspace does not have is 404', async () => {
    const service = await startActiveService();
    const participants = service.person;
    const missing = await service.call('GET', listing('/v1/calls', { participants }));
    expect([missing.status, missing.body.errors[0].path]).toEqual([400, 'phoneNumberId']);
    const malformed = await service.call('GET', pathOf(service, { phoneNumberId: service.phoneNumber.number }));
    expect([malformed.status, malformed.body.errors[0].path]).toEqual([400, 'phoneNumberId']);
    const absent = await service.call('GET', pathOf(service, { phoneNumberId: 'PNabsent' }));
    expect([absent.status, absent.body.code]).toEqual([404, '0100404']);
    expect(absent.body.message).toContain('PNabsent');
    const user = await service.call('GET', pathOf(service, { userId: 'nobody' }));
    expect([user.status, user.body.errors[0].path]).toEqual([400, 'userId']);
  });

  test('every problem is told at once', async () => {
    const service = await startActiveService();
    const answer = await service.call('GET', '/v1/calls?maxResults=0&since=x');
    const paths = answer.body.errors.map((one: { path: string }) => one.path);
    expect(paths.toSorted()).toEqual(['maxResults', 'participants', 'phoneNumberId', 'since']);
  });
});

describe('page tokens', () => {
  test('a walk shows every call once and ends with null', async () => {
    const service = await startActiveService();
    const all = await callsOf(service);
    const seen: string[] = [];
    let token: string | null = null;
    for (let page = 0; page < all.length; page += 1) {
      const more: Record<string, string> = token === null ? {} : { pageToken: token };
      const answer = await service.call('GET', pathOf(service, { maxResults: 1, ...more }));
      seen.push(...idsOf(answer));
      token = answer.body.nextPageToken;
    }
    expect(token).toBeNull();
    expect(seen).toEqual(all.map((call) => call.id));
  });

  test('calls of one instant are walked one by one', async () => {
    // At the beginning of time everything falls on the same instant.
    const service = await startActiveService({ clock: manualClock(0) });
    const all = await callsOf(service);
    expect(new Set(all.map((call) => call.createdAt)).size).toBe(1);
    const first = await service.call('GET', pathOf(service, { maxResults: 1 }));
    const rest = await callsOf(service, { pageToken: first.body.nextPageToken });
    expect(rest).toEqual(all.slice(1));
  });

  test('a token that the listing did not give is 400', async () => {
    const service = await startActiveService();
    const own: string = (await service.call('GET', pathOf(service, { maxResults: 1 }))).body.nextPageToken;
    for (const pageToken of ['', 'x', `${own}=`, `${own}.1`, own.slice(0, -1), own.toUpperCase(), 'x'.repeat(9_000)]) {
      const answer = await service.call('GET', pathOf(service, { pageToken }));
      expect([answer.status, answer.body.errors?.[0].path], pageToken).toEqual([400, 'pageToken']);
    }
  });
});

describe('faults', () => {
  test('repeatToken answers a token for ever, nonStringToken a number', async () => {
    const repeating = await startActiveService({ faults: ['calls:repeatToken'] });
    const all = await callsOf(repeating);
    const first = await repeating.call('GET', pathOf(repeating));
    expect(first.body.nextPageToken).toEqual(expect.any(String));
    const again = await repeating.call('GET', pathOf(repeating, { pageToken: first.body.nextPageToken }));
    expect(again.body).toEqual(first.body);
    expect(again.body.data).toEqual(all);
    const odd = await startActiveService({ faults: ['*:nonStringToken'] });
    expect((await odd.call('GET', pathOf(odd))).body.nextPageToken).toBe(7);
  });

  test('strangers lists the calls of other people', async () => {
    const service = await startActiveService({ faults: ['calls:strangers'] });
    const people = (await callsOf(service)).map((call) => call.participants[0]);
    expect(new Set(people).size).toBeGreaterThan(2);
  });

  test('status and dropBefore work on it, and requests are counted', async () => {
    const service = await startActiveService({ faults: ['calls:status=503'] });
    const answer = await service.call('GET', pathOf(service));
    expect([answer.status, answer.body.code]).toEqual([503, '0100503']);
    expect(service.counts()).toMatchObject({ calls: 1, numbers: 1 });
  });
});
