import { describe, expect, it } from 'vitest';
import { cronProblem } from '#src/config/forms.ts';
import { feedProblems, loaded, problems } from './support.ts';

describe('when a feed is due', () => {
  it('at and every exclude each other', async () => {
    expect(await feedProblems('take: x.csv', 'at: "0 1 * * *"', 'every: 1h')).toEqual([
      '4:9: feeds.crm.at cannot be combined with every; remove one of them (every: patchbay.yaml:5:12)',
    ]);
  });

  it('a zone needs at', async () => {
    expect(await feedProblems('take: x.csv', 'every: 1h', 'zone: UTC')).toEqual([
      '5:11: feeds.crm.zone only applies to at; remove it, or use at instead of every',
    ]);
    expect(await feedProblems('zone: UTC')).toEqual(['3:11: feeds.crm.zone only applies to at; remove it']);
  });

  it('TZ that is no zone is named where a schedule would follow it', async () => {
    const tz = { TZ: 'Europe/Berln' };
    const daily = await loaded('feeds: { crm: { take: /x.csv, at: "0 1 * * *" } }\n', tz);
    const zone = daily.config.feeds.crm?.zone;
    expect(daily.warnings).toEqual([
      `TZ: "Europe/Berln" is no IANA time zone (did you mean Europe/Berlin?); schedules with at and without zone follow ${zone}`,
    ]);
    const others = ['every: 1h', 'at: "0 1 * * *", zone: UTC'];
    for (const rule of others) {
      expect((await loaded(`feeds: { crm: { take: /x.csv, ${rule} } }\n`, tz)).warnings).toEqual([]);
    }
  });

  it('files that are expected more often than they are taken are worth a note', async () => {
    const { warnings } = await loaded('feeds:\n  crm: { take: /x.csv, every: 10m, expectEvery: 1m }\n');
    expect(warnings).toEqual([
      'patchbay.yaml:2:49: feeds.crm.expectEvery is shorter than every (10m), so that each file comes too late',
    ]);
  });

  it.each([
    ['30 2 * * *', '24h', null],
    ['30 2 * * *', '23h', '1d'],
    ['0 6,18 * * *', '12h', null],
    ['0 6,19 * * *', '12h', '13h'],
    ['30 2 * * 1-5', '26h', '3d'],
    ['*/15 8-17 * * 1-5', '26h', '3735m'],
    ['0 3 1 * *', '30d', '31d'],
    ['0 3 1 * *', '31d', null],
    ['* * * * *', '1m', null],
  ])('with at %s a file that is expected every %s can be too late, or not', async (at, expectEvery, longest) => {
    const text = `feeds:\n  crm: { take: /x.csv, at: "${at}", zone: UTC, expectEvery: ${expectEvery} }\n`;
    const { warnings } = await loaded(text);
    const sentence = `feeds.crm.expectEvery is shorter than the longest time from one time of at to the next (${longest}), after which a file comes too late`;
    expect(warnings.map((warning) => warning.replace(/^\S+ /, ''))).toEqual(longest === null ? [] : [sentence]);
  });

  it('a schedule needs something to take', async () => {
    const reason = 'needs something to take: set take to a path, a glob or an https URL';
    expect(await feedProblems('at: "0 1 * * *"')).toEqual([`3:9: feeds.crm.at ${reason}`]);
    expect(await feedProblems('every: 1h')).toEqual([`3:12: feeds.crm.every ${reason}`]);
  });

  it('what is taken needs no schedule', async () => {
    const { config } = await loaded('feeds: { crm: { take: /exports/crm.csv } }\n');
    expect(config.feeds.crm).toMatchObject({ at: null, everyMs: null, zone: null });
  });

  it.each([
    ['60 * * * *', 'the minute "60" must be a number from 0 to 59'],
    ['0 24 * * *', 'the hour "24" must be a number from 0 to 23'],
    ['0 0 32 * *', 'the day of the month "32" must be a number from 1 to 31'],
    ['0 0 * FOO *', 'the month "FOO" must be a number from 1 to 12, or JAN to DEC'],
    ['0 0 * * 8', 'the weekday "8" must be a number from 0 to 7'],
    ['0 22-2 * * *', 'the hour "22-2" counts backwards'],
    ['*/0 * * * *', 'the minute "*/0" must be'],
    ['H 2 * * *', 'the minute "H" must be'],
    ['1,,2 * * * *', 'the minute "1,,2" must be'],
    ['*/100 * * * *', 'the minute "*/100" must be'],
    ['0 0 30 2 *', '"0 0 30 2 *" never comes: there is no such date'],
    ['0 0 31 4,6 *', 'never comes'],
  ])('%s is refused in plain words', (at, expected) => {
    expect(cronProblem(at)).toContain(expected);
  });

  it.each([
    '0 0 29 2 *',
    '*/15 6-22 * * 1-5',
    '0 0 L * *',
    '0 3 * * THU,SUN',
    '0 12 1,15 MAR *',
    '5 4 * * 7',
    '5,5 * * * *',
    '5/15 * * * *',
  ])('%s is accepted', (at) => {
    expect(cronProblem(at)).toBeNull();
  });

  it('a word for a time is refused by its name', async () => {
    expect((await feedProblems('take: x.csv', 'at: "@daily"')).join()).toMatch(
      /such as "30 2 \* \* \*", not "@daily"$/,
    );
  });

  it('a cron expression that is wrong is told with its place', async () => {
    expect(await feedProblems('take: x.csv', 'at: "0 24 * * *"')).toEqual([
      `4:9: feeds.crm.at is wrong: ${cronProblem('0 24 * * *')}`,
    ]);
  });

  it('a zone that there is not is refused, with the one that was meant', async () => {
    const expected = 'must be an IANA time zone such as Europe/Berlin, America/New_York or UTC';
    const zones = ['Europe/Berln', '"+02:00"', 'Mars/Base'];
    const feeds = zones.map((zone, at) => `  f${at}: { take: /x, at: "0 1 * * *", zone: ${zone} }\n`);
    expect((await problems(`feeds:\n${feeds.join('')}`)).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      `feeds.f0.zone ${expected}, not "Europe/Berln" (did you mean Europe/Berlin?)`,
      `feeds.f1.zone ${expected}, not "+02:00"`,
      `feeds.f2.zone ${expected}, not "Mars/Base"`,
    ]);
  });

  it('an abbreviation is refused, with what to write: BST would be Bangladesh, and EST has no daylight-saving time', async () => {
    const zones = ['BST', 'EST', 'ist', 'ECT', 'CEST', 'CET', 'EST5EDT', 'GMT', 'UTC', 'GB', 'Etc/GMT+5', 'US/Eastern'];
    const feeds = zones.map((zone, at) => `  f${at}: { take: /x, at: "0 1 * * *", zone: ${zone} }\n`);
    const is = (name: string) => `is an abbreviation (${name}), which names no zone for sure: write`;
    expect((await problems(`feeds:\n${feeds.join('')}`)).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      `feeds.f0.zone ${is('BST')} Europe/London, or Asia/Dhaka for Bangladesh`,
      `feeds.f1.zone ${is('EST')} America/New_York, or America/Panama without daylight-saving time`,
      `feeds.f2.zone ${is('IST')} Asia/Kolkata for India, Europe/Dublin for Ireland, or Asia/Jerusalem for Israel`,
      `feeds.f3.zone ${is('ECT')} region and city, such as Europe/Berlin`,
      `feeds.f4.zone ${is('CEST')} Europe/Berlin or Europe/Paris`,
    ]);
  });

  it('an abbreviation in TZ, or a path that names no zone, is noted; the path of a file of zones is that zone', async () => {
    const text = 'feeds: { crm: { take: /x.csv, at: "0 1 * * *" } }\n';
    const of = async (TZ: string) => {
      const { warnings, config } = await loaded(text, { TZ });
      const zone = config.feeds.crm?.zone ?? '';
      return [zone, warnings.map((warning) => warning.replace(zone, 'ZONE'))] as const;
    };
    const follow = 'schedules with at and without zone follow ZONE';
    expect((await of('BST'))[1]).toEqual([
      `TZ: "BST" is an abbreviation (BST), which names no zone for sure: write Europe/London, or Asia/Dhaka for Bangladesh; ${follow}`,
    ]);
    expect((await of(':/etc/localtime'))[1]).toEqual([`TZ: "/etc/localtime" is no IANA time zone; ${follow}`]);
    expect(await of(':/usr/share/zoneinfo/America/New_York')).toEqual(['America/New_York', []]);
    expect(await of(':Asia/Tokyo')).toEqual(['Asia/Tokyo', []]);
  });

  it('without a zone it is that of TZ, and written down with the schedule', async () => {
    const text = 'feeds: { a: { take: /x, at: "0 1 * * *" }, b: { take: /y, every: 1h } }\n';
    const { config } = await loaded(text, { TZ: 'America/New_York' });
    expect([config.feeds.a?.zone, config.feeds.b?.zone]).toEqual(['America/New_York', null]);
    expect((await loaded(text, { TZ: 'Nowhere/At_All' })).config.feeds.a?.zone).toMatch(/^[A-Z]/);
  });
});
