import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';

describe.concurrent('a data folder', () => {
  test('belongs to one workspace: another one is refused with 2 and not written to', async ({ journey }) => {
    const file = journey.file('people.csv', peopleCsv(3));
    await journey.service();
    expect((await journey.call(['import', '--json', file])).code).toBe(0);

    const other = await journey.service();
    const { code, documents } = await journey.run(['import', '--json', journey.file('more.csv', peopleCsv(5))]);
    expect(code).toBe(2);
    expect(documents[0]).toMatchObject({ error: { code: 'otherWorkspace' }, exitCode: 2 });
    const started = await journey.run(['start', '--json']);
    expect(started.code).toBe(2);
    expect(other.writeCount()).toBe(0);
    expect(await other.keys()).toEqual([]);
  });

  test('of a real service does not fall back to the sandbox', async ({ journey }) => {
    await journey.service();
    expect((await journey.call(['import', '--json', journey.file('people.csv', peopleCsv(3))])).code).toBe(0);
    const { code, documents } = await journey.run(['start', '--json'], { PATCHBAY_BASE_URL: '', PATCHBAY_API_KEY: '' });
    expect(code).toBe(2);
    expect(documents[0]).toMatchObject({ error: { code: 'realDataFolder' }, exitCode: 2 });
    expect(existsSync(join(journey.data, 'sandbox', 'service.sqlite'))).toBe(false);
  });
});
