/**
 * What is known of a feed before any of its files is read: its mapping, its source label, its limits, where its files come
 * from (`contract.md`, "Feeds and schedules, in the config"). When it is due, its schedule says (`src/schedules`).
 */
import type { Config } from '#src/config/schema.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';

/** What the configuration says, or the defaults: known without reading anything. */
export interface FeedRules {
  readonly name: string;
  /** `full`: each file holds all contacts of the feed. `delta`: only what changed. */
  readonly kind: 'full' | 'delta';
  /** The source label that the configuration names: it wins over the mapping's. */
  readonly ownSource: string | null;
  /** Its file wins over values that it never agreed on. */
  readonly adopt: boolean;
  readonly guards: Config['guards'];
  /** How long it may be without an accepted file before that is news. */
  readonly expectEveryMs: number | null;
  /** Absolute path, glob or URL; null: files come by the folder only. */
  readonly take: string | null;
  /** The environment variable whose value is sent as `Authorization` to the URL. */
  readonly authorizationVariable: string | null;
}

export interface FeedSettings extends FeedRules {
  /** Written into `source` when a contact is created. */
  readonly source: string;
  /** Null: the layout is recognised by its headers. */
  readonly mapping: Mapping | null;
}
