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
 *
 * The cookie is `SameSite=Lax`: a link from elsewhere opens the page, which changes nothing, and the one form is refused to other sites
 * by its Origin.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { bare, type Frame } from './frame.ts';
import { answer, answerMessage, type Message } from './message-page.ts';
import type { DashboardParts } from './parts.ts';
import { placeAfterLogin } from './place-after-login.ts';

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
    const { pathname, search } = new URL(c.req.url);
    return await loginAnswer(c, frame(), { status: 401, isWrong: false, place: placeAfterLogin(pathname + search) });
  };
}

/** `GET /login` shows the form; `POST /login` is an action: same origin, and a line in the log. */
export function addLogin(app: Hono, token: string, parts: DashboardParts, frame: () => Frame): void {
  const { log, clock } = parts;
  const session = sessionOf(token, parts);
  const refuse = (c: Context, refusal: Message) => {
    log.warn({ action: 'login', code: refusal.code }, 'page action refused');
    return answerMessage(c, frame(), refusal);
  };
  app.get('/login', (c) => loginAnswer(c, frame(), { status: 200, isWrong: false, place: placeAfterLogin(null) }));
  app.post(
    '/login',
    async (c, next) => {
      const { host, origin, 'sec-fetch-site': secFetchSite } = c.req.header();
      if (isSameOrigin({ host, origin, secFetchSite })) return await next();
      return await refuse(c, foreignOrigin);
    },
    bodyLimit({ maxSize: formBytesMax, onError: (c) => refuse(c, formTooLarge) }),
    async (c) => {
      const form = await readForm(c);
      if (form === null) return await refuse(c, formUnreadable);
      const given = form.get('token');
      const place = placeAfterLogin(form.get('next'));
      if (typeof given !== 'string' || !isSameSecret(given.trim(), token)) {
        log.warn({ action: 'login', code: 'wrongToken' }, 'page action refused');
        return await loginAnswer(c, frame(), { status: 401, isWrong: true, place });
      }
      setCookie(c, session.cookieName, makeSession(session, clock.nowMs()), {
        httpOnly: true,
        sameSite: 'Lax',
        path: '/',
        maxAge: sessionSeconds,
      });
      log.info({ action: 'login' }, 'page action');
      return c.redirect(place, 303);
    },
  );
}

const foreignOrigin: Message = {
  status: 403,
  code: 'foreignOrigin',
  message: 'this form was sent by another site',
  hint: 'Open the page itself and log in.',
};

const formTooLarge: Message = {
  status: 413,
  code: 'formTooLarge',
  message: 'the form is too large',
  hint: 'Send the token and nothing else.',
};

const formUnreadable: Message = {
  status: 400,
  code: 'formUnreadable',
  message: 'the form cannot be read',
  hint: 'Send it as application/x-www-form-urlencoded, with the field token; or open /login in a browser.',
};

/** Null where the body is no form, or not what its content type says. Throws where the body is too large, or is cut off. */
async function readForm(c: Context): Promise<FormData | null> {
  const body = await c.req.arrayBuffer();
  const headers = { 'content-type': c.req.header('content-type') ?? '' };
  return await new Response(body, { headers }).formData().catch(() => null);
}

interface LoginForm {
  readonly status: 200 | 401;
  readonly isWrong: boolean;
  /** Where a login leads. */
  readonly place: string;
}

function loginAnswer(c: Context, frame: Frame, { status, isWrong, place }: LoginForm): Response | Promise<Response> {
  const hint = 'Send the token of PATCHBAY_TOKEN as "Authorization: Bearer …", or log in with a browser.';
  const message = isWrong ? 'this is not the token' : 'the page needs its token';
  const page = () =>
    bare(frame, {
      title: 'Log in',
      body: html`<h1>Log in</h1>
${isWrong ? html`<div class="notice bad" role="alert"><p>This is not the token.</p></div>` : ''}
<form method="post" action="/login" class="login">
<input type="hidden" name="next" value="${place}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Log in</button>
</form>
<p class="dim">It is the value of <code>PATCHBAY_TOKEN</code> where Patchbay was started.</p>`,
    });
  return answer(c, frame, { page, json: () => ({ error: { code: 'tokenNeeded', message, hint } }) }, status);
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
