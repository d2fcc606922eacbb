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

describe.concurrent('an import with other options than its run that has not ended', () => {
  test('is done behind that one, which was killed, so that no row is left out', async ({ journey }) => {
    const service = await journey.service();
    const file = journey.file('people.csv', peopleCsv(20));
    const limited = journey.start(['import', '--limit', '12', file], { PATCHBAY_RATE: '4' });
    await service.creates(1);
    await limited.kill();
    const { code, documents, stderr } = await journey.run(['import', '--json', file]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('begun with other options (--limit 12), goes first; to end it: patchbay');
    expect(documents).toMatchObject([{ state: 'done', rows: 20, created: 8, unchanged: 12 }]);
    expect(await journey.runs()).toMatchObject([
      { state: 'done', counts: { rows: 20, created: 12, skipped: 8 } },
      { state: 'done', counts: { rows: 20, created: 8, unchanged: 12 } },
    ]);
    expect(service.createCount(), 'no POST is repeated').toBe(20);
  });

  test('follows one at work with the same options, and is done behind it otherwise', async ({ journey }) => {
    const service = await journey.service();
    const file = journey.file('people.csv', peopleCsv(20));
    const first = journey.start(['import', '--json', file], { PATCHBAY_RATE: '2' });
    await service.creates(1);
    const beside = [[], ['--create-only'], ['--only', 'p-003']].map((flags) =>
      journey.start(['import', '--json', ...flags, file]),
    );
    const [same, ...others] = await Promise.all(beside.map((one) => one.ended()));
    const { documents } = await first.ended();
    expect(documents).toMatchObject([{ state: 'done', created: 20 }]);
    expect(same).toMatchObject({ code: 0, documents: [{ run: documents[0].run, created: 20 }] });
    for (const { code, documents: own, stderr } of others) {
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('goes first');
      expect(own).toMatchObject([{ state: 'done', created: 0, updated: 0, unchanged: 20 }]);
    }
  });
});
