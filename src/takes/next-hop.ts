/**
 * Where a download may go: the feed's URL, and the redirects of its servers. Pure.
 *
 * Redirects are followed by hand, so that each one is looked at: encrypted stays encrypted, a foreign host must be allowed
 * by name, and what opens the first server is never shown to another. Once the chain has left the first origin it stays
 * without credentials, also where it comes back: the way there was chosen by somebody else.
 */
import { isIP } from 'node:net';
import type { Config } from '#src/config/schema.ts';
import { takeError } from './take-error.ts';

export const redirectsMax = 5;

type Rules = Pick<Config['download'], 'hosts' | 'privateAddresses'>;

export interface Hop {
  readonly url: URL;
  /** Whether `Authorization` may be sent to it. */
  readonly trusted: boolean;
  /** Redirects that led here. */
  readonly redirects: number;
}

/** @throws PatchbayError `usage`: `urlInvalid`, `httpsNeeded`. */
export function firstHop(take: string, rules: Rules): Hop {
  const url = URL.parse(take);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    const hint = 'Correct take; a user name and password go into the variable that authorization names.';
    throw takeError('usage', 'urlInvalid', 'the URL of the feed cannot be used', hint);
  }
  if (url.protocol === 'http:' && !rules.privateAddresses) {
    const hint = 'Use https; plain http is for private networks, with download.privateAddresses.';
    throw takeError('usage', 'httpsNeeded', `${url.host} would be asked without encryption`, hint);
  }
  return { url, trusted: true, redirects: 0 };
}

/**
 * @param location the header as it came; null where there was none.
 * @throws PatchbayError `unreachable`: `redirectRefused`, `tooManyRedirects`.
 */
export function nextHop(first: Hop, from: Hop, location: string | null, rules: Rules): Hop {
  if (from.redirects >= redirectsMax) {
    const hint = 'Open the URL in a browser: where it asks for a login, authorization is missing.';
    const message = `${from.url.host} redirects more than ${redirectsMax} times`;
    throw takeError('unreachable', 'tooManyRedirects', message, hint);
  }
  const url = location === null ? null : URL.parse(location, from.url.href);
  if (url === null) throw refused(`${from.url.host} redirects to nowhere`, 'Ask who runs that server.');
  if (!/^https?:$/.test(url.protocol)) {
    throw refused(`${from.url.host} redirects to ${url.protocol}`, 'Only https is followed.');
  }
  if (url.protocol === 'http:' && (from.url.protocol === 'https:' || !rules.privateAddresses)) {
    throw refused(`${from.url.host} redirects from https to http`, 'Ask who runs that server for an https address.');
  }
  if (url.hostname !== first.url.hostname && !rules.hosts.includes(url.hostname)) {
    // An address that a server names instead of a host is not to be let in by advice.
    const hint = isAddress(url)
      ? 'Ask who runs that server; an export does not lead to a bare address.'
      : `Where that is right, add ${url.hostname} to download.hosts. A login page is the usual cause else.`;
    throw refused(`${from.url.host} redirects to another host, ${url.hostname}`, hint);
  }
  return { url, trusted: from.trusted && url.origin === first.url.origin, redirects: from.redirects + 1 };
}

function isAddress({ hostname }: URL): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

function refused(message: string, hint: string): Error {
  return takeError('unreachable', 'redirectRefused', message, hint);
}
