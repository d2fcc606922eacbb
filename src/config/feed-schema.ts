/**
 * The feeds of the configuration: their names, settings, source labels and limits (`docs/rules.md`, "Workspace, feed, key";
 * `docs/contract.md`, "Feeds and schedules, in the config").
 */
import { z } from 'zod';
import { reservedSource, sourceLengthMax } from '#src/reserved-sources.ts';
import {
  checkedText,
  choice,
  cron,
  duration,
  path,
  percentage,
  sentence,
  settingTraits,
  timeZone,
  wholeNumber,
  yesOrNo,
} from './forms.ts';

// Names. A name is a folder's name too, so two that differ only in case would be one feed on some file systems.

const nameCharactersMax = 60;
const feedNamePattern = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} ._-]*$/u;
export const expectedFeedName = `a name that begins with a letter or digit, then letters, digits, spaces, dots, underscores and hyphens, up to ${nameCharactersMax} characters`;

const taken: Readonly<Record<string, string>> = {
  main: 'that is the feed of the import folder itself and of files named on the command line',
  'phone-numbers': 'that is the schedule of the phone-number snapshots',
};

/** What is wrong with the name of a feed, in one sentence; null where it is accepted. */
export function feedNameProblem(name: string): string | null {
  if (!feedNamePattern.test(name) || [...name].length > nameCharactersMax) return `a feed needs ${expectedFeedName}`;
  if (/[ .]$/.test(name)) return 'the name of a feed must not end with a space or a dot';
  return takenBy(name);
}

function takenBy(name: string): string | null {
  const folded = name.toLowerCase();
  return Object.hasOwn(taken, folded) ? (taken[folded] ?? null) : null;
}

// Source labels: a wrong one is reported with its line when the configuration is loaded.

const expectedSource = `a label of 1 to ${sourceLengthMax} characters, such as the name of the system that the files come from`;

/** What is expected instead; null where the label is accepted. Case does not count. */
export function sourceProblem(text: string): string | null {
  const label = text.trim().normalize('NFC');
  const length = [...label].length;
  if (length < 1 || length > sourceLengthMax || /\p{Cc}/u.test(label)) return expectedSource;
  const { word, prefix } = reservedSource(label);
  if (word !== undefined) return 'a label that the service does not reserve';
  return prefix === undefined ? null : `a label that does not begin with "${prefix}", which the service reserves`;
}

/** A label that the service accepts, trimmed and in NFC. */
function sourceLabel() {
  return checkedText(expectedSource, sourceProblem).transform((text) => text.trim().normalize('NFC'));
}

// Limits that stop a run before its first write (`docs/rules.md`, "Guards"): for all feeds, and for one in its own `guards`.

const floor = () => wholeNumber(0, 1_000_000_000);

const limits = {
  updatesMax: percentage().describe("The share of the file's known contacts that one run may update."),
  updatesFloor: floor().describe('The update guard applies from this many contacts of the file that the feed knows.'),
  createsMax: percentage().describe('The contacts that one run may create, as a share of all that the feed knows.'),
  createsFloor: floor().describe(
    'The create guard applies from this many contacts that the feed knows, in the file or not.',
  ),
  clearsMax: percentage().describe(
    "The values that one run may clear or remove, as a share of the file's known contacts.",
  ),
  clearsFloor: floor().describe('The clear guard applies from this many values.'),
  deadMax: percentage().describe('The share of rows that may be rejected before any request is sent.'),
  deadFloor: floor().describe('The guard on rejected rows applies from this many of them.'),
  lossesMax: percentage().describe(
    'The share of rows that may lose a value that cannot be read, where the mapping leaves such values out.',
  ),
  lossesFloor: floor().describe('The guard on such rows applies from this many of them.'),
  adoptionsMax: percentage().describe(
    'The share of looked-up contacts that may already exist without being known to the ledger.',
  ),
  adoptionsFloor: floor().describe('The adoption guard applies from this many such contacts.'),
  refusalsMax: wholeNumber(1, 1_000_000).describe(
    'This many writes, all refused with one code and none accepted, stop the run.',
  ),
  rowsMin: percentage().describe(
    'The share of the rows of the last accepted file that the next full file of a named feed must have.',
  ),
  rowsFloor: floor().describe('The row guard applies from this many rows of the last accepted file.'),
  keysMin: percentage().describe(
    'The share of the keys of the last accepted file that the next full file of a named feed must have.',
  ),
  keysFloor: floor().describe('The key guard applies from this many keys of the last accepted file.'),
  strangersRows: floor().describe('A file with at least this many rows must share at least one key with its feed.'),
  strangersFloor: floor().describe(
    'The guard on files without a known key applies from this many keys that the feed knows.',
  ),
  olderRows: floor().describe(
    'A file of main with at least this many rows stops if it was imported before, newer files have followed, and it would change contacts.',
  ),
};

export const guardsSection = z
  .strictObject({
    updatesMax: limits.updatesMax.prefault('30%'),
    updatesFloor: limits.updatesFloor.default(10),
    createsMax: limits.createsMax.prefault('30%'),
    createsFloor: limits.createsFloor.default(100),
    clearsMax: limits.clearsMax.prefault('10%'),
    clearsFloor: limits.clearsFloor.default(10),
    deadMax: limits.deadMax.prefault('5%'),
    deadFloor: limits.deadFloor.default(20),
    lossesMax: limits.lossesMax.prefault('20%'),
    lossesFloor: limits.lossesFloor.default(20),
    adoptionsMax: limits.adoptionsMax.prefault('30%'),
    adoptionsFloor: limits.adoptionsFloor.default(10),
    refusalsMax: limits.refusalsMax.default(20),
    rowsMin: limits.rowsMin.prefault('70%'),
    rowsFloor: limits.rowsFloor.default(10),
    keysMin: limits.keysMin.prefault('50%'),
    keysFloor: limits.keysFloor.default(10),
    strangersRows: limits.strangersRows.default(20),
    strangersFloor: limits.strangersFloor.default(100),
    olderRows: limits.olderRows.default(20),
  })
  .describe('Limits that stop a run, most of them before its first write.');

/** The limits of one feed: any of them, none with a default. */
const feedGuards = z.strictObject(limits).exactPartial().describe('Limits that replace those of guards for this feed.');

// People who left.

const missingField = /^(?:firstName|lastName|company|role|sourceUrl|custom\.\S.{0,199})$/;
const expectedMissing =
  'report, clear followed by fields (clear role, phones, custom.tier) or tag FIELD=VALUE (tag custom.status=left)';

function missingProblem(text: string): string | null {
  return readOnMissing(text) === null ? expectedMissing : null;
}

/** `clear`: names of fields, or `emails` and `phones`. */
export type OnMissing =
  | { readonly kind: 'report' }
  | { readonly kind: 'clear'; readonly fields: readonly string[] }
  | { readonly kind: 'tag'; readonly field: string; readonly value: string };

/** Null for a text that is none. */
export function readOnMissing(text: string): OnMissing | null {
  const [, word, rest = ''] = /^(report|clear|tag)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
  if (word === 'report') return rest === '' ? { kind: 'report' } : null;
  if (word === 'clear') {
    const fields = rest.split(',').map((field) => field.trim());
    const isRight = fields.every((field) => field === 'emails' || field === 'phones' || missingField.test(field));
    return isRight ? { kind: 'clear', fields } : null;
  }
  const at = rest.indexOf('=');
  const [field, value] = [rest.slice(0, at).trim(), rest.slice(at + 1).trim()];
  return at > 0 && value !== '' && missingField.test(field) ? { kind: 'tag', field, value } : null;
}

// Schedules.

interface Rule {
  readonly at: string | null;
  readonly every: number | null;
  readonly zone: string | null;
}

/** Reports what is wrong with the combination of `at`, `every` and `zone`. */
export function checkRule({ at, every, zone }: Rule, context: z.RefinementCtx): void {
  if (at !== null && every !== null) {
    sentence(context, ['at'], 'cannot be combined with every; remove one of them', 'every');
  }
  if (at === null && zone !== null) {
    const instead = every === null ? '' : ', or use at instead of every';
    sentence(context, ['zone'], `only applies to at; remove it${instead}`);
  }
}

// Settings of one feed.

/** Whether the value of `take` is a URL, of any scheme, and not a path or a glob. */
export function isUrl(take: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(take);
}

/** The host that `take` is downloaded from; null where it names files on a disk, or nothing. */
export function downloadHost(take: string | null | undefined): string | null {
  return typeof take === 'string' && isUrl(take) ? (URL.parse(take)?.hostname ?? null) : null;
}

/** Whether the value of `mapping` is the name of one, not a file: no folder, no YAML extension. */
export function isMappingName(mapping: string): boolean {
  return !/[/\\]|\.ya?ml$/i.test(mapping);
}

const expectedTake = 'a path, a glob or an https URL such as https://files.example.com/crm.csv';
const expectedVariable = 'the name of an environment variable in capitals such as CRM_AUTHORIZATION';

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
  return `${expectedVariable}, which holds the value: no secret may be written here`;
}

export const feedSchema = z
  .strictObject({
    take: checkedText(expectedTake, takeProblem)
      .nullable()
      .default(null)
      .describe(
        "A path, a glob or an https URL, of which the newest file not yet taken is taken; null means the feed's folder in the import folder only.",
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
      .describe('How long it may be without an accepted file before an alert; null means no alert.'),
    authorization: checkedText(expectedVariable, variableProblem)
      .nullable()
      .default(null)
      .describe('The environment variable whose value is sent as Authorization to the URL; null sends none.')
      .register(settingTraits, { secret: 'unlessRight' }),
    adopt: yesOrNo()
      .default(false)
      .describe('Whether its file wins over values that are already in the workspace and that it never agreed on.'),
    onMissing: checkedText(expectedMissing, missingProblem)
      .default('report')
      .describe(
        'What becomes of people whom a full file no longer has: report, clear FIELD, … (such as clear role, phones) or tag FIELD=VALUE.',
      ),
    onGone: choice(['skip', 'recreate'])
      .default('skip')
      .describe(
        'What a changed row, with --repair also an unchanged one, does whose contact was deleted: skip, or recreate the contact, unless people made it again by hand; --on-gone says it for one import.',
      ),
    guards: feedGuards.prefault({}),
  })
  .superRefine((feed, context) => {
    checkRule(feed, context);
    const { take, at, every, authorization, onMissing, kind } = feed;
    if (kind === 'delta' && onMissing.trim() !== 'report') {
      sentence(context, ['onMissing'], 'needs full files: a file of kind delta does not tell who left', 'kind');
    }
    if (take === null && (at !== null || every !== null)) {
      sentence(
        context,
        [at !== null ? 'at' : 'every'],
        'needs something to take: set take to a path, a glob or an https URL',
      );
    }
    if (authorization !== null && (take === null || !isUrl(take))) {
      sentence(context, ['authorization'], 'is only sent to a URL, and take is none');
    }
  })
  .describe('A feed.');

const feedsMax = 200;

export const feedsSection = z
  .record(
    z
      .string()
      .regex(feedNamePattern, { error: `a feed needs ${expectedFeedName}` })
      .superRefine((name, context) => {
        const by = takenBy(name);
        const problem = by === null ? feedNameProblem(name) : `no feed may be called ${name}: ${by}`;
        if (problem !== null) context.addIssue({ code: 'custom', message: problem });
      }),
    feedSchema,
  )
  .superRefine((feeds, context) => {
    const names = Object.keys(feeds);
    const first = Map.groupBy(names, (name) => name.toLowerCase());
    for (const [index, name] of names.entries()) {
      const [same] = first.get(name.toLowerCase()) ?? [];
      if (index === feedsMax) sentence(context, [name], `is one feed more than the ${feedsMax} that are allowed`);
      if (same !== undefined && same !== name) {
        sentence(context, [name], `and feeds.${same} differ only in case, and so would their folders`);
      }
      if (feeds[name]?.source === null && sourceProblem(name) !== null) {
        sentence(context, [name], 'is reserved by the service as a source label; rename the feed, or set its source');
      }
    }
  })
  .transform((feeds) => recordOf(Object.entries(feeds)))
  .describe(
    'Feeds by name: streams of files that belong together, each with its own mapping, label, limits and schedule.',
  );

/** Without a prototype, so that a feed called `constructor` is found only where it is configured. */
export function recordOf<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  const record: Record<string, T> = Object.create(null);
  for (const [name, value] of entries) record[name] = value;
  return record;
}

/** What other schedulers call a key of a feed. */
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
