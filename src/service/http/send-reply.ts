/** Turns a reply value into a response. */
import { textOfBody } from '#src/service/operations/operation.ts';
import type { Reply } from '../operations/operation.ts';

export function sendReply(reply: Reply): Response {
  const { status } = reply;
  const text = textOfBody(reply.body);
  if (text === null) return new Response(null, { status, headers: { ...reply.headers } });
  return new Response(text, {
    status,
    headers: { 'content-type': 'application/json', ...reply.headers },
  });
}
