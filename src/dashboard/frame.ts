/** The frame around every page, and the words and figures that all pages share. */
import { html } from 'hono/html';
import { isoInstant } from '#src/clock.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { type FolderFlags, withFlags } from '#src/shell-words.ts';
import { addressOf, type Pace, type Refresh } from './refresh.ts';

export interface Frame {
  readonly version: string;
  /** Which installation it is; null: it has no name. */
  readonly installation: string | null;
  readonly serviceName: string;
  readonly serviceOrigin: string;
  readonly folderFlags: FolderFlags;
  /** Whether a session shows the page: there is a token. */
  readonly canLogOut: boolean;
  readonly refresh: Refresh;
  readonly styleHref: string;
  readonly nowMs: number;
}

type Place = 'overview' | 'runs' | 'feeds' | 'deadLetters';

interface PageContent {
  readonly title: string;
  /** Which entry of the navigation is marked; null for none. */
  readonly place: Place | null;
  /** Reloads the page, unless its address says otherwise; null where nothing moves. */
  readonly pace: Pace | null;
  readonly body: Markup;
}

/** A drawing in the address itself: it saves a request that would find nothing. */
const icon =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E%3Crect width=%2216%22 height=%2216%22 rx=%224%22 fill=%22%230f766e%22/%3E%3Cpath d=%22M4 5h3a2 2 0 0 1 2 2v2a2 2 0 0 0 2 2h1%22 fill=%22none%22 stroke=%22%23fff%22 stroke-width=%221.6%22/%3E%3C/svg%3E';

export function framed(frame: Frame, content: PageContent): Markup {
  const { version, serviceName, serviceOrigin, nowMs, refresh } = frame;
  return document(
    frame,
    { ...content, refreshSeconds: secondsOf(content.pace, refresh), hasForm: frame.canLogOut },
    html`${refreshLine(content.pace, refresh)}<header class="top">
<div class="wide">
<a class="brand" href="${addressOf(frame, '/')}">Patchbay</a>${nameOf(frame)}
<nav aria-label="Pages">${navigation(content.place, frame)}</nav>
<p class="service">into <strong><bdi>${serviceName}</bdi></strong>${
      serviceName === serviceOrigin ? '' : html` <span class="dim"><bdi>${serviceOrigin}</bdi></span>`
    }</p>
${frame.canLogOut ? html`<form method="post" action="/logout" class="logout"><button type="submit">Log out</button></form>` : ''}
</div>
</header>
<main class="wide">
${content.body}
</main>
<footer class="wide dim">
<p>Patchbay ${version} · as of ${moment(nowMs)}, time zone ${timeZone()}</p>
</footer>`,
  );
}

/** The first thing that the keyboard reaches: it must be pressed before the page loads again. Nothing where nothing moves. */
function refreshLine(pace: Pace | null, { isOff, otherHref }: Refresh): Markup {
  if (pace === null) return html``;
  const { seconds, when, why } = pace;
  const words = isOff
    ? html`${why}. <a href="${otherHref}">Refresh this page</a>`
    : html`Refreshes every ${seconds} s ${when}. <a href="${otherHref}">Stop refreshing</a>`;
  return html`<p class="wide dim refresh">${words}</p>
`;
}

function secondsOf(pace: Pace | null, { isOff }: Refresh): number | null {
  return pace === null || isOff ? null : pace.seconds;
}

/** A page without navigation and facts, for visitors without the token, and where none can be shown. */
export function bare(
  frame: Frame,
  { title, body, pace = null }: Pick<PageContent, 'title' | 'body'> & Partial<PageContent>,
): Markup {
  return document(
    frame,
    { title, refreshSeconds: secondsOf(pace, frame.refresh), hasForm: true },
    html`${refreshLine(pace, frame.refresh)}<main class="narrow">
<p class="brand">Patchbay${nameOf(frame)}</p>
${body}
</main>`,
  );
}

interface Head {
  readonly title: string;
  readonly refreshSeconds: number | null;
  /**
   * A form's request needs an Origin header, which browsers leave empty under `no-referrer`. `same-origin` tells other
   * sites just as little.
   */
  readonly hasForm: boolean;
}

function nameOf({ installation }: Frame): Markup {
  return installation === null ? html`` : html` <strong class="installation"><bdi>${installation}</bdi></strong>`;
}

function document({ styleHref, installation }: Frame, { title, refreshSeconds, hasForm }: Head, body: Markup): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${hasForm ? html`<meta name="referrer" content="same-origin">` : ''}
${refreshSeconds === null ? '' : html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title} · ${installation === null ? '' : `${installation} · `}Patchbay</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${styleHref}">
</head>
<body>
${body}
</body>
</html>
`;
}

function navigation(place: Place | null, frame: Frame): readonly Markup[] {
  const entries: readonly (readonly [Place, string, string])[] = [
    ['overview', '/', 'Overview'],
    ['runs', '/runs', 'Runs'],
    ['feeds', '/feeds', 'Feeds'],
    ['deadLetters', '/dead-letters', 'Dead letters'],
  ];
  return entries.map(([name, path, label]) => {
    const href = addressOf(frame, path);
    return name === place
      ? html`<a href="${href}" aria-current="page">${label}</a>`
      : html`<a href="${href}">${label}</a>`;
  });
}

function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** What to do when there is nothing to see yet. */
export function dropHint(importFolders: readonly string[]): Markup {
  const folder = importFolders.at(-1);
  const others = importFolders.slice(0, -1);
  if (folder === undefined) return html`<p class="empty">Nothing has run yet.</p>`;
  return html`<div class="empty">
<p>Nothing has run yet. Drop a CSV, JSON, Excel or vCard file into <code class="path">${folder}</code> and see it synced.</p>
${others.length === 0 ? '' : html`<p>Or into ${others.map((other) => html`<code class="path">${other}</code> `)}</p>`}
</div>`;
}

/**
 * A piece of a page. Made by hono's `html` template only, which escapes everything that is put into it; `raw` is
 * not used in this folder.
 */
export type Markup = ReturnType<typeof html>;

const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const grouped = new Intl.NumberFormat('en-US');

/** A text of which the commands can be pasted: they open the data folder that the page shows. */
export function paste({ folderFlags }: Pick<Frame, 'folderFlags'>, text: string): string {
  return withFlags(text, folderFlags);
}

/** An instant in the process's time zone, with its exact form for machines; a dash where there is none. */
export function moment(ms: number | null): Markup {
  return ms === null ? html`–` : instant(ms, local.format(ms));
}

/** The same in other words. */
export function instant(ms: number, words: string): Markup {
  const exact = isoInstant(ms);
  return html`<time datetime="${exact}" title="${exact}">${words}</time>`;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function count(value: number): string {
  return grouped.format(value);
}

/** `1 row`, `2 rows`. */
export function counted(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Words that stand by themselves. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Of a value, or of a cell of a row. */
const valueCharactersMax = 200;

/** The beginning of a long text. */
export function cut(text: string, charactersMax = valueCharactersMax): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;
}

/** The value of a field as one short text: those of a list are joined; a dash where there is none. */
export function valueText(value: RunEvent['file']): string {
  if (value === undefined || value === null) return '–';
  return cut(Array.isArray(value) ? value.join('; ') : String(value));
}

/** The same in a table. */
export function valueCell(value: RunEvent['file']): Markup | string {
  return value === undefined || value === null ? '–' : html`<code class="cell"><bdi>${valueText(value)}</bdi></code>`;
}
