/**
 * What a URI is (2.1, which ones: not shown): the grammar of RFC 3986, appendix A. Text outside of ASCII stands in one
 * percent-encoded.
 */

/** Unreserved characters, `sub-delims` and escapes: what may stand in every part. */
const common = "(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})";
const userInfo = `(?:${common}|:)*`;
/** Numbers in brackets, or a name; how the numbers must be, the parser below knows. */
const host = `(?:\\[[0-9A-Fa-f:.]+\\]|${common}*)`;
const authority = `//(?:${userInfo}@)?${host}(?::[0-9]*)?`;
const character = `(?:${common}|[:@])`;
const rootedPath = `(?:/${character}*)*`;
const otherPath = `(?:/(?:${character}+${rootedPath})?|${character}+${rootedPath})`;
const rest = `(?:${character}|[/?])*`;

const form = new RegExp(
  `^[A-Za-z][A-Za-z0-9+.-]*:(?:${authority}${rootedPath}|${otherPath})(?:\\?${rest})?(?:#${rest})?$`,
);

/** Whether a text is a URI with a scheme, and one that a parser takes apart. One that ends with its scheme is none. */
export function isUri(text: string): boolean {
  return form.test(text) && URL.canParse(text);
}
