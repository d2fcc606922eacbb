/** What every page shows around its body. */
import { html } from 'hono/html';
import type { Markup } from './markup.ts';
import { moment } from './moment.ts';

export interface Frame {
  readonly version: string;
  readonly serviceName: string;
  readonly serviceOrigin: string;
  readonly styleHref: string;
  readonly nowMs: number;
}

export type Place = 'overview' | 'runs' | 'feeds' | 'deadLetters';

export interface PageContent {
  readonly title: string;
  /** Which entry of the navigation is marked; null for none. */
  readonly place: Place | null;
  /** Loads the page anew after so many seconds; null where nothing moves. */
  readonly refreshSeconds: number | null;
  readonly body: Markup;
}

/** How often a page is loaded anew while a run is at work. */
export const busyRefreshSeconds = 3;

/** A drawing in the address itself: it saves a request that would find nothing. */
const icon =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E%3Crect width=%2216%22 height=%2216%22 rx=%224%22 fill=%22%230f766e%22/%3E%3Cpath d=%22M4 5h3a2 2 0 0 1 2 2v2a2 2 0 0 0 2 2h1%22 fill=%22none%22 stroke=%22%23fff%22 stroke-width=%221.6%22/%3E%3C/svg%3E';

export function framed(frame: Frame, content: PageContent): Markup {
  const { version, serviceName, serviceOrigin, nowMs } = frame;
  return document(
    frame,
    { ...content, hasForm: false },
    html`<header class="top">
<div class="wide">
<a class="brand" href="/">Patchbay</a>
<nav aria-label="Pages">${navigation(content.place)}</nav>
<p class="service">into <strong><bdi>${serviceName}</bdi></strong>${
      serviceName === serviceOrigin ? '' : html` <span class="dim"><bdi>${serviceOrigin}</bdi></span>`
    }</p>
</div>
</header>
<main class="wide">
${content.body}
</main>
<footer class="wide dim">
<p>Patchbay ${version} · as of ${moment(nowMs)}, time zone ${timeZone()}${
      content.refreshSeconds === null ? '' : html` · renews itself while a run is at work`
    }</p>
</footer>`,
  );
}

/** A page without navigation and facts, for people who have not shown the token. */
export function bare(frame: Frame, content: Omit<PageContent, 'place' | 'refreshSeconds'>): Markup {
  return document(
    frame,
    { title: content.title, refreshSeconds: null, hasForm: true },
    html`<main class="narrow">
<p class="brand">Patchbay</p>
${content.body}
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

function document({ styleHref }: Frame, { title, refreshSeconds, hasForm }: Head, body: Markup): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${hasForm ? html`<meta name="referrer" content="same-origin">` : ''}
${refreshSeconds === null ? '' : html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title} · Patchbay</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${styleHref}">
</head>
<body>
${body}
</body>
</html>
`;
}

function navigation(place: Place | null): readonly Markup[] {
  const entries: readonly (readonly [Place, string, string])[] = [
    ['overview', '/', 'Overview'],
    ['runs', '/runs', 'Runs'],
    ['feeds', '/feeds', 'Feeds'],
    ['deadLetters', '/dead-letters', 'Dead letters'],
  ];
  return entries.map(([name, href, label]) =>
    name === place ? html`<a href="${href}" aria-current="page">${label}</a>` : html`<a href="${href}">${label}</a>`,
  );
}

function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
