/** A ledger of schema 5 goes on: its schedules and ticks, snapshots, takes, deliveries, audits and registrations are all there. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { firstDesign } from '#src/ledger/sqlite/migrations/first-design.ts';
import { tempFolder } from './support/temp-ledger.ts';

/** A ledger that these statements filled while it had schema 5, opened by today's version. */
function upgraded(...statements: readonly string[]): Ledger {
  const file = join(tempFolder(), 'ledger.sqlite');
  const old = new DatabaseSync(file);
  for (const sql of [...firstDesign, ...statements]) old.exec(sql);
  old.exec('PRAGMA user_version = 5');
  old.close();
  const ledger = openSqliteLedger(file);
  onTestFinished(() => ledger.close());
  return ledger;
}

test('schedules with their pauses, and ticks with their ends, in the order of their entry', async () => {
  const { schedules } = upgraded(`
    INSERT INTO schedules VALUES ('crm', 'take', '{"kind":"every","everyMs":60000}', 5, 3, 'broken', 2, 1);
    INSERT INTO schedules (name, work, created_at) VALUES ('phone-numbers', 'snapshot', 1);
    INSERT INTO ticks (id, schedule, work, trigger, state, due_at, started_at, ended_at, attempts, outcome, run_ids)
      VALUES ('t2', 'crm', 'take', 'due', 'ended', 1, 2, 3, 1, 'run', '["r1","r2"]');
    INSERT INTO ticks (id, schedule, work, trigger, state, due_at, started_at, attempts)
      VALUES ('t1', 'crm', 'take', 'request', 'working', 4, 5, 2);
    INSERT INTO ticks (id, schedule, work, trigger, state, user, due_at, started_at, ended_at, attempts, outcome, code, kind, message, hint)
      VALUES ('t3', 'phone-numbers', 'snapshot', 'request', 'ended', 'US1', 1, 2, 3, 1, 'failed', 'x', 'usage', 'why', 'what');
  `);
  expect(await schedules.list()).toEqual([
    {
      ...{ name: 'crm', work: 'take', rule: { kind: 'every', everyMs: 60_000 }, dueAtMs: 5, pausedAtMs: 3 },
      ...{ pauseReason: 'broken', resumedAtMs: 2, createdAtMs: 1 },
    },
    {
      ...{ name: 'phone-numbers', work: 'snapshot', rule: null, dueAtMs: null, pausedAtMs: null },
      ...{ pauseReason: null, resumedAtMs: null, createdAtMs: 1 },
    },
  ]);
  const none = { user: null, takenAtMs: null, code: null, kind: null, message: null, hint: null };
  expect(await schedules.ticks('crm', 10)).toEqual([
    {
      ...{ ...none, id: 't1', schedule: 'crm', work: 'take', trigger: 'request', state: 'working', dueAtMs: 4 },
      ...{ startedAtMs: 5, endedAtMs: null, attempts: 2, outcome: null, runIds: [] },
    },
    {
      ...{ ...none, id: 't2', schedule: 'crm', work: 'take', trigger: 'due', state: 'ended', dueAtMs: 1 },
      ...{ startedAtMs: 2, endedAtMs: 3, attempts: 1, outcome: 'run', runIds: ['r1', 'r2'] },
    },
  ]);
  expect(await schedules.tick('t3')).toMatchObject({
    user: 'US1',
    code: 'x',
    kind: 'usage',
    message: 'why',
    hint: 'what',
  });
  expect((await schedules.openTicks()).map(({ id }) => id)).toEqual(['t1']);
  expect((await schedules.lastEnded('crm', ['run', 'failed']))?.id).toBe('t2');
  expect(await schedules.lastEnded('phone-numbers', ['failed'])).toBeNull();
});

test('deliveries that wait, arrived and died, and what was told of feeds', async () => {
  const columns = 'id, kind, type, feed, data, at, state, attempts, waits_since, due_at, ended_at, code, message';
  const { deliveries, counts } = upgraded(`
    INSERT INTO deliveries (${columns}) VALUES
      ('n1', 'notice', 'feed.bad', 'crm', '{"troubles":["guard"]}', 10, 'waiting', 2, 11, 12, NULL, 'webhookFailed', 'why'),
      ('n2', 'notice', 'feed.recovered', 'crm', '{}', 20, 'waiting', 0, 20, 0, NULL, NULL, NULL),
      ('c1', 'change', 'phoneNumbers.changed', 'phone-numbers', '{"added":1}', 30, 'waiting', 0, 30, 0, NULL, NULL, NULL),
      ('n3', 'notice', 'feed.bad', 'hr', '{}', 5, 'dead', 9, 5, 6, 7, 'webhookFailed', 'why'),
      ('n4', 'notice', 'feed.bad', 'hr', '{}', 6, 'delivered', 1, 6, 6, 8, NULL, NULL);
    INSERT INTO feed_conditions VALUES ('crm', '["guard"]', 3, 2);
  `);
  expect(await deliveries.get('n1')).toEqual({
    ...{ id: 'n1', kind: 'notice', type: 'feed.bad', feed: 'crm', data: { troubles: ['guard'] }, atMs: 10 },
    ...{ state: 'waiting', attempts: 2, dueAtMs: 12, endedAtMs: null, code: 'webhookFailed', message: 'why' },
  });
  expect((await deliveries.nextDue(12, 10)).map(({ id }) => id)).toEqual(['n1', 'c1']);
  expect(
    (await deliveries.list({ states: ['dead'], limit: 10 })).map(({ id, endedAtMs }) => `${id} ${endedAtMs}`),
  ).toEqual(['n3 7']);
  expect(await counts()).toMatchObject({ waitingDeliveries: 3, deadDeliveries: 1 });
  expect(await deliveries.expire(11, 50, { code: 'x', message: 'y' })).toBe(0);
  expect(await deliveries.expire(12, 50, { code: 'x', message: 'y' })).toBe(1);
  expect(await deliveries.conditions()).toEqual([{ feed: 'crm', troubles: ['guard'], sinceMs: 3, knownSinceMs: 2 }]);
});

test('snapshots, the numbers that each shows, and their versions', async () => {
  const { snapshots } = upgraded(`
    INSERT INTO snapshots VALUES ('workspace', 10, 2, 1, 0, 0, 0, 10, '2,1'), ('workspace', 20, 2, 1, 0, 0, 0, 10, NULL),
      ('workspace', 30, 1, 1, 0, 1, 1, 30, '1'), ('US1', 15, 1, 1, 0, 0, 0, 15, '3');
    INSERT INTO snapshot_numbers VALUES (1, 'workspace', 'a'), (2, 'workspace', 'b'), (3, 'US1', 'a');
    INSERT INTO number_versions VALUES (1, 10, 20, '{"id":"a"}'), (2, 10, 20, '{"id":"b"}'), (1, 30, NULL, '{"id":"a","name":"A"}'),
      (3, 15, NULL, '{"id":"a"}');
  `);
  expect(await snapshots.series()).toEqual(['US1', 'workspace']);
  expect(await snapshots.at('workspace')).toEqual({
    ...{
      series: 'workspace',
      takenAtMs: 30,
      count: 1,
      pages: 1,
      changed: true,
      added: 0,
      removed: 1,
      changedNumbers: 1,
    },
    contentOfMs: 30,
  });
  expect(await snapshots.before('workspace', 30)).toMatchObject({ takenAtMs: 20, changed: false, contentOfMs: 10 });
  expect(await snapshots.numbersOf('workspace', 20)).toEqual([{ id: 'b' }, { id: 'a' }]);
  expect(await snapshots.differing('workspace', 30)).toEqual({
    before: [{ id: 'b' }, { id: 'a' }],
    after: [{ id: 'a', name: 'A' }],
  });
  expect(await snapshots.versionsOf('US1', 'a')).toEqual([{ number: { id: 'a' }, fromMs: 15, untilMs: null }]);
  expect(await snapshots.forget('workspace', 30, 10)).toEqual([10, 20]);
  expect(await snapshots.versionsOf('workspace', 'b')).toEqual([]);
});

test('what feeds have taken, passed over and begun to take', async () => {
  const { takes } = upgraded(`
    INSERT INTO taken_files VALUES ('crm', '/a', 'p1', 10, 'sha-a', 11, 12), ('crm', '/b', 'p2', 20, NULL, 21, 22);
    INSERT INTO taken_urls VALUES ('hr', 'hash', 'place', '"v1"', NULL, 'sha', 5);
    INSERT INTO takes_begun VALUES ('crm', 'sha-c', 6);
  `);
  const file = { feed: 'crm', path: '/a', fingerprint: 'p1', modifiedAtMs: 10, sha256: 'sha-a', takenAtMs: 11 };
  expect(await takes.newestFile('crm', () => true)).toEqual(file);
  expect(await takes.file('crm', '/a')).toEqual(file);
  expect(await takes.file('crm', '/b')).toBeNull();
  expect(await takes.knownFiles('crm', [{ path: '/b', fingerprint: 'p2' }], 0)).toEqual(new Set(['/b']));
  expect(await takes.url('hr', 'hash')).toEqual({
    ...{
      feed: 'hr',
      urlHash: 'hash',
      answeredHash: 'place',
      etag: '"v1"',
      lastModified: null,
      sha256: 'sha',
      takenAtMs: 5,
    },
  });
  expect(await takes.begun('crm')).toEqual({ sha256: 'sha-c', begunAtMs: 6 });
});

test('the id, the workspace, the pause, and the processes that work on it', async () => {
  const ledger = upgraded(`
    INSERT INTO meta VALUES ('id', 'abcd1234'), ('binding', '{"origin":"sandbox","keyHash":"h","phoneNumberIds":["PN1"]}'),
      ('pause', '{"code":"auth","message":"m","sinceMs":1}'),
      ('engine', '{"identity":"e","serviceOrigin":"s","queue":{"kind":"redis"},"startedAtMs":1}'),
      ('worker w1', '{"identity":"w1","startedAtMs":1,"seenAtMs":2}');
  `);
  expect(ledger.id).toBe('abcd1234');
  expect(await ledger.binding()).toEqual({ origin: 'sandbox', keyHash: 'h', phoneNumberIds: ['PN1'] });
  expect(await ledger.pause()).toEqual({ code: 'auth', message: 'm', sinceMs: 1 });
  expect(await ledger.registrations()).toEqual({
    engine: { identity: 'e', serviceOrigin: 's', queue: { kind: 'redis' }, startedAtMs: 1 },
    workers: [{ identity: 'w1', startedAtMs: 1, seenAtMs: 2 }],
  });
});

test('audits with their findings, and the keys that runs touched', async () => {
  const columns =
    'id, run_id, run_sequence, kind, scope, state, entered_at, due_at, finished_at, key_count, position, checked, duplicates, "get"';
  const ledger = upgraded(`
    INSERT INTO feeds VALUES ('crm', 1);
    INSERT INTO runs (sequence, id, feed, kind, file_name, claimed_path, import_folder, sha256, bytes, state, options, created_at, finished_at)
      VALUES (7, 'r1', 'crm', 'file', 'a.csv', '', '', 's', 1, 'done', '{}', 1, 5), (8, 'r2', 'crm', 'file', 'b.csv', '', '', 's', 1, 'done', '{}', 1, 6);
    INSERT INTO audits (${columns}) VALUES ('a1', 'r1', 7, 'first', 'touched', 'done', 4, 10, 20, 2, 5, 2, 1, 3),
      ('a2', 'r1', 7, 'second', 'touched', 'waiting', 4, 30, NULL, 1, 0, 0, 0, 0), ('a3', 'r2', 8, 'first', 'touched', 'done', 4, 10, 20, 1, 1, 1, 1, 0),
      ('a4', 'r2', 8, 'demand', 'touched', 'done', 4, 10, 20, 1, 1, 1, 0, 0), ('a5', 'r2', 8, 'demand', 'touched', 'waiting', 9, 10, NULL, 1, 0, 0, 0, 0);
    INSERT INTO touched_keys VALUES (7, 2, 'k2', 0), (7, 5, 'k5', 1), (8, 1, 'k1', 0);
    INSERT INTO audit_findings VALUES (1, 1, 'duplicate',
      '{"key":"k2","kind":"duplicate","contacts":[],"code":null,"boundTo":"c1","boundRun":null,"boundAtMs":null,"history":[]}');
  `);
  const { audits } = ledger;
  expect(await audits.get('a1')).toEqual({
    ...{
      id: 'a1',
      runId: 'r1',
      kind: 'first',
      scope: 'touched',
      state: 'done',
      enteredAtMs: 4,
      dueAtMs: 10,
      finishedAtMs: 20,
    },
    ...{ keyCount: 2, position: 5, checked: 2, duplicates: 1, missing: 0, unchecked: 0 },
    requests: { get: 3, retried: 0, rateLimited: 0 },
  });
  expect((await audits.ofRun('r1')).map(({ id }) => id)).toEqual(['a1', 'a2']);
  expect((await audits.nextDue(30, 10)).map(({ id }) => id)).toEqual(['a5', 'a2']);
  expect(await audits.keysAfter('a2', 0, 10)).toEqual([{ position: 5, key: 'k5' }]);
  expect(await audits.findings('a1', 'duplicate', 10)).toMatchObject([{ key: 'k2', boundTo: 'c1' }]);
  expect((await audits.standing(10)).map(({ id }) => id)).toEqual(['a1']);
  expect((await ledger.counts()).waitingAudits).toBe(2);
  await audits.finish('a2', 40);
  await ledger.forget(100, 0);
  expect(await audits.findings('a1', 'duplicate', 10)).toEqual([]);
  expect(await audits.keysAfter('a1', 0, 10)).toEqual([]);
  expect(await audits.keysAfter('a4', 0, 10)).toEqual([{ position: 1, key: 'k1' }]);
});
