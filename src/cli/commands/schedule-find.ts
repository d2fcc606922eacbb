/** Schedules of the ledger and of the configuration, by what a person typed. */
import type { Home } from '#src/app.ts';
import { closest } from '#src/config/closest.ts';
import { PatchbayError } from '#src/errors.ts';
import { phoneNumbersSchedule, type ScheduleRecord } from '#src/ledger/schedule-record.ts';
import { type ConfiguredSchedule, configuredSchedules, enterSchedule } from '#src/schedules/reconcile-schedules.ts';

export const howToConfigure =
  'Name one in patchbay.yaml, under feeds: a feed with take and with at or every; or under snapshots.phoneNumbers.';

/** The one of that name; one that no engine has met yet is entered. @throws PatchbayError `usage` `noSuchSchedule`. */
export async function findSchedule(
  home: Pick<Home, 'ledger' | 'clock' | 'config'>,
  name: string,
): Promise<ScheduleRecord> {
  const { ledger } = home;
  const known = await ledger.schedules.get(name);
  if (known !== null) return known;
  const configured = configuredSchedules(home.config);
  const byHand: ConfiguredSchedule = { name, work: 'snapshot', rule: null, expectEveryMs: null };
  const wanted = configured.find((one) => one.name === name) ?? (name === phoneNumbersSchedule ? byHand : undefined);
  if (wanted === undefined) throw await noSuchSchedule(home, name, configured);
  await enterSchedule(home, wanted, null);
  return findSchedule(home, name);
}

async function noSuchSchedule(
  { ledger, config }: Pick<Home, 'ledger' | 'config'>,
  name: string,
  configured: readonly ConfiguredSchedule[],
): Promise<PatchbayError> {
  const names = [...(await ledger.schedules.list()), ...configured].map((one) => one.name);
  const meant = closest(name, [...names, phoneNumbersSchedule]);
  const isFolderFeed = Object.hasOwn(config.feeds, name);
  const hint = isFolderFeed
    ? 'Its files come by the import folder. Give it something to take: a path, a glob or an https URL.'
    : meant !== null
      ? `Perhaps you meant ${meant}. See them with: patchbay schedule ls`
      : names.length === 0
        ? howToConfigure
        : 'See them with: patchbay schedule ls';
  return new PatchbayError('usage', 'noSuchSchedule', `there is no schedule ${name}`, { hint });
}
