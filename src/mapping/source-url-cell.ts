/** `sourceUrl`: a valid http or https URI of at most 200 characters (`interface.md`, 4.1 and section 8). */
import { bad, good, type Reading } from './flaw.ts';

export const sourceUrlLengthMax = 200;

export function readSourceUrl(text: string): Reading<string> {
  const hint = 'Write the whole link, as in https://crm.example.com/people/17, or leave the cell blank.';
  const uri = readHttpUri(text);
  if (uri === null) return bad('sourceUrlInvalid', 'this is no http or https link', hint);
  if (uri.length <= sourceUrlLengthMax) return good(uri);
  return bad('sourceUrlInvalid', `the link is longer than ${sourceUrlLengthMax} characters`, 'Use a shorter link.');
}

/** The link as it was written; one with letters outside ASCII percent-encoded, since a URI has none. Null: no link. */
export function readHttpUri(text: string): string | null {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^\s<>"{}|\\^`\p{Cc}]+$/iu.test(trimmed) || !URL.canParse(trimmed)) return null;
  return /^[\x20-\x7e]*$/.test(trimmed) ? trimmed : new URL(trimmed).href;
}
