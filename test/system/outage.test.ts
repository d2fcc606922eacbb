import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';

describe('while the service takes no writes and answers reads', () => {
  test('an import says so and ends with 6; no row dies, and the same command goes on later', async ({ journey }) => {
    const service = await journey.service(['create:status=503']);
    const file = journey.file('people.csv', peopleCsv(20));
    const waited = await journey.run(['import', '--json', '--wait', '1s', file]);
    expect(waited.code, waited.stderr).toBe(6);
    const [document] = waited.documents;
    expect(document).toMatchObject({ state: 'stopped', rows: 20, pending: 20, dead: 0, exitCode: 6 });
    expect(document.error).toMatchObject({
      code: 'serviceFailing',
      message: `Creates and updates fail at ${service.origin} (status 503); reads succeed.`,
    });

    const status = await journey.call(['status', '--json']);
    expect(status.documents[0]).toMatchObject({
      paused: { code: 'unreachable', scope: 'writes' },
      surroundings: { diskFreeBytes: expect.any(Number), queueAnswers: null, troubles: [] },
    });

    await service.setFaults([]);
    const { code, documents, stderr } = await journey.call(['import', '--json', file]);
    expect(code, stderr).toBe(0);
    expect(documents[0]).toMatchObject({ run: document.run, rows: 20, created: 20, dead: 0 });
    expect(await service.keys()).toEqual(peopleKeys(20));
  });
});
