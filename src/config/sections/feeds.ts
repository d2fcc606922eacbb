/**
 * The feeds: a map from a feed's name to its settings (`rules.md`, "Workspace, feed, key"; `contract.md`, "Feeds and
 * schedules, in the config").
 *
 * Here stands what each value must be by itself; what values must be together is in `feed-checks.ts`.
 */
import { z } from 'zod';
import { expectedFeedName, feedNamePattern, feedNameProblem } from '../feed-name.ts';
import { checkedText, choice, cron, duration, path, sourceLabel, timeZone, yesOrNo } from '../forms.ts';
import { isUrl } from '../is-url.ts';
import { plainRecord } from '../plain-record.ts';
import { settingTraits } from '../traits.ts';
import { feedGuards } from './guards.ts';

export const feedsMax = 200;

const expectedTake = 'a path, a glob or an https URL such as https://files.example.com/crm.csv';
const expectedVariable = 'the name of an environment variable in capitals such as CRM_AUTHORIZATION';

export const feedSchema = z
  .strictObject({
    take: checkedText(expectedTake, takeProblem)
      .nullable()
      .default(null)
      .describe(
        'A path, a glob or an https URL, of which the newest file not yet taken is taken; null means the folder of that name in the import folder only.',
      )
      .register(settingTraits, { path: 'orUrl', secret: 'query' }),
    at: cron()
      .nullable()
      .default(null)
      .describe('When it is taken, as a cron expression of five fields such as "30 2 * * *".'),
    every: duration('10s', '366d').nullable().default(null).describe('How often it is taken, instead of at.'),
    zone: timeZone()
      .nullable()
      .default(null)
      .describe("The IANA time zone of at; null means the zone of TZ, or the machine's."),
    mapping: path()
      .nullable()
      .default(null)
      .describe('The mapping, by its name or its file; null means that the layout is recognised by its headers.')
      .register(settingTraits, { path: 'orName' }),
    source: sourceLabel()
      .nullable()
      .default(null)
      .describe("The source label of contacts that it creates; null means the feed's name."),
    kind: choice(['full', 'delta'])
      .default('full')
      .describe('Whether each file holds all contacts of the feed (full) or only what changed (delta).'),
    expectEvery: duration('1m', '366d')
      .nullable()
      .default(null)
      .describe('How long it may be without an accepted file before that is told; null means for ever.'),
    authorization: checkedText(expectedVariable, variableProblem)
      .nullable()
      .default(null)
      .describe('The environment variable whose value is sent as Authorization to the URL; null sends none.')
      .register(settingTraits, { secret: 'unlessRight' }),
    adopt: yesOrNo()
      .default(false)
      .describe('Whether its file wins over values that are in the workspace already and that it never agreed on.'),
    guards: feedGuards.prefault({}),
  })
  .describe('A feed.');

export const feedsSection = z
  .record(
    z
      .string()
      .regex(feedNamePattern)
      .superRefine((name, context) => {
        const problem = feedNameProblem(name);
        if (problem !== null) context.addIssue({ code: 'custom', message: problem });
      }),
    feedSchema,
    { error: expectedFeedName },
  )
  .transform((feeds) => plainRecord(Object.entries(feeds)))
  .describe(
    'Feeds by name: streams of files that belong together, each with its own mapping, label, limits and schedule.',
  );

/** What people write in place of a feed's key, as seen in other schedulers. */
export const feedKeySynonyms: Readonly<Record<string, string>> = {
  cron: 'at',
  schedule: 'at',
  interval: 'every',
  timezone: 'zone',
  tz: 'zone',
  path: 'take',
  file: 'take',
  files: 'take',
  folder: 'take',
  url: 'take',
  from: 'take',
  label: 'source',
  token: 'authorization',
  auth: 'authorization',
  limits: 'guards',
};

/** Null where the text can be taken from. Whether http is allowed depends on another setting. */
function takeProblem(text: string): string | null {
  if (text.trim() === '' || text.length > 1_000) return expectedTake;
  if (!isUrl(text)) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return expectedTake;
  if (url.username === '' && url.password === '') return null;
  return 'a URL without user name and password; name a variable that holds what is sent with authorization';
}

function variableProblem(text: string): string | null {
  if (/^[A-Z_][A-Z\d_]{0,99}$/.test(text)) return null;
  return `${expectedVariable}, which holds the value: a secret must not stand here`;
}
