/**
 * Says in a reply that the request used deprecated parameters. Section 9, how they are flagged: not shown. They are
 * accepted, and a `Warning` of code 299, "miscellaneous persistent warning", names each and what to use in its place.
 *
 * The `Deprecation` header of RFC 9745 is not it: that speaks of a whole resource and needs a date, and no paper has
 * one. A client that does not know the header loses nothing.
 */
import type { Reply } from '../operations/operation.ts';

export function flagDeprecated(reply: Reply): Reply {
  if (reply.deprecated === undefined || reply.deprecated.length === 0) return reply;
  const warning = reply.deprecated.map(({ name, instead }) => `299 - "${name} is deprecated: ${instead}"`).join(', ');
  return { ...reply, headers: { ...reply.headers, warning } };
}
