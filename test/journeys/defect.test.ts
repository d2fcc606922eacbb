/** A job that ends again and again with an error of Patchbay's own is named, and no command waits for it for minutes. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { test } from '#test/support/journey.ts';

const csv = (name: string) =>
  ['externalId,firstName', ...Array.from({ length: 12 }, (_, at) => `p-${at},${name}${at}`), ''].join('\n');

test('a run whose job ends so is left within seconds, with 1, and status names job, run and error', async ({
  journey,
}) => {
  await journey.service();
  await journey.call(['import', journey.file('a.csv', csv('Ann'))]);
  const [stopped] = (await journey.call(['import', '--json', journey.file('b.csv', csv('Bea'))])).documents;
  expect(stopped.state).toBe('stopped');
  // What no version writes: a batch cannot be read with it.
  const db = new DatabaseSync(join(journey.data, 'ledger.sqlite'));
  db.prepare(`UPDATE runs SET options = json_set(options, '$.rate', json('{}')) WHERE id = ?`).run(stopped.run);
  db.close();

  const approved = await journey.call(['runs', 'approve', stopped.run, '--reason', 'x', '--json']);
  expect(approved.code, approved.stderr).toBe(1);
  expect(approved.documents).toMatchObject([
    {
      ...{ run: stopped.run, exitCode: 1 },
      error: {
        code: 'unexpected',
        message: expect.stringMatching(
          /^no progress for 1\ds: the job upsert-batch of the run \S+ has ended with an error inside Patchbay \d times since \S+: datatype mismatch$/,
        ),
        hint: expect.stringContaining('This is a defect in Patchbay. Nothing is lost'),
      },
    },
  ]);
  const { stdout } = await journey.call(['status']);
  expect(stdout).toContain(`The job upsert-batch of the run ${stopped.run} has ended with an error inside Patchbay`);
});
