/**
 * A request that offers another protocol (`Connection: Upgrade`), as the same one without that offer.
 *
 * A server may ignore it (RFC 9110, 7.8), and this one does. The HTTP parser ends with such a request, whether it is
 * accepted or not, and loses what came behind it: so the bytes are read once more, and the offer is left out.
 */
import type { IncomingMessage } from 'node:http';

/** Names that speak of the offer alone, in headers and in the list of `Connection`. */
const ofOffer: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** The bytes of the request, and of what came behind its head. */
export function withoutUpgrade(incoming: IncomingMessage, behind: Uint8Array): Buffer {
  const { method = '', url = '', httpVersionMajor, httpVersionMinor, rawHeaders } = incoming;
  const lines = [`${method} ${url} HTTP/${httpVersionMajor}.${httpVersionMinor}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1] ?? '';
    if (ofOffer.has(name.toLowerCase())) continue;
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? withoutOffer(value) : value}`);
  }
  // As the parser read them: each character is one byte.
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), behind]);
}

function withoutOffer(list: string): string {
  const names = list.split(',').map((name) => name.trim());
  return names.filter((name) => !ofOffer.has(name.toLowerCase())).join(', ');
}
