/** The schedules that the configuration names (`contract.md`, "Feeds and schedules, in the config"). Pure. */
import type { Config } from '#src/config/schema.ts';
import { phoneNumbersSchedule, type ScheduleRule, type ScheduleWork } from '#src/ledger/schedule-record.ts';

export interface ConfiguredSchedule {
  readonly name: string;
  readonly work: ScheduleWork;
  /** Null: there is something to take, and only a person says when. */
  readonly rule: ScheduleRule | null;
  readonly expectEveryMs: number | null;
}

export function configuredSchedules(config: Pick<Config, 'feeds' | 'snapshots'>): readonly ConfiguredSchedule[] {
  const takes = Object.entries(config.feeds).flatMap(([name, feed]): ConfiguredSchedule[] =>
    feed.take === null ? [] : [{ name, work: 'take', rule: ruleOf(feed), expectEveryMs: feed.expectEvery }],
  );
  const snapshots = ruleOf(config.snapshots.phoneNumbers);
  if (snapshots === null) return takes;
  return [...takes, { name: phoneNumbersSchedule, work: 'snapshot', rule: snapshots, expectEveryMs: null }];
}

/** The zone is filled in when the configuration is loaded. */
function ruleOf(said: {
  readonly at: string | null;
  readonly every: number | null;
  readonly zone: string | null;
}): ScheduleRule | null {
  if (said.at !== null) return { kind: 'at', at: said.at, zone: said.zone ?? 'UTC' };
  return said.every === null ? null : { kind: 'every', everyMs: said.every };
}
