/**
 * Proof that somebody knows the token: a bearer header, or a cookie that a login has set.
 *
 * The cookie is `<expiry>.<keyed hash of the expiry>`: it does not hold the token, nobody can make one without the token,
 * and a new token ends all sessions. The server remembers nothing.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export const sessionCookieName = 'patchbay_session';
export const sessionSeconds = 12 * 60 * 60;

/** Compares in constant time; the lengths are hidden as well. */
export function isSameSecret(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

export function makeSession(token: string, nowMs: number): string {
  const expiresAtMs = nowMs + sessionSeconds * 1_000;
  return `${expiresAtMs}.${sign(token, expiresAtMs)}`;
}

export function isSession(cookie: string | undefined, token: string, nowMs: number): boolean {
  const [, expiry, signature] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(cookie ?? '') ?? [];
  if (expiry === undefined || signature === undefined) return false;
  return isSameSecret(signature, sign(token, Number(expiry))) && nowMs < Number(expiry);
}

/** Whether an `Authorization` header carries the token. */
export function isBearer(header: string | undefined, token: string): boolean {
  const [, given] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
  return given !== undefined && isSameSecret(given, token);
}

function sign(token: string, expiresAtMs: number): string {
  return createHmac('sha256', token).update(`patchbay page session ${expiresAtMs}`).digest('hex');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
