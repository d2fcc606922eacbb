/**
 * The addresses of a URL's host, looked up once and checked. The connection goes to these and asks nobody again: else a
 * second answer of the name server could lead elsewhere.
 */

import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { systemCodeOf } from '#src/errors.ts';
import { type AddressJudge, isMetadataAddress, judgeAddress } from './judge-address.ts';
import { takeError } from './take-error.ts';
import { TryAgain } from './try-again.ts';

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. Throws the system's error. */
export type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>;

export interface AddressRules {
  readonly download: { readonly privateAddresses: boolean };
  /** The system's, unless given. */
  readonly resolve?: ResolveHost;
  /** Which addresses are public; `judgeAddress`, unless given. */
  readonly judge?: AddressJudge;
}

/**
 * @throws PatchbayError `usage` `addressRefused`, where one of the addresses is not public and private ones are not allowed, or is
 *   never allowed.
 * @throws TryAgain where the name has no address.
 */
export async function checkedAddresses(
  rules: AddressRules,
  url: URL,
  signal: AbortSignal,
): Promise<readonly HostAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = await addressesOf(host, rules.resolve ?? systemResolve, signal);
  if (addresses.some(({ address }) => isMetadataAddress(address))) {
    const hint = 'No file is taken from there: correct the URL.';
    const message = `${url.host} is a link-local address, where cloud machines get their credentials`;
    throw takeError('usage', 'addressRefused', message, hint);
  }
  if (rules.download.privateAddresses) return addresses;
  const isPublic: AddressJudge = rules.judge ?? judgeAddress;
  // All of them: which one is connected to in the end is not ours to choose.
  if (addresses.every(({ address }) => isPublic(address))) return addresses;
  throw takeError(
    'usage',
    'addressRefused',
    `${url.host} is an address of this machine or of a private network`,
    'Where that is meant, set download.privateAddresses.',
  );
}

/** For the connection: answers what was checked, whatever it is asked. */
export function fixedLookup(addresses: readonly HostAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}

async function addressesOf(host: string, resolve: ResolveHost, signal: AbortSignal): Promise<readonly HostAddress[]> {
  const literal = isIP(host);
  // The parser of URLs has brought odd forms (decimal, octal, hexadecimal, shortened) into the usual one.
  if (literal !== 0) return [{ address: host, family: literal === 6 ? 6 : 4 }];
  try {
    const addresses = await orAborted(resolve(host), signal);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    signal.throwIfAborted();
    throw unresolved(host, systemCodeOf(error) ?? 'unknown reason', error);
  }
  throw unresolved(host, 'no address');
}

function unresolved(host: string, reason: string, cause?: unknown): TryAgain {
  const hint = 'Check the name of the host, and that this machine can look names up.';
  return new TryAgain(
    takeError('unreachable', 'urlUnreachable', `the host ${host} is not known (${reason})`, hint, cause),
    null,
  );
}

const systemResolve: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));

/** A look-up of the system cannot be stopped: nobody waits for it any more. */
async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
