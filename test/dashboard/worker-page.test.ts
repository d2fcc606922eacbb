/** What a worker process with a port answers. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { createWorkerPage, startWorkerPage } from '#src/dashboard/worker-page.ts';
import { createLogger, silentLogger } from '#src/log.ts';

const metricsText = async () => 'patchbay_rate_limited_total 3\n';
const quiet = { clock: systemClock(), log: silentLogger() };
const here = { host: 'localhost:9101' };

describe('A worker process with a port', () => {
  it('answers /healthz and its own /metrics on that port, and points to the engine for the rest', async () => {
    const page = await startWorkerPage({ ...quiet, metricsText, host: '127.0.0.1', port: 0, token: null });
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
    const app = createWorkerPage({ ...quiet, metricsText, token: null });
    expect((await app.request('/metrics', { headers: here })).status).toBe(200);
    expect((await app.request('/metrics', { headers: { host: 'evil.example.com' } })).status).toBe(403);
  });

  it('asks for the token of the page where there is one', async () => {
    const app = createWorkerPage({ ...quiet, metricsText, token: 'a-token-of-sixteen' });
    expect((await app.request('/metrics', { headers: here })).status).toBe(401);
    expect((await app.request('/metrics', { headers: { authorization: 'Bearer a-token-of-sixteen' } })).status).toBe(
      200,
    );
    expect((await app.request('/healthz')).status).toBe(200);
  });

  it('says in the log that a wrong token was given, and nothing of it', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } });
    const clock = { ...systemClock(), sleep: async () => undefined };
    const app = createWorkerPage({ metricsText, clock, log, token: 'a-token-of-sixteen' });
    for (let time = 0; time < 3; time += 1) {
      await app.request('/metrics', { headers: { authorization: 'Bearer a-token-of-canary' } });
    }
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', action: 'bearer', code: 'wrongToken' },
    ]);
    expect(lines.join('')).not.toContain('canary');
  });

  it('does not open to others without a token', async () => {
    const opening = startWorkerPage({ ...quiet, metricsText, host: '0.0.0.0', port: 0, token: null });
    await expect(opening).rejects.toMatchObject({ code: 'tokenNeeded' });
  });
});
