/**
 * A download: a few tries, each of which follows redirects, all within one time.
 *
 * Terms: a *place* is where an answer came from in the end, without its query, which may change each time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pRetry from 'p-retry';
import type { TakenUrl } from '#src/ledger/takes.ts';
import { downloadName } from './download-name.ts';
import { firstHop, type Hop, nextHop } from './next-hop.ts';
import { limitsOf, type TakeParts } from './parts.ts';
import { assertExport, type FileAnswer, requestFile } from './request-file.ts';
import { takeError } from './take-error.ts';
import { TryAgain } from './try-again.ts';

export interface DownloadOrder {
  readonly feed: string;
  readonly take: string;
  readonly authorization: string | null;
  /** What was taken from this URL last. */
  readonly remembered: TakenUrl | null;
}

export type Download =
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
export async function download(parts: TakeParts, order: DownloadOrder, signal: AbortSignal): Promise<Download> {
  const first = firstHop(order.take, parts.download);
  await mkdir(parts.folders.downloads, { recursive: true, mode: 0o700 });
  const endsAtMs = parts.clock.monotonicMs() + parts.download.timeout;
  const end = new AbortController();
  const late = new AbortController();
  const whole = AbortSignal.any([signal, late.signal]);
  // The one rejection is `end`: the download was faster.
  const timer = parts.clock.sleep(parts.download.timeout, end.signal).then(
    () => late.abort(),
    () => {},
  );
  try {
    return await tryOften(parts, () => follow(parts, order, first, whole), whole, endsAtMs);
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) throw tooLate(first.url.host, parts.download.timeout);
    throw error instanceof TryAgain ? error.failure : error;
  } finally {
    end.abort();
    await timer;
  }
}

/**
 * The library counts; the waiting is ours, since it knows no `Retry-After`. It does not get the signal either: it would throw
 * an answer away that came together with the abort.
 */
async function tryOften<Result>(
  parts: TakeParts,
  attempt: () => Promise<Result>,
  signal: AbortSignal,
  endsAtMs: number,
): Promise<Result> {
  const { triesMax, retryWaitMs } = limitsOf(parts);
  return pRetry(attempt, {
    retries: triesMax - 1,
    minTimeout: 0,
    shouldRetry: async ({ error, attemptNumber }) => {
      if (!(error instanceof TryAgain) || signal.aborted) return false;
      const waitMs = (error.retryAfterMs ?? 0) + retryWaitMs * attemptNumber;
      // There would be no time for another try: what went wrong is told, and not that it took long.
      if (parts.clock.monotonicMs() + waitMs >= endsAtMs) return false;
      parts.log.info({ code: error.failure.code, attempt: attemptNumber, waitMs }, 'download is tried again');
      await parts.clock.sleep(waitMs, signal);
      return true;
    },
  });
}

async function follow(parts: TakeParts, order: DownloadOrder, first: Hop, signal: AbortSignal): Promise<Download> {
  let hop = first;
  // Ends after `redirectsMax` redirects: `nextHop` throws.
  for (;;) {
    const path = join(parts.folders.downloads, `${randomUUID()}.part`);
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
  return takeError('unreachable', 'downloadTimeout', message, 'Where it may take so long, raise download.timeout.');
}
