/** The query of a request, without a whole URL being read. */

/** For the many requests without one. Nobody adds to it. */
const noQuery = new URLSearchParams();

/** The listener has checked the URL: what follows the first question mark is the query, less a fragment. */
export function queryOf(url: string): URLSearchParams {
  const [address = ''] = url.split('#', 1);
  const start = address.indexOf('?');
  return start < 0 ? noQuery : new URLSearchParams(address.slice(start + 1));
}
