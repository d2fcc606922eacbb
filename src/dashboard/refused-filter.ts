/** What is said beside the form of a list where it asks for what is not there: a run, or a feed. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import { PatchbayError } from '#src/errors.ts';
import type { UnknownFeed } from '#src/operations/feed-names.ts';
import { type Frame, type Markup, paste, sentence } from './frame.ts';
import { answerPage, wantsJson } from './message-page.ts';
import { type AddressQuery, addressOf } from './refresh.ts';

/** Answers a request that a list refuses with the list's own page. JSON, and every other error, are those of all pages. */
export function answerRefusal(
  c: Context,
  page: (refusal: PatchbayError) => Markup,
): (error: unknown) => Response | Promise<Response> {
  return (error) => {
    if (!(error instanceof PatchbayError) || error.kind !== 'usage' || wantsJson(c)) throw error;
    c.header('vary', 'Accept');
    return answerPage(c, page(error), 400);
  };
}

export function refusalNotice(frame: Frame, { code, message, hint }: PatchbayError): Markup {
  return html`<div class="notice bad" role="alert">
<p><strong>${sentence(message)}.</strong></p>
<p>${adviceOn(frame, code) ?? paste(frame, hint ?? '')}</p>
</div>`;
}

/** In place of the command that lists what there is; null where the hint holds. */
function adviceOn(frame: Frame, code: string): Markup | null {
  if (code === 'noSuchRun') return allRuns(frame);
  if (code !== 'noSuchDeadLetter') return null;
  return html`The page <a href="${addressOf(frame, '/dead-letters')}">Dead letters</a> lists all that are open.`;
}

export function allRuns(frame: Frame): Markup {
  return html`The page <a href="${addressOf(frame, '/runs')}">Runs</a> lists all known runs.`;
}

/** Nothing of a feed that is there. @param path of the list, which asks for the feed that was meant, and for the rest of `query`. */
export function unknownFeedNote(frame: Frame, unknown: UnknownFeed | null, path: string, query: AddressQuery): Markup {
  if (unknown === null) return html``;
  const { name, meant } = unknown;
  const perhaps = html`: did you mean <a href="${addressOf(frame, path, { ...query, feed: meant ?? '' })}"><bdi>${meant}</bdi></a>?`;
  return html`<p class="empty" role="status">There is no feed "<bdi>${name}</bdi>"${meant === null ? '.' : perhaps}</p>`;
}
