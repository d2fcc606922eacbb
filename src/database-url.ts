/**
 * What of a database's URL settings and the ledger judge alike, each with its own sentences. No answer holds a part of the text, which may hold a
 * password.
 */

/**
 * What is wrong with the hosts of a URL as libpq takes it, where this is known: none behind an `@` (a socket), or several. Where an `@` follows
 * later, a password that is not escaped may have been cut in two, and nothing is known.
 */
export function hostsProblem(text: string): string | null {
  const [, authority = '', behind = ''] = /^[a-z]+:\/\/([^/?#]*)(.*)$/is.exec(text) ?? [];
  if (behind.includes('@')) return null;
  const at = authority.lastIndexOf('@');
  const hosts = authority.slice(at + 1);
  if (at !== -1 && /^(?::\d*)?$/.test(hosts)) {
    return 'no host behind the @: write the folder of a socket as user@%2Fvar%2Frun%2Fpostgresql';
  }
  return hosts.includes(',') ? 'more than one host: name one' : null;
}

/** Whether each `%` in it begins an escape. */
export function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
