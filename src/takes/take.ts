/**
 * From a feed's `take` to entered runs: the work of one tick (`docs/contract.md`, "Feeds and schedules, in the config").
 *
 * Invariant: a file is taken whole and at rest, or not at all; it is recognised afterwards, even if the process dies between
 * any two steps; the original stays where it is.
 */

import { lstat, rm } from 'node:fs/promises';
import { isUrl } from '#src/config/feed-schema.ts';
import { PatchbayError } from '#src/errors.ts';
import { type FeedSettings, type Feeds, feedNameOf } from '#src/feeds/feeds.ts';
import type { TickEnd, TickTrigger } from '#src/ledger/schedules.ts';
import { retryAfterMaxMs } from '#src/workspace/port.ts';
import { type AskedWaits, minuteAfter } from './asked-waits.ts';
import type { DownloadParts } from './download.ts';
import { download, urlHashOf } from './download.ts';
import { enterOnce, failedNote, hasFailed } from './enter.ts';
import { isPattern } from './glob-matches.ts';
import type { DownloadLimits } from './request-file.ts';
import { storageError, takeError } from './take-error.ts';
import type { FileLimits, FileTakeParts } from './take-files.ts';
import { takeGlob, takePath } from './take-files.ts';

/** What takes are done with, from files and URLs alike. */
export interface TakeParts extends FileTakeParts, DownloadParts {
  /** The environment: `authorization` of a feed names a variable of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<FileLimits & DownloadLimits>;
  /** What servers have asked for, from take to take. */
  readonly askedWaits: AskedWaits;
}

/** A request or a due tick may be older than the configuration of this engine, or newer. */
const notConfigured = {
  outcome: 'failed',
  code: 'notConfigured',
  kind: 'usage',
  message: 'the configuration of the engine that did the work does not contain this feed',
  hint: 'If the feed is in the configuration now, stop the engine that runs and start it again: patchbay start',
} as const;

/** The work of one tick: takes what the feed of that name has. @throws what `feeds.get` and `takeFiles` throw. */
export async function takeForTick(
  parts: Omit<TakeParts, 'trigger'>,
  feeds: Pick<Feeds, 'configured' | 'get'>,
  name: string,
  trigger: TickTrigger,
  signal: AbortSignal,
): Promise<TickEnd> {
  const isConfigured = feeds.configured.some((feed) => feed.name === feedNameOf(name));
  if (!isConfigured) return notConfigured;
  return takeFiles({ ...parts, trigger }, await feeds.get(name), signal);
}

/**
 * One at a time for each feed. What a person can fix ends the tick as `failed`, with what to do in its hint.
 * @throws the signal's reason if it fires; what passes by itself, such as a busy ledger (`transient`), and bugs.
 */
export async function takeFiles(parts: TakeParts, feed: FeedSettings, signal: AbortSignal): Promise<TickEnd> {
  signal.throwIfAborted();
  const end = await take(parts, feed, signal).catch((error: unknown) => failedEnd(parts, error, signal));
  parts.log.info(factsOf(end), 'feed looked for files');
  return end;
}

async function take(parts: TakeParts, feed: FeedSettings, signal: AbortSignal): Promise<TickEnd> {
  if (feed.take === null) {
    const message = 'the feed has no take setting: its files come through its folder';
    return { outcome: 'nothingNew', code: 'nothingToTake', message };
  }
  if (isUrl(feed.take)) return takeUrl(parts, feed, feed.take, signal);
  // The name of a file may look like a pattern, as in `export [1].csv`.
  const named = !isPattern(feed.take) || (await lstat(feed.take).catch(() => null)) !== null;
  return named ? takePath(parts, feed, feed.take, signal) : takeGlob(parts, feed, feed.take, signal);
}

function failedEnd({ downloads }: TakeParts, thrown: unknown, signal: AbortSignal): TickEnd {
  signal.throwIfAborted();
  const error = storageError(thrown, downloads);
  if (!(error instanceof PatchbayError) || error.kind === 'transient' || error.kind === 'bug') throw error;
  const { code, kind, message, hint, plainMessage } = error;
  return { outcome: 'failed', code, kind, message, hint, plainMessage };
}

/** Without the message: it may name a path. */
function factsOf(end: TickEnd): Readonly<Record<string, unknown>> {
  if (end.outcome === 'run') return { outcome: end.outcome, runs: end.runIds.length };
  return end.outcome === 'snapshot' ? { outcome: end.outcome } : { outcome: end.outcome, code: end.code };
}

/**
 * Takes what the URL answers, if its content differs from the one taken last. The server's validators are remembered only
 * after the run is entered: after a crash the server is asked again.
 * @throws PatchbayError what `credentialsOf`, `download` and `submitCopy` throw.
 */
async function takeUrl(parts: TakeParts, feed: FeedSettings, take: string, signal: AbortSignal): Promise<TickEnd> {
  const { askedWaits } = parts;
  const { takes } = parts.ledger;
  const urlHash = urlHashOf(take);
  const { host } = new URL(take);
  const place = `${feed.name}:${urlHash}`;
  const leftMs = parts.trigger === 'request' ? 0 : askedWaits.leftMs(place);
  if (leftMs > retryAfterMaxMs) {
    const message = `its server has asked to wait until ${minuteAfter(parts.clock.nowMs() + leftMs)}`;
    return { outcome: 'skipped', code: 'askedToWait', message };
  }
  // The answer came after the tick was due: a wait as long as its interval ends just behind the next one.
  if (leftMs > 0) await parts.clock.sleep(leftMs, signal);
  const authorization = credentialsOf(feed.authorizationVariable, parts.env);
  const taken = await takes.url(feed.name, urlHash);
  const failed = taken !== null && (await hasFailed(parts.ledger, feed, taken.sha256));
  // A file that is taken again is asked for as if it had never come.
  const remembered = failed && parts.trigger === 'request' ? null : taken;
  const again = failed ? failedNote(feed, 'its run') : '';
  const answer = await download(parts, { feed: feed.name, take, authorization, remembered }, signal).catch(
    (error: unknown) => {
      askedWaits.note(place, error);
      throw error;
    },
  );
  askedWaits.note(place, null);
  if (answer.kind === 'notModified') {
    return {
      outcome: 'nothingNew',
      code: 'notModified',
      message: `${host} says that the file has not changed${again}`,
    };
  }
  const { path, fileName, sha256, answeredHash, etag, lastModified } = answer;
  const note = () =>
    takes.noteUrl({
      feed: feed.name,
      urlHash,
      answeredHash,
      etag,
      lastModified,
      sha256,
      takenAtMs: parts.clock.nowMs(),
    });
  if (sha256 === remembered?.sha256) {
    await rm(path, { force: true });
    await note();
    return {
      outcome: 'nothingNew',
      code: 'sameContent',
      message: `the file at ${host} is the one taken before${again}`,
    };
  }
  const run = await enterOnce(parts, feed, { path, fileName, sha256 });
  await note();
  parts.log.info({ run: run.id, host, urlHash: urlHash.slice(0, 12), bytes: answer.bytes }, 'file downloaded');
  return { outcome: 'run', runIds: [run.id], message: null };
}

/**
 * What is sent as `Authorization`; null if the feed names no variable. It is read at each take, so that a changed value
 * counts at once, and never printed.
 * @throws PatchbayError `auth`: `credentialsMissing`, `credentialsInvalid`.
 */
function credentialsOf(variable: string | null, env: Readonly<Record<string, string | undefined>>): string | null {
  if (variable === null) return null;
  const value = env[variable]?.trim() ?? '';
  if (value === '') {
    const hint = `Set ${variable} where Patchbay is started, for example to "Bearer …" or "Basic …".`;
    throw takeError('auth', 'credentialsMissing', `the variable ${variable} is not set`, hint);
  }
  if (/^[\x20-\x7e]+$/.test(value)) return value;
  const message = `the value of ${variable} cannot be sent: it contains line breaks or non-ASCII characters`;
  throw takeError('auth', 'credentialsInvalid', message, `Set ${variable} to one line, exactly as it is to be sent.`);
}
