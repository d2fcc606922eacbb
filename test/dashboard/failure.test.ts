/** What a page says where it cannot be made: trouble that passes is named, whatever else is kept out of page and log. */
import { describe, expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { passing } from '#src/ledger/trouble.ts';
import { type DashboardBench, dashboardBench } from './dashboard-bench.ts';

const away = passing(
  'ledgerAway',
  "the ledger's database at postgres://db/patchbay does not answer: ECONNREFUSED",
  null,
);
const pages = ['/', '/runs', '/runs/20261121T140000Z-00000a', '/feeds', '/dead-letters'];

/** Each question to the ledger fails so. */
async function failing(error: Error): Promise<DashboardBench> {
  const { parts } = await dashboardBench();
  const rejected = () => Promise.reject(error);
  const all = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) =>
        typeof Reflect.get(target, name) === 'function' ? rejected : all(Reflect.get(target, name) as object),
    });
  return await dashboardBench({ ledger: all(parts.ledger) });
}

describe('while the ledger is away', () => {
  it.each(pages)('%s is 503 with the cause and what to do, in HTML and JSON', async (path) => {
    const bench = await failing(away);
    const page = await bench.page(path);
    expect(page.status).toBe(503);
    expect(page.text).toContain('postgres://db/patchbay does not answer: ECONNREFUSED');
    expect(page.text).toContain(
      'Check that PostgreSQL runs where DATABASE_URL names it. Work waits and nothing is lost',
    );
    expect(page.text).toContain('<meta http-equiv="refresh" content="5">');
    expect(page.headers.get('retry-after')).toBe('5');
    const { status, body } = await bench.json(path);
    expect(status).toBe(503);
    expect(body).toEqual({
      error: { code: 'ledgerAway', message: away.message, hint: expect.stringMatching(/^Check that PostgreSQL runs/) },
    });
    expect(
      bench.logLines.filter((line) => line.includes('page failed')),
      'reported once, where it was met',
    ).toEqual([]);
  });

  it.each([
    passing('ledgerReadOnly', 'it takes no writes', null),
    passing('commitUnanswered', 'it did not say', null),
    new PatchbayError('unreachable', 'queueDied', 'the queue stopped working'),
  ])('so it is for all trouble that passes: $code', async (error) => {
    const { status, body } = await (await failing(error)).json('/runs');
    expect([status, body.error.code, body.error.message]).toEqual([503, error.code, error.message]);
    expect(body.error.hint).toContain('Work waits and nothing is lost');
  });
});

it('of any other error nothing is shown, and its code alone is logged', async () => {
  const bench = await failing(new PatchbayError('bug', 'invariant', 'Ada Winterfeld is not there'));
  const { status, text } = await bench.page('/runs');
  expect(status).toBe(500);
  expect(text).toContain('The page could not be made');
  expect(text).not.toContain('Ada');
  expect(bench.logLines.filter((line) => line.includes('page failed'))).toHaveLength(1);
  expect(bench.logLines.join('\n')).not.toContain('Ada');
});
