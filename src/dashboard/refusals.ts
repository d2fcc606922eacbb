/**
 * What the page refuses: requests to another host than this machine, actions that another site sends, methods that an address does not
 * take, and wrong tokens. Of actions and tokens there is a line in the log, and a wait before a wrong token is answered.
 *
 * The wait slows down who guesses. A right token is never kept waiting, nor is a session, so that a person can log in while others guess;
 * how many wait at once is bounded by the connections that the page takes (`start-page.ts`).
 */

import type { Context, Hono } from 'hono';
import { type Clock, sleepUnlessCut } from '#src/clock.ts';
import type { Logger } from '#src/log.ts';

/** Whether a Host header names this machine by itself; any port will do. */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}

interface OriginHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly secFetchSite: string | undefined;
}

export function originHeadersOf(c: Context): OriginHeaders {
  const { host, origin, 'sec-fetch-site': secFetchSite } = c.req.header();
  return { host, origin, secFetchSite };
}

/**
 * Whether an action was sent by a page of ours. Browsers that send Sec-Fetch-Site are believed; for the others Origin
 * and Host must agree. A request with neither is refused.
 */
export function isSameOrigin({ host, origin, secFetchSite }: OriginHeaders): boolean {
  if (secFetchSite !== undefined) return secFetchSite === 'same-origin';
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  const from = new URL(origin);
  const to = `${from.protocol}//${host}`;
  return URL.canParse(to) && new URL(to).host === from.host && from.host !== '';
}

/**
 * An address that is there is asked by a method that it does not take. Behind all routes of the app: each of their addresses names in `Allow` what it takes.
 * @param refuse the answer, whose status is 405.
 */
export function refuseOtherMethods(app: Hono, refuse: (c: Context) => Response | Promise<Response>): void {
  const routes = Map.groupBy(
    app.routes.filter(({ method }) => method !== 'ALL'),
    ({ path }) => path,
  );
  for (const [path, ofPath] of routes) {
    const taken = new Set(ofPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])));
    app.all(path, (c) => {
      c.header('allow', [...taken].join(', '));
      return refuse(c);
    });
  }
}

export const otherMethod = {
  status: 405,
  code: 'methodNotAllowed',
  message: 'nothing is done by this method here',
  hint: 'Ask for the page with GET: pages show, and change nothing. What a person decides is done by commands.',
} as const;

/** Between two lines about the same. */
const lineEveryMs = 10_000;
const wrongTokenWaitMs = 1_000;

export type RefusedAction = 'login' | 'logout' | 'bearer';

export interface Refusals {
  /** The first is logged at once; of those that follow, one in ten seconds, with the number of those left out. */
  note(action: RefusedAction, code: string): void;
  /** A wrong token: noted, and waited for. Ends early with the signal. */
  wrongToken(action: RefusedAction, signal: AbortSignal): Promise<void>;
}

export function openRefusals({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly log: Logger;
}): Refusals {
  const lines = new Map<string, { readonly atMs: number; leftOut: number }>();
  const note: Refusals['note'] = (action, code) => {
    const nowMs = clock.nowMs();
    const last = lines.get(`${action} ${code}`);
    // The clock may have been set back.
    if (last !== undefined && Math.abs(nowMs - last.atMs) < lineEveryMs) {
      last.leftOut += 1;
      return;
    }
    lines.set(`${action} ${code}`, { atMs: nowMs, leftOut: 0 });
    log.warn({ action, code, ...(last?.leftOut ? { leftOut: last.leftOut } : {}) }, 'page action refused');
  };
  return {
    note,
    wrongToken: async (action, signal) => {
      note(action, 'wrongToken');
      await sleepUnlessCut(clock, wrongTokenWaitMs, signal);
    },
  };
}
