/** List messages and send one (4.5, sections 7 and 9; `docs/facts.md`, "Calls, recordings, messages"). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '#src/log.ts';
import { storedMessage } from '#src/service/stored-records.ts';
import { type ActiveService, idsOf, listing, startActiveService } from './activity.ts';
import { type Answer, manualClock, openTestService, send } from './test-service.ts';

interface MessageReply {
  readonly id: string;
  readonly createdAt: string;
  readonly userId: string;
  readonly direction: string;
  readonly from: string;
  readonly to: readonly string[];
}

type Parameters = Record<string, string | number | readonly string[]>;

const pathOf = (service: ActiveService, more: Parameters = {}) =>
  listing('/v1/messages', {
    phoneNumberId: service.phoneNumber.id,
    participants: service.person,
    maxResults: 100,
    ...more,
  });
const messagesOf = async (service: ActiveService, more: Parameters = {}): Promise<MessageReply[]> =>
  (await service.call('GET', pathOf(service, more))).body.data;
const sendFrom = (service: ActiveService, more: Record<string, unknown> = {}): Promise<Answer> =>
  service.call('POST', '/v1/messages', {
    content: 'Hello',
    from: service.phoneNumber.number,
    to: [service.person],
    ...more,
  });

describe('a listing', () => {
  test('holds one conversation, of every user of the number, the newest first', async () => {
    const service = await startActiveService();
    const answer = await service.call('GET', pathOf(service));
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['data', 'totalItems', 'nextPageToken']);
    const messages: MessageReply[] = answer.body.data;
    expect(answer.body).toMatchObject({ totalItems: messages.length, nextPageToken: null });
    for (const message of messages) {
      expect(storedMessage.strict().safeParse(message).error).toBeUndefined();
      const others = [message.from, ...message.to].filter((number) => number !== service.phoneNumber.number);
      expect(others).toEqual([service.person]);
    }
    expect(new Set(messages.map((one) => one.direction))).toEqual(new Set(['incoming', 'outgoing']));
    expect(new Set(messages.map((one) => one.userId))).toEqual(new Set([service.ownerId, service.secondId]));
    const instants = messages.map((one) => one.createdAt);
    expect(instants).toEqual(instants.toSorted().toReversed());
  });

  test('userId filters by user', async () => {
    const service = await startActiveService();
    const all = await messagesOf(service);
    const ofSecond = await messagesOf(service, { userId: service.secondId });
    expect(ofSecond.length).toBeGreaterThan(0);
    expect(ofSecond).toEqual(all.filter((one) => one.userId === service.secondId));
    expect((await service.call('GET', pathOf(service, { userId: 'nobody' }))).status).toBe(400);
  });

  test('createdAfter and createdBefore leave out the instant itself; since behaves as createdBefore', async () => {
    const service = await startActiveService();
    const all = await messagesOf(service);
    const at = all[1]?.createdAt ?? '';
    expect(await messagesOf(service, { createdAfter: at })).toEqual(all.slice(0, 1));
    expect(await messagesOf(service, { createdBefore: at })).toEqual(all.slice(2));
    const answer = await service.call('GET', pathOf(service, { since: at }));
    expect(answer.body.data).toEqual(all.slice(2));
    expect(answer.headers.get('warning')).toMatch(/^299 - "since is deprecated/);
  });

  test.each([
    ['empty', '&participants=', 400],
    ['missing', '', 400],
    ['not E.164', '&participants=4155550104', 400],
    ['more than ten', '&participants=%2B14155550104'.repeat(11), 400],
    ['ten', '&participants=%2B12015550102'.repeat(10), 200],
    ['the same twice', '&participants=%2B12015550102&participants=%2B12015550102', 200],
  ])('participants: %s', async (_, query, status) => {
    const service = await startActiveService();
    const answer = await service.call('GET', `/v1/messages?phoneNumberId=${service.phoneNumber.id}${query}`);
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(answer.body).toMatchObject({ code: '0200400', message: expect.stringMatching(/participants/) });
    else expect(answer.body.data.length).toBeGreaterThan(0);
  });

  test('a phone number that the workspace does not have is 404', async () => {
    const service = await startActiveService();
    const absent = await service.call('GET', pathOf(service, { phoneNumberId: 'PNabsent' }));
    expect([absent.status, absent.body.code]).toEqual([404, '0200404']);
  });
});

describe('page tokens', () => {
  test('a walk repeats and skips nothing while messages are sent', async () => {
    const clock = manualClock();
    const service = await startActiveService({ clock });
    const before = (await messagesOf(service)).map((one) => one.id);
    const seen: string[] = [];
    let token: string | null = null;
    for (let page = 0; page < before.length; page += 1) {
      const more: Record<string, string> = token === null ? {} : { pageToken: token };
      const answer = await service.call('GET', pathOf(service, { maxResults: 1, ...more }));
      seen.push(...idsOf(answer));
      token = answer.body.nextPageToken;
      clock.advance(1);
      await sendFrom(service);
    }
    expect(token).toBeNull();
    expect(seen).toEqual(before);
    expect(await messagesOf(service)).toHaveLength(2 * before.length);
  });

  test('a token of the calls is 400', async () => {
    const service = await startActiveService();
    const tokenOf = async (list: '/v1/calls' | '/v1/messages') => {
      const { phoneNumber, person } = service;
      const path = listing(list, { phoneNumberId: phoneNumber.id, participants: person, maxResults: 1 });
      return (await service.call('GET', path)).body.nextPageToken;
    };
    expect((await service.call('GET', pathOf(service, { pageToken: await tokenOf('/v1/messages') }))).status).toBe(200);
    const answer = await service.call('GET', pathOf(service, { pageToken: await tokenOf('/v1/calls') }));
    expect([answer.status, answer.body.errors[0].path]).toEqual([400, 'pageToken']);
  });
});

describe('sending', () => {
  test('answers 202 with the message, which is then listed first', async () => {
    const service = await startActiveService();
    const answer = await sendFrom(service, { content: ' Good morning 🙂 ' });
    expect(answer.status).toBe(202);
    expect(Object.keys(answer.body)).toEqual(['data']);
    expect(storedMessage.strict().safeParse(answer.body.data).error).toBeUndefined();
    expect(answer.body.data).toMatchObject({
      text: ' Good morning 🙂 ',
      from: service.phoneNumber.number,
      to: [service.person],
      phoneNumberId: service.phoneNumber.id,
      direction: 'outgoing',
      userId: service.ownerId,
      status: 'sent',
    });
    expect((await messagesOf(service))[0]).toEqual(answer.body.data);
  });

  test('from is the number or its identifier', async () => {
    const service = await startActiveService();
    const answer = await sendFrom(service, { from: service.phoneNumber.id });
    expect([answer.status, answer.body.data.from]).toEqual([202, service.phoneNumber.number]);
    expect(answer.headers.get('warning')).toBeNull();
  });

  test('phoneNumberId is deprecated: it stands in for from, and the reply says so', async () => {
    const service = await startActiveService();
    const [first] = service.numbers;
    const answer = await sendFrom(service, { from: undefined, phoneNumberId: service.phoneNumber.id });
    expect([answer.status, answer.body.data.from]).toEqual([202, service.phoneNumber.number]);
    expect(answer.headers.get('warning')).toBe('299 - "phoneNumberId is deprecated: use from"');
    const both = await sendFrom(service, { from: first?.id, phoneNumberId: service.phoneNumber.id });
    expect(both.body.data.from).toBe(first?.number);
    expect(both.headers.get('warning')).toContain('phoneNumberId');
  });

  test('a refusal says it, too', async () => {
    const service = await startActiveService();
    const phoneNumberId = service.phoneNumber.id;
    for (const [more, status] of [
      [{ content: ' ' }, 400],
      [{ phoneNumberId: 7 }, 400],
      [{ from: 'PNabsent' }, 404],
      [{ to: ['+442079460000'] }, 403],
    ] as const) {
      const answer = await sendFrom(service, { phoneNumberId, ...more });
      expect([answer.status, answer.headers.get('warning')]).toEqual([
        status,
        '299 - "phoneNumberId is deprecated: use from"',
      ]);
    }
    for (const list of ['/v1/calls', '/v1/messages'] as const) {
      const answer = await service.call('GET', listing(list, { phoneNumberId, since: 'yesterday' }));
      expect([answer.status, answer.headers.get('warning')]).toEqual([400, expect.stringContaining('since')]);
      const unreadable = await service.call('GET', `/v1/${list.split('/')[2]}?since=x&phoneNumberId=%ff`);
      expect([unreadable.status, unreadable.headers.get('warning')]).toEqual([400, expect.stringContaining('since')]);
    }
    expect((await sendFrom(service, { content: ' ' })).headers.get('warning')).toBeNull();
  });

  test('the log names the deprecated parameters of a request, and nobody', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'debug', stream: { write: (line: string) => void lines.push(line) } });
    const service = await startActiveService({ log });
    await sendFrom(service, { from: undefined, phoneNumberId: service.phoneNumber.id });
    await service.call('GET', pathOf(service));
    const requests = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'request');
    expect(requests.map((line) => [line.operation, line.deprecated])).toEqual([
      ['numbers', []],
      ['send', ['phoneNumberId']],
      ['messages', []],
    ]);
    expect(lines.join()).not.toContain(service.person);
  });

  test.each(['', ' ', ' \n\t\u00a0\u3000', '\u0085', '\ufeff\u2028 \u0085'])(
    'the content %j is nothing but white space: 400',
    async (content) => {
      const service = await startActiveService();
      const answer = await sendFrom(service, { content });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: '0200400', title: 'Bad Request', errors: [{ path: 'content' }] });
      expect(answer.body.message).toContain('white space');
    },
  );

  test('content has at most 1600 characters, counted in code points', async () => {
    const service = await startActiveService();
    expect((await sendFrom(service, { content: '🙂'.repeat(1600) })).status).toBe(202);
    const tooLong = await sendFrom(service, { content: 'x'.repeat(1601) });
    expect([tooLong.status, tooLong.body.errors[0].path]).toEqual([400, 'content']);
  });

  test.each([
    ['content', { content: undefined }],
    ['from', { from: undefined }],
    ['from', { from: '4155550101' }],
    ['phoneNumberId', { from: undefined, phoneNumberId: '+14155550101' }],
    ['to', { to: undefined }],
    ['to', { to: [] }],
    ['to', { to: '+14155550104' }],
    ['to', { to: Array.from({ length: 11 }, (_, index) => `+141555502${10 + index}`) }],
    ['to.0', { to: ['4155550104'] }],
    ['to.0', { to: ['+14155550101'] }],
    ['userId', { userId: 'nobody' }],
    ['setInboxStatus', { setInboxStatus: 'open' }],
  ])('%s that is not valid is 400', async (path, more) => {
    const service = await startActiveService();
    const answer = await sendFrom(service, more);
    expect([answer.status, answer.body.errors?.[0].path]).toEqual([400, path]);
  });

  test('from a number that the workspace does not have: 404', async () => {
    const service = await startActiveService();
    for (const from of ['+14155550199', 'PNabsent']) {
      const answer = await sendFrom(service, { from });
      expect([answer.status, answer.body.code, answer.body.message]).toEqual([
        404,
        '0200404',
        expect.stringContaining(from),
      ]);
    }
  });

  test('a user of the number may send; anybody else is 403', async () => {
    const service = await startActiveService();
    expect((await sendFrom(service, { userId: service.secondId })).body.data.userId).toBe(service.secondId);
    const stranger = await sendFrom(service, { userId: 'USnobody' });
    const title = 'Not Phone Number User';
    expect(stranger.status).toBe(403);
    expect(stranger.body).toMatchObject({ code: '0202403', title, description: title });
  });

  test('several recipients are one conversation, whatever their order', async () => {
    const service = await startActiveService();
    const group = Array.from({ length: 10 }, (_, index) => `+141555502${10 + index}`);
    const sent = await sendFrom(service, { to: group });
    expect([sent.status, sent.body.data.to]).toEqual([202, group]);
    expect(await messagesOf(service, { participants: group.toReversed() })).toEqual([sent.body.data]);
    expect(await messagesOf(service, { participants: group.slice(1) })).toEqual([]);
    expect(await messagesOf(service, { participants: group[0] ?? '' })).toEqual([]);
  });

  test('of several recipients each is looked at, first for what is wrong with the request', async () => {
    const service = await startActiveService();
    const own = service.phoneNumber.number;
    const itself = await sendFrom(service, { to: ['+442079460000', own, service.person, own] });
    expect([itself.status, itself.body.errors.map((one: { path: string }) => one.path)]).toEqual([
      400,
      ['to.1', 'to.3'],
    ]);
    const abroad = await sendFrom(service, { to: [service.person, '+442079460000'] });
    expect([abroad.status, abroad.body.code]).toEqual([403, '0201403']);
    expect(await messagesOf(service, { participants: [service.person, '+442079460000'] })).toEqual([]);
  });

  test('a list that is none is reported once', async () => {
    const service = await startActiveService();
    const answer = await sendFrom(service, { to: '+14155550104', content: 7 });
    expect(answer.body.errors).toMatchObject([
      { path: 'content', message: 'must be a text' },
      { path: 'to', message: 'must be a list' },
    ]);
  });

  test.each(['+442079460000', '+18765550100', '+12425550100', '+5215555550100'])(
    '%s is international: 403 with a descriptive message, and nothing is kept',
    async (number) => {
      const service = await startActiveService();
      const answer = await sendFrom(service, { to: [number] });
      expect([answer.status, answer.body.code]).toEqual([403, '0201403']);
      expect(answer.body.message).toMatch(/international messaging is not enabled/i);
      expect(await messagesOf(service, { participants: number })).toEqual([]);
    },
  );

  test.each(['+14165550100', '+17875550100'])('%s is of Canada or the United States', async (number) => {
    const service = await startActiveService();
    expect((await sendFrom(service, { to: [number] })).status).toBe(202);
  });

  test('with international messaging an international number is taken, and the numbers say so', async () => {
    const service = await startActiveService({ internationalMessaging: true });
    expect((await sendFrom(service, { to: ['+442079460000'] })).status).toBe(202);
    const { body } = await service.call('GET', `/v1/phone-numbers/${service.phoneNumber.id}`);
    expect(body.data.restrictions.messaging.Intl).toBe('unrestricted');
  });

  test('ids are in order of time', async () => {
    const service = await startActiveService();
    const answers = [await sendFrom(service), await sendFrom(service), await sendFrom(service)];
    const ids = answers.map((answer) => answer.body.data.id);
    expect(ids).toEqual(ids.toSorted());
    expect(ids[0] > ((await messagesOf(service)).at(-1)?.id ?? '')).toBe(true);
    expect(ids.every((id) => /^AC[0-9a-f]{24}$/.test(id))).toBe(true);
  });

  test('many at once are all answered and all listed', async () => {
    const service = await startActiveService();
    const before = (await messagesOf(service)).length;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => sendFrom(service, { content: `${index}` })),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    const listed = (await messagesOf(service)).map((one) => one.id);
    expect(listed).toHaveLength(before + 40);
    expect(listed).toEqual(expect.arrayContaining(answers.map((answer) => answer.body.data.id)));
  });

  test('a message is still there after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'messages-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = join(folder, 'service.sqlite');
    const first = await startActiveService({ store });
    const sent = await sendFrom(first);
    await first.close();
    const second = await openTestService({ store });
    onTestFinished(() => second.close());
    const listed = await send(second.origin, 'GET', pathOf(first));
    expect(listed.body.data[0]).toEqual(sent.body.data);
  });
});

describe('faults', () => {
  test('dropAfter keeps the message, dropBefore does not', async () => {
    for (const [fault, count] of [
      ['send:dropAfter', 1],
      ['send:dropBefore', 0],
    ] as const) {
      const service = await startActiveService({ faults: [fault] });
      await expect(sendFrom(service, { to: ['+14155550150'] })).rejects.toThrow();
      expect(await messagesOf(service, { participants: '+14155550150' })).toHaveLength(count);
    }
  });

  test('repeatToken, nonStringToken and strangers bend the listing', async () => {
    const repeating = await startActiveService({ faults: ['messages:repeatToken'] });
    const first = await repeating.call('GET', pathOf(repeating));
    const again = await repeating.call('GET', pathOf(repeating, { pageToken: first.body.nextPageToken }));
    expect(again.body).toEqual(first.body);
    const odd = await startActiveService({ faults: ['messages:nonStringToken', 'messages:strangers'] });
    const bent = await odd.call('GET', pathOf(odd));
    expect(bent.body.nextPageToken).toBe(7);
    expect(new Set(bent.body.data.map((one: MessageReply) => one.from)).size).toBeGreaterThan(3);
  });

  test('requests are counted as messages and send', async () => {
    const service = await startActiveService();
    await sendFrom(service, { content: '' });
    await messagesOf(service);
    expect(service.counts()).toMatchObject({ messages: 1, send: 1 });
  });
});
