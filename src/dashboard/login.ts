/**
 * Access to the page. With a token: a bearer header, the session of a person (`session.ts`), or the login form; probes and the stylesheet
 * need none. Without a token the page answers this machine only: a foreign web page can still make the browser ask for it, under a
 * host name that points at 127.0.0.1, so the Host header must name this machine itself.
 */
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { bare, type Frame } from './frame.ts';
import { answer, answerMessage, type Message, wantsJson } from './message-page.ts';
import type { DashboardParts } from './parts.ts';
import { isSameOrigin, originHeadersOf, type Refusals, type RefusedAction } from './refusals.ts';
import { beginSession, endSession, isKnown, isSameSecret, type Session } from './session.ts';

const formBytesMax = 4 * 1024;

/** What access needs beside the session. */
interface AccessParts extends Pick<DashboardParts, 'clock' | 'log'> {
  readonly session: Session;
  readonly refusals: Refusals;
  readonly frame: (c: Context) => Frame;
}

/** Rejects requests that do not prove to know the token. */
export function requireToken({ session, clock, refusals, frame }: AccessParts): MiddlewareHandler {
  return async (c, next) => {
    if (isKnown(c, session, clock.nowMs())) return await next();
    if (c.req.header('authorization')) await refusals.wrongToken('bearer', c.req.raw.signal);
    c.header('www-authenticate', 'Bearer realm="Patchbay"');
    const { pathname, search } = new URL(c.req.url);
    return await loginAnswer(c, frame(c), { status: 401, isWrong: false, place: placeAfterLogin(pathname + search) });
  };
}

/** `GET /login` shows the form. `POST /login` and `POST /logout` are actions: same origin, and a line in the log. */
export function addLogin(app: Hono, { session, clock, log, refusals, frame }: AccessParts): void {
  const refuse = (c: Context, action: RefusedAction, refusal: Message) => {
    refusals.note(action, refusal.code);
    return answerMessage(c, frame(c), refusal);
  };
  const fromHere =
    (action: RefusedAction): MiddlewareHandler =>
    async (c, next) => {
      if (isSameOrigin(originHeadersOf(c))) return await next();
      return await refuse(c, action, foreignOrigin);
    };
  app.get('/login', (c) => {
    if (isKnown(c, session, clock.nowMs())) return c.redirect(placeAfterLogin(null), 303);
    return loginAnswer(c, frame(c), { status: wantsJson(c) ? 401 : 200, isWrong: false, place: placeAfterLogin(null) });
  });
  app.post(
    '/login',
    fromHere('login'),
    bodyLimit({ maxSize: formBytesMax, onError: (c) => refuse(c, 'login', formTooLarge) }),
    async (c) => {
      const form = await readForm(c);
      if (form === null) return await refuse(c, 'login', formUnreadable);
      const given = form.get('token');
      const place = placeAfterLogin(form.get('next'));
      if (typeof given !== 'string' || !isSameSecret(given.trim(), session.token)) {
        await refusals.wrongToken('login', c.req.raw.signal);
        return await loginAnswer(c, frame(c), { status: 401, isWrong: true, place });
      }
      beginSession(c, session, clock.nowMs());
      log.info({ action: 'login' }, 'page action');
      return c.redirect(place, 303);
    },
  );
  app.post('/logout', fromHere('logout'), (c) => {
    endSession(c, session);
    log.info({ action: 'logout' }, 'page action');
    return c.redirect('/login', 303);
  });
}

const foreignOrigin: Message = {
  status: 403,
  code: 'foreignOrigin',
  message: 'this form was sent by another site',
  hint: 'Open the page itself and try again there.',
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

const overview = '/';

/** The pages, with any query. A fragment is never sent. */
const pageAddress = /^\/(?:runs(?:\/[^/?]+)?|feeds|dead-letters)?(?:\?.*)?$/;

/** Printable ASCII, as browsers send addresses. A browser reads `\` as `/`, and leaves out tabs and line ends. */
const plainText = /^[!-[\]-~]+$/;

/** Encoded, and beside a token, it fits into the form's 4 KB. */
const charactersMax = 1_000;

/** Any origin will do: an address that is not local leaves it. */
const here = 'http://page.invalid';

/**
 * Where a login leads: to the page that was asked for, as by the link of a notice, by its path and query in the browser's own spelling; to
 * the overview in place of anything else. Pure.
 *
 * The form brings that place back, so the sender of the form chooses it: only an address of a page of ours is followed, and never
 * one that a browser would read as another site (`docs/rules.md`, "Secrets and personal data").
 */
export function placeAfterLogin(asked: unknown): string {
  if (typeof asked !== 'string' || asked.length > charactersMax || !plainText.test(asked)) return overview;
  if (!asked.startsWith('/') || !URL.canParse(asked, here)) return overview;
  const { origin, pathname, search } = new URL(asked, here);
  const place = `${pathname}${search}`;
  return origin === here && pageAddress.test(place) ? place : overview;
}
