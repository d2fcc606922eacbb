/** `runs restage`: a stopped run is read anew with the mapping and the limits of today (`docs/rules.md`, "Guards"). */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';

const mappingOf = (column: string) =>
  [
    ...['name: crm', 'key: Id', 'fields:', `  firstName: ${column}`, 'phones:', '  - { column: Tel, label: work }'],
    ...[`ignore: [${column === 'First' ? 'Nick' : 'First'}]`, ''],
  ].join('\n');
const csv = (nick: string, others: readonly string[] = []) =>
  [
    'Id,First,Nick,Tel',
    ...Array.from({ length: 20 }, (_, at) => `p-${at},Ann${at},${nick}${at},+141555501${String(at).padStart(2, '0')}`),
    ...others,
    '',
  ].join('\n');

/** Twenty people, and a run of the same people that a wrong column of the mapping has stopped. */
async function stopped(journey: Journey) {
  const service = await journey.service();
  const mapping = journey.file('crm.yaml', mappingOf('First'));
  await journey.call(['import', '--mapping', mapping, journey.file('a.csv', csv('A'))]);
  journey.file('crm.yaml', mappingOf('Nick'));
  const next = journey.file('b.csv', csv('B', ['p-new,Cyn,C,+14155550150', 'p-bad,Dan,D,12']));
  const [run] = (await journey.call(['import', '--mapping', mapping, next, '--json'])).documents;
  expect(run).toMatchObject({ state: 'stopped', pending: 21, dead: 1 });
  return { service, id: run.run as string };
}

describe.concurrent('runs restage', () => {
  test('reads the file with the mapping as it is now, asks the guards again, and is told in the acts', async ({
    journey,
  }) => {
    const { service, id } = await stopped(journey);
    const again = await journey.call(['runs', 'restage', id, '--json']);
    expect([again.code, again.documents[0]]).toMatchObject([5, { run: id, state: 'stopped', pending: 21 }]);
    expect(await service.keys()).toHaveLength(20);

    journey.file('crm.yaml', mappingOf('First'));
    const done = await journey.call(['runs', 'restage', id.slice(-6), '--reason', 'the first name', '--json']);
    expect(done.code, done.stderr).toBe(3);
    expect(done.documents).toMatchObject([{ run: id, created: 1, updated: 0, unchanged: 20, dead: 1, pending: 0 }]);
    expect(journey.names('import/_stopped')).toEqual([]);
    const letters = (await journey.call(['dead', 'ls', '--json'])).documents.flat();
    expect(letters).toMatchObject([{ key: 'p-bad', state: 'open' }]);
    const acts = (await journey.call(['logs', '--acts'])).stdout;
    expect(acts).toContain(`read anew: run ${id}`);
    expect(acts).toContain('another mapping');
    expect(acts).toContain('the first name');

    const refused = await journey.call(['runs', 'restage', id]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('[notStopped]')]);
  });

  test('takes the limits of the configuration as they are now', async ({ journey }) => {
    const { service, id } = await stopped(journey);
    const env = { PATCHBAY_GUARDS_UPDATES_MAX: '100%' };
    const done = await journey.call(['runs', 'restage', id, '--json'], env);
    expect(done.documents, done.stderr).toMatchObject([{ run: id, created: 1, updated: 20, dead: 1 }]);
    expect((await service.people()).get('p-3')).toMatchObject({ firstName: 'B3' });
  });

  test('of a run that carries a plan out leaves the plan behind: neither its stop nor its contacts count', async ({
    journey,
  }) => {
    const service = await journey.service();
    const mapping = journey.file('crm.yaml', mappingOf('First'));
    await journey.call(['import', '--mapping', mapping, journey.file('a.csv', csv('A'))]);
    journey.file('crm.yaml', mappingOf('Nick'));
    const next = journey.file('b.csv', csv('B', ['p-new,Cyn,C,+14155550150']));
    const [planned] = (await journey.call(['plan', '--mapping', mapping, next, '--json'])).documents;
    const [run] = (await journey.call(['import', '--plan', planned.plan, '--json'])).documents;
    expect(run).toMatchObject({ state: 'stopped', pending: 21 });

    journey.file('crm.yaml', mappingOf('First'));
    const done = await journey.call(['runs', 'restage', run.run, '--json']);
    expect(done.documents, done.stderr).toMatchObject([
      { run: run.run, state: 'done', created: 1, updated: 0, moved: 0 },
    ]);
    expect((await service.people()).get('p-new')).toMatchObject({ firstName: 'Cyn' });
  });

  test('of a file that is gone is refused, and what was staged of it can still be approved', async ({ journey }) => {
    const { service, id } = await stopped(journey);
    rmSync(join(journey.data, 'handed-over'), { recursive: true });
    const before = await journey.runs();
    const refused = await journey.call(['runs', 'restage', id, '--detach', '--json']);
    expect(refused.documents, refused.stderr).toMatchObject([
      {
        error: {
          code: 'restageUnreadable',
          message: `run ${id} cannot be read anew, and stays as it is: b.csv is not there`,
          hint: expect.stringContaining(`patchbay runs approve ${id}`),
        },
        exitCode: 2,
      },
    ]);
    expect(refused.stdout).not.toContain(journey.data);
    expect(await journey.runs()).toEqual(before);
    expect((await journey.call(['logs', '--acts', '--json'])).stdout).not.toContain('"restage"');

    const approved = await journey.call(['runs', 'approve', id, '--json']);
    expect(approved.documents, approved.stderr).toMatchObject([{ run: id, created: 1, updated: 20, pending: 0 }]);
    expect(await service.keys()).toHaveLength(21);
  });

  test('of an undo is refused, with what to type instead', async ({ journey }) => {
    const { id } = await stopped(journey);
    await journey.call(['runs', 'approve', id, '--yes']);
    const [undo] = (await journey.call(['runs', 'undo', id, '--json'])).documents;
    expect(undo).toMatchObject({ state: 'stopped', pending: 20 });
    const refused = await journey.call(['runs', 'restage', undo.run]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`patchbay runs approve ${undo.run}`)]);
  });
});
