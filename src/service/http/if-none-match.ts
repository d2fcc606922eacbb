/** `If-None-Match`: whether the client has what it asks for (RFC 9110, 13.1.2). */

const entityTag = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** `etag` is that of the present text, in quotes. Weak comparison: a mark of weakness counts for nothing. */
export function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return [...ifNoneMatch.matchAll(entityTag)].some(([, opaque]) => opaque === etag);
}
