/** A restored backup loses no value of anybody, and doubles nobody: what came after it is found again by its key. */
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';
import type { JourneyService } from '#test/support/journey-service.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

const header = 'externalId,firstName,company,role,phone mobile';
const csv = (rows: readonly string[]): string => `${[header, ...rows].join('\n')}\n`;
const phone = (last: number): string => `+1415555010${last}`;

/** Every person of the first file has a company and no role. */
const before = csv([1, 2, 3, 4, 5].map((n) => `p-00${n},Given ${n},Copperline,,${phone(n)}`));
/** The second one changes the company of 1 and 2, gives 3 a role, and knows two more people. */
const after = csv([
  `p-001,Given 1,Tinworks,,${phone(1)}`,
  `p-002,Given 2,Tinworks,,${phone(2)}`,
  `p-003,Given 3,Copperline,Engineer,${phone(3)}`,
  `p-004,Given 4,Copperline,,${phone(4)}`,
  `p-005,Given 5,Copperline,,${phone(5)}`,
  `p-006,Given 6,Tinworks,,${phone(6)}`,
  `p-007,Given 7,Tinworks,Pilot,${phone(7)}`,
]);

/** A backup between the two files; then people edit, and the backup is put in place of the ledger. */
async function restoreAfterEdits(journey: Journey): Promise<JourneyService> {
  const service = await journey.service();
  const backup = journey.file('kept/note.txt', '').replace('note.txt', 'ledger.sqlite');
  const run = async (...words: readonly string[]): Promise<void> => {
    const { code, stdout, stderr } = await journey.call(words);
    expect(code, stdout + stderr).toBe(0);
  };
  await run('import', journey.file('before.csv', before));
  await run('ledger', 'backup', backup);
  await run('import', '--accept', journey.file('after.csv', after));
  const kept = (await service.people()).get('p-005')?.phoneNumbers ?? [];
  await service.edit('p-001', { company: 'Own words 1' });
  await service.edit('p-003', { role: 'Own words 3' });
  await service.edit('p-004', { firstName: 'Own words 4' });
  await service.edit('p-005', { phoneNumbers: [...kept, { name: 'home', value: '+14155550199' }] });
  await service.edit('p-006', { company: 'Own words 6' });
  journey.restore(backup);
  await run('ledger', 'check');
  return service;
}

/** Of a backup taken after 30 of 120 creates: bound in it, on their way, and unknown to it. */
const edited = [...peopleKeys(1), ...peopleKeys(60).slice(20), 'p-120'];

describe('a restored backup', () => {
  test('of the time before a file: importing that file again overwrites no value of people and doubles nobody', async ({
    journey,
  }) => {
    const service = await restoreAfterEdits(journey);
    const creates = service.createCount();
    for (const _turn of ['the file again', 'and once more']) {
      const { documents, stderr } = await journey.call([
        'import',
        '--json',
        '--accept',
        journey.file('after.csv', after),
      ]);
      expect(documents[0], stderr).toMatchObject({ state: 'done', rows: 7, dead: 0 });
      const people = await service.people();
      const of = (key: string) => people.get(key);
      expect(of('p-001')?.company, 'edited after both files had said something else').toBe('Own words 1');
      expect(of('p-003')?.role, 'in a field that the file had filled').toBe('Own words 3');
      expect(of('p-004')?.firstName, 'in a field that the file left alone').toBe('Own words 4');
      expect(
        of('p-005')
          ?.phoneNumbers.map(({ value }) => value)
          .toSorted(),
      ).toEqual([phone(5), '+14155550199']);
      expect(of('p-006')?.company, 'of a contact that the restored ledger does not know').toBe('Own words 6');
      // What nobody edited is as the file says.
      expect([of('p-002')?.company, of('p-007')?.role]).toEqual(['Tinworks', 'Pilot']);
    }
    expect(await service.keys()).toEqual(peopleKeys(7));
    expect(service.createCount()).toBe(creates);
  });

  test('of the middle of an import goes on: nobody is doubled, no value of people is overwritten', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=50ms']);
    const engine = journey.start(['start', '--json']);
    await engine.firstLine();
    journey.file('data/import/people.csv', peopleCsv(120));
    await service.creates(30);
    const backup = join(journey.file('kept/note.txt', ''), '..', 'ledger.sqlite');
    expect((await journey.call(['ledger', 'backup', backup])).code).toBe(0);
    const ended = async (): Promise<boolean> => (await journey.runs()).every(({ state }) => state === 'done');
    await until('the end of the file', async () => (await service.keys()).length === 120 && (await ended()));
    engine.signal('SIGTERM');
    await engine.ended();
    for (const key of edited) await service.edit(key, { company: 'Own words' });

    journey.restore(backup);
    await service.setFaults([]);
    const again = await journey.run(['import', '--json', '--accept', journey.file('people.csv', peopleCsv(120))]);
    expect(again.documents[0], again.stderr).toMatchObject({ rows: 120, dead: 0 });
    // Many contacts that the restored ledger does not know stop the run: a person looks, and lets it go on.
    // Where more of them come to light, it stops again. Ends: each time it goes on by at least one chunk.
    const stopped = async () => (await journey.runs()).find(({ state }) => state === 'stopped')?.id;
    for (let id = await stopped(), turn = 0; id !== undefined && turn < 6; id = await stopped(), turn += 1) {
      await journey.run(['runs', 'approve', '--json', '--reason', 'restored', id]);
    }
    expect((await journey.runs()).map(({ state }) => state)).toEqual(expect.not.arrayContaining(['stopped', 'failed']));
    expect(await service.keys()).toEqual(peopleKeys(120));
    const people = await service.people();
    for (const key of edited) expect(people.get(key)?.company, key).toBe('Own words');
  });
});
