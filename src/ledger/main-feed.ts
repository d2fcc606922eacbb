/** The feed that everybody has, and the labels that feeds write into `source` where nobody chose one. Pure. */
import type { RunRecord } from './run-record.ts';

/** The feed of the root of the import folder and of files named on the command line. */
export const mainFeed = 'main';

/** The source label of a feed whose mapping and configuration name none. */
export function labelOfFeed(feed: string): string {
  return feed === mainFeed ? 'patchbay' : feed;
}

/** What a run writes into `source` when it creates a contact whose row names no source of its own. */
export function sourceLabelOf(run: Pick<RunRecord, 'feed' | 'mapping' | 'sourceLabel'>): string {
  return run.sourceLabel ?? run.mapping?.source ?? labelOfFeed(run.feed);
}
