/** Where a request comes from, and to which host it is addressed. */
import type { Context } from 'hono';

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
