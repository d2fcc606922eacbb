/**
 * The query of a look-up by external ids, and how a long list is cut so that each call fits.
 *
 * The array is sent as a repeated plain key, `externalIds=a&externalIds=b`: a comma list is read as one id, and
 * brackets are ignored and answered with strangers (`facts.md`, "List contacts").
 */
import { invariant } from '#src/errors.ts';

/** More than 20 ids answer 400 (`facts.md`). */
export const keysPerLookUpMax = 20;
/** Of the query without the page token. */
export const lookUpQueryBytesMax = 4_096;

const pageSize = 'maxResults=50';

/**
 * The query without its question mark. Throws a `bug` for none or more than 20 keys, more than 4 KB, or a key that is
 * no well-formed text.
 */
export function lookUpQuery(keys: readonly string[], pageToken: string | null): string {
  invariant(keys.length >= 1 && keys.length <= keysPerLookUpMax, 'a look-up takes 1 to 20 keys', {
    keyCount: keys.length,
  });
  const query = [...keys.map(keyPart), pageSize].join('&');
  invariant(query.length <= lookUpQueryBytesMax, 'the query of a look-up fits 4 KB', { bytes: query.length });
  return pageToken === null ? query : `${query}&pageToken=${encodeURIComponent(pageToken)}`;
}

/** Cuts the list, in order, into as few pieces as fit 20 keys and 4 KB each. Duplicates are kept. */
export function lookUpChunks(keys: readonly string[]): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  let chunk: string[] = [];
  let bytes = pageSize.length;
  for (const key of keys) {
    const keyBytes = keyPart(key).length + 1;
    if (chunk.length > 0 && (chunk.length === keysPerLookUpMax || bytes + keyBytes > lookUpQueryBytesMax)) {
      chunks.push(chunk);
      chunk = [];
      bytes = pageSize.length;
    }
    chunk.push(key);
    bytes += keyBytes;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** Percent-encoding leaves only ASCII, so its length is its bytes. A space is `%20`, since `+` is read both ways. */
function keyPart(key: string): string {
  invariant(key.isWellFormed(), 'a key is well-formed text');
  return `externalIds=${encodeURIComponent(key)}`;
}
