/** Several people give commands on one data folder at once (`docs/contract.md`, "One engine per data folder"). */
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

describe.concurrent('a stopped run that several people approve at once', () => {
  test('is approved by one of them; the others follow it, and all end with its code', async ({ journey }) => {
    await journey.service();
    const file = journey.file('people.csv', peopleCsv(20));
    expect((await journey.run(['import', '--json', file])).code).toBe(0);
    journey.file('people.csv', peopleCsv(20, { company: 'Slate' }));
    const { code, documents } = await journey.run(['import', '--json', file]);
    expect(code).toBe(5);

    // Both have looked at the run before one of them can approve it.
    const lock = takeEngineLock(join(journey.data, 'engine.lock'));
    const approvals = [1, 2, 3].map(() => journey.start(['runs', 'approve', '--json', documents[0].run]));
    for (const one of approvals) await until('the wait', () => one.stderr.includes('waiting for it'));
    lock?.release();
    const ends = await Promise.all(approvals.map((one) => one.ended()));
    for (const end of ends) {
      expect(end.code, end.stderr).toBe(0);
      expect(end.documents).toMatchObject([{ run: documents[0].run, state: 'done', updated: 20 }]);
    }
    const followed = ends.filter(({ stderr }) => stderr.includes('was approved already: following it'));
    expect(followed).toHaveLength(2);
  });
});
