/**
 * Every setting that works, with its form, default and meaning. The schema is the documentation: `config/default.yaml`,
 * the JSON Schema and the README's table are generated from it (`document.ts`).
 *
 * Terms: a *section* holds *settings* and groups of them; a setting's key is `section.name` or `section.group.name`.
 * The section `feeds` holds a group per feed. In the parsed `Config` durations are milliseconds and percentages are
 * fractions from 0 to 1.
 * Invariant: what does not work yet is absent, so that it is refused as unknown and never ignored (`contract.md`).
 */
import { z } from 'zod';
import { dataSection } from './sections/data.ts';
import { downloadSection } from './sections/download.ts';
import { feedsSection } from './sections/feeds.ts';
import { guardsSection } from './sections/guards.ts';
import { logSection } from './sections/log.ts';
import { mappingSection } from './sections/mapping.ts';
import { notifySection } from './sections/notify.ts';
import { pageSection } from './sections/page.ts';
import { queueSection } from './sections/queue.ts';
import { serviceSection } from './sections/service.ts';
import { snapshotsSection } from './sections/snapshots.ts';
import { upsertSection } from './sections/upsert.ts';

/** `{}` parses to the defaults. */
export const configSchema = z.strictObject({
  service: serviceSection.prefault({}),
  upsert: upsertSection.prefault({}),
  queue: queueSection.prefault({}),
  data: dataSection.prefault({}),
  guards: guardsSection.prefault({}),
  mapping: mappingSection.prefault({}),
  feeds: feedsSection.prefault({}),
  download: downloadSection.prefault({}),
  snapshots: snapshotsSection.prefault({}),
  notify: notifySection.prefault({}),
  page: pageSection.prefault({}),
  log: logSection.prefault({}),
});

/**
 * The parsed configuration: durations in milliseconds, percentages as fractions, paths absolute. Feeds are in the order
 * of the file, but for names that are whole numbers, which come first.
 */
export type Config = z.output<typeof configSchema>;

/** The configuration as people write it: durations and percentages as text. */
export type ConfigInput = z.input<typeof configSchema>;

/** What the configuration says of one feed. At most one of `at` and `every` is set, and `zone` where `at` is. */
export type FeedConfig = Config['feeds'][string];
