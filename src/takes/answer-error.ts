/** What the status and the headers of an answer mean where it is no file. */
import { parseRetryAfter } from '#src/workspace/retry.ts';
import { endingOfType, type TypeEnding, typeName } from './content-type.ts';
import { takeError } from './take-error.ts';
import { TryAgain } from './try-again.ts';

export interface AnswerHead {
  readonly status: number;
  /** Null where it is not there; the first where there are several. */
  header(name: string): string | null;
}

/** Any status but 200, the redirects and a 304 that was asked for. */
export function statusError(
  host: string,
  { status, header }: AnswerHead,
  credentialsSent: boolean,
  nowMs: number,
): Error {
  const answered = `${host} answered ${status}`;
  if (status === 401 || status === 403) {
    const hint = credentialsSent
      ? 'Check the value of the variable that authorization names.'
      : 'Where it wants credentials, name a variable that holds them with authorization.';
    return takeError('auth', 'credentialsRefused', `${answered}: it refuses to give the file`, hint);
  }
  if (status === 404 || status === 410) {
    return takeError('unreachable', 'urlNotFound', `${answered}: the file is not there`, 'Check the URL of the feed.');
  }
  if (status === 408 || status === 429 || status >= 500) {
    const hint = 'It is taken again when it is due next.';
    const failure = takeError('unreachable', 'urlFailed', answered, hint);
    return new TryAgain(failure, parseRetryAfter(header('retry-after'), nowMs));
  }
  return takeError('unreachable', 'urlRefused', `${answered} instead of a file`, 'Open the URL in a browser.');
}

/** The ending that goes with the type. Throws `contentTypeRefused` (unreachable). */
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

/** Whether the body is packed for the way. Throws `contentEncodingRefused` (unreachable). */
export function isPacked(host: string, { header }: AnswerHead): boolean {
  const encoding = (header('content-encoding') ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return false;
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  const message = `${host} packs the file in a way that was not asked for`;
  throw takeError('unreachable', 'contentEncodingRefused', message, 'Ask who runs that server for gzip, or none.');
}

/**
 * What the body's length is told to be. Throws `downloadLengthUnknown` (unreachable) where nothing tells where it ends: one
 * that was cut off would look whole.
 */
export function declaredLength(host: string, { header }: AnswerHead, packed: boolean): number | null {
  const length = header('content-length');
  if (length !== null && /^\d{1,15}$/.test(length.trim())) return Number(length);
  const chunked = /(?:^|,)\s*chunked\s*$/i.test(header('transfer-encoding') ?? '');
  if (chunked || packed) return null;
  const message = `${host} does not tell how long the file is, so that half of it would look whole`;
  throw takeError('unreachable', 'downloadLengthUnknown', message, 'Ask who runs that server for Content-Length.');
}
