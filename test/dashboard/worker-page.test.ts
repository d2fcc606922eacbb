/** What a worker process with a port answers. */
import { describe, expect, it } from 'vitest';
import { createWorkerPage, startWorkerPage } from '#src/dashboard/worker-page.ts';

const metricsText = async () => 'patchbay_rate_limited_total 3\n';
const here = { host: 'localhost:9101' };

describe('A worker process with a port', () => {
  it('answers /healthz and its own /metrics on that port, and points to the engine for the rest', async () => {
    const page = await startWorkerPage({ metricsText, host: '127.0.0.1', port: 0, token: null });
    try {
      const ask = async (path: string) => await fetch(`${page.address}${path}`);
      expect((await ask('/healthz')).status).toBe(200);
      const metrics = await ask('/metrics');
      expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(await metrics.text()).toBe('patchbay_rate_limited_total 3\n');
      expect((await ask('/runs')).status).toBe(404);
      const posted = await fetch(`${page.address}/metrics`, { method: 'POST' });
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    } finally {
      await page.close();
    }
  });

  it('answers this machine only where there is no token', async () => {
    const app = createWorkerPage({ metricsText, token: null });
    expect((await app.request('/metrics', { headers: here })).status).toBe(200);
    expect((await app.request('/metrics', { headers: { host: 'evil.example.com' } })).status).toBe(403);
  });

  it('asks for the token of the page where there is one', async () => {
    const app = createWorkerPage({ metricsText, token: 'a-token-of-sixteen' });
    expect((await app.request('/metrics', { headers: here })).status).toBe(401);
    expect((await app.request('/metrics', { headers: { authorization: 'Bearer a-token-of-sixteen' } })).status).toBe(
      200,
    );
    expect((await app.request('/healthz')).status).toBe(200);
  });

  it('does not open to others without a token', async () => {
    const opening = startWorkerPage({ metricsText, host: '0.0.0.0', port: 0, token: null });
    await expect(opening).rejects.toMatchObject({ code: 'tokenNeeded' });
  });
});
