/** A value that somebody gave for a setting, with the place it was read from. */
import type { Setting } from './settings.ts';

export interface Origin {
  readonly kind: 'default' | 'file' | 'environment' | 'flag';
  /** What a message starts with: `file:line:column`, the variable's name, `flag`, or `default`. */
  readonly name: string;
}

export interface GivenValue {
  readonly setting: Setting;
  /** As written; checked later. */
  readonly value: unknown;
  readonly origin: Origin;
  /** The folder at which a relative path starts. */
  readonly folder: string;
}

/** A feed that a config file holds, perhaps without any setting. */
export interface GivenFeed {
  readonly name: string;
  readonly origin: Origin;
}

/** What one layer holds: its values, and what is wrong or worth a note with it as a whole, one sentence each. */
export interface Layer {
  readonly values: readonly GivenValue[];
  /** In the file's order. */
  readonly feeds: readonly GivenFeed[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}
