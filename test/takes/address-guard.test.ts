/** A download never reaches this machine or the network around it. */
import { describe, expect, it } from 'vitest';
import { judgeAddress } from '#src/takes/address-guard.ts';

const refused: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1', 'fec0::1'],
  'shared by a provider': ['100.64.0.1', '100.127.255.255', '100.100.100.200'],
  'link-local': ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  metadata: ['169.254.169.254', '168.63.129.16', 'fd00:ec2::254'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'broadcast and reserved': ['255.255.255.255', '240.0.0.1'],
  'documentation and benchmarks': ['192.0.2.1', '198.51.100.7', '203.0.113.9', '198.18.0.1', '2001:db8::1', '3fff::1'],
  'protocol assignments': ['192.0.0.1', '192.88.99.1', '100::1', '5f00::1'],
  'IPv4 in IPv6': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:127.0.0.1', '::ffff:7f00:1'],
  'NAT64, 6to4, Teredo': ['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::1', '2001:0:4136:e378::1'],
  'no address': ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3.4.5', '[::1]'],
};

const allowed = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1', '126.255.255.255'],
  ...['128.0.0.1', '172.15.255.255', '172.32.0.1', '192.167.255.255', '192.169.0.1', '223.255.255.255'],
  ...['2001:4860:4860::8888', '2606:4700::1111', '2a00:1450::1', '2003::1'],
];

describe('an address is no public one', () => {
  it.each(Object.entries(refused))('where it is %s', (_what, addresses) => {
    expect(addresses.filter(judgeAddress)).toEqual([]);
  });

  it('and the others are', () => {
    expect(allowed.filter((address) => !judgeAddress(address))).toEqual([]);
  });
});

describe('odd forms of an address in a URL', () => {
  it.each([
    ...['https://2130706433/', 'https://0x7f000001/', 'https://0177.0.0.1/', 'https://127.1/', 'https://127.0.0.1./'],
    ...['https://0x7f.1/', 'https://%31%32%37.0.0.1/', 'https://①②⑦.0.0.1/', 'https://[::ffff:127.0.0.1]/'],
    ...['https://[0:0:0:0:0:0:0:1]/', 'https://0/', 'https://[::127.0.0.1]/', 'https://[64:ff9b::127.0.0.1]/'],
  ])('%s is seen for what it is', (url) => {
    expect(judgeAddress(new URL(url).hostname.replace(/^\[|\]$/g, ''))).toBe(false);
  });
});
