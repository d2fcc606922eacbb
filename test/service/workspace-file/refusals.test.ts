/** What is wrong with a workspace file is reported in terms of the file, and nothing of it is loaded. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '#src/clock.ts';
import { openTestService, startTestService } from '../test-service.ts';
import { filesOfTest, load, loadError, problemsOf } from './workspace-files.ts';

const ada = { defaultFields: { firstName: 'Ada' } };

test.each([
  ['no JSON at all', 'firstName,lastName\nAda,Abbot\n', 'line 1, column 1: a workspace file must be an object, {…}'],
  ['a list', '[{"id":"1"}]', 'line 1, column 1: a workspace file must be an object, {…}'],
  ['an empty file', '', ': it is empty'],
  ['nothing but white space', ' \n\n', ': it is empty'],
  ['a truncated file', '{"contacts":[\n{"defaultFields":{"firstNa', 'the text ends in the middle; a part is missing'],
  ['a comma too many', '{"contacts":[\n{"defaultFields":{"firstName":"A",}}]}', 'line 2'],
  ['an unknown section', '{"contcts":[]}', '"contcts" is no section of a workspace; those are workspace, users'],
  ['a section that occurs twice', '{"contacts":[],"contacts":[]}', 'the section contacts occurs twice'],
  ['a section that is no list', '{"contacts":{}}', 'this section must be a list'],
  ['more after the end', '{"contacts":[]}\n{}', 'line 2, column 1: expected nothing more'],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'it is written in UTF-16'],
  ['a zip archive', Buffer.from('PK\x03\x04….'), 'it is a zip archive'],
  ['bytes that are no UTF-8', Buffer.from('{"contacts":[{"id":"\xe9"}]}', 'latin1'), 'it is not UTF-8'],
])('%s is malformed', async (_name, content, message) => {
  const files = filesOfTest();
  const file = files.write('a.json', content);
  const error = await loadError(file, { store: files.at('store.sqlite') });
  expect(error).toMatchObject({ kind: 'usage', code: 'workspaceFileMalformed' });
  expect(error.message).toContain(message);
  expect(error.message).toContain(file);
  expect(error.hint).not.toBeNull();
  expect(readdirSync(dirname(file))).toEqual(['a.json']);
});

test('a missing file, a folder and damaged gzip data are unreadable, each in its own words', async () => {
  const files = filesOfTest();
  const packed = gzipSync('{"contacts":[]}'.padEnd(100_000));
  const damaged = Buffer.from(packed).fill(0xff, 12, 20);
  const cases = [
    [files.at('absent.json'), 'it is not there'],
    [dirname(files.at('x')), 'it is a folder'],
    [files.write('short.gz', packed.subarray(0, 40)), 'its gzip data ends in the middle'],
    [files.write('damaged.gz', damaged), 'its gzip data is damaged'],
  ] as const;
  for (const [file, message] of cases) {
    const error = await loadError(file);
    expect(error).toMatchObject({
      kind: 'usage',
      code: 'workspaceFileUnreadable',
      message: `cannot read ${file}: ${message}`,
    });
  }
});

test('a file of a newer format is refused as such', async () => {
  const file = filesOfTest().write('a.json', { workspace: { format: 2, more: [] }, contacts: [] });
  expect(await loadError(file)).toMatchObject({ code: 'workspaceFileNewer' });
});

test('a file that changes while it is read is refused', async () => {
  const files = filesOfTest();
  const file = files.write('a.json', { contacts: [ada] });
  // The instant of the load is asked for between the first look at the file and the last.
  const clock: Clock = {
    ...systemClock(),
    nowMs: () => {
      writeFileSync(file, '{"contacts": []}');
      return 0;
    },
  };
  expect(await loadError(file, { clock })).toMatchObject({ code: 'workspaceFileChanged' });
});

const contact = (more: Record<string, unknown>, fields: Record<string, unknown> = {}) => ({
  ...more,
  defaultFields: { firstName: 'Ada', ...fields },
});

test('each problem is reported with section, number, member and line', async () => {
  const contacts = [
    contact({ externalId: 'taken' }),
    contact({}, { phoneNumbers: [{ name: 'home', value: '(415) 555-0100' }] }),
    contact({ externalId: 'taken' }),
    contact({ externalId: 'x'.repeat(76) }),
    contact({ externalID: '1' }),
    contact({ id: 12 }),
    contact({ createdAt: 'yesterday' }),
    contact({
      customFields: [
        { key: 'seats', value: 'three' },
        { key: 'shoe', value: 1 },
      ],
    }),
    {},
    'Ada',
    contact({ sourceUrl: 'nowhere' }, { emails: [{ name: 'a', value: 'b' }] }),
  ];
  const text = `{"contacts":[\n${contacts.map((one) => JSON.stringify(one)).join(',\n')}\n]}`;
  expect(await problemsOf(filesOfTest().write('a.json', text))).toEqual([
    'contacts[1].defaultFields.phoneNumbers[0].value (line 3): must be in E.164 format, as +14155550100',
    'contacts[2].externalId (line 4): another contact of the file has this externalId',
    'contacts[3].externalId (line 5): must be 1 to 75 characters long',
    'contacts[4] (line 6): has a member that its kind does not know: "externalID"',
    'contacts[5].id (line 7): must be of the type string',
    'contacts[6].createdAt (line 8): must be a date-time with an offset, as 2026-11-21T00:00:00Z',
    'contacts[7].customFields[0].value (line 9): must be a number, or null',
    'contacts[7].customFields[1].key (line 9): no custom field has this key',
    'contacts[8].defaultFields (line 10): is missing',
    'contacts[9] (line 11): must be of the type object',
    'contacts[10].sourceUrl (line 12): must be an absolute URI by RFC 3986 with something behind its scheme: ASCII alone, anything else percent-encoded',
    'contacts[10].defaultFields.emails[0].value (line 12): must be an e-mail address, as name@example.com',
  ]);
});

test('two records with one id, two items with one id, and two definitions with one key are problems', async () => {
  const field = { key: 'k', name: 'K', type: 'string' };
  const items = [
    { id: 'i', name: '', value: 'a@example.com' },
    { id: 'i', name: '', value: 'b@example.com' },
  ];
  const problems = await problemsOf(
    filesOfTest().write('a.json', {
      customFields: [field, field],
      contacts: [contact({ id: 'c' }), contact({ id: 'c' }), contact({}, { emails: items })],
    }),
  );
  expect(problems).toEqual([
    'customFields[1].key (line 1): another record of this section has this key',
    'contacts[1].id (line 1): another record of this section has this id',
    'contacts[2].defaultFields.emails (line 1): two items have the same id',
  ]);
});

test('what refers to nothing in the file is a problem', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store, seedPhoneNumbers: 2 })).close();
  const dumped = JSON.parse(readFileSync(await files.dump(store), 'utf8'));
  const [call] = dumped.calls;
  const [recording] = dumped.recordings;
  const [message] = dumped.messages;
  const problems = await problemsOf(
    files.write('a.json', {
      ...dumped,
      workspace: { ownerUserId: 'nobody' },
      phoneNumbers: [
        ...dumped.phoneNumbers,
        { ...dumped.phoneNumbers[0], id: 'PNv' },
        { ...dumped.phoneNumbers[0], id: 'PNx', number: '+14155550199', users: [{ ...dumped.users[0], id: 'USx' }] },
      ],
      calls: [
        ...dumped.calls,
        { ...call, id: 'ACx', phoneNumberId: 'PNy' },
        { ...call, id: 'ACz', answeredBy: 'USz' },
        call,
      ],
      recordings: [{ ...recording, id: 'Rx', callId: 'ACy' }],
      messages: [
        { ...message, userId: 'USy' },
        { ...message, status: 'lost' },
      ],
    }),
  );
  const last = dumped.calls.length;
  expect(problems.map((one) => one.replace(/ \(line \d+\)/, ''))).toEqual([
    'workspace.ownerUserId: must begin with US',
    'phoneNumbers[2].number: another phone number of the file is the same',
    'phoneNumbers[3].users[0].id: no user of the file has this id',
    `calls[${last}].phoneNumberId: no phone number of the file has this id`,
    `calls[${last + 1}].answeredBy: no user of the file has this id`,
    `calls[${last + 2}].id: another record of this section has this id`,
    'recordings[0].callId: no call of the file has this id',
    'messages[0].userId: no user of the file has this id',
    'messages[1].status: must be one of: queued, sent, delivered, undelivered, received',
  ]);
});

test('of many problems the first twenty are reported, and how many there are', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  const file = files.write('a.json', { contacts: Array.from({ length: 1_000 }, () => contact({ id: '' })) });
  const error = await loadError(file, { store });
  expect(error.message).toMatch(/contacts\[0\]\.id \(line 1\): must be an id.*; 1000 problems in all$/);
  expect(error.facts).toMatchObject({ file, problemCount: 1_000 });
  expect(error.cause).toMatchObject({ errors: { length: 20 } });
  expect(readdirSync(dirname(file))).toEqual(['a.json']);
});

test('no value of the file is reported', async () => {
  const file = filesOfTest().write('a.json', {
    contacts: [contact({}, { phoneNumbers: [{ name: 'x', value: 'secret' }] })],
  });
  const error = await loadError(file);
  expect(`${error.message}${String(error.cause)}`).not.toContain('secret');
});

test('a number that would lose digits is a problem', async () => {
  const file = filesOfTest().write('a.json', '{"contacts":[{"externalId":90071992547409931}]}');
  expect(await problemsOf(file)).toEqual([
    'contacts[0] (line 1): the number 90071992547409931 would lose digits; write it as a text',
  ]);
});

test('a member named __proto__ is an unknown member and does no harm', async () => {
  const file = filesOfTest().write('a.json', '{"contacts":[{"__proto__":{"x":1},"defaultFields":{"firstName":"A"}}]}');
  expect(await problemsOf(file)).toEqual([
    'contacts[0] (line 1): has a member that its kind does not know: "__proto__"',
  ]);
  expect(await loadError(filesOfTest().write('b.json', '{"__proto__":[]}'))).toMatchObject({
    code: 'workspaceFileMalformed',
  });
});

const lists = ['emails', 'phoneNumbers', 'customFields'] as const;

test.each(lists)('a loaded contact takes 200 %s, as the interface does, and no more', async (list) => {
  const files = filesOfTest();
  const customFields = Array.from({ length: 201 }, (_, index) => ({ key: `k${index}`, name: 'K', type: 'number' }));
  const items = {
    emails: (index: number) => ({ name: 'n', value: `a${index}@example.com` }),
    phoneNumbers: () => ({ name: 'n', value: '+14155550100' }),
    customFields: (index: number) => ({ key: `k${index}`, value: index }),
  };
  const fileOf = (count: number) => {
    const given = { [list]: Array.from({ length: count }, (_, index) => items[list](index)) };
    const one = list === 'customFields' ? contact(given) : contact({}, given);
    return files.write('a.json', { customFields, contacts: [one] });
  };
  expect((await load(fileOf(200))).loaded?.contacts).toBe(1);
  const path = list === 'customFields' ? list : `defaultFields.${list}`;
  expect(await problemsOf(fileOf(201))).toEqual([`contacts[0].${path} (line 1): must hold at most 200 items`]);
});

test('an instant before 1970 or after 9999 in UTC is a problem, of whatever record', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store, seedPhoneNumbers: 1 })).close();
  const dumped = JSON.parse(readFileSync(await files.dump(store), 'utf8'));
  const [early, late] = ['1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59-12:00'];
  const { phoneNumbers, calls, recordings, messages } = dumped;
  const problems = await problemsOf(
    files.write('a.json', {
      ...dumped,
      phoneNumbers: [{ ...phoneNumbers[0], id: 'PNx', number: '+14155550199', createdAt: early }, ...phoneNumbers],
      contacts: [contact({ createdAt: early }), contact({ createdAt: late }), contact({ updatedAt: late })],
      calls: [{ ...calls[0], id: 'ACx', createdAt: early, answeredAt: late, completedAt: early }, ...calls],
      recordings: [{ ...recordings[0], id: 'Rx', startTime: late }],
      messages: [{ ...messages[0], createdAt: early }],
    }),
  );
  const bounds = 'must lie between 1970-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z';
  expect(problems.map((one) => one.replace(/ \(line \d+\)/, ''))).toEqual([
    `phoneNumbers[0].createdAt: ${bounds}`,
    `contacts[0].createdAt: ${bounds}`,
    `contacts[1].createdAt: ${bounds}`,
    `contacts[2].updatedAt: ${bounds}`,
    ...['answeredAt', 'completedAt', 'createdAt'].map((member) =>
      expect.stringContaining(`calls[0].${member}: ${bounds}`),
    ),
    `recordings[0].startTime: ${bounds}`,
    `messages[0].createdAt: ${bounds}`,
  ]);
});

test('the first and the last instant are loaded, listed, dumped and loaded again', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store, seedPhoneNumbers: 1 })).close();
  const dumped = JSON.parse(readFileSync(await files.dump(store), 'utf8'));
  const [message] = dumped.messages;
  const [first, last] = ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  const file = files.write('a.json', {
    ...dumped,
    contacts: [contact({ createdAt: '1970-01-01T02:00:00+02:00' }), contact({ createdAt: last })],
    messages: [first, last].map((createdAt, index) => ({ ...message, id: `ACx${index}`, createdAt })),
  });
  const again = files.at('again.sqlite');
  const service = await load(file, { store: again });
  const contacts = (await service.call('GET', '/v1/contacts')).body.data;
  expect(contacts.map((one: { createdAt: string }) => one.createdAt)).toEqual([first, last]);
  const participant = message.direction === 'incoming' ? message.from : message.to[0];
  const query = `phoneNumberId=${message.phoneNumberId}&participants=${encodeURIComponent(participant)}`;
  const listed = (await service.call('GET', `/v1/messages?${query}`)).body.data;
  expect(listed.map((one: { createdAt: string }) => one.createdAt)).toEqual([last, first]);
  expect((await load(await files.dump(again, 'b.json'))).loaded).toEqual(service.loaded);
});

test('an owner whom no user of the file is refers to nothing, wherever the users are', async () => {
  const users = [
    { id: 'US1', email: 'ada@example.com', firstName: 'Ada', lastName: null, role: 'owner', groupId: 'GR1' },
  ];
  const problem = 'workspace.ownerUserId (line 1): no user of the file has this id';
  const files = filesOfTest();
  for (const content of [
    { workspace: { ownerUserId: 'US2' }, users, contacts: [ada] },
    { contacts: [ada], users, workspace: { ownerUserId: 'US2' } },
    { workspace: { ownerUserId: 'US2' }, contacts: [ada] },
    { workspace: { ownerUserId: 'US2' } },
  ]) {
    expect(await problemsOf(files.write('a.json', content))).toEqual([problem]);
  }
});

test('a member that occurs twice in one object is a problem, at whatever depth, and one that only seems to is none', async () => {
  const files = filesOfTest();
  const twice = [
    '{"defaultFields":{"firstName":"a"},"defaultFields":{"firstName":"b"}}',
    '{"defaultFields":{"firstName":"a",\n"first\\u004eame":"b"}}',
    '{"defaultFields":{"firstName":"a","emails":[{"name":"x","value":"a@example.com","name":"y"}]}}',
    '{"defaultFields":{"firstName":"a\\":\\"b:c"}}',
    '{"defaultFields":{"firstName":null,"emails":[{"name":"x:","value":"a@example.com"},{"name":"x","value":"b@example.com"}]}}',
  ];
  expect(await problemsOf(files.write('a.json', `{"contacts":[\n${twice.join(',\n')}\n]}`))).toEqual([
    'contacts[0] (line 2): the member "defaultFields" occurs twice in one object',
    'contacts[1] (line 3): the member "firstName" occurs twice in one object',
    'contacts[2] (line 5): the member "name" occurs twice in one object',
  ]);
});

test('texts that could not be given back are problems in every section, and so is a creator without a name', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store, seedPhoneNumbers: 2 })).close();
  const whole = JSON.parse(readFileSync(await files.dump(store), 'utf8'));
  const wrong = (section: string, member: string, value: unknown) => {
    const [first, ...others] = whole[section];
    return { ...whole, [section]: [{ ...first, [member]: value }, ...others] };
  };
  for (const [section, member] of [
    ['users', 'email'],
    ['users', 'firstName'],
    ['users', 'groupId'],
    ['phoneNumbers', 'name'],
    ['phoneNumbers', 'symbol'],
    ['phoneNumbers', 'forward'],
    ['phoneNumbers', 'portRequestId'],
    ['calls', 'forwardedFrom'],
    ['recordings', 'url'],
  ] as const) {
    for (const value of ['a\0b', 'a\ud800']) {
      const [problem] = await problemsOf(files.write('a.json', wrong(section, member, value)));
      expect(problem).toBe(`${section}[0].${member} (line 1): holds a lone surrogate or a NUL`);
    }
  }
  expect(await problemsOf(files.write('a.json', { contacts: [contact({ createdByUserId: '' })] }))).toEqual([
    'contacts[0].createdByUserId (line 1): must not be empty',
  ]);
});

test('a date of a custom field has at most nine digits behind the second, in a file as over the interface', async () => {
  const dated = (digits: number) => ({
    ...ada,
    customFields: [{ key: 'customer_since', value: `2026-01-01T00:00:00.${'1'.repeat(digits)}Z` }],
  });
  const files = filesOfTest();
  expect(await problemsOf(files.write('a.json', { contacts: [dated(9), dated(10)] }))).toEqual([
    'contacts[1].customFields[0].value (line 1): must have at most 9 digits behind the second',
  ]);
  const service = await startTestService();
  expect((await service.call('POST', '/v1/contacts', dated(9))).status).toBe(201);
  const refused = await service.call('POST', '/v1/contacts', dated(10));
  expect([refused.status, refused.body.errors[0].message]).toEqual([
    400,
    'must have at most 9 digits behind the second',
  ]);
  expect((await service.call('POST', '/v1/contacts', { ...ada, createdByUserId: '' })).status).toBe(400);
});
