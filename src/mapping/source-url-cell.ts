/** `sourceUrl`: a valid http or https URI of at most 200 characters (`interface.md`, 4.1 and section 8). */
import { bad, good, type Reading } from './flaw.ts';

export const sourceUrlLengthMax = 200;

/** What a URI may hold in its host and in what follows it (RFC 3986): ASCII, escapes whole, brackets in hosts alone. */
const common = "[a-z\\d\\-._~!$&'()*+,;=:]|%[\\da-f]{2}";
const rest = `(?:${common}|[@/?])*`;
const uriForm = new RegExp(
  `^https?://(?:(?:${common})*@)?(?:\\[[\\da-f:.]+\\](?::\\d*)?|(?:${common})*)(?:[/?]${rest})?(?:#${rest})?$`,
  'i',
);

export function readSourceUrl(text: string): Reading<string> {
  const hint = 'Write the whole link, as in https://crm.example.com/people/17, or leave the cell blank.';
  const uri = readHttpUri(text);
  if (uri === null) return bad('sourceUrlInvalid', 'this is no http or https link', hint);
  if (uri.length <= sourceUrlLengthMax) return good(uri);
  return bad('sourceUrlInvalid', `the link is longer than ${sourceUrlLengthMax} characters`, 'Use a shorter link.');
}

/** The link as it was written; one with characters that no URI has, percent-encoded. Null: no link. */
export function readHttpUri(text: string): string | null {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^\s<>"{}|\\^`\p{Cc}]+$/iu.test(trimmed) || !URL.canParse(trimmed)) return null;
  return uriForm.test(trimmed) ? trimmed : percentEncoded(new URL(trimmed));
}

/** The parser encodes what is outside of ASCII, and lets pass what browsers let pass: that is encoded here. */
function percentEncoded({ href, origin }: URL): string {
  const whole = href.replaceAll(/%(?![\da-f]{2})/gi, '%25');
  // Behind the host, whose numbers may stand in brackets.
  const start = whole.indexOf('/', origin.indexOf('://') + '://'.length);
  const [address = '', ...fragments] = whole.slice(start).split('#');
  const tail = fragments.length === 0 ? address : `${address}#${fragments.join('%23')}`;
  return whole.slice(0, start) + tail.replaceAll('[', '%5B').replaceAll(']', '%5D');
}
