/**
 * One GET, to the addresses that were checked, over a connection of its own; its body is streamed into a file.
 *
 * Invariants: every connection is closed, and an unwanted body is not read. The file is the complete body, decompressed if
 * it was compressed for transfer, within the size limit, and on disk; or there is no file at all. Half a file is never taken.
 */

import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { buildConnector, Client } from 'undici';
import type { Clock } from '#src/clock.ts';
import type { Config } from '#src/config/schema.ts';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import { contentError } from '#src/sources/file-name.ts';
import { isZip } from '#src/sources/zip-archive.ts';
import { ownerOnlyFileMode, syncingWriter } from '#src/whole-file.ts';
import { TryAgain } from '#src/workspace/retry.ts';
import type { AddressRules } from './address-guard.ts';
import { checkedAddresses, fixedLookup } from './address-guard.ts';
import type { AnswerHead, Credentials, TypeEnding } from './answer-head.ts';
import { acceptedType, assertWhole, declaredLength, isPacked, noExport, statusError } from './answer-head.ts';
import { type BytesSeen, watchBytes } from './body-surplus.ts';
import { storageError, takeError } from './take-error.ts';

/** What requests are sent with. */
export interface RequestParts extends AddressRules {
  readonly clock: Clock;
  readonly download: Config['download'];
  /** The absolute path of the folder that files are downloaded into. */
  readonly downloads: string;
  /** Certificates that are trusted instead of the usual ones. */
  readonly tls?: { readonly ca: string };
  readonly limits?: Partial<DownloadLimits>;
}

export interface DownloadLimits {
  readonly connectMs: number;
  /** From the request to the last header of the answer. */
  readonly headersMs: number;
  /** Between two pieces of a download. */
  readonly stallMs: number;
  /** Tries of one download within a tick, the first included. */
  readonly triesMax: number;
  /** The wait before the second try, twice as long before the third; on top of what the server asks for. */
  readonly retryWaitMs: number;
}

export const downloadLimits: DownloadLimits = {
  connectMs: 10_000,
  headersMs: 30_000,
  stallMs: 30_000,
  triesMax: 3,
  retryWaitMs: 2_000,
};

/** The longest `ETag` or `Last-Modified` that is remembered. */
const markCharsMax = 1_024;

interface FileRequest {
  readonly url: URL;
  readonly authorization: string | null;
  /** Why there is no `authorization`: the feed has one, and a redirect led to another origin. */
  readonly isWithheld: boolean;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Where the file is written; nothing is there yet. */
  readonly path: string;
}

export type FileAnswer =
  | { readonly kind: 'redirect'; readonly location: string | null }
  | { readonly kind: 'notModified' }
  | ({
      readonly kind: 'file';
      readonly typeEnding: TypeEnding;
      readonly disposition: string | null;
      readonly etag: string | null;
      readonly lastModified: string | null;
    } & ReceivedBody);

/**
 * @throws PatchbayError for what another try cannot fix: `addressRefused`, `credentialsRefused`, `urlNotFound`,
 *   `urlRefused`, `morePages`, `contentTypeRefused`, `contentEncodingRefused`, `downloadLengthUnknown`, `downloadTooLarge`,
 *   `downloadLengthWrong`, `downloadEmpty`, `formatUnknown`, `certificateRefused`, `notHttp`, `diskFull`,
 *   `downloadFolderUnusable`.
 * @throws TryAgain for what another try may fix: `urlUnreachable`, `urlFailed`, `tlsFailed`, `downloadStalled`, `downloadCutOff`.
 */
export async function requestFile(parts: RequestParts, request: FileRequest, signal: AbortSignal): Promise<FileAnswer> {
  const { url } = request;
  const addresses = await checkedAddresses(parts, url, signal);
  const { connectMs, headersMs, stallMs } = { ...downloadLimits, ...parts.limits };
  const state: AskState = { begun: false, seen: null };
  const connect = buildConnector({
    allowH2: false,
    timeout: connectMs,
    lookup: fixedLookup(addresses),
    ...(parts.tls === undefined ? {} : { ca: parts.tls.ca }),
  });
  const client = new Client(url.origin, {
    allowH2: false,
    headersTimeout: headersMs,
    bodyTimeout: stallMs,
    connect: (options, callback) =>
      connect(options, (...opened) => {
        const [error, socket] = opened;
        if (error === null && socket !== null) state.seen = watchBytes(socket);
        callback(...opened);
      }),
  });
  try {
    return await ask(parts, request, client, signal, state);
  } catch (error) {
    signal.throwIfAborted();
    throw transportError(error, { host: url.host, begun: state.begun, folder: parts.downloads });
  } finally {
    await client.destroy();
  }
}

interface AskState {
  /** The headers of the answer have arrived. */
  begun: boolean;
  /** Of the connection; null before it is open. */
  seen: BytesSeen | null;
}

async function ask(
  parts: RequestParts,
  request: FileRequest,
  client: Client,
  signal: AbortSignal,
  state: AskState,
): Promise<FileAnswer> {
  const { url } = request;
  const path = `${url.pathname}${url.search}`;
  const response = await client.request({ method: 'GET', path, headers: headersOf(request), signal });
  const { body, statusCode: status } = response;
  // If the body is left unread, its failure has no other listener.
  body.on('error', () => {});
  state.begun = true;
  const headers = (name: string): readonly string[] => [response.headers[name] ?? []].flat();
  const head: AnswerHead = { status, headers, header: (name) => headers(name)[0] ?? null };
  if ([301, 302, 303, 307, 308].includes(status)) return { kind: 'redirect', location: head.header('location') };
  const asked = request.etag !== null || request.lastModified !== null;
  if (status === 304 && asked) return { kind: 'notModified' };
  if (status !== 200) throw statusError(url.host, head, credentialsOf(request), parts.clock.nowMs());
  assertWhole(url.host, head);

  const { bytesMax } = parts.download;
  const typeEnding = acceptedType(url.host, head);
  const gzip = isPacked(url.host, head);
  const declaredBytes = declaredLength(url.host, head, gzip);
  if (declaredBytes !== null && declaredBytes > bytesMax) throw tooLarge(url.host, bytesMax);
  const received = await receiveBody({ body, path: request.path, gzip, declaredBytes, bytesMax, host: url.host });
  if (declaredBytes !== null && state.seen?.hasSurplus(declaredBytes) === true) {
    await rm(request.path, { force: true });
    throw lengthTooShort(url.host);
  }
  return {
    kind: 'file',
    ...received,
    typeEnding,
    disposition: head.header('content-disposition'),
    etag: mark(head.header('etag')),
    lastModified: mark(head.header('last-modified')),
  };
}

function credentialsOf({ authorization, isWithheld }: FileRequest): Credentials {
  if (isWithheld) return 'withheld';
  return authorization === null ? 'none' : 'sent';
}

/** A value that is too long is not sent back: servers refuse such headers, and the file would never come again. */
function mark(value: string | null): string | null {
  return value === null || value.length > markCharsMax ? null : value;
}

function headersOf({ authorization, etag, lastModified }: FileRequest): Record<string, string> {
  return {
    accept: 'text/csv, application/json, application/x-ndjson, text/plain, */*;q=0.5',
    'accept-encoding': 'gzip',
    'user-agent': 'patchbay',
    ...(authorization === null ? {} : { authorization }),
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(lastModified === null ? {} : { 'if-modified-since': lastModified }),
  };
}

/** Judges a file by its first bytes, whatever the headers say. */
export function assertExport(host: string, { start, bytes }: ReceivedBody): void {
  if (bytes === 0) {
    const hint = 'Nothing was taken. Ask the operator of that server, or wait for the next time.';
    throw takeError('file', 'downloadEmpty', `${host} sent an empty file`, hint);
  }
  // What is packed is judged where it is unpacked, as the same file is in the import folder.
  if (isGzip(start) || isZip(start)) return;
  const error = contentError(start, `what ${host} sent`);
  if (error !== null) {
    const hint = 'Let that server export CSV (UTF-8) or JSON; a single file may be gzipped.';
    throw takeError('file', error.code, error.message, hint, error);
  }
  if (/^\uFEFF?\s*<(?:!doctype\b|!--|\?xml\b|html\b|head\b|body\b)/i.test(Buffer.from(start).toString('utf8'))) {
    throw noExport(`${host} sends a web page, or XML, instead of an export`);
  }
}

const startBytesMax = 1_024;

interface ReceivedBody {
  readonly path: string;
  /** Of the file, in hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** The first bytes of the file. */
  readonly start: Uint8Array;
}

interface BodyOrder {
  readonly body: Readable;
  /** Where the file is written; nothing is there yet. */
  readonly path: string;
  /** Compressed for transfer only (`Content-Encoding`). */
  readonly gzip: boolean;
  /** The value of `Content-Length`; null if it is missing. */
  readonly declaredBytes: number | null;
  readonly bytesMax: number;
  /** For messages. */
  readonly host: string;
}

/**
 * @throws PatchbayError `file` `downloadTooLarge`; what the body throws; the system's errors.
 * @throws TryAgain `downloadCutOff`.
 */
async function receiveBody(order: BodyOrder): Promise<ReceivedBody> {
  const handle = await open(order.path, 'wx', ownerOnlyFileMode);
  try {
    try {
      const received = await store(order, handle);
      await handle.sync();
      return received;
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(order.path, { force: true });
    throw error;
  }
}

async function store(order: BodyOrder, handle: FileHandle): Promise<ReceivedBody> {
  const { path, bytesMax } = order;
  const hash = createHash('sha256');
  const onTheWay = { bytes: 0 };
  let start = Buffer.alloc(0);
  let bytes = 0;
  const raw = counted(order, onTheWay);
  const write = syncingWriter(handle);
  // Ends with the body: each turn reads one more piece of it.
  for await (const chunk of order.gzip ? unpacked(raw, order.host) : raw) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(order.host, bytesMax);
    if (start.length < startBytesMax) {
      start = Buffer.concat([start, chunk.subarray(0, startBytesMax - start.length)]);
    }
    hash.update(chunk);
    await write(chunk);
  }
  if (order.declaredBytes !== null && onTheWay.bytes !== order.declaredBytes) throw cutOff(order.host);
  return { path, sha256: hash.digest('hex'), bytes, start };
}

async function* counted(order: BodyOrder, seen: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const chunk of order.body as AsyncIterable<Buffer>) {
    seen.bytes += chunk.length;
    if (seen.bytes > order.bytesMax) throw tooLarge(order.host, order.bytesMax);
    yield chunk;
  }
}

async function* unpacked(raw: AsyncIterable<Buffer>, host: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 64 * 1_024 });
  // The error arrives through the iteration below; the callback only keeps it from being reported as unhandled.
  pipeline(raw, gunzip, () => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'Z_BUF_ERROR') throw cutOff(host, error);
    if (code?.startsWith('Z_') !== true) throw error;
    const hint = 'Ask the operator of that server; without Content-Encoding the file would be taken as it is.';
    throw takeError(
      'unreachable',
      'contentEncodingRefused',
      `what ${host} sent is not compressed as its headers say`,
      hint,
      error,
    );
  }
}

function tooLarge(host: string, bytesMax: number): Error {
  const hint = 'If this is expected, raise download.bytesMax.';
  return takeError('file', 'downloadTooLarge', `${host} sends more than ${bytesMax} bytes`, hint);
}

function lengthTooShort(host: string): Error {
  const hint =
    'Ask the operator of that server: Content-Length must count bytes, not characters, and nothing may follow the file (in PHP, exit behind readfile). Nothing of it was used.';
  const message = `${host} sends more than the length that it declares: the file may be cut off`;
  return takeError('unreachable', 'downloadLengthWrong', message, hint);
}

function cutOff(host: string, cause?: unknown): TryAgain {
  const hint = 'It is tried again when it is due next; nothing of it was used.';
  return new TryAgain(
    takeError('unreachable', 'downloadCutOff', `the download from ${host} broke off before its end`, hint, cause),
    null,
  );
}

/** A failed download as its connection saw it: the one place that knows the error codes of undici and Node. */
interface FailedAnswer {
  readonly host: string;
  /** The headers of the answer had arrived. */
  readonly begun: boolean;
  /** The folder that its body is written into. */
  readonly folder: string;
}

/** @returns what to throw instead. */
function transportError(error: unknown, { host, begun, folder }: FailedAnswer): unknown {
  if (error instanceof PatchbayError || error instanceof TryAgain) return error;
  const code = systemCodeOf(error) ?? '';
  if (isOfCertificate(code)) {
    const hint = 'Ask the operator of that server; NODE_EXTRA_CA_CERTS adds a certificate authority of your own.';
    return takeError(
      'unreachable',
      'certificateRefused',
      `the certificate of ${host} is not trusted (${code})`,
      hint,
      error,
    );
  }
  if (code === 'UND_ERR_BODY_TIMEOUT') return again('downloadStalled', `the download from ${host} has stalled`, error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return again('urlUnreachable', `${host} does not answer in time`, error);
  if (isOfProtocol(error, code)) {
    if (begun) return cutOff(host, error);
    const hint = 'Check host and port of the URL.';
    return takeError('unreachable', 'notHttp', `${host} does not answer like a web server`, hint, error);
  }
  if (isOfTls(code) && !begun) {
    const hint = 'Check host and port of the URL, and whether that port speaks https.';
    return new TryAgain(
      takeError('unreachable', 'tlsFailed', `no encrypted connection to ${host} is possible (${code})`, hint, error),
      null,
    );
  }
  if (isOfConnection(code)) {
    if (begun) return cutOff(host, error);
    return again('urlUnreachable', `${host} cannot be reached (${code})`, error);
  }
  return storageError(error, folder);
}

function again(code: string, message: string, cause: unknown): TryAgain {
  const hint = 'It is tried again when it is due next.';
  return new TryAgain(takeError('unreachable', code, message, hint, cause), null);
}

function isOfConnection(code: string): boolean {
  return code.startsWith('UND_ERR_') || isOfTls(code) || networkCodes.has(code);
}

function isOfTls(code: string): boolean {
  return code.startsWith('ERR_SSL_') || code === 'EPROTO';
}

const networkCodes: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'ERR_STREAM_PREMATURE_CLOSE'],
]);

/** Errors of the HTTP parser do not always have a code. Two contradicting lengths are such an error, too. */
function isOfProtocol(error: unknown, code: string): boolean {
  const codes = ['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'];
  return codes.includes(code) || (error instanceof Error && error.name === 'HTTPParserError');
}

function isOfCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_/.test(code);
}

export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}
