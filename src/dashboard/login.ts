/**
 * The door where a token is set: a bearer header, a session cookie, or the login form.
 *
 * Probes and the stylesheet are outside the door.
 */
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { answer } from './answer.ts';
import { bare, type Frame } from './frame.ts';
import { answerMessage } from './message-page.ts';
import type { DashboardParts } from './parts.ts';
import { isSameOrigin } from './request-origin.ts';
import { isBearer, isSameSecret, isSession, makeSession, sessionCookieName, sessionSeconds } from './session.ts';

const formBytesMax = 4 * 1024;

/** Lets only those pass who know the token. */
export function requireToken(token: string, parts: DashboardParts, frame: () => Frame): MiddlewareHandler {
  return async (c, next) => {
    const isKnown =
      isBearer(c.req.header('authorization'), token) ||
      isSession(getCookie(c, sessionCookieName), token, parts.clock.nowMs());
    if (isKnown) return await next();
    c.header('www-authenticate', 'Bearer realm="Patchbay"');
    return await loginAnswer(c, frame(), 401, false);
  };
}

/** `GET /login` shows the form; `POST /login` is an action: same origin, and a line in the log. */
export function addLogin(app: Hono, token: string, parts: DashboardParts, frame: () => Frame): void {
  const { log, clock } = parts;
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
      setCookie(c, sessionCookieName, makeSession(token, clock.nowMs()), {
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
