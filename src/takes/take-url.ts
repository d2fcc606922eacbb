/**
 * A feed that takes from a URL: what it answers, where that is another content than the one taken last.
 *
 * What the server told of its answer is remembered only after the run is entered, so that a crash asks again.
 */
import { rm } from 'node:fs/promises';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import { credentialsOf } from './credentials.ts';
import { download, urlHashOf } from './download.ts';
import { enterOnce } from './enter-once.ts';
import { failedNote, hasFailed } from './failed-before.ts';
import type { TakeParts } from './parts.ts';

/** @throws PatchbayError what `credentialsOf`, `download` and `submitCopy` throw. */
export async function takeUrl(
  parts: TakeParts,
  feed: FeedSettings,
  take: string,
  signal: AbortSignal,
): Promise<TickEnd> {
  const { takes } = parts.ledger;
  const urlHash = urlHashOf(take);
  const authorization = credentialsOf(feed.authorizationVariable, parts.env);
  const taken = await takes.url(feed.name, urlHash);
  const failed = taken !== null && (await hasFailed(parts, feed, taken.sha256));
  // What is to be taken again is asked for as if it never came.
  const remembered = failed && parts.trigger === 'request' ? null : taken;
  const told = failed ? failedNote(feed, 'its run') : '';
  const answer = await download(parts, { feed: feed.name, take, authorization, remembered }, signal);
  const { host } = new URL(take);
  if (answer.kind === 'notModified') {
    return { outcome: 'nothingNew', code: 'notModified', message: `${host} says that the file has not changed${told}` };
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
      message: `the file at ${host} is the one that was taken before${told}`,
    };
  }
  const run = await enterOnce(parts, feed, { path, fileName, sha256 });
  await note();
  parts.log.info({ run: run.id, host, urlHash: urlHash.slice(0, 12), bytes: answer.bytes }, 'file downloaded');
  return { outcome: 'run', runIds: [run.id], message: null };
}
