/**
 * How a download is called: its ending tells the reader the format, the rest is for people. Pure.
 *
 * Only a name that ends as an export does is taken from the URL: other last parts of a path may be what makes it secret.
 */
import { classifyFileName, safeFileName } from '#src/sources/file-name.ts';
import type { TypeEnding } from './content-type.ts';

export interface NameSources {
  readonly disposition: string | null;
  /** The URL that answered, then the one that was asked first. */
  readonly urls: readonly URL[];
  readonly typeEnding: TypeEnding;
  /** The first bytes, as they are stored. */
  readonly start: Uint8Array;
  /** Names it where nothing else does. */
  readonly feed: string;
}

/** A name that `classifyFileName` takes, with `.gz` just where the content is packed. */
export function downloadName({ disposition, urls, typeEnding, start, feed }: NameSources): string {
  const told = dispositionName(disposition);
  const names = [told ?? '', ...urls.map(lastPart)].map(unpackedName);
  const proper = names.find((name) => classifyFileName(name).kind === 'take');
  const name = proper ?? `${stem(told) ?? safeFileName(feed)}${typeEnding === '' ? guess(start) : typeEnding}`;
  return isGzip(start) ? `${name}.gz` : name;
}

export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}

function unpackedName(name: string): string {
  return name === '' ? '' : safeFileName(name).replace(/\.gz$/i, '');
}

function stem(name: string | null): string | null {
  if (name === null || !/[\p{L}\p{N}]/u.test(name)) return null;
  return safeFileName(name).replace(/\.[^.]*$/, '') || null;
}

function guess(start: Uint8Array): string {
  // A byte order mark and blanks may come first.
  return /^[\uFEFF\s]*[[{]/.test(Buffer.from(start).toString('utf8')) ? '.json' : '.csv';
}

function lastPart({ pathname }: URL): string {
  return decoded(pathname.slice(pathname.lastIndexOf('/') + 1), 'utf8');
}

/** The file name of RFC 6266: the extended form first, without folders. */
export function dispositionName(header: string | null): string | null {
  if (header === null) return null;
  const extended = /;\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^']*'([^\s;]+)/i.exec(header);
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(header);
  const plain = /;\s*filename\s*=\s*([^\s";]+)/i.exec(header);
  const name = extended
    ? decoded(extended[2] ?? '', extended[1]?.toLowerCase() === 'utf-8' ? 'utf8' : 'latin1')
    : (quoted?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[1] ?? '');
  const last = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
  return last.trim() === '' ? null : last;
}

function decoded(text: string, encoding: 'utf8' | 'latin1'): string {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  // What is no escape is beyond latin1 only where the header itself broke its rules.
  return /^[\0-\xff]*$/.test(bytes) ? Buffer.from(bytes, 'latin1').toString(encoding) : text;
}
