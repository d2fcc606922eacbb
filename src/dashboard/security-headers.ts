/**
 * Headers of every answer, errors included (`rules.md`, "Secrets and personal data").
 *
 * Pages hold personal data: nothing is stored on the way, nothing is framed, and no address of a page leaks to another
 * site. There are no scripts at all, so that none is allowed.
 */
import type { MiddlewareHandler } from 'hono';

const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('content-security-policy', contentSecurityPolicy);
  c.header('x-content-type-options', 'nosniff');
  c.header('referrer-policy', 'no-referrer');
  c.header('cross-origin-opener-policy', 'same-origin');
  c.header('cross-origin-resource-policy', 'same-origin');
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
};
