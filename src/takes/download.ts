/**
 * A download: a few tries within one time limit, each of which follows redirects.
 *
 * Redirects are followed by hand, so that each one is checked: encrypted stays encrypted, a foreign host must be allowed by
 * name, and the credentials of the first server are never sent to another. Once the chain has left the first origin it stays
 * without credentials, even where it comes back: another server chose the way there.
 *
 * Terms: a *place* is where an answer finally came from, without its query, which may change each time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Config } from '#src/config/schema.ts';
import type { TakenUrl } from '#src/ledger/takes.ts';
import type { Logger } from '#src/log.ts';
import { classifyFileName, safeFileName } from '#src/sources/file-name.ts';
import { isZip } from '#src/sources/zip-archive.ts';
import { makeFolder } from '#src/whole-file.ts';
import { retry } from '#src/workspace/retry.ts';
import type { TypeEnding } from './answer-head.ts';
import {
  assertExport,
  downloadLimits,
  type FileAnswer,
  isGzip,
  type RequestParts,
  requestFile,
} from './request-file.ts';
import { takeError } from './take-error.ts';

export interface DownloadParts extends RequestParts {
  readonly log: Logger;
}

interface DownloadOrder {
  readonly feed: string;
  readonly take: string;
  readonly authorization: string | null;
  /** What was taken from this URL last. */
  readonly remembered: TakenUrl | null;
}

type Download =
  | { readonly kind: 'notModified' }
  | {
      readonly kind: 'file';
      /** In the private folder; the caller moves or removes it. */
      readonly path: string;
      readonly fileName: string;
      readonly sha256: string;
      readonly bytes: number;
      readonly answeredHash: string;
      readonly etag: string | null;
      readonly lastModified: string | null;
    };

/**
 * Leaves no file behind where it throws.
 * @throws PatchbayError what `firstHop`, `nextHop` and `requestFile` throw; `unreachable` `downloadTimeout`.
 */
export async function download(parts: DownloadParts, order: DownloadOrder, signal: AbortSignal): Promise<Download> {
  const first = firstHop(order.take, parts.download);
  await makeFolder(parts.downloads);
  const endsAtMs = parts.clock.monotonicMs() + parts.download.timeoutMs;
  const end = new AbortController();
  const late = new AbortController();
  const whole = AbortSignal.any([signal, late.signal]);
  // The one rejection is `end`: the download was faster.
  const timer = parts.clock.sleep(parts.download.timeoutMs, end.signal).then(
    () => late.abort(),
    () => {},
  );
  try {
    return await tryOften(parts, () => follow(parts, order, first, whole), whole, endsAtMs);
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) throw tooLate(first.url.host, parts.download.timeoutMs);
    throw error;
  } finally {
    end.abort();
    await timer;
  }
}

async function tryOften<Result>(
  parts: DownloadParts,
  attempt: () => Promise<Result>,
  signal: AbortSignal,
  endsAtMs: number,
): Promise<Result> {
  const { triesMax, retryWaitMs } = { ...downloadLimits, ...parts.limits };
  return retry(attempt, {
    triesMax,
    waitMs: ({ retryAfterMs }, tryNumber) => {
      const waitMs = (retryAfterMs ?? 0) + retryWaitMs * tryNumber;
      // If there is no time for another try, the failure itself is reported, not that the download took too long.
      return parts.clock.monotonicMs() + waitMs >= endsAtMs ? null : waitMs;
    },
    onWait: ({ code }, attempt, waitMs) => parts.log.info({ code, attempt, waitMs }, 'download is tried again'),
    clock: parts.clock,
    signal,
  });
}

async function follow(parts: DownloadParts, order: DownloadOrder, first: Hop, signal: AbortSignal): Promise<Download> {
  let hop = first;
  // Ends after `redirectsMax` redirects: `nextHop` throws.
  for (;;) {
    const path = join(parts.downloads, `${randomUUID()}.part`);
    // Validators are sent only to the place that gave them: another place may use equal ones for other content.
    const remembered = order.remembered?.answeredHash === placeHash(hop.url) ? order.remembered : null;
    const answer = await requestFile(
      parts,
      {
        url: hop.url,
        path,
        authorization: hop.trusted ? order.authorization : null,
        isWithheld: !hop.trusted && order.authorization !== null,
        etag: remembered?.etag ?? null,
        lastModified: remembered?.lastModified ?? null,
      },
      signal,
    );
    if (answer.kind === 'notModified') return answer;
    if (answer.kind === 'file') return await received(order, first, hop, answer);
    hop = nextHop(first, hop, answer.location, parts.download);
  }
}

async function received(
  { feed }: DownloadOrder,
  first: Hop,
  { url }: Hop,
  answer: Extract<FileAnswer, { kind: 'file' }>,
): Promise<Download> {
  try {
    assertExport(url.host, answer);
  } catch (error) {
    await rm(answer.path, { force: true });
    throw error;
  }
  const { path, sha256, bytes, etag, lastModified } = answer;
  const fileName = downloadName({ ...answer, urls: [url, first.url], feed });
  return { kind: 'file', path, fileName, sha256, bytes, answeredHash: placeHash(url), etag, lastModified };
}

function placeHash({ origin, pathname }: URL): string {
  return urlHashOf(`${origin}${pathname}`);
}

/** A URL as the ledger and log lines identify it. */
export function urlHashOf(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}

function tooLate(host: string, timeoutMs: number): Error {
  const message = `the download from ${host} took longer than ${timeoutMs / 1_000} s`;
  return takeError('unreachable', 'downloadTimeout', message, 'If it needs this long, raise download.timeout.');
}

const redirectsMax = 5;

type Rules = Pick<Config['download'], 'hosts' | 'privateAddresses'>;

interface Hop {
  readonly url: URL;
  /** Whether `Authorization` may be sent to it. */
  readonly trusted: boolean;
  /** Redirects that led here. */
  readonly redirects: number;
}

/** @throws PatchbayError `usage`: `urlInvalid`, `httpsNeeded`. */
function firstHop(take: string, rules: Rules): Hop {
  const url = URL.parse(take);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    const hint = 'Correct take; put user name and password into the variable that authorization names.';
    throw takeError('usage', 'urlInvalid', 'the URL of the feed cannot be used', hint);
  }
  if (url.protocol === 'http:' && !rules.privateAddresses) {
    const hint = 'Use https; plain http is for private networks, with download.privateAddresses.';
    throw takeError('usage', 'httpsNeeded', `${url.host} would be contacted without encryption`, hint);
  }
  return { url, trusted: true, redirects: 0 };
}

/**
 * @param location the header as it came; null where there was none.
 * @throws PatchbayError `unreachable`: `redirectRefused`, `tooManyRedirects`.
 */
function nextHop(first: Hop, from: Hop, location: string | null, rules: Rules): Hop {
  if (from.redirects >= redirectsMax) {
    const hint = 'Open the URL in a browser: if it asks for a login, authorization is missing.';
    const message = `${from.url.host} redirects more than ${redirectsMax} times`;
    throw takeError('unreachable', 'tooManyRedirects', message, hint);
  }
  const url = location === null ? null : URL.parse(location, from.url.href);
  if (url === null) throw refused(`${from.url.host} redirects to nowhere`, 'Ask the operator of that server.');
  if (!/^https?:$/.test(url.protocol)) {
    throw refused(`${from.url.host} redirects to ${url.protocol}`, 'Only https is followed.');
  }
  if (url.protocol === 'http:' && (from.url.protocol === 'https:' || !rules.privateAddresses)) {
    throw refused(
      `${from.url.host} redirects from https to http`,
      'Ask the operator of that server for an https address.',
    );
  }
  if (url.hostname !== first.url.hostname && !rules.hosts.includes(url.hostname)) {
    // No advice to allow an address that a server names instead of a host.
    const hint = isAddress(url)
      ? 'Ask the operator of that server; an export does not redirect to a bare address.'
      : `If this is expected, add ${url.hostname} to download.hosts. Otherwise a login page is the usual cause.`;
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

/** What a download's name is made from. */
export interface NameSources {
  readonly disposition: string | null;
  /** The URL that answered, then the one that was asked first. */
  readonly urls: readonly URL[];
  readonly typeEnding: TypeEnding;
  /** The first bytes, as they are stored. */
  readonly start: Uint8Array;
  /** The name if there is no other. */
  readonly feed: string;
}

/**
 * The name of a download: its ending names the format, the rest is for people. Pure. Only a name with the ending of an export
 * is taken from the URL: the last part of another path may be what makes the URL secret.
 * @returns a name that `classifyFileName` accepts, with `.gz` only if the content is gzipped.
 */
export function downloadName({ disposition, urls, typeEnding, start, feed }: NameSources): string {
  const given = dispositionName(disposition);
  const [ofServer = '', ...ofUrls] = [given ?? '', ...urls.map(lastPart)].map(unpackedName);
  const isProper = (name: string): boolean => classifyFileName(name).kind === 'take';
  const ofUrl = ofUrls.find(isProper);
  const proper = isProper(ofServer) ? ofServer : ofUrl === undefined ? undefined : asTyped(ofUrl, typeEnding, start);
  const name = proper ?? `${stem(given) ?? safeFileName(feed)}${typeEnding === '' ? guess(start) : typeEnding}`;
  return isGzip(start) ? `${name}.gz` : name;
}

function unpackedName(name: string): string {
  return name === '' ? '' : safeFileName(name).replace(/\.gz$/i, '');
}

function stem(name: string | null): string | null {
  if (name === null || !/[\p{L}\p{N}]/u.test(name)) return null;
  return safeFileName(name).replace(/\.[^.]*$/, '') || null;
}

function guess(start: Uint8Array): TypeEnding {
  if (isZip(start)) return '.xlsx';
  // A byte order mark and blanks may come first.
  const [, first = ''] = /^[\uFEFF\s]*(BEGIN:VCARD|[[{])/i.exec(Buffer.from(start).toString('utf8')) ?? [];
  if (first === '') return '.csv';
  return first.length > 1 ? '.vcf' : '.json';
}

const kinds: ReadonlyMap<string, string> = new Map([
  ...['.csv', '.tsv', '.txt'].map((ending) => [ending, 'table'] as const),
  ...['.json', '.ndjson', '.jsonl'].map((ending) => [ending, 'json'] as const),
  ...['.vcf', '.vcard'].map((ending) => [ending, 'cards'] as const),
]);

/**
 * The name of a URL with the ending of the content type, where that says of another kind of text and the content agrees, as in
 * `/contacts.json?format=csv`.
 */
function asTyped(name: string, typeEnding: TypeEnding, start: Uint8Array): string {
  const ending = name.slice(name.lastIndexOf('.'));
  const [named, typed, found] = [ending.toLowerCase(), typeEnding, guess(start)].map((one) => kinds.get(one));
  const isOther = named !== undefined && typed !== undefined && named !== typed && typed === found;
  return isOther && !isGzip(start) ? `${name.slice(0, -ending.length)}${typeEnding}` : name;
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
  // Other characters are beyond latin1 only if the header itself broke its rules.
  return /^[\0-\xff]*$/.test(bytes) ? Buffer.from(bytes, 'latin1').toString(encoding) : text;
}
