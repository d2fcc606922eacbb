/** A service that refuses each look-up keeps a run waiting: the command says that it waits for the service. */
import { expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';

test('an import that waits for look-ups which are refused names the service', async ({ journey }) => {
  await journey.service(['list:status=400']);
  const file = journey.file('people.csv', peopleCsv(3));
  const { code, stderr, documents } = await journey.run(['import', '--wait', '12s', '--json', file]);
  expect([code, documents], stderr).toMatchObject([6, [{ error: { code: 'requestRefused' } }]]);
  expect(stderr).toMatch(
    /^waiting for the service for up to 12s \(--wait\): The service at \S+ refuses to look up contacts \(400\)/m,
  );
});
