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
