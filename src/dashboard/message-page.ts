/**
 * How a request is answered: a page or its JSON twin at one address, chosen by the Accept header (`docs/contract.md`, "Page and
 * probes"); and the answers that have no page of their own (not found, refused, failed), in the shape of the CLI's errors.
 */
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { holdsLongList, jsonPieces } from '#src/json/json-pieces.ts';
import { pasteableHints } from '#src/shell-words.ts';
import { bare, type Frame, type Markup, paste } from './frame.ts';
import { addressOf } from './refresh.ts';

export interface Message {
  readonly status: ContentfulStatusCode;
  /** Stable; scripts may compare it. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** After how many seconds it is asked again, where that may help. */
  readonly againSeconds?: number;
}

export function answerMessage(c: Context, frame: Frame, message: Message): Response | Promise<Response> {
  const { status, code, hint, againSeconds } = message;
  if (againSeconds !== undefined) c.header('retry-after', `${againSeconds}`);
  const page = () =>
    bare(frame, {
      title: message.message,
      refreshSeconds: againSeconds ?? null,
      body: html`<h1>${message.message}</h1>
<p>${paste(frame, hint)}</p>
<p><a href="${addressOf(frame, '/')}">To the overview</a></p>`,
    });
  return answer(c, frame, { page, json: () => ({ error: { code, message: message.message, hint } }) }, status);
}

/** A page and its JSON. Lists of the document may be too long for memory (`src/json/json-pieces.ts`). */
interface Twin {
  readonly page: () => Markup | Promise<Markup>;
  readonly json: () => object | Promise<object>;
}

/** Makes only the variant that is asked for. The commands in its hints can be pasted. */
export async function answer(
  c: Context,
  frame: Pick<Frame, 'folderFlags'>,
  twin: Twin,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  c.header('vary', 'Accept');
  if (!wantsJson(c)) return await c.html(await twin.page(), status);
  const document = await twin.json();
  const json = (value: unknown): string => JSON.stringify(value, pasteableHints(frame.folderFlags));
  const body = holdsLongList(document) ? ReadableStream.from(encoded(jsonPieces(document, json))) : json(document);
  return c.body(body, status, { 'content-type': 'application/json' });
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}

/** Browsers get the page; a client that names JSON gets JSON. */
export function wantsJson(c: Context): boolean {
  const supports = ['text/html', 'application/json'];
  return accepts(c, { header: 'Accept', supports, default: 'text/html' }) === 'application/json';
}
