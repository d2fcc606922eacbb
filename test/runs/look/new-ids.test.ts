/** New ids of known people, where a file has none of the keys of its feed (`docs/rules.md`, "One person under two keys"). */
import { describe, expect, it } from 'vitest';
import { exitCodeOfRun } from '#src/runs/exit-code.ts';
import { type ImportOptions, openRunsBench } from '#test/runs/support/runs-bench.ts';
import { defaultGuards } from '#test/runs/support/tallies.ts';
import { phone } from '#test/upsert/support/build.ts';

const header = 'externalId,firstName,lastName,phone';
const people = (count: number, prefix: string, first = 1) =>
  Array.from(
    { length: count },
    (_, index) => `${prefix}-${index + first},Ann${index + first},Fir,${phone(index + first)}`,
  );
const file = (rows: readonly string[]) => [header, ...rows, ''].join('\r\n');

async function openKnown(given: ImportOptions = {}, configured = {}) {
  const bench = await openRunsBench({ guards: defaultGuards, configured });
  await bench.import('a.csv', file(people(6, 'old')), given);
  return bench;
}

describe('a file that has none of the keys of its feed', () => {
  it.each([{}, { feed: 'crm' }])(
    'stops where three of its people or more are known under other keys (%j)',
    async (given) => {
      const bench = await openKnown(given);
      const run = await bench.import('b.csv', file([...people(3, 'new'), 'new-9,Zoe,Elm,']), given);
      expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardKeyForms' } });
      expect(exitCodeOfRun(run)).toBe(5);
      expect(run.reason?.message).toContain(
        '3 of the 4 new keys are of people whom this workspace knows under another key',
      );
      expect(run.reason?.hint).toContain('take the key from the column that has the earlier ones');
      expect(await bench.events(run)).toContainEqual(
        expect.objectContaining({ code: 'matchKey', key: 'new-1', contact: 'old-1' }),
      );
      const accepted = await bench.import('b.csv', file(people(3, 'new')), { ...given, options: { accept: true } });
      expect(accepted).toMatchObject({ state: 'done', counts: { created: 3 } });
    },
  );

  it('goes in with two of them, with a note; and with others who have only the name or only the number', async () => {
    const bench = await openKnown();
    const run = await bench.import('b.csv', file(people(2, 'new')));
    expect(run).toMatchObject({ state: 'done', counts: { created: 2 } });
    expect(run.notes.join('\n')).toContain(
      '2 new contacts seem to be of people whom this workspace knows under another key',
    );
    const other = people(4, 'x').map((row, index) => row.replace(/[^,]*$/, phone(index + 60)));
    expect(await bench.import('c.csv', file(other))).toMatchObject({ state: 'done', counts: { created: 4 } });
    const desk = people(4, 'y').map((row) => row.replace(',Ann', ',Bea'));
    expect(await bench.import('d.csv', file(desk))).toMatchObject({ state: 'done', counts: { created: 4 } });
  });
});

describe('ids are believed', () => {
  it('where the file has a key of its feed, and in a delta', async () => {
    const bench = await openKnown();
    const mixed = await bench.import('b.csv', file([...people(1, 'old'), ...people(3, 'new', 2)]));
    expect(mixed).toMatchObject({ state: 'done', counts: { created: 3 } });
    const delta = await openKnown({ feed: 'crm' }, { crm: { kind: 'delta' } });
    const run = await delta.import('b.csv', file(people(3, 'new')), { feed: 'crm' });
    expect(run).toMatchObject({ state: 'done', counts: { created: 3 } });
  });
});
