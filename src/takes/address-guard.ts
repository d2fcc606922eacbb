/**
 * Which addresses a download may connect to. Others may choose what a URL or a redirect names: it must not lead to this
 * machine, the network around it, or the service that gives cloud machines their credentials.
 *
 * A host is looked up once, and the connection goes to the addresses that were checked: a second answer of the name server
 * could lead elsewhere.
 *
 * IPv4: all addresses except the ranges of IANA's special-purpose registry. IPv6: only global unicast, without the ranges in
 * it that lead elsewhere (6to4, Teredo) or nowhere. So an IPv4 address inside an IPv6 address, whether mapped, translated
 * (NAT64) or compatible, is always refused.
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
 * @throws PatchbayError `usage` `addressRefused` if one of the addresses is never allowed, or is private where private ones are
 *   not allowed.
 * @throws TryAgain if the name has no address.
 */
export async function checkedAddresses(
  rules: AddressRules,
  url: URL,
  signal: AbortSignal,
): Promise<readonly HostAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = await addressesOf(host, rules.resolve ?? systemResolve, signal);
  if (addresses.some(({ address }) => isMetadataAddress(address))) {
    const hint = 'No file is ever taken from there: correct the URL.';
    const message = `${url.host} is a link-local address, where cloud machines get their credentials`;
    throw takeError('usage', 'addressRefused', message, hint);
  }
  if (rules.download.privateAddresses) return addresses;
  const isPublic: AddressJudge = rules.judge ?? judgeAddress;
  // All of them: any one of them may be connected to in the end.
  if (addresses.every(({ address }) => isPublic(address))) return addresses;
  throw takeError(
    'usage',
    'addressRefused',
    `${url.host} is an address of this machine or of a private network`,
    'If this is intended, set download.privateAddresses.',
  );
}

/** For the connection: always answers the checked addresses. */
export function fixedLookup(addresses: readonly HostAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}

async function addressesOf(host: string, resolve: ResolveHost, signal: AbortSignal): Promise<readonly HostAddress[]> {
  const literal = isIP(host);
  // The URL parser has already normalised odd forms (decimal, octal, hexadecimal, shortened).
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
  const hint = 'Check the host name, and that DNS works on this machine.';
  return new TryAgain(
    takeError('unreachable', 'urlUnreachable', `the host ${host} was not found (${reason})`, hint, cause),
    null,
  );
}

const systemResolve: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));

/** A look-up of the system cannot be cancelled; its result is ignored. */
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

/** Addresses that give cloud machines their credentials: refused even where private addresses are allowed. */
function isMetadataAddress(address: string): boolean {
  const [plain = ''] = address.split('%');
  return isIP(plain) === 6 ? neverAllowed.check(plain, 'ipv6') : neverAllowed.check(plain, 'ipv4');
}

export const judgeAddress: AddressJudge = (address) => {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4');
    case 6:
      // An address with a zone is meant for one network interface.
      return !address.includes('%') && globalUnicast.check(address, 'ipv6') && !refused.check(address, 'ipv6');
    default:
      return false;
  }
};
