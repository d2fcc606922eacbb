/** Turns a reply value into a response. */
import type { Reply } from '../operation.ts';

export function sendReply(reply: Reply): Response {
  const { status, body } = reply;
  if (body === null) return new Response(null, { status, headers: { ...reply.headers } });
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...reply.headers },
  });
}
