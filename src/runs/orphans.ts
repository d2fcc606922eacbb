/** What a process left behind that died between taking a file and entering its run. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyIfMissing, messageOf, PatchbayError } from '#src/errors.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { chooseFeed } from './choose-feed.ts';
import { type ClaimedFile, listClaimed } from './claimed-place.ts';
import { runIdOf } from './run-id.ts';
import { enterClaimed, importFolderOf, type SubmitParts } from './submit-run.ts';

/** Enters claimed files without a run, each in the feed that its place tells. @returns how many. */
export async function enterOrphans(parts: SubmitParts): Promise<number> {
  let entered = 0;
  for (const file of await orphans(parts)) {
    try {
      await enterClaimed(parts, file, await chooseFeed(parts.feeds, file.folder), importFolderOf(parts));
      entered += 1;
    } catch (error) {
      // One file that cannot be read must not keep the others waiting.
      const passes = error instanceof PatchbayError && error.kind === 'transient';
      parts.log[passes ? 'debug' : 'warn'](
        { run: file.runId, feed: file.folder ?? mainFeed, reason: messageOf(error) },
        'claimed file could not be entered',
      );
    }
  }
  return entered;
}

/** Whether a claimed file waits for its run. */
export async function hasOrphans(parts: SubmitParts): Promise<boolean> {
  return (await orphans(parts)).length > 0;
}

async function orphans({ ledger, folders, entering }: SubmitParts): Promise<readonly ClaimedFile[]> {
  const found: ClaimedFile[] = [];
  const files = (await listClaimed(folders.claimed)).filter(({ runId }) => !entering.has(runId));
  for (const file of files) {
    if ((await ledger.runs.get(file.runId)) === null) found.push(file);
  }
  return found;
}

/** Copies whose run was never entered: the process died between the two, and the person was told so. */
const strayAfterMs = 3_600_000;

/** Never rejects: what cannot be removed stays, and takes room alone. */
export async function removeStrays(parts: SubmitParts): Promise<void> {
  try {
    await removeOld(parts);
  } catch (error) {
    parts.log.warn({ reason: messageOf(error) }, 'copies without a run not removed');
  }
}

async function removeOld({ ledger, folders, clock }: SubmitParts): Promise<void> {
  for (const name of await readdir(folders.handedOver).catch(emptyIfMissing)) {
    const named = runIdOf(name);
    if (named !== null && (await ledger.runs.get(named.runId)) !== null) continue;
    const path = join(folders.handedOver, name);
    // A copy may be under way in another process, or be gone by now: neither is old.
    const copiedAtMs = (await stat(path).catch(() => null))?.ctimeMs ?? Number.POSITIVE_INFINITY;
    if (copiedAtMs < clock.nowMs() - strayAfterMs) await rm(path, { force: true });
  }
}
