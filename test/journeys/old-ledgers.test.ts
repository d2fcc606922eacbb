/**
 * Work that an older version left open goes on with today's: a run that a guard stopped, one that was killed while it wrote, one that
 * was killed while its file was read, a plan, a held field, a letter and a schedule. The ledgers were written by the last version
 * with each schema (`old-ledgers/make-old-ledger.ts`).
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { migrations } from '#src/ledger/sqlite/migrations/migrations.ts';
import { test } from '#test/support/journey.ts';
import { openOldLedger } from './old-ledgers/old-ledger.ts';

const schemas = readdirSync(join(import.meta.dirname, 'old-ledgers'))
  .flatMap((name) => /^schema-(\d+)\.sql$/.exec(name)?.[1] ?? [])
  .map(Number)
  .sort((one, other) => one - other);

const keysOf = (letter: string, count: number) => Array.from({ length: count }, (_, at) => `${letter}-${at}`);

/** The runs of an old ledger, as they end. */
const leftOpen = [
  ['people.csv', 'done'],
  ['mixed.csv', 'doneWithDead'],
  ['moved.csv', 'done'],
  ['crm.csv', 'done'],
  ['shop.csv', 'done'],
];

test('a ledger of each schema since the fifth is kept', () => {
  expect(schemas).toEqual(Array.from({ length: migrations.length - 4 }, (_, at) => at + 5));
});

describe.each(schemas)('a ledger with schema %i', (schema) => {
  test('is sound, and what it left open goes on to its end', async ({ journey }) => {
    const { service, stopped, planId, call, path } = await openOldLedger(journey, schema);
    const check = await call('ledger', 'check');
    expect(check.code, check.stderr).toBe(0);

    const approved = await call('runs', 'approve', stopped, '--reason', 'moved', '--json');
    expect(approved.documents, approved.stderr).toMatchObject([{ state: 'done', updated: 11, unchanged: 1 }]);
    // The engine that wrote the approved run goes on with the others; whichever it left is continued here.
    for (const feed of ['crm', 'shop'] as const) {
      const again = await call('import', '--feed', feed, path(`${feed}.csv`), '--json');
      expect(again.documents, again.stderr).toMatchObject([{ state: 'done', rows: 6 }]);
    }
    const states = (await journey.runs()).slice(0, leftOpen.length).map(({ fileName, state }) => [fileName, state]);
    expect(states).toEqual(leftOpen);
    expect(await service.keys()).toEqual([...keysOf('c', 6), ...keysOf('p', 12), ...keysOf('s', 6)].sort());
    expect((await service.firstNames()).get('p-0')).toBe('Bea0');

    if (planId !== null) {
      const carriedOut = await call('import', '--plan', planId, '--json');
      expect(carriedOut.documents, carriedOut.stderr).toMatchObject([{ state: 'done', created: 3 }]);
    }
    expect((await call('held', 'ls', '--json')).documents.flat()).toMatchObject([{ key: 'p-1', field: 'firstName' }]);
    const taken = await call('held', 'take', 'file', '--all', '--json');
    expect(taken.code, taken.stderr).toBe(0);
    expect((await service.firstNames()).get('p-1')).toBe('Anna');
    const retried = await call('dead', 'retry', '--all', '--json');
    expect(retried.documents, retried.stderr).toMatchObject([{ state: 'doneWithDead', dead: 1 }]);
    expect((await call('dead', 'ls', '--json')).documents.flat()).toMatchObject([{ key: 'p-bad', state: 'open' }]);
    const timetable = await call('schedule', 'ls', '--json');
    expect(timetable.documents.flat().map(({ name }) => name)).toContain('nightly');
  });

  test('lets its stopped run be read anew', async ({ journey }) => {
    const { stopped, call } = await openOldLedger(journey, schema);
    const again = await call('runs', 'restage', stopped, '--json');
    expect(again.documents, again.stderr).toMatchObject([{ run: stopped, state: 'stopped', pending: 11 }]);
  });
});
