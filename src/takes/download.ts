/**
 * A download: a few tries, each of which follows redirects, all within one time.
 *
 * Terms: a *place* is where an answer came from in the end, without its query, which may change each time.
 */

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Config } from '#src/config/schema.ts';
import type { TakenUrl } from '#src/ledger/takes.ts';
import type { Logger } from '#src/log.ts';
import { classifyFileName, safeFileName } from '#src/sources/file-name.ts';
import { retry } from '#src/workspace/retry.ts';
import type { RequestParts } from './request-file.ts';
import { assertExport, downloadLimits, type FileAnswer, isGzip, requestFile, type TypeEnding } from './request-file.ts';
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
      /** In our private folder; whoever asked for it moves or removes it. */
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
  await mkdir(parts.downloads, { recursive: true, mode: 0o700 });
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
    // Validators are told to the place alone that gave them: another one may count with the same.
    const remembered = order.remembered?.answeredHash === placeHash(hop.url) ? order.remembered : null;
    const answer = await requestFile(
      parts,
      {
        url: hop.url,
        path,
        authorization: hop.trusted ? order.authorization : null,
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

/** A URL as the ledger and log lines know it. */
export function urlHashOf(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}

function tooLate(host: string, timeoutMs: number): Error {
  const message = `the download from ${host} took longer than ${timeoutMs / 1_000} s`;
  return takeError('unreachable', 'downloadTimeout', message, 'If it needs this long, raise download.timeoutMs.');
}

/**
 * Where a download may go: the feed's URL, and the redirects of its servers. Pure.
 *
 * Redirects are followed by hand, so that each one is looked at: encrypted stays encrypted, a foreign host must be allowed
 * by name, and what opens the first server is never shown to another. Once the chain has left the first origin it stays
 * without credentials, also where it comes back: the way there was chosen by somebody else.
 */
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
    const hint = 'Correct take; a user name and password go into the variable that authorization names.';
    throw takeError('usage', 'urlInvalid', 'the URL of the feed cannot be used', hint);
  }
  if (url.protocol === 'http:' && !rules.privateAddresses) {
    const hint = 'Use https; plain http is for private networks, with download.privateAddresses.';
    throw takeError('usage', 'httpsNeeded', `${url.host} would be asked without encryption`, hint);
  }
  return { url, trusted: true, redirects: 0 };
}

/**
 * @param location the header as it came; null where there was none.
 * @throws PatchbayError `unreachable`: `redirectRefused`, `tooManyRedirects`.
 */
function nextHop(first: Hop, from: Hop, location: string | null, rules: Rules): Hop {
  if (from.redirects >= redirectsMax) {
    const hint = 'Open the URL in a browser: where it asks for a login, authorization is missing.';
    const message = `${from.url.host} redirects more than ${redirectsMax} times`;
    throw takeError('unreachable', 'tooManyRedirects', message, hint);
  }
  const url = location === null ? null : URL.parse(location, from.url.href);
  if (url === null) throw refused(`${from.url.host} redirects to nowhere`, 'Ask who runs that server.');
  if (!/^https?:$/.test(url.protocol)) {
    throw refused(`${from.url.host} redirects to ${url.protocol}`, 'Only https is followed.');
  }
  if (url.protocol === 'http:' && (from.url.protocol === 'https:' || !rules.privateAddresses)) {
    throw refused(`${from.url.host} redirects from https to http`, 'Ask who runs that server for an https address.');
  }
  if (url.hostname !== first.url.hostname && !rules.hosts.includes(url.hostname)) {
    // An address that a server names instead of a host is not to be let in by advice.
    const hint = isAddress(url)
      ? 'Ask who runs that server; an export does not lead to a bare address.'
      : `Where that is right, add ${url.hostname} to download.hosts. A login page is the usual cause else.`;
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

/**
 * How a download is called: its ending tells the reader the format, the rest is for people. Pure.
 *
 * Only a name that ends as an export does is taken from the URL: other last parts of a path may be what makes it secret.
 */
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
