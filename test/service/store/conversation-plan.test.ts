/** Every listing of calls and messages finds its page by an index, wherever the page begins. */
import type { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createCallTable, createMessageTable, createRecordingTable } from '#src/service/store/activity-tables.ts';
import { createPhoneNumberTable } from '#src/service/store/workspace-tables.ts';
import { watchedDatabase } from '../support/watched-database.ts';

type Create = (database: DatabaseSync) => unknown;

/** How the statements that a table prepares find their rows; those that walk all of it on purpose left out. */
function plansOf(create: Create): readonly string[][] {
  const { database, prepared, planOf } = watchedDatabase();
  create(database);
  return prepared.filter((sql) => sql.includes('SELECT') && !/WHERE\s+created_ms|ORDER BY seq$/.test(sql)).map(planOf);
}

test.each<[string, Create, number]>([
  ['calls', createCallTable, 3],
  ['messages', createMessageTable, 3],
  ['recordings', createRecordingTable, 0],
  ['phone numbers', createPhoneNumberTable, 3],
])('no statement on %s walks a table or sorts its rows', (_, create, countMin) => {
  const plans = plansOf(create);
  expect(plans.length).toBeGreaterThanOrEqual(countMin);
  expect(plans.flat().filter((step) => /SCAN(?! json_each)|TEMP B-TREE/.test(step))).toEqual([]);
});

test('a page of a conversation begins at its place and ends at createdAfter', () => {
  const steps = [...plansOf(createCallTable), ...plansOf(createMessageTable)].flat();
  const pages = steps.filter((step) => /_by_(conversation|user)/.test(step));
  expect(pages).toHaveLength(3);
  for (const step of pages) expect(step).toMatch(/created_ms>\? AND created_ms<\?/);
});
