/** What a new workspace holds beside contacts and numbers: users, calls, recordings, messages (`docs/contract.md`, "Service"). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { workspaceSeed } from '#src/service/seed/seed-workspace.ts';
import { openStore, type Store } from '#src/service/store/open-store.ts';
import { migrations } from '#src/service/store/schema.ts';
import { storedCall, storedMessage, storedRecording } from '#src/service/stored-records.ts';
import { manualClock } from './test-service.ts';

const clock = manualClock();

function seededStore(seedPhoneNumbers: number, seedContacts = 25): Store {
  const store = openStore(':memory:', workspaceSeed({ seedPhoneNumbers, seedContacts }, clock));
  onTestFinished(() => store.close());
  return store;
}

/** The people of a call or a message whom the workspace does not own. */
const callPeople = (store: Store) => [...store.calls.each()].map((call) => call.participants[0]);
const messagePeople = (store: Store) =>
  [...store.messages.each()].flatMap((one) => (one.direction === 'incoming' ? one.from : one.to));
const ownNumbers = (store: Store) => [...store.phoneNumbers.each()].map((one) => one.number);

describe('a new workspace', () => {
  test('with one phone number holds calls, recordings and messages of two users', () => {
    const store = seededStore(1);
    const calls = [...store.calls.each()];
    const messages = [...store.messages.each()];
    expect(new Set(calls.map((call) => call.userId)).size).toBe(2);
    expect(new Set(messages.map((message) => message.userId)).size).toBe(2);
    expect(new Set(calls.map((call) => call.direction)).size).toBe(2);
    expect(new Set(calls.map((call) => call.status))).toEqual(new Set(['completed', 'missed', 'no-answer']));
    const recordingCounts = calls.map((call) => store.recordings.ofCall(call.id).length);
    expect(new Set(recordingCounts)).toEqual(new Set([0, 1, 2]));
  });

  test('without phone numbers holds none of them, and one user', () => {
    const store = seededStore(0);
    expect([...store.calls.each(), ...store.recordings.each(), ...store.messages.each()]).toEqual([]);
    expect([...store.users.each()].map((user) => user.role)).toEqual(['owner']);
  });

  test('is spread over days, and nothing of it is in the future or older than its number', () => {
    const store = seededStore(4);
    const createdMs = [...store.calls.each(), ...store.messages.each()].map((one) => Date.parse(one.createdAt));
    expect(new Set(createdMs.map((ms) => Math.floor(ms / 86_400_000))).size).toBeGreaterThan(5);
    expect(Math.max(...createdMs)).toBeLessThan(clock.nowMs());
    const [number] = store.phoneNumbers.each();
    expect(Math.min(...createdMs)).toBeGreaterThan(Date.parse(number?.createdAt ?? ''));
    for (const { startTime, duration } of store.recordings.each()) {
      expect(Date.parse(startTime ?? '') + (duration ?? 0) * 1000).toBeLessThan(clock.nowMs());
    }
  });

  test.each([
    [1, 0],
    [4, 25],
    [120, 500],
    [10_000, 0],
  ])('with %i numbers and %i contacts names fictional people who are not its own numbers', (numbers, contacts) => {
    const store = seededStore(numbers, contacts);
    const people = [...callPeople(store), ...messagePeople(store)];
    const own = new Set(ownNumbers(store));
    expect(people.length).toBeGreaterThan(10);
    expect(people.filter((number) => own.has(number ?? '') || !/^\+1\d{3}55501\d\d$/.test(number ?? ''))).toEqual([]);
  });

  test('has calls with contacts and with somebody who is none', () => {
    const store = seededStore(4, 25);
    const known = new Set(
      [...store.contacts.each()].flatMap((one) => one.defaultFields.phoneNumbers.map((item) => item.value)),
    );
    const people = callPeople(store);
    expect(people.some((number) => known.has(number ?? ''))).toBe(true);
    expect(people.some((number) => !known.has(number ?? ''))).toBe(true);
  });

  test('holds every user of its numbers, and every number names the user as they are', () => {
    const store = seededStore(10);
    const users = new Map([...store.users.each()].map((user) => [user.id, user]));
    for (const { users: named } of store.phoneNumbers.each()) {
      for (const user of named) expect(user).toEqual(users.get(user.id));
    }
    expect([...users.keys()][0]).toBe(store.ownerUserId);
    expect(store.users.find(store.ownerUserId)?.role).toBe('owner');
    expect(store.users.find('USnobody')).toBeNull();
    const actors = [...store.calls.each(), ...store.messages.each()].map((one) => one.userId);
    expect(actors.filter((id) => !users.has(id))).toEqual([]);
  });

  test('has the same shape every time, but for its ids', () => {
    const shapeOf = (store: Store) => ({
      calls: [...store.calls.each()].map(({ createdAt, participants, status, duration }) => ({
        ...{ createdAt, participants, status, duration },
      })),
      messages: [...store.messages.each()].map(({ createdAt, from, to, text }) => ({ createdAt, from, to, text })),
      recordings: [...store.recordings.each()].map(({ startTime, duration }) => ({ startTime, duration })),
    });
    const [one, other] = [seededStore(4), seededStore(4)];
    expect(shapeOf(one)).toEqual(shapeOf(other));
    const ids = [...other.calls.each()].map((call) => call.id);
    expect([...one.calls.each()].filter((call) => ids.includes(call.id))).toEqual([]);
  });

  test('is inserted in order of time, with ids in that order', () => {
    const store = seededStore(4);
    for (const records of [[...store.calls.each()], [...store.messages.each()]]) {
      const instants = records.map((one) => one.createdAt);
      expect(instants).toEqual(instants.toSorted());
      const ids = records.map((one) => one.id);
      expect(ids).toEqual(ids.toSorted());
    }
  });

  test('holds records of the shape that replies have', () => {
    const store = seededStore(4);
    const flaws = [
      ...[...store.calls.each()].map((one) => storedCall.strict().safeParse(one).error),
      ...[...store.messages.each()].map((one) => storedMessage.strict().safeParse(one).error),
      ...[...store.recordings.each()].map((one) => storedRecording.strict().safeParse(one).error),
    ];
    expect(flaws.filter((flaw) => flaw !== undefined)).toEqual([]);
  });
});

test('a store of the version before has users, and no calls, recordings or messages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'seed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'service.sqlite');
  const user = { id: 'US1', email: 'ada@example.com', firstName: 'Ada', lastName: null, role: 'owner', groupId: 'GR1' };
  const database = new DatabaseSync(path);
  database.exec(migrations[0] ?? '');
  database.exec('PRAGMA user_version = 1');
  database.prepare('INSERT INTO workspace VALUES (1, ?)').run('US1');
  const number = { id: 'PN1', number: '+14155550100', users: [user, { ...user, id: 'US2' }] };
  database.prepare('INSERT INTO phone_numbers (id, document) VALUES (?, ?)').run('PN1', JSON.stringify(number));
  database.close();
  const store = openStore(path, () => expect.unreachable('a store that exists is not filled'));
  onTestFinished(() => store.close());
  expect([...store.users.each()]).toEqual([user, { ...user, id: 'US2' }]);
  expect([...store.calls.each(), ...store.recordings.each(), ...store.messages.each()]).toEqual([]);
  expect(store.phoneNumbers.findByNumber('+14155550100')?.id).toBe('PN1');
  expect(store.phoneNumbers.findByNumber('+14155550101')).toBeNull();
});
