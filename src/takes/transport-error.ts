/** What the connection saw of a download that failed, in words. Classified here once, by the codes of undici and Node. */
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import { cutOff } from './receive-body.ts';
import { storageError, takeError } from './take-error.ts';
import { TryAgain } from './try-again.ts';

export interface FailedAnswer {
  readonly host: string;
  /** The headers of the answer had come. */
  readonly begun: boolean;
  /** The folder that its body is written into. */
  readonly folder: string;
}

/** @returns what is to be thrown instead. */
export function transportError(error: unknown, { host, begun, folder }: FailedAnswer): unknown {
  if (error instanceof PatchbayError || error instanceof TryAgain) return error;
  const code = systemCodeOf(error) ?? '';
  if (isOfCertificate(code)) {
    const hint = 'Ask who runs that server; a certificate of your own is trusted with NODE_EXTRA_CA_CERTS.';
    return takeError(
      'unreachable',
      'certificateRefused',
      `the certificate of ${host} is not trusted (${code})`,
      hint,
      error,
    );
  }
  if (code === 'UND_ERR_BODY_TIMEOUT') return again('downloadStalled', `the download from ${host} stands still`, error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return again('urlUnreachable', `${host} does not answer in time`, error);
  if (isOfProtocol(error, code)) {
    if (begun) return cutOff(host, error);
    const hint = 'Check host and port of the URL.';
    return takeError('unreachable', 'notHttp', `${host} does not answer as a web server does`, hint, error);
  }
  if (isOfTls(code) && !begun) {
    const hint = 'Check host and port of the URL, and whether that port speaks https.';
    return new TryAgain(
      takeError('unreachable', 'tlsFailed', `no encrypted connection to ${host} comes about (${code})`, hint, error),
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
  const hint = 'It is taken again when it is due next.';
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

/** The parser's errors do not always have a code. Two lengths that contradict each other are such an error too. */
function isOfProtocol(error: unknown, code: string): boolean {
  const codes = ['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'];
  return codes.includes(code) || (error instanceof Error && error.name === 'HTTPParserError');
}

function isOfCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_/.test(code);
}
