/**
 * Who a request claims to be for, and where it comes from. Pure.
 *
 * Without a token the page is for this machine only. A stranger's web page can still make the browser ask for it, under
 * a host name that the stranger points at 127.0.0.1: so the Host header must name this machine itself.
 */

/** Whether a Host header names this machine by itself; any port will do. */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}

export interface OriginHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly secFetchSite: string | undefined;
}

/**
 * Whether an action was sent by a page of ours. Browsers that tell the site are believed; for the others Origin and Host
 * must agree. What tells neither is refused.
 */
export function isSameOrigin({ host, origin, secFetchSite }: OriginHeaders): boolean {
  if (secFetchSite !== undefined) return secFetchSite === 'same-origin';
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  const from = new URL(origin);
  const to = `${from.protocol}//${host}`;
  return URL.canParse(to) && new URL(to).host === from.host && from.host !== '';
}
