/** A certificate of its own for a test's https server: made anew each time, valid for the names given. */
import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export function selfSigned(names: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ecdsaWithSha256 = sequence(tlv(0x06, hex('2a8648ce3d040302')));
  const commonName = sequence(tlv(0x31, sequence(tlv(0x06, hex('550403')), tlv(0x0c, Buffer.from('test')))));
  const alternatives = sequence(tlv(0x06, hex('551d11')), tlv(0x04, sequence(...names.map(dnsName))));
  const authority = sequence(tlv(0x06, hex('551d13')), tlv(0x04, sequence(tlv(0x01, hex('ff')))));
  const toBeSigned = sequence(
    tlv(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    commonName,
    sequence(time('20200101000000Z'), time('20991231000000Z')),
    commonName,
    publicKey.export({ format: 'der', type: 'spki' }),
    tlv(0xa3, sequence(alternatives, authority)),
  );
  const signature = tlv(0x03, Buffer.concat([Buffer.of(0), sign('sha256', toBeSigned, privateKey)]));
  const certificate = sequence(toBeSigned, ecdsaWithSha256, signature);
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** Tag, length, value: the one form of DER. */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), value]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), value]);
}

function sequence(...values: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(values));
}

function integer(value: number): Buffer {
  return tlv(0x02, Buffer.of(value));
}

function time(text: string): Buffer {
  return tlv(0x18, Buffer.from(text));
}

function dnsName(name: string): Buffer {
  return tlv(0x82, Buffer.from(name));
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
