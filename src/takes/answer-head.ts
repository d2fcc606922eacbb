/**
 * What the status and the headers of a download's answer mean. Pure.
 *
 * An error page or a login page often comes with status 200: only its content type tells it from an export.
 */
import { retryAfterMaxMs } from '#src/workspace/port.ts';
import { parseRetryAfter, TryAgain } from '#src/workspace/retry.ts';
import { askedToWait, askedWaitMaxMs } from './asked-waits.ts';
import { takeError } from './take-error.ts';

export interface AnswerHead {
  readonly status: number;
  /** Null if it is missing; the first one if there are several. */
  header(name: string): string | null;
  /** All of that name. */
  headers(name: string): readonly string[];
}

/** What became of the credentials of a request: there were none, or a redirect to another origin kept them back. */
export type Credentials = 'none' | 'sent' | 'withheld';

const credentialHints: Readonly<Record<Credentials, string>> = {
  none: 'If it needs credentials, set authorization to the name of a variable that contains them.',
  sent: 'Check the value of the variable that authorization names.',
  withheld:
    'The credentials were not sent, since a redirect led to another origin than that of take: if it may get them, set take to its address.',
};

/** For any status except 200, the redirects and a 304 that was asked for. */
export function statusError(
  host: string,
  { status, header }: AnswerHead,
  credentials: Credentials,
  nowMs: number,
): Error {
  const answered = `${host} answered ${status}`;
  if (status === 401 || status === 403) {
    const message = `${answered}: access to the file is denied`;
    return takeError('auth', 'credentialsRefused', message, credentialHints[credentials]);
  }
  if (status === 404 || status === 410) {
    return takeError(
      'unreachable',
      'urlNotFound',
      `${answered}: the file does not exist`,
      'Check the URL of the feed.',
    );
  }
  if (status === 408 || status === 429 || status >= 500) {
    const askedMs = parseRetryAfter(header('retry-after'), nowMs, askedWaitMaxMs);
    const hint = 'It is tried again when it is due next.';
    const isLong = askedMs !== null && askedMs > retryAfterMaxMs;
    const failure = isLong
      ? askedToWait(answered, askedMs, nowMs)
      : takeError('unreachable', 'urlFailed', answered, hint);
    return new TryAgain(failure, askedMs);
  }
  return takeError('unreachable', 'urlRefused', `${answered} instead of a file`, 'Open the URL in a browser.');
}

/** The file name ending of the answer's content type. Throws `contentTypeRefused` (unreachable). */
export function acceptedType(host: string, head: AnswerHead): TypeEnding {
  const type = head.header('content-type');
  const ending = endingOfType(type);
  if (ending !== null) return ending;
  throw noExport(`${host} sends ${typeName(type)} instead of an export`);
}

const pageHint = 'A login page is the usual cause: open the URL in a browser, and check the credentials.';

export function noExport(message: string): Error {
  return takeError('unreachable', 'contentTypeRefused', message, pageHint);
}

/** Whether the body is compressed for transfer. Throws `contentEncodingRefused` (unreachable). */
export function isPacked(host: string, { header }: AnswerHead): boolean {
  const encoding = (header('content-encoding') ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return false;
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  const message = `${host} compresses the file in a way that was not asked for`;
  throw takeError(
    'unreachable',
    'contentEncodingRefused',
    message,
    'Ask the operator of that server for gzip or no compression.',
  );
}

/**
 * The declared length of the body; null if its end is marked otherwise. Throws `downloadLengthUnknown` (unreachable) if
 * nothing marks the end: a body that was cut off would look complete.
 */
export function declaredLength(host: string, { header }: AnswerHead, packed: boolean): number | null {
  const length = header('content-length');
  if (length !== null && /^\d{1,15}$/.test(length.trim())) return Number(length);
  const chunked = /(?:^|,)\s*chunked\s*$/i.test(header('transfer-encoding') ?? '');
  if (chunked || packed) return null;
  const message = `${host} does not say how long the file is, so half of it would look complete`;
  throw takeError(
    'unreachable',
    'downloadLengthUnknown',
    message,
    'Ask the operator of that server to send Content-Length.',
  );
}

/**
 * The pages of an answer may be announced in its headers alone. A part of an export is dangerous: the people whom a full file lacks look as if
 * they had left. Throws `morePages` (file).
 */
export function assertWhole(host: string, head: AnswerHead): void {
  const sign = head.headers('link').some(leadsToNext) ? 'Link points to the next one' : rangeSign(head);
  if (sign === null) return;
  const message = `${host} sends one page of several: its header ${sign}`;
  const hint =
    'Ask that server for all records at once, or fetch all pages, put their records into one file and let take name that.';
  throw takeError('file', 'morePages', message, hint);
}

/** `<https://…?page=2>; rel="next"`, among others. Where it says that nothing is there (`results="false"`), it leads nowhere. */
function leadsToNext(header: string): boolean {
  return [...header.matchAll(/<[^>]*>([^<]*)/g)].some(([, parameters = '']) => {
    if (/;\s*results\s*=\s*"?false"?/i.test(parameters)) return false;
    const [, quoted, plain = ''] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? [];
    return (quoted ?? plain).toLowerCase().split(/\s+/).includes('next');
  });
}

/** `items 0-99/900`: from, to and how many there are. */
function rangeSign({ header }: AnswerHead): string | null {
  const found = /^\s*(?:[a-z-]+[ =])?\s*(\d{1,15})-(\d{1,15})\/(\d{1,15})\s*$/i.exec(header('content-range') ?? '');
  if (found === null) return null;
  const [from, to, total] = found.slice(1).map(Number);
  // Some servers count from 1.
  const isWhole = (from === 0 && Number(to) + 1 >= Number(total)) || (from === 1 && to === total);
  return isWhole ? null : `Content-Range is ${found[0].trim()}`;
}

/** The file name ending for a content type; empty if the type does not say which format it is. */
export type TypeEnding = '.csv' | '.tsv' | '.json' | '.ndjson' | '.vcf' | '.xlsx' | '.xlsm' | '.zip' | '';

const endings: ReadonlyMap<string, TypeEnding> = new Map([
  ...['text/csv', 'application/csv', 'text/x-csv', 'application/x-csv', 'text/comma-separated-values'].map(csv),
  // Some servers send this for CSV. A workbook is recognised by its first bytes.
  csv('application/vnd.ms-excel'),
  ['text/tab-separated-values', '.tsv'],
  ...['application/json', 'text/json', 'application/vnd.api+json', 'application/hal+json'].map(json),
  ...['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/x-jsonlines'].map(ndjson),
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '.xlsx'],
  ['application/vnd.ms-excel.sheet.macroenabled.12', '.xlsm'],
  ...['text/vcard', 'text/x-vcard', 'text/directory'].map(vcf),
  ['application/zip', '.zip'],
  ['application/x-zip-compressed', '.zip'],
  ...['text/plain', 'application/octet-stream', 'binary/octet-stream', 'application/x-download'].map(unsaid),
  ...['application/force-download', 'application/gzip', 'application/x-gzip'].map(unsaid),
]);

function csv(type: string): readonly [string, TypeEnding] {
  return [type, '.csv'];
}

function json(type: string): readonly [string, TypeEnding] {
  return [type, '.json'];
}

function vcf(type: string): readonly [string, TypeEnding] {
  return [type, '.vcf'];
}

function ndjson(type: string): readonly [string, TypeEnding] {
  return [type, '.ndjson'];
}

function unsaid(type: string): readonly [string, TypeEnding] {
  return [type, ''];
}

/** Null if it is not the type of an export. Without the header the format is unknown. */
export function endingOfType(header: string | null): TypeEnding | null {
  const type = typeName(header);
  return type === '' ? '' : (endings.get(type) ?? null);
}

/** The type alone, for a message: anything malformed is not repeated. */
function typeName(header: string | null): string {
  const [type = ''] = (header ?? '').split(';');
  const name = type.trim().toLowerCase();
  return name === '' || /^[a-z\d][a-z\d.+-]{0,63}\/[a-z\d][a-z\d.+-]{0,63}$/.test(name)
    ? name
    : 'something of an unknown type';
}
