/** Answers that are no page of their own: not found, refused, broken. As page and as JSON in the shape of the CLI's errors. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { answer } from './answer.ts';
import { bare, type Frame } from './frame.ts';

export interface Message {
  readonly status: ContentfulStatusCode;
  /** Stable; scripts may compare it. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export function answerMessage(c: Context, frame: Frame, message: Message): Response | Promise<Response> {
  const { status, code, hint } = message;
  const page = () =>
    bare(frame, {
      title: message.message,
      body: html`<h1>${message.message}</h1>
<p>${hint}</p>
<p><a href="/">To the overview</a></p>`,
    });
  return answer(c, { page, json: () => ({ error: { code, message: message.message, hint } }) }, status);
}
