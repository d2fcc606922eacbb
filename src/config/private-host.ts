/** Which hosts are this machine or a private network, judged by their name alone: no name is resolved here. */

/** Whether what listens on this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Loopback, an address of a private or link-local range or of one that a provider's customers share, a name without a dot as in a compose file, or one under
 * `.localhost`, `.local`, `.internal`. `host` is as in `URL.hostname`: lower-case, IPv6 in brackets.
 */
export function isPrivateHost(host: string): boolean {
  if (isLoopback(host)) return true;
  if (host.startsWith('[')) return /^\[(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):/.test(host);
  if (/^\d+(\.\d+){3}$/.test(host)) {
    const [first = 0, second = 0] = host.split('.').map(Number);
    if (first === 172) return second >= 16 && second <= 31;
    if (first === 100) return second >= 64 && second <= 127;
    return first === 10 || (first === 192 && second === 168) || (first === 169 && second === 254);
  }
  return !host.includes('.') || /\.(?:localhost|local|internal)$/.test(host);
}
