/** The zone of every schedule, resolved once: a schedule must not move because another shell started the engine. */
import { plainRecord } from './plain-record.ts';
import type { Config } from './schema.ts';

/** Gives `zone` to each schedule that has `at` and no zone. */
export function zonesFilledIn(config: Config, zone: string): Config {
  const feeds = Object.entries(config.feeds).map(([name, feed]) => [name, filledIn(feed, zone)] as const);
  return {
    ...config,
    feeds: plainRecord(feeds),
    snapshots: { ...config.snapshots, phoneNumbers: filledIn(config.snapshots.phoneNumbers, zone) },
  };
}

function filledIn<T extends { readonly at: string | null; readonly zone: string | null }>(rule: T, zone: string): T {
  return rule.at === null || rule.zone !== null ? rule : { ...rule, zone };
}
