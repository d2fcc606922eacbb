/**
 * What a worker process answers, if it has a port: `/healthz` and its own `/metrics`. Everything else is on the engine's page.
 *
 * Access is as on the page: with a token the metrics need it, without one only this machine is answered.
 */
import { Hono } from 'hono';
import type { Clock } from '#src/clock.ts';
import type { Logger } from '#src/log.ts';
import { metricsContentType } from './parts.ts';
import { isLoopbackHost, openRefusals, otherMethod, refuseOtherMethods } from './refusals.ts';
import { isBearer } from './session.ts';
import { openPage, type RunningPage } from './start-page.ts';

export interface WorkerPageOptions {
  /** In Prometheus' text format. */
  readonly metricsText: () => Promise<string>;
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly token: string | null;
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly log: Logger;
}

/** Starts to listen; the caller closes it. Throws as `startPage` does. */
export async function startWorkerPage(options: WorkerPageOptions): Promise<RunningPage> {
  return await openPage(createWorkerPage(options).fetch, options);
}

/** The app, without a port. */
export function createWorkerPage({ metricsText, token, ...parts }: Omit<WorkerPageOptions, 'host' | 'port'>): Hono {
  const app = new Hono();
  const refusals = openRefusals(parts);
  const refusal = (code: string, message: string) => ({ error: { code, message, hint: null } });
  app.use(async (c, next) => {
    if (token !== null || isLoopbackHost(c.req.header('host'))) return await next();
    return c.json(refusal('foreignHost', 'this address answers this machine only'), 403);
  });
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/metrics', async (c) => {
    if (token !== null && !isBearer(c.req.header('authorization'), token)) {
      if (c.req.header('authorization')) await refusals.wrongToken('bearer', c.req.raw.signal);
      c.header('www-authenticate', 'Bearer realm="Patchbay"');
      return c.json(refusal('tokenNeeded', 'the metrics need the token of the page'), 401);
    }
    return c.body(await metricsText(), 200, { 'content-type': metricsContentType });
  });
  refuseOtherMethods(app, (c) => c.json(refusal(otherMethod.code, otherMethod.message), otherMethod.status));
  app.notFound((c) =>
    c.json(refusal('noSuchPage', 'a worker process has /healthz and /metrics; the pages are those of the engine'), 404),
  );
  return app;
}
