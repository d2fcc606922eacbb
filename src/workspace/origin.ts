/** The service's address as configured, checked: the key is sent there and nowhere else. */
import { PatchbayError } from '#src/errors.ts';

/**
 * The origin, as `https://host` or `http://host:port`. Throws `usage` `baseUrlInvalid` for anything with a path, a
 * query, a fragment, credentials or another protocol. The message repeats nothing that may hold credentials.
 */
export function parseOrigin(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) {
    const shown = baseUrl.includes('@') ? '' : ` ${JSON.stringify(baseUrl)}`;
    throw invalid(`The service's address${shown} is no URL.`, 'Give it as https://host, without /v1.');
  }
  const url = new URL(baseUrl);
  if (url.username !== '' || url.password !== '') {
    throw invalid("The service's address holds credentials.", 'Give the API key apart, as PATCHBAY_API_KEY.');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw invalid(`The service's address begins with ${url.protocol}//.`, 'Only https and http can be used.');
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw invalid(
      `The service's address ${url.origin} goes on after the host.`,
      `Give ${url.origin} alone, without /v1.`,
    );
  }
  return url.origin;
}

function invalid(message: string, hint: string): PatchbayError {
  return new PatchbayError('usage', 'baseUrlInvalid', message, { hint });
}
