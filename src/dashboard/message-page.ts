/**
 * How a request is answered: a page or its JSON twin at one address, chosen by the Accept header (`docs/contract.md`, "Page and
 * probes"); and the answers that have no page of their own (not found, refused, failed), in the shape of the CLI's errors.
 */
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { PatchbayError } from '#src/errors.ts';
import { holdsLongList, jsonPieces } from '#src/json/json-pieces.ts';
import { pasteableHints } from '#src/shell-words.ts';
import { bare, type Frame, framed, type Markup, paste, sentence } from './frame.ts';
import { addressOf } from './refresh.ts';

export interface Message {
  readonly status: ContentfulStatusCode;
  /** Stable; scripts may compare it. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** The hint in the page, where it has links. */
  readonly hintOnPage?: (frame: Frame) => Markup;
  /** For visitors who may see the other pages: the page has their navigation. */
  readonly isInside?: boolean;
  /** After how many seconds it is asked again, where that may help. */
  readonly againSeconds?: number;
}

export function answerMessage(c: Context, frame: Frame, message: Message): Response | Promise<Response> {
  const { status, code, hint, againSeconds } = message;
  if (againSeconds !== undefined) c.header('retry-after', `${againSeconds}`);
  const title = sentence(message.message);
  const pace = againSeconds === undefined ? null : { seconds: againSeconds, ...failureWords };
  const body = html`<h1>${title}</h1>
<p>${message.hintOnPage?.(frame) ?? paste(frame, hint)}</p>`;
  const page = () =>
    message.isInside
      ? framed(frame, { title, place: null, pace, body })
      : bare(frame, {
          title,
          pace,
          body: html`${body}\n<p><a href="${addressOf(frame, '/')}">To the overview</a></p>`,
        });
  return answer(c, frame, { page, json: () => ({ error: { code, message: message.message, hint } }) }, status);
}

const failureWords = { when: 'until it can be shown', why: 'This page may be shown again soon' } as const;

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
  if (!wantsJson(c)) return await answerPage(c, twin.page(), status);
  const document = await twin.json();
  const json = (value: unknown): string => JSON.stringify(value, pasteableHints(frame.folderFlags));
  const body = holdsLongList(document) ? ReadableStream.from(encoded(jsonPieces(document, json))) : json(document);
  return c.body(body, status, { 'content-type': 'application/json' });
}

/** Characters that turn the direction of the text behind them; what a file or a person named with one would read as another name. */
const turns = /[\u202a-\u202e\u2066-\u2069]/gu;

/** Every page goes out here, with a character in the place of each such one, as the command line prints. */
export async function answerPage(
  c: Context,
  page: Markup | Promise<Markup>,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return await c.html(String(await page).replace(turns, '\ufffd'), status);
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

/** The page asks again this soon where the trouble passes by itself. */
const againSeconds = 5;

/** What to do about trouble that passes, for people who look at the page. */
const passingAdvice: Readonly<Record<string, string>> = {
  ledgerAway: 'Check that PostgreSQL runs where DATABASE_URL names it.',
  ledgerReadOnly:
    'Give this user the right to write the file and its folder. A database may be a standby, or set to read-only: let it take writes.',
  ledgerBusy: 'Another process keeps the ledger locked, perhaps a backup.',
  ledgerSlow: 'The database is overloaded, or a statement waits for a lock of another program.',
  ledgerIoFails: 'Check the disk of the ledger.',
  diskFull: 'Free some space on the disk of the ledger.',
};
const workWaits = 'Work waits and nothing is lost: it goes on by itself once that is over, and so does this page.';

/**
 * Null for an error that is to be logged: neither its message nor the address is shown or logged, since both may hold what a person typed. All
 * others were reported where they were met.
 */
export function failureMessage(error: unknown): Message | null {
  if (!(error instanceof PatchbayError)) return null;
  const { kind, code, message, hint } = error;
  switch (kind) {
    case 'damaged':
      // Every page would fail with it.
      return { status: 503, code, message, hint: hint ?? '' };
    case 'transient':
    case 'unreachable': {
      const advice = hint ?? passingAdvice[code];
      return {
        status: 503,
        code,
        message,
        hint: advice === undefined ? workWaits : `${advice} ${workWaits}`,
        againSeconds,
      };
    }
    case 'usage':
      return { status: 400, code, message, hint: hint ?? '' };
    default:
      return null;
  }
}

export const broken: Message = {
  status: 500,
  code: 'unexpected',
  message: 'the page could not be made',
  hint: 'Try again; see the log for what happened: patchbay logs --level error. Runs are not affected.',
};
