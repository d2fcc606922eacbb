/**
 * One GET, to the addresses that were checked, over a connection of its own.
 *
 * Invariant: what it opens it closes; a body that is not wanted is not read.
 */
import { Client } from 'undici';
import { contentError } from '#src/sources/file-name.ts';
import { type AnswerHead, acceptedType, declaredLength, isPacked, noExport, statusError } from './answer-error.ts';
import type { TypeEnding } from './content-type.ts';
import { isGzip } from './download-name.ts';
import { limitsOf, type TakeParts } from './parts.ts';
import { type ReceivedBody, receiveBody, tooLarge } from './receive-body.ts';
import { checkedAddresses, fixedLookup } from './resolve-host.ts';
import { takeError } from './take-error.ts';
import { transportError } from './transport-error.ts';

/** Of an `ETag` or `Last-Modified` that is remembered. */
const markCharsMax = 1_024;

export interface FileRequest {
  readonly url: URL;
  readonly authorization: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Where the file goes; nothing is there yet. */
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
 * @throws PatchbayError for what another try cannot mend: `addressRefused`, `credentialsRefused`, `urlNotFound`,
 *   `urlRefused`, `contentTypeRefused`, `contentEncodingRefused`, `downloadLengthUnknown`, `downloadTooLarge`,
 *   `downloadEmpty`, `formatUnknown`, `certificateRefused`, `notHttp`, `diskFull`,
 *   `downloadFolderUnusable`.
 * @throws TryAgain for what it may: `urlUnreachable`, `urlFailed`, `tlsFailed`, `downloadStalled`, `downloadCutOff`.
 */
export async function requestFile(parts: TakeParts, request: FileRequest, signal: AbortSignal): Promise<FileAnswer> {
  const { url } = request;
  const addresses = await checkedAddresses(parts, url, signal);
  const { connectMs, headersMs, stallMs } = limitsOf(parts);
  const client = new Client(url.origin, {
    allowH2: false,
    headersTimeout: headersMs,
    bodyTimeout: stallMs,
    connect: {
      timeout: connectMs,
      lookup: fixedLookup(addresses),
      ...(parts.tls === undefined ? {} : { ca: parts.tls.ca }),
    },
  });
  const state = { begun: false };
  try {
    return await ask(parts, request, client, signal, state);
  } catch (error) {
    signal.throwIfAborted();
    throw transportError(error, { host: url.host, begun: state.begun, folder: parts.folders.downloads });
  } finally {
    await client.destroy();
  }
}

async function ask(
  parts: TakeParts,
  request: FileRequest,
  client: Client,
  signal: AbortSignal,
  state: { begun: boolean },
): Promise<FileAnswer> {
  const { url } = request;
  const path = `${url.pathname}${url.search}`;
  const response = await client.request({ method: 'GET', path, headers: headersOf(request), signal });
  const { body, statusCode: status } = response;
  // It may be left unread, and fails then without anybody who listens.
  body.on('error', () => {});
  state.begun = true;
  const head: AnswerHead = { status, header: (name) => firstOf(response.headers[name]) };
  if ([301, 302, 303, 307, 308].includes(status)) return { kind: 'redirect', location: head.header('location') };
  const asked = request.etag !== null || request.lastModified !== null;
  if (status === 304 && asked) return { kind: 'notModified' };
  if (status !== 200) throw statusError(url.host, head, request.authorization !== null, parts.clock.nowMs());

  const { bytesMax } = parts.download;
  const typeEnding = acceptedType(url.host, head);
  const gzip = isPacked(url.host, head);
  const declaredBytes = declaredLength(url.host, head, gzip);
  if (declaredBytes !== null && declaredBytes > bytesMax) throw tooLarge(url.host, bytesMax);
  const received = await receiveBody({ body, path: request.path, gzip, declaredBytes, bytesMax, host: url.host });
  return {
    kind: 'file',
    ...received,
    typeEnding,
    disposition: head.header('content-disposition'),
    etag: mark(head.header('etag')),
    lastModified: mark(head.header('last-modified')),
  };
}

/** One too long is not sent back: servers refuse such headers, and the file would never come again. */
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

/** What can be seen by the first bytes, whatever the headers say. */
export function assertExport(host: string, { start, bytes }: ReceivedBody): void {
  if (bytes === 0) {
    const hint = 'Nothing was taken; ask who runs that server, or wait for the next time.';
    throw takeError('file', 'downloadEmpty', `${host} sent an empty file`, hint);
  }
  if (isGzip(start)) return;
  const error = contentError(start, `what ${host} sent`);
  if (error !== null) {
    const hint = 'Let that server export CSV (UTF-8) or JSON; a single file may be packed as gzip.';
    throw takeError('file', error.code, error.message, hint, error);
  }
  if (/^\uFEFF?\s*<(?:!doctype\b|!--|\?xml\b|html\b|head\b|body\b)/i.test(Buffer.from(start).toString('utf8'))) {
    throw noExport(`${host} sends a web page, or XML, instead of an export`);
  }
}

function firstOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
