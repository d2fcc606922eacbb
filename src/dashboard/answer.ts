/** A page and its JSON twin: one address, and the Accept header chooses (`contract.md`, "Page and probes"). */
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Markup } from './markup.ts';

/** Only what is wanted is made. */
export function answer(
  c: Context,
  twin: { readonly page: () => Markup; readonly json: () => object },
  status: ContentfulStatusCode = 200,
): Response | Promise<Response> {
  c.header('vary', 'Accept');
  return wantsJson(c) ? c.json(twin.json(), status) : c.html(twin.page(), status);
}

/** A browser gets the page; whoever names JSON gets JSON. */
function wantsJson(c: Context): boolean {
  const supports = ['text/html', 'application/json'];
  return accepts(c, { header: 'Accept', supports, default: 'text/html' }) === 'application/json';
}
