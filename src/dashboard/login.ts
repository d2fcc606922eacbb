/**
 * Access to the page. With a token: a bearer header, a session cookie, or the login form; probes and the stylesheet need none.
 * Without a token the page answers this machine only: a foreign web page can still make the browser ask for it, under a
 * host name that points at 127.0.0.1, so the Host header must name this machine itself.
 *
 * The session cookie is `<expiry>.<keyed hash of the cookie's name and the expiry>`: it does not hold the token, cannot be made without
 * it, and a new token ends all sessions. The server remembers nothing.
 *
 * Browsers separate cookies by host and not by port, so each installation has a cookie name of its own: two on one machine do not end
 * each other's sessions, and the session of one opens no other, whatever their tokens.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { bare, type Frame } from './frame.ts';
import { answer, answerMessage } from './message-page.ts';
import type { DashboardParts } from './parts.ts';

const formBytesMax = 4 * 1024;

/** Rejects requests that do not prove to know the token. */
export function requireToken(token: string, parts: DashboardParts, frame: () => Frame): MiddlewareHandler {
  const session = sessionOf(token, parts);
  return async (c, next) => {
    const isKnown =
      isBearer(c.req.header('authorization'), token) ||
      isSession(getCookie(c, session.cookieName), session, parts.clock.nowMs());
    if (isKnown) return await next();
    c.header('www-authenticate', 'Bearer realm="Patchbay"');
    return await loginAnswer(c, frame(), 401, false);
  };
}

/** `GET /login` shows the form; `POST /login` is an action: same origin, and a line in the log. */
export function addLogin(app: Hono, token: string, parts: DashboardParts, frame: () => Frame): void {
  const { log, clock } = parts;
  const session = sessionOf(token, parts);
  const refuse = (c: Context, code: string, message: string, hint: string) => {
    log.warn({ action: 'login', code }, 'page action refused');
    return answerMessage(c, frame(), { status: code === 'formTooLarge' ? 413 : 403, code, message, hint });
  };
  app.get('/login', (c) => loginAnswer(c, frame(), 200, false));
  app.post(
    '/login',
    async (c, next) => {
      const { host, origin, 'sec-fetch-site': secFetchSite } = c.req.header();
      if (isSameOrigin({ host, origin, secFetchSite })) return await next();
      return await refuse(c, 'foreignOrigin', 'this form was sent by another site', 'Open the page itself and log in.');
    },
    bodyLimit({
      maxSize: formBytesMax,
      onError: (c) => refuse(c, 'formTooLarge', 'the form is too large', 'Send the token and nothing else.'),
    }),
    async (c) => {
      const { token: given } = await c.req.parseBody();
      if (typeof given !== 'string' || !isSameSecret(given.trim(), token)) {
        log.warn({ action: 'login', code: 'wrongToken' }, 'page action refused');
        return await loginAnswer(c, frame(), 401, true);
      }
      setCookie(c, session.cookieName, makeSession(session, clock.nowMs()), {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        maxAge: sessionSeconds,
      });
      log.info({ action: 'login' }, 'page action');
      return c.redirect('/', 303);
    },
  );
}

function loginAnswer(c: Context, frame: Frame, status: 200 | 401, isWrong: boolean): Response | Promise<Response> {
  const hint = 'Send the token of PATCHBAY_TOKEN as "Authorization: Bearer …", or log in with a browser.';
  const message = isWrong ? 'this is not the token' : 'the page needs its token';
  const page = () =>
    bare(frame, {
      title: 'Log in',
      body: html`<h1>Log in</h1>
${isWrong ? html`<div class="notice bad" role="alert"><p>This is not the token.</p></div>` : ''}
<form method="post" action="/login" class="login">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Log in</button>
</form>
<p class="dim">It is the value of <code>PATCHBAY_TOKEN</code> where Patchbay was started.</p>`,
    });
  return answer(c, { page, json: () => ({ error: { code: 'tokenNeeded', message, hint } }) }, status);
}

const sessionSeconds = 12 * 60 * 60;

/** The sessions of one installation. */
interface Session {
  readonly token: string;
  readonly cookieName: string;
}

/** The ids outlast restarts, another port and another path. Where several hosts share a ledger, each has a page. */
function sessionOf(token: string, { ledger, host }: Pick<DashboardParts, 'ledger' | 'host'>): Session {
  const installation = createHash('sha256')
    .update(`${ledger.id} ${host?.id ?? ''}`)
    .digest('hex');
  return { token, cookieName: `patchbay_session_${installation.slice(0, installationHexDigits)}` };
}

const installationHexDigits = 12;

/** Compares in constant time; the lengths are hidden as well. */
function isSameSecret(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function makeSession(session: Session, nowMs: number): string {
  const expiresAtMs = nowMs + sessionSeconds * 1_000;
  return `${expiresAtMs}.${sign(session, expiresAtMs)}`;
}

function isSession(cookie: string | undefined, session: Session, nowMs: number): boolean {
  const [, expiry, signature] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(cookie ?? '') ?? [];
  if (expiry === undefined || signature === undefined) return false;
  return isSameSecret(signature, sign(session, Number(expiry))) && nowMs < Number(expiry);
}

/** Whether an `Authorization` header carries the token. */
export function isBearer(header: string | undefined, token: string): boolean {
  const [, given] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? [];
  return given !== undefined && isSameSecret(given, token);
}

function sign({ token, cookieName }: Session, expiresAtMs: number): string {
  return createHmac('sha256', token).update(`${cookieName} ${expiresAtMs}`).digest('hex');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Whether a Host header names this machine by itself; any port will do. */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}

interface OriginHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly secFetchSite: string | undefined;
}

/**
 * Whether an action was sent by a page of ours. Browsers that send Sec-Fetch-Site are believed; for the others Origin
 * and Host must agree. A request with neither is refused.
 */
function isSameOrigin({ host, origin, secFetchSite }: OriginHeaders): boolean {
  if (secFetchSite !== undefined) return secFetchSite === 'same-origin';
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  const from = new URL(origin);
  const to = `${from.protocol}//${host}`;
  return URL.canParse(to) && new URL(to).host === from.host && from.host !== '';
}
