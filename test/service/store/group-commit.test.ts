/** Group commit: one transaction for many, each with its own end. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createGroupCommit } from '#src/service/store/group-commit.ts';

const noReads = () => undefined;

function counterDatabase() {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE counted (n INTEGER UNIQUE) STRICT');
  const insert = database.prepare('INSERT INTO counted VALUES (?)');
  const count = () => Number(database.prepare('SELECT count(*) AS n FROM counted').get()?.n);
  return { database, insert, count };
}

test('works that arrive together are committed together, and a failing one hurts no other', async () => {
  const { database, insert, count } = counterDatabase();
  const group = createGroupCommit(database, noReads);
  const outcomes = await Promise.allSettled([
    group.write(() => insert.run(1)),
    group.write(() => insert.run(1)),
    group.write(() => {
      throw new Error('mine');
    }),
    group.write(() => insert.run(2)),
  ]);
  expect(outcomes.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  expect(count()).toBe(2);
  database.close();
});

test('more than one transaction takes are all done', async () => {
  const { database, insert, count } = counterDatabase();
  const group = createGroupCommit(database, noReads);
  await Promise.all(Array.from({ length: 1_201 }, (_, n) => group.write(() => insert.run(n))));
  expect(count()).toBe(1_201);
  database.close();
});

test('when the commit fails, every work of it is rejected and nothing is kept', async () => {
  const { database, insert, count } = counterDatabase();
  database.exec('PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT');
  database.exec('CREATE TABLE child (parent_id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED) STRICT');
  const group = createGroupCommit(database, noReads);
  const outcomes = await Promise.allSettled([
    group.write(() => insert.run(1)),
    // The missing parent is noticed at the commit.
    group.write(() => database.exec('INSERT INTO child VALUES (7)')),
  ]);
  expect(outcomes.map((one) => one.status)).toEqual(['rejected', 'rejected']);
  expect(count()).toBe(0);
  database.close();
});

test('close commits what waits and refuses what comes later', async () => {
  const { database, insert, count } = counterDatabase();
  const group = createGroupCommit(database, noReads);
  const waiting = group.write(() => insert.run(1));
  group.close();
  await waiting;
  expect(count()).toBe(1);
  await expect(group.write(() => insert.run(2))).rejects.toMatchObject({ code: 'storeClosed' });
  database.close();
});
