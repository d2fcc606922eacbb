/**
 * A feed that takes from one path: the file there, whenever it is another than the one taken last.
 *
 * A path that is not there is no failure but nothing new: an export may be late, and where none comes at all
 * `expectEvery` makes it news. A link is followed, since a person named it: `latest.csv` often is one.
 */
import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemCodeOf } from '#src/errors.ts';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { classifyFileName } from '#src/sources/file-name.ts';
import { enterFile } from './enter-file.ts';
import { failedNote, newestFailed } from './failed-before.ts';
import type { TakeParts } from './parts.ts';
import { restFiles } from './rest-files.ts';
import { isSeen, seeFile } from './seen-files.ts';
import { takeError } from './take-error.ts';
import { stillMoving } from './tick-ends.ts';

/** @throws PatchbayError `file`: `formatUnknown`, `notAFile`, `fileUnreadable`, `diskFull`; what `submitCopy` throws. */
export async function takePath(
  parts: TakeParts,
  feed: FeedSettings,
  path: string,
  signal: AbortSignal,
): Promise<TickEnd> {
  const found = await findFile(path);
  if (found === null) {
    return { outcome: 'nothingNew', code: 'fileMissing', message: `there is no file at ${path}` };
  }
  const { takes } = parts.ledger;
  const isKnown = (await takes.knownFiles(feed.name, [found], parts.clock.nowMs())).size > 0;
  const failed = isKnown && (await newestFailed(parts, feed, [found])).size > 0;
  const note = failed ? failedNote(feed, 'its run') : '';
  if (isKnown && !(failed && parts.trigger === 'request')) return unchanged(path, note);
  const { resting } = await restFiles(parts, [found], signal);
  const [file] = resting;
  if (file === undefined) return stillMoving(path);
  const entered = await enterFile(parts, feed, file);
  if (entered.kind === 'moved') return stillMoving(path);
  if (entered.kind === 'known') return unchanged(path, note);
  return { outcome: 'run', runIds: [entered.run.id], message: null };
}

function unchanged(path: string, note: string): TickEnd {
  const message = `the file at ${path} is the one that was taken before${note}`;
  return { outcome: 'nothingNew', code: 'fileTaken', message };
}

async function findFile(path: string): Promise<SeenFile | null> {
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP') {
      const hint = 'Mend the links, or name the file itself.';
      throw takeError('file', 'fileUnreadable', `the links at ${path} lead in a circle`, hint, error);
    }
    throw unreadable(path, code ?? 'unknown reason', error);
  }
  const found = await seeFile(real);
  if (isSeen(found)) {
    assertReadable(path, basename(real));
    return found;
  }
  if (found.kind === 'gone') return null;
  if (found.kind === 'unreadable') throw unreadable(path, found.reason);
  if (found.kind === 'special') {
    throw takeError('file', 'notAFile', `${path} is no file but ${found.what}`, 'Name the file itself.');
  }
  const hint = `Name the file itself, or a pattern such as ${path.replace(/[\\/]+$/, '')}/*.csv.`;
  throw takeError('file', 'notAFile', `${path} is a folder`, hint);
}

/** What cannot be read is said now, and not by a run each night. */
function assertReadable(path: string, name: string): void {
  const named = classifyFileName(name);
  if (named.kind === 'refuse')
    throw takeError('file', named.code, `${path} cannot be read: ${named.message}`, named.hint);
  if (named.kind === 'take') return;
  const why = 'names that begin with "." or "_", and those of unfinished files, are never taken';
  throw takeError('file', 'formatUnknown', `${path} is not taken: ${why}`, 'Name the finished file.');
}

function unreadable(path: string, reason: string, cause?: unknown): Error {
  const hint = 'Give the user that Patchbay runs as the right to read it.';
  return takeError('file', 'fileUnreadable', `${path} cannot be opened (${reason})`, hint, cause);
}
