/** A service that answers all with 429 for a minute at a time is an outage like others (`docs/operations.md`, "Outages"). */
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';

const minuteLong = ['*:status=429;retryAfter=60'];
const limited = /429 \(too many requests\)/;

describe('while the service answers everything with 429', () => {
  test('start has its page at once, and says there what is the matter', async ({ journey }) => {
    await journey.service(minuteLong);
    const engine = journey.start(['start', '--json']);
    const { page } = JSON.parse(await engine.firstLine());
    expect((await fetch(`${page}/healthz`)).status).toBe(200);
    const readiness = await (await fetch(`${page}/readyz`)).json();
    expect(readiness).toMatchObject({ ready: true, degraded: true, reasons: [expect.stringMatching(limited)] });
    // The gate is closed, which this command learns from the queue.
    const plan = await journey.run(['plan', journey.file('people.csv', peopleCsv(3)), '--json']);
    expect(plan).toMatchObject({ code: 6, documents: [{ error: { code: 'rateLimited' } }] });
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(143);
  });

  test('an import waits as long as it was told, and says why', async ({ journey }) => {
    await journey.service(minuteLong);
    const { code, documents } = await journey.run([
      'import',
      journey.file('people.csv', peopleCsv(3)),
      '--wait',
      '1s',
      '--json',
    ]);
    expect(code).toBe(6);
    expect(documents.at(-1)).toMatchObject({
      error: { code: 'rateLimited', message: expect.stringMatching(limited) },
    });
  });

  test('doctor says so', async ({ journey }) => {
    await journey.service(minuteLong);
    const { documents } = await journey.run(['doctor', '--json']);
    expect(documents[0]).toMatchObject({ ok: false, exitCode: 6 });
    const service = documents[0].checks.find(({ check }: { check: string }) => check === 'service');
    expect(service).toMatchObject({ ok: false, detail: expect.stringMatching(limited) });
  });
});
