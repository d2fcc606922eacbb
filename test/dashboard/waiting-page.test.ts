/** What `start` answers while it waits for its ledger (`docs/contract.md`, "Page and probes"): it lives, takes no files yet, and says why. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWaitingApp, createWaitingPage } from '#src/dashboard/waiting-page.ts';
import { PatchbayError } from '#src/errors.ts';
import { freePort } from '#test/support/free-port.ts';

const away = new PatchbayError('transient', 'ledgerAway', 'the database does not answer: secret words', {
  plainMessage: 'the database does not answer',
});

async function asked(path: string, init: RequestInit = {}, trouble: PatchbayError | null = away, token = '') {
  const app = createWaitingApp({ token: token === '' ? null : token }, () => trouble);
  const headers = { host: '127.0.0.1:8080', accept: 'application/json' };
  return await app.request(path, { headers, ...init });
}

/** 0 where nothing answers. */
const healthAt = (port: number): Promise<number> =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ status }) => status,
    () => 0,
  );

describe('While start waits for its ledger', () => {
  it('/healthz says that the process lives, and /readyz that it takes no files, and why', async () => {
    const lives = await asked('/healthz');
    expect([lives.status, await lives.json()]).toEqual([200, { status: 'ok' }]);
    const ready = await asked('/readyz');
    const reasons = ['the database does not answer'];
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, degraded: false, reasons }]);
  });

  it('every page is 503 and asked again, with an error of the usual shape, or a text for people', async () => {
    const page = await asked('/runs');
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await page.json()).toMatchObject({
      error: {
        code: 'ledgerAway',
        message: 'the database does not answer',
        hint: expect.stringMatching(/^Check that PostgreSQL runs/),
      },
    });
    const text = await asked('/', { headers: { host: 'localhost', accept: 'text/html' } });
    expect(await text.text()).toMatch(/^the database does not answer\nCheck that PostgreSQL runs/);
  });

  it('the engine that starts then is told as such', async () => {
    const ready = await asked('/readyz', {}, null);
    expect([ready.status, await ready.json()]).toMatchObject([503, { reasons: ['Patchbay is starting'] }]);
  });

  it('other hosts are answered with a token alone, and nothing but GET is taken', async () => {
    const foreign = { headers: { host: 'patchbay.example.com' } };
    expect((await asked('/healthz', foreign)).status).toBe(403);
    expect((await asked('/healthz', foreign, away, 'a-token')).status).toBe(200);
    const posted = await asked('/login', { method: 'POST', headers: { host: 'localhost' } });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('the port is that of the page, and free for it once the wait is over', async () => {
    const port = await freePort();
    const waiting = createWaitingPage();
    onTestFinished(() => waiting.close());
    const at = { host: '127.0.0.1', port, token: null };
    waiting.wait(away, at);
    await expect.poll(() => healthAt(port)).toBe(200);
    await waiting.close();
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  });

  it('a port that another program has is left to the page itself to tell', async () => {
    const port = await freePort();
    const [first, second] = [createWaitingPage(), createWaitingPage()];
    onTestFinished(() => first.close());
    const at = { host: '127.0.0.1', port, token: null };
    first.wait(away, at);
    await expect.poll(() => healthAt(port)).toBe(200);
    second.wait(away, at);
    await second.close();
    expect(await healthAt(port)).toBe(200);
  });
});
