/**
 * The page of Patchbay: what runs, what ran last, which rows were rejected; and the probes.
 *
 * It reads the ledger and changes nothing. Every page has a JSON twin. What it shows is personal data by purpose, and
 * none of it is logged (`docs/rules.md`, "Secrets and personal data").
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { PatchbayError } from '#src/errors.ts';
import { activeRunStates, finalRunStates } from '#src/ledger/runs.ts';
import {
  type DeadLetterQuery,
  listDeadLetters,
  runsWithoutFixFile,
  runWithoutItsLetters,
} from '#src/operations/dead-letters.ts';
import { noticeDocument, readDeadNotices } from '#src/operations/dead-notices.ts';
import { unknownFeed } from '#src/operations/feed-names.ts';
import { feedsDocument, listFeeds } from '#src/operations/feeds.ts';
import { letterDocument } from '#src/operations/letter-document.ts';
import { readRunPageDocument } from '#src/operations/run-story.ts';
import { listRuns, type RunQuery } from '#src/operations/runs.ts';
import { deadLettersPage, lettersShownMax, refusedLettersPage } from './dead-letters-page.ts';
import { feedsPage } from './feeds-page.ts';
import { isChoosing } from './filter-form.ts';
import type { Frame } from './frame.ts';
import { addLogin, requireToken } from './login.ts';
import { answer, answerMessage, broken, failureMessage, type Message } from './message-page.ts';
import { overviewJson, overviewPage } from './overview-page.ts';
import { type DashboardParts, metricsContentType } from './parts.ts';
import { readPause } from './pause-notice.ts';
import { askReadiness } from './readiness.ts';
import { refreshOf } from './refresh.ts';
import { isLoopbackHost, openRefusals, otherMethod, refuseOtherMethods } from './refusals.ts';
import { allRuns, answerRefusal } from './refused-filter.ts';
import { readRunDetail, runPage } from './run-page.ts';
import { refusedRunsPage, runsPage, runsShownMax } from './runs-page.ts';
import { sessionOf } from './session.ts';
import { shownLetter } from './shown-letter.ts';

/** The app, without a port (`start-page.ts` gives it one). Throws the system's errors if the stylesheet is missing. */
export function createDashboard(parts: DashboardParts): Hono {
  const app = new Hono();
  const style = readStyleSheet();
  const frame = (c: Context): Frame => ({
    version: parts.version,
    installation: parts.installation,
    serviceName: parts.serviceName,
    serviceOrigin: parts.serviceOrigin,
    folderFlags: parts.folderFlags,
    canLogOut: parts.token !== null,
    refresh: refreshOf(c.req.url),
    styleHref: style.href,
    nowMs: parts.clock.nowMs(),
  });
  app.use(securityHeaders);
  if (parts.token === null) {
    app.use(async (c, next) => {
      if (isLoopbackHost(c.req.header('host'))) return await next();
      return await answerMessage(c, frame(c), foreignHost);
    });
  }
  addProbes(app, parts, style);
  if (parts.token !== null) {
    const session = sessionOf(parts.token, parts);
    const access = { clock: parts.clock, log: parts.log, session, refusals: openRefusals(parts), frame };
    addLogin(app, access);
    app.use(requireToken(access));
  }
  addPages(app, parts, frame);
  refuseOtherMethods(app, (c) => answerMessage(c, frame(c), otherMethod));
  app.notFound((c) => answerMessage(c, frame(c), noSuchPage));
  app.onError((error, c) => {
    const message = failureMessage(error);
    if (message !== null) return answerMessage(c, frame(c), message);
    // Neither message nor address: both may hold what a person typed.
    const code = error instanceof PatchbayError ? error.code : error.name;
    parts.log.error({ code, method: c.req.method }, 'page failed');
    return answerMessage(c, frame(c), broken);
  });
  return app;
}

/** What is asked for without a token: probes, and what the login form needs. */
function addProbes(app: Hono, parts: DashboardParts, style: StyleSheet): void {
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const { ready, degraded, reasons } = await askReadiness(parts);
    return c.json({ ready, degraded, reasons }, ready ? 200 : 503);
  });
  app.get('/style.css', (c) =>
    c.body(style.text, 200, { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=3600' }),
  );
}

function addPages(app: Hono, parts: DashboardParts, frame: (c: Context) => Frame): void {
  app.get('/', async (c) => {
    return answer(c, frame(c), { page: () => overviewPage(frame(c), parts), json: () => overviewJson(parts) });
  });
  app.get('/runs', async (c) => {
    const query = runQueryOf(c.req.query());
    const list = async (): Promise<Response> => {
      const runs = await listRuns(parts, query);
      return await answer(c, frame(c), {
        page: async () => {
          const unknown = await feedUnknown(parts, query, runs.length);
          const { watched: importFolders } = parts.folders;
          const pause = await readPause(parts);
          const view = { importFolders, query, runs, pause, unknown, isChoosing: isChoosing(c.req.query()) };
          return runsPage(frame(c), view);
        },
        json: () => runs.map(({ summary }) => summary),
      });
    };
    return await list().catch(answerRefusal(c, (refusal) => refusedRunsPage(frame(c), query, refusal)));
  });
  app.get('/runs/:id', async (c) => {
    const detail = await readRunDetail(parts, c.req.param('id'));
    if (detail === null) return answerMessage(c, frame(c), noSuchRun);
    return answer(c, frame(c), {
      page: async () => runPage(frame(c), detail, await readPause(parts)),
      json: () => readRunPageDocument(parts, detail.record),
    });
  });
  app.get('/feeds', async (c) => {
    const view = await listFeeds(parts);
    return answer(c, frame(c), {
      page: async () => feedsPage(frame(c), parts.folders.watched, view, await readPause(parts)),
      json: () => feedsDocument(parts, view),
    });
  });
  app.get('/dead-letters', async (c) => {
    const query = letterQueryOf(c.req.query());
    const list = answer(c, frame(c), {
      page: async () => {
        const { letters, notices } = await listDeadLetters(parts, query, shownLetter);
        const openCount = (await parts.ledger.counts()).openLetters;
        const without = await runsWithoutFixFile(parts, letters);
        const deadNotices = await readDeadNotices(parts);
        const leftBy = letters.length > 0 ? null : await runWithoutItsLetters(parts, query);
        const unknown = await feedUnknown(parts, query, letters.length + notices.length);
        return deadLettersPage(frame(c), { query, letters, notices, openCount, deadNotices, without, leftBy, unknown });
      },
      json: async () => {
        const { letters, notices } = await listDeadLetters(parts, query, letterDocument);
        return [...letters, ...notices.map(noticeDocument)];
      },
    });
    return await list.catch(answerRefusal(c, (refusal) => refusedLettersPage(frame(c), query, refusal)));
  });
  app.get('/metrics', async (c) => {
    const text = await parts.metricsText(await askReadiness(parts));
    return c.body(text, 200, { 'content-type': metricsContentType });
  });
}

type Query = Readonly<Record<string, string>>;

/** A form sends its blank fields, too, and what is pasted into one may have blanks around it. */
function given(query: Query): Partial<Query> {
  const trimmed = Object.entries(query).map(([name, value]) => [name, value.trim()] as const);
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''));
}

/** Whether an empty list was asked for a feed that is none. */
async function feedUnknown(parts: DashboardParts, { feed }: { readonly feed?: string }, listedCount: number) {
  return feed === undefined || listedCount > 0 ? null : await unknownFeed(parts, feed);
}

/** `?feed=&state=&after=&limit=`, as the options of `runs ls`; several states are separated by commas, and `active` is all that an engine works on. */
function runQueryOf(query: Query): RunQuery {
  const { feed, state, after } = given(query);
  const words = state?.split(',').map((one) => oneOf(runStateWords, one));
  const states = words?.flatMap((one) => (one === 'active' ? activeRunStates : [one]));
  return {
    ...(feed === undefined ? {} : { feed }),
    ...(states === undefined ? {} : { states }),
    ...(after === undefined ? {} : { after }),
    limit: limitOf(given(query), runsShownMax),
  };
}

/** `?code=&run=&feed=&state=&after=&limit=`, as the options of `dead ls`. */
function letterQueryOf(query: Query): DeadLetterQuery {
  const { code, run, feed, state = 'open', after } = given(query);
  return {
    ...(code === undefined ? {} : { code }),
    ...(run === undefined ? {} : { run }),
    ...(feed === undefined ? {} : { feed }),
    state: oneOf(letterStates, state),
    ...(after === undefined ? {} : { after }),
    limit: limitOf(given(query), lettersShownMax),
  };
}

const runStateWords = ['active', ...activeRunStates, 'stopped', ...finalRunStates] as const;
const letterStates = ['open', 'redriven', 'closed', 'dropped', 'all'] as const;

/** @throws PatchbayError `usage` `queryInvalid`. */
function oneOf<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw new PatchbayError('usage', 'queryInvalid', 'the state in the address is not known', {
    hint: `The states are: ${words.join(', ')}.`,
  });
}

/** @throws PatchbayError `usage` `queryInvalid`. */
function limitOf({ limit }: Partial<Query>, max: number): number {
  if (limit === undefined) return max;
  const value = Number(limit);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new PatchbayError('usage', 'queryInvalid', 'the limit in the address is not valid', {
    hint: `Give a whole number from 1 to ${max}.`,
  });
}

const foreignHost: Message = {
  status: 403,
  code: 'foreignHost',
  message: 'this page is for this machine only',
  hint: 'Open it as localhost or 127.0.0.1, or set PATCHBAY_TOKEN and HOST to reach it from elsewhere.',
};

const noSuchRun: Message = {
  status: 404,
  code: 'noSuchRun',
  message: 'there is no such run',
  hint: 'The page Runs lists all known runs.',
  hintOnPage: allRuns,
  isInside: true,
};

const noSuchPage: Message = {
  status: 404,
  code: 'notFound',
  message: 'there is no such page',
  hint: 'The pages are /, /runs, /feeds and /dead-letters; the probes are /healthz, /readyz and /metrics.',
  isInside: true,
};

/**
 * Headers of every answer, errors included (`docs/rules.md`, "Secrets and personal data").
 *
 * Pages hold personal data: nothing is stored on the way, nothing is framed, and no address of a page leaks to another
 * site. There are no scripts at all, so that none is allowed.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('content-security-policy', contentSecurityPolicy);
  c.header('x-content-type-options', 'nosniff');
  c.header('referrer-policy', 'no-referrer');
  c.header('cross-origin-opener-policy', 'same-origin');
  c.header('cross-origin-resource-policy', 'same-origin');
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
};

/** The one stylesheet. Its address changes with its content, so that browsers may cache it. */
interface StyleSheet {
  readonly text: string;
  readonly href: string;
}

/** Read once, when the page starts. Throws the system's errors. */
function readStyleSheet(): StyleSheet {
  const text = readFileSync(new URL('./style.css', import.meta.url), 'utf8');
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { text, href: `/style.css?v=${version}` };
}
