/** A command that is refused changes nothing: the same command can be given again, and nothing that waited has lost its place. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';

const anotherKey = { PATCHBAY_API_KEY: 'another-key' };

/** A run that a guard has stopped; answers its file and its id. */
async function stoppedRun(journey: Journey): Promise<{ readonly file: string; readonly id: string }> {
  await journey.service();
  expect((await journey.call(['import', journey.file('before.csv', peopleCsv(20))])).code).toBe(0);
  const file = journey.file('after.csv', peopleCsv(20, { company: 'Harbor & Sons' }));
  const { documents } = await journey.call(['import', '--json', file]);
  expect(documents).toMatchObject([{ state: 'stopped', pending: 20 }]);
  return { file, id: documents[0].run };
}

/** All that a command could have entered. */
async function entered(journey: Journey) {
  const { documents: acts } = await journey.call(['logs', '--acts', '--json']);
  const runs = (await journey.runs()).map(({ id, state, reason, approvals }) => ({ id, state, reason, approvals }));
  return { acts, runs, copies: journey.names('handed-over'), notes: journey.names('import/_stopped') };
}

describe.concurrent('where the start of its engine is refused', () => {
  test('an import of the file of a stopped run leaves that run stopped', async ({ journey }) => {
    const { file, id } = await stoppedRun(journey);
    const before = await entered(journey);
    const { code, documents } = await journey.call(['import', '--json', file], anotherKey);
    expect(documents).toMatchObject([{ error: { code: 'keyRefused' }, exitCode: 4 }]);
    expect(code).toBe(4);
    expect(await entered(journey)).toEqual(before);
    const approved = await journey.call(['runs', 'approve', id, '--json']);
    expect(approved.documents, approved.stderr).toMatchObject([{ run: id, state: 'done', updated: 20 }]);
  });

  test('an approval, a reading anew and a decision are not entered, and the same command works later', async ({
    journey,
  }) => {
    const { id } = await stoppedRun(journey);
    const before = await entered(journey);
    for (const args of [
      ['runs', 'restage', id],
      ['runs', 'undo', before.runs[0]?.id ?? ''],
      ['runs', 'approve', id],
    ]) {
      const { code, documents, stderr } = await journey.call([...args, '--json'], anotherKey);
      expect(documents, stderr).toMatchObject([{ error: { code: 'keyRefused' }, exitCode: 4 }]);
      expect(code).toBe(4);
      expect(await entered(journey)).toEqual(before);
    }
    const approved = await journey.call(['runs', 'approve', id, '--json']);
    expect(approved.documents, approved.stderr).toMatchObject([{ run: id, state: 'done', updated: 20 }]);
  });

  test('a queue that cannot begin while the rest of the start goes on is an error in one sentence', async ({
    journey,
  }) => {
    mkdirSync(join(journey.data, 'sandbox'), { recursive: true });
    writeFileSync(join(journey.data, 'sandbox', 'queue'), 'no folder');
    const { code, documents, stderr } = await journey.run([
      ...['import', '--sandbox', '--json'],
      journey.file('a.csv', peopleCsv(2)),
    ]);
    expect(documents, stderr).toMatchObject([{ error: { code: 'embeddedQueueFolder' }, exitCode: 2 }]);
    expect(code).toBe(2);
  });

  test('a run is cancelled all the same, and ended by the next engine that may start', async ({ journey }) => {
    const { id } = await stoppedRun(journey);
    const elsewhere = await journey.service();
    const env = { PATCHBAY_BASE_URL: elsewhere.origin, PATCHBAY_API_KEY: elsewhere.key };
    const cancelled = await journey.call(['runs', 'cancel', id, '--json'], env);
    expect(cancelled.documents, cancelled.stderr).toMatchObject([{ run: id, state: 'cancelling', exitCode: 0 }]);
    expect(cancelled.code).toBe(0);
    expect(cancelled.stderr).toContain('[otherWorkspace]: the running engine ends the run, or the next one');
  });
});

test('what was asked for already is followed: approving or reading anew once more is no mistake while the run is under way', async ({
  journey,
}) => {
  const { id } = await stoppedRun(journey);
  const approved = await journey.call(['runs', 'approve', id, '--detach', '--json']);
  expect(approved.documents, approved.stderr).toMatchObject([{ run: id, state: 'applying', exitCode: 0 }]);
  const again = await journey.call(['runs', 'approve', id, '--json']);
  expect(again.documents, again.stderr).toMatchObject([{ run: id, state: 'done', updated: 20 }]);
  expect(again.stderr).toContain(`run ${id} was approved already: following it`);
  const { documents: acts } = await journey.call(['logs', '--acts', '--json']);
  expect(acts.map(({ kind }) => kind)).toEqual(['import', 'import', 'approve']);

  const late = await journey.call(['runs', 'approve', id, '--json']);
  expect(late.documents).toMatchObject([{ error: { code: 'notStopped' }, exitCode: 2 }]);
});

test('a run that is read anew is followed by the same command', async ({ journey }) => {
  const { id } = await stoppedRun(journey);
  const restaged = await journey.call(['runs', 'restage', id, '--detach', '--json']);
  expect(restaged.documents, restaged.stderr).toMatchObject([{ run: id, state: 'queued', exitCode: 0 }]);
  const again = await journey.call(['runs', 'restage', id, '--json']);
  expect(again.documents, again.stderr).toMatchObject([{ run: id, state: 'stopped', pending: 20, exitCode: 5 }]);
  expect(again.stderr).toContain(`run ${id} is being read anew already: following it`);
});
