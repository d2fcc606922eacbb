/** Runs that a sentence names, as links to their pages. */
import { html } from 'hono/html';
import type { Frame, Markup } from './frame.ts';
import { runAddress } from './refresh.ts';

/** Behind the word: an id in a command is copied with it, and leads nowhere. */
const mention = /(?<=(?<![-\w])run )(\d{8}T\d{6}Z-[0-9a-f]{6})(?!\w)/;

/** A text for people. @param ownId the run whose page it is. */
export function withRunLinks(frame: Frame, text: string, ownId: string | null = null): Markup {
  // Every second part is an id.
  return html`${text.split(mention).map((part, index) => (index % 2 === 1 && part !== ownId ? runIdLink(frame, part) : part))}`;
}

export function runIdLink(frame: Frame, id: string): Markup {
  return html`<a href="${runAddress(frame, id)}"><code>${id}</code></a>`;
}
