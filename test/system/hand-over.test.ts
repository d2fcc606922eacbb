import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { test } from '#test/support/journey.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

/** Slow enough that the run is never at its end before the other process has come. */
const slowly = { PATCHBAY_RATE: '4' };
const follows = 'an engine is already running on this data folder';

describe.concurrent('an import beside a running engine', () => {
  test('hands its file over, follows the run, and ends with its code', async ({ journey }) => {
    await journey.service();
    const engine = journey.start(['start', '--json']);
    await engine.firstLine();
    const mistake = 'x-001,Given,Copperline,1-800-FLOWERS';
    const file = journey.file('people.csv', peopleCsv(12, { more: [mistake] }));

    const { code, documents, stderr } = await journey.run(['import', '--json', file]);
    expect(code, stderr).toBe(3);
    expect(stderr).toContain(follows);
    expect(documents).toMatchObject([{ state: 'doneWithDead', rows: 13, created: 12, dead: 1, exitCode: 3 }]);
    expect(engine.stderr).toMatch(new RegExp(`"run":"${documents[0].run}".*"run finished"`));

    engine.signal('SIGINT');
    expect((await engine.ended()).code).toBe(130);
  });

  test('of other settings says what the engine follows, and one of another service is refused before it begins', async ({
    journey,
  }) => {
    const service = await journey.service();
    const engine = journey.start(['start', '--json']);
    await engine.firstLine();
    const tight = { PATCHBAY_GUARDS_UPDATES_MAX: '5%' };
    const file = journey.file('people.csv', peopleCsv(20));
    const { code, documents, stderr } = await journey.run(['import', '--json', file], tight);
    expect(code, stderr).toBe(0);
    const sentence =
      'the running engine follows guards.updatesMax 30%, here it is 5%: restart it to follow the new one';
    expect(stderr.split(sentence)).toHaveLength(2);
    expect(documents).toMatchObject([{ state: 'done', created: 20, notes: [sentence] }]);
    expect((await journey.call(['status', '--json'])).documents).toMatchObject([{ notFollowed: [] }]);

    const changed = journey.file(
      'changed.csv',
      peopleCsv(20).replace('Given 1,', 'Other,').replace('Given 2,', 'Other,'),
    );
    const [{ plan, stop }] = (await journey.call(['plan', '--json', changed], tight)).documents;
    expect(stop).toMatchObject({ code: 'guardUpdates' });
    const carried = await journey.call(['import', '--plan', plan, '--json']);
    expect(carried.documents).toMatchObject([
      { state: 'stopped', updated: 0, exitCode: 5, error: { code: 'guardUpdates' } },
    ]);

    const other = await journey.service();
    for (const args of [
      ['import', file],
      ['runs', 'approve', carried.documents[0].run],
      ['numbers', 'snapshot'],
    ]) {
      const refused = await journey.call([...args, '--json']);
      expect([refused.code, refused.documents], refused.stderr).toMatchObject([
        2,
        [{ error: { code: 'otherService' } }],
      ]);
    }
    expect([service.writeCount(), other.writeCount()]).toEqual([20, 0]);
    engine.signal('SIGINT');
    expect((await engine.ended()).code).toBe(130);
  });

  test('waits for an engine that is only starting: it may be refused, and what it was started for comes first', async ({
    journey,
  }) => {
    await journey.service();
    const lock = takeEngineLock(join(journey.data, 'engine.lock'));
    const first = journey.start(['import', '--json', journey.file('people.csv', peopleCsv(5))]);
    await until('the wait', () => first.stderr.includes('waiting for it'));
    expect(await journey.runs()).toEqual([]);
    const second = journey.start(['numbers', 'snapshot', '--json']);
    await until('the wait', () => second.stderr.includes('waiting for it'));
    second.signal('SIGINT');
    expect((await second.ended()).documents).toMatchObject([
      {
        error: {
          code: 'interrupted',
          message: 'interrupted before the work was entered',
          hint: 'Nothing was begun. Run the same command again.',
        },
        exitCode: 130,
      },
    ]);
    lock?.release();
    const { code, documents, stderr } = await first.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ state: 'done', created: 5 }]);
    expect(stderr).not.toContain(follows);
  });

  test('takes the place of an import that is killed in the middle, and finishes both files', async ({ journey }) => {
    const service = await journey.service();
    const first = journey.start(['import', '--json', journey.file('first.csv', peopleCsv(80))], slowly);
    await service.creates(1);
    const second = journey.start(['import', '--json', journey.file('second.csv', peopleCsv(40, { prefix: 'q' }))]);
    await until('the follower', () => second.stderr.includes(follows));
    await service.creates(5);
    await first.kill();

    const { code, documents, stderr } = await second.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ file: 'second.csv', state: 'done', rows: 40, created: 40, pending: 0 }]);
    expect(await service.keys()).toEqual([...peopleKeys(80), ...peopleKeys(40, 'q')]);
    expect(service.createCount(), 'no POST is repeated').toBe(120);

    const counts = { rows: 80, created: 80, updated: 0, adopted: 0, dead: 0 };
    expect(await journey.runs()).toMatchObject([
      { fileName: 'first.csv', state: 'done', counts },
      { fileName: 'second.csv', state: 'done' },
    ]);
  });

  test('takes the place of a worker that is killed in the middle of its run', async ({ journey }) => {
    const service = await journey.service();
    const engine = journey.start(['start', '--json'], slowly);
    await engine.firstLine();
    const follower = journey.start(['import', '--json', journey.file('people.csv', peopleCsv(80))]);
    await service.creates(5);
    expect(follower.stderr).toContain(follows);
    await engine.kill();

    const { code, documents, stderr } = await follower.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ state: 'done', rows: 80, created: 80, adopted: 0, pending: 0 }]);
    expect(await service.keys()).toEqual(peopleKeys(80));
    expect(service.createCount(), 'no POST is repeated').toBe(80);
  });
});
