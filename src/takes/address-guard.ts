/**
 * The addresses of a URL's host, looked up once and checked. The connection goes to these and asks nobody again: else a
 * second answer of the name server could lead elsewhere.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { systemCodeOf } from '#src/errors.ts';
import { TryAgain } from '#src/workspace/retry.ts';
import { takeError } from './take-error.ts';

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. Throws the system's error. */
type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>;

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

// Which addresses a download may go to. What a URL or a redirect names may be chosen by others: it must not reach this
// machine, the network around it, or the service that gives cloud machines their credentials. Pure.
//
// IPv4: everything but the ranges that IANA's registry of special purposes takes out. IPv6: only what is global unicast,
// without the ranges in it that lead elsewhere (6to4, Teredo) or nowhere. So an IPv4 address in IPv6 clothes, as mapped,
// translated (NAT64) or compatible one, is refused whatever it holds.

/** Whether an address, as the resolver or a URL gives it, is public. */
type AddressJudge = (address: string) => boolean;

const refused = new BlockList();
const refusedIpv4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by the customers of a provider (CGNAT)
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // metadata of Azure
  ['169.254.0.0', 16], // link-local, and with it the metadata of most clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
];
const refusedIpv6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: holds an IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
];
for (const [net, prefix] of refusedIpv4) refused.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of refusedIpv6) refused.addSubnet(net, prefix, 'ipv6');

const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

const neverAllowed = new BlockList();
neverAllowed.addSubnet('169.254.0.0', 16, 'ipv4');
neverAllowed.addAddress('168.63.129.16', 'ipv4');
neverAllowed.addAddress('fd00:ec2::254', 'ipv6');
neverAllowed.addSubnet('fe80::', 10, 'ipv6');

/** Where cloud machines get their credentials: no file comes from there, also where private addresses are allowed. */
function isMetadataAddress(address: string): boolean {
  const [plain = ''] = address.split('%');
  return isIP(plain) === 6 ? neverAllowed.check(plain, 'ipv6') : neverAllowed.check(plain, 'ipv4');
}

export const judgeAddress: AddressJudge = (address) => {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4');
    case 6:
      // One with a zone is meant for one network interface.
      return !address.includes('%') && globalUnicast.check(address, 'ipv6') && !refused.check(address, 'ipv6');
    default:
      return false;
  }
};
