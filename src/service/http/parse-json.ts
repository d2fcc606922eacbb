/**
 * Makes JSON of a body's bytes. Section 7, bodies that are no JSON: not shown. 400, also for JSON that is nested deeper
 * than anything of the interface.
 */
import { badRequest } from './refusal.ts';

/** The deepest body of the interface has five levels. */
const depthMax = 32;

/** Throws `Refusal` 400 for bytes that are not UTF-8, text that is not JSON, and nesting beyond the limit. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (mayBeDeep(text) && depthOf(text) > depthMax) {
    throw badRequest([{ path: '', message: `The body is nested deeper than ${depthMax} levels.`, type: 'object' }]);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest([{ path: '', message: 'The body is not JSON.', type: 'object' }]);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badRequest([{ path: '', message: 'The body is not UTF-8.', type: 'object' }]);
  }
}

/** Few brackets cannot nest deeply: most bodies need not be walked through. */
function mayBeDeep(text: string): boolean {
  let left = depthMax;
  for (const bracket of '{[') {
    // Ends: each turn finds a further bracket, or none.
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

const [quote, backslash, openObject, closeObject, openList, closeList] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

/** The deepest nesting of brackets outside of strings. Exact for JSON; for anything else the parser decides. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === backslash) at += 1;
      else if (character === quote) inString = false;
    } else if (character === quote) inString = true;
    else if (character === openObject || character === openList) deepest = Math.max(deepest, ++depth);
    else if (character === closeObject || character === closeList) depth -= 1;
  }
  return deepest;
}
