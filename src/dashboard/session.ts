/**
 * The session of a person who has logged in: a cookie `<expiry>.<keyed hash of the cookie's name and the expiry>`. It does not hold the
 * token, cannot be made without it, and a new token ends all sessions. The server remembers nothing, so that a log-out takes the cookie
 * from the browser that logs out.
 *
 * Browsers separate cookies by host and not by port, so each installation has a cookie name of its own: two on one machine do not end
 * each other's sessions, and the session of one opens no other, whatever their tokens.
 *
 * The cookie is `SameSite=Lax`: a link from elsewhere opens the page, which changes nothing, and forms are refused to other sites by
 * their Origin. Where the page was opened by https, its cookie is sent by https alone.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { DashboardParts } from './parts.ts';
import { isLoopbackHost, originHeadersOf } from './refusals.ts';

const sessionSeconds = 12 * 60 * 60;
const installationHexDigits = 12;

/** The sessions of one installation. */
export interface Session {
  readonly token: string;
  readonly cookieName: string;
  /** `page.address` begins with https. */
  readonly isPublicByTls: boolean;
}

/** The ids outlast restarts, another port and another path. Where several hosts share a ledger, each has a page. */
export function sessionOf(
  token: string,
  { ledger, host, config }: Pick<DashboardParts, 'ledger' | 'host' | 'config'>,
): Session {
  const installation = createHash('sha256')
    .update(`${ledger.id} ${host?.id ?? ''}`)
    .digest('hex');
  return {
    token,
    cookieName: `patchbay_session_${installation.slice(0, installationHexDigits)}`,
    isPublicByTls: /^https:/i.test(config.page.address ?? ''),
  };
}

export function beginSession(c: Context, session: Session, nowMs: number): void {
  const expiresAtMs = nowMs + sessionSeconds * 1_000;
  setCookie(c, session.cookieName, `${expiresAtMs}.${sign(session, expiresAtMs)}`, {
    ...attributes(c, session),
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: sessionSeconds,
  });
}

export function endSession(c: Context, session: Session): void {
  deleteCookie(c, session.cookieName, attributes(c, session));
}

/** Whether the request proves to know the token: by its header, or by its session. */
export function isKnown(c: Context, session: Session, nowMs: number): boolean {
  return isBearer(c.req.header('authorization'), session.token) || isSession(c, session, nowMs);
}

function isSession(c: Context, session: Session, nowMs: number): boolean {
  const cookie = getCookie(c, session.cookieName);
  const [, expiry, signature] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(cookie ?? '') ?? [];
  if (expiry === undefined || signature === undefined) return false;
  return isSameSecret(signature, sign(session, Number(expiry))) && nowMs < Number(expiry);
}

/** Whether an `Authorization` header carries the token. */
export function isBearer(header: string | undefined, token: string): boolean {
  const [, given] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
  return given !== undefined && isSameSecret(given, token);
}

/** Compares in constant time; the lengths are hidden as well. */
export function isSameSecret(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

/** A browser that was shown the page by http would drop a cookie that is `Secure`, as on this machine, beside a proxy. */
function attributes(c: Context, { isPublicByTls }: Session): { readonly path: string; readonly secure: boolean } {
  const { origin, host } = originHeadersOf(c);
  const isTold = origin !== undefined && URL.canParse(origin);
  const secure = isTold ? /^https:/i.test(origin) : isPublicByTls && !isLoopbackHost(host);
  return { path: '/', secure };
}

function sign({ token, cookieName }: Session, expiresAtMs: number): string {
  return createHmac('sha256', token).update(`${cookieName} ${expiresAtMs}`).digest('hex');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
