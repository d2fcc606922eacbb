/**
 * The folder of a feed that is used by its name alone. As any other that is not configured has, it gets one: it owns what its files name from
 * then on. Where nothing came of its first files, as under a misspelt name, the folder goes again, so that no such feed is left.
 */
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '#src/errors.ts';
import type { Feeds } from '#src/feeds/feeds.ts';
import type { RunLedger, RunRecord, RunState } from '#src/ledger/runs.ts';
import { makeFolder, storing } from '#src/whole-file.ts';

/** @returns whether it was made: not where the feed is configured, or has a folder already. */
export async function makeFeedFolder(feeds: Feeds, importFolder: string, feed: string): Promise<boolean> {
  if (feeds.exists(feed)) return false;
  const folder = join(importFolder, feed);
  await storing(folder, () => makeFolder(folder));
  return true;
}

/** Only where it is empty: what else is in it is a person's. */
export async function removeFeedFolder(importFolder: string, feed: string): Promise<void> {
  await rmdir(join(importFolder, feed)).catch((error: unknown) => {
    // It is no more than a folder too many.
    if (systemCodeOf(error) === null) throw error;
  });
}

/** More runs than these are no mistake in a name. */
const runsMax = 100;
const endedInVain: readonly RunState[] = ['failed', 'cancelled'];

/** At the end of a run for which the folder was made: removes it where neither that run nor another of its feed has sent, settled or rejected anything. */
export async function removeVainFolder(runs: Pick<RunLedger, 'list'>, run: RunRecord): Promise<void> {
  if (!run.options.madeFolder || !isVain(run)) return;
  const all = await runs.list({ feed: run.feed, limit: runsMax });
  if (all.length < runsMax && all.every((one) => one.id === run.id || isVain(one)))
    await removeFeedFolder(run.importFolder, run.feed);
}

function isVain({ state, counts, requests }: RunRecord): boolean {
  const ended = counts.created + counts.updated + counts.unchanged + counts.dead;
  const sent = requests.post + requests.patch + requests.delete;
  return endedInVain.includes(state) && ended + sent === 0;
}
