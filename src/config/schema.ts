/**
 * Every setting that works, with its form, default and meaning; what a combination of settings must be; and the defaults that
 * depend on the service. The schema is the documentation: `config/default.yaml`, the table of settings and the JSON Schema
 * are generated from it (`document.ts`).
 *
 * Terms: a *section* holds *settings* and groups of them; a setting's key is `section.name` or `section.group.name`. The
 * section `feeds` holds a group per feed (`feed-schema.ts`).
 * Invariant: what does not work yet is absent, so that it is refused as unknown and never ignored (`docs/contract.md`).
 */
import { z } from 'zod';
import { hostsProblem, isDecodable } from '#src/database-url.ts';
import { checkRule, feedSchema, feedsSection, guardsSection, isUrl, recordOf } from './feed-schema.ts';
import {
  checkedText,
  choice,
  coreOf,
  cron,
  duration,
  hostNames,
  isLoopback,
  type Milliseconds,
  numberForms,
  path,
  secret,
  sentence,
  settingTraits,
  timeZone,
  wholeNumber,
  yesOrNo,
} from './forms.ts';
import { notifySection } from './notify-schema.ts';

// The workspace service (`docs/interface.md`, section 1; `docs/rules.md`, "Retries, rate, outages").

const expectedOrigin = 'an origin such as https://api.example.com, without a path';

/** Null where the text is an origin; otherwise what is expected instead. */
function originProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || !/^https?:\/\//i.test(text)) {
    return expectedOrigin;
  }
  if (url.username !== '' || url.password !== '') return 'an origin without user name and password';
  if (/^\/v1\/?$/.test(url.pathname)) return `the origin without /v1, which is added to it: write ${url.origin}`;
  return url.pathname === '/' && url.search === '' && url.hash === '' ? null : `the origin alone: write ${url.origin}`;
}

const serviceSection = z
  .strictObject({
    baseUrl: checkedText(expectedOrigin, originProblem)
      .transform((text) => new URL(text).origin)
      .nullable()
      .default(null)
      .describe("The service's origin, without /v1; null means the embedded sandbox service.")
      .register(settingTraits, { env: 'PATCHBAY_BASE_URL' }),
    apiKey: secret('the raw key, without Bearer: ')
      .nullable()
      .default(null)
      .describe('The raw API key, given by the environment only; null means the key file or the sandbox has it.')
      .register(settingTraits, { env: 'PATCHBAY_API_KEY', secret: 'whole', environmentOnly: true }),
    apiKeyFile: path()
      .nullable()
      .default(null)
      .describe('A file of mode 0600 that holds the API key; it is read again after a 401.')
      .register(settingTraits, { env: 'PATCHBAY_API_KEY_FILE', path: true }),
    requestsPerSecond: wholeNumber(1, 10_000)
      .nullable()
      .default(null)
      .describe('Requests per second for the key; null means 8, and no limit for the sandbox.')
      .register(settingTraits, { env: 'PATCHBAY_RATE' }),
  })
  .describe('The workspace service that Patchbay writes to.');

// The upsert (`docs/rules.md`, "One contact per key" and "Three pictures, one plan").

const upsertSection = z
  .strictObject({
    latestCommit: duration('0s', '1h')
      .nullable()
      .default(null)
      .describe(
        'How long after a POST was sent the service may still commit it; null means 30s, and 2s for the sandbox.',
      )
      .register(settingTraits, { env: 'PATCHBAY_UPSERT_LATEST_COMMIT' }),
    visibilityLag: duration('0s', '1h')
      .nullable()
      .default(null)
      .describe('How long a committed contact may be missing from lists; null means 10s, and 0s for the sandbox.')
      .register(settingTraits, { env: 'PATCHBAY_UPSERT_VISIBILITY_LAG' }),
    itemRemoval: choice(['owned', 'none'])
      .default('owned')
      .describe(
        'Whether an import may remove e-mails, phones and custom fields: owned means as the mapping says (by default only what the same feed wrote), none removes nothing.',
      ),
    attemptsMax: wholeNumber(1, 10)
      .default(3)
      .describe('How often a create in doubt is tried before its row is rejected.'),
    rowsPerBatch: wholeNumber(1, 1_000).default(100).describe('Rows that one job of the queue works on.'),
    batchesAtOnce: wholeNumber(1, 64).default(2).describe('Batches that one process works on at the same time.'),
    lease: duration('20s', '10m')
      .prefault('45s')
      .describe('How long a worker holds a contact before another may take it over.'),
  })
  .describe('How contacts are created and changed.');

// The queue, which distributes work and holds no truth (`docs/design.md`, decision 1).

const expectedRedisUrl = 'a URL such as redis://localhost:6379 or rediss://user:password@host:6380/0';

/** A character of a password that is not escaped ends it too early: what remains of it would be taken for something that is shown. */
const escapes = 'in a user name or a password, write @ as %40, / as %2F, ? as %3F, # as %23, % as %25';
const splitByPassword = `; this one has an @ or a / too many: ${escapes}`;
const strayPercent = `; this one has a % that begins no escape: ${escapes}`;

/** With what is said of escapes where the text has an `@`, and so perhaps a password. */
function withEscapes(problem: string, text: string): string {
  return text.includes('@') ? `${problem}; ${escapes}` : problem;
}

/** A query is refused since it may hold a password that would not be masked. */
function redisUrlProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^rediss?:\/\//i.test(text) || url.hostname === '') return withEscapes(expectedRedisUrl, text);
  if (url.search !== '' || url.hash !== '')
    return withEscapes(`${expectedRedisUrl}, without anything behind a ? or #`, text);
  if (url.pathname.includes('@')) return `${expectedRedisUrl}${splitByPassword}`;
  if (!isDecodable(url.username) || !isDecodable(url.password)) return `${expectedRedisUrl}${strayPercent}`;
  return /^\/?\d{0,5}$/.test(url.pathname) ? null : `${expectedRedisUrl}; its path is the number of a database`;
}

const queueSection = z
  .strictObject({
    redisUrl: checkedText(expectedRedisUrl, redisUrlProblem)
      .nullable()
      .default(null)
      .describe('The Redis or Valkey server of the queue; null means the embedded one.')
      .register(settingTraits, { env: 'REDIS_URL', secret: 'password' }),
    stopDeadline: duration('1s', '10m')
      .prefault('20s')
      .describe('How long a stopping process waits for the requests in flight; reads are cut at once.'),
    jobsMax: wholeNumber(1, 10_000)
      .default(200)
      .describe('Batch jobs that wait in the queue at once; the ledger holds the others.'),
  })
  .describe('The queue that hands batches to workers.');

// The ledger, where all that must not be lost is.

const expectedDatabaseUrl = 'a URL such as postgres://user:password@localhost:5432/patchbay?sslmode=verify-full';
const databaseParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'schema', 'options', 'host', 'port'];

/** A parameter that is not known is refused: it would be ignored, and may hold a password that would not be masked. */
function databaseUrlProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPostgres = /^postgres(?:ql)?:\/\//i.test(text);
  const hosts = isPostgres ? hostsProblem(text) : null;
  if (hosts !== null) return `${expectedDatabaseUrl}; this one has ${hosts}`;
  if (url === null || !isPostgres) return withEscapes(expectedDatabaseUrl, text);
  if (url.hash !== '') return withEscapes(`${expectedDatabaseUrl}, without anything behind a #`, text);
  if (url.pathname.includes('@')) return `${expectedDatabaseUrl}${splitByPassword}`;
  const parts = [url.username, url.password, url.hostname, url.pathname];
  if (!parts.every(isDecodable)) return `${expectedDatabaseUrl}${strayPercent}`;
  const isKnown = [...url.searchParams.keys()].every((name) => databaseParameters.includes(name));
  if (isKnown) return null;
  const known = `${expectedDatabaseUrl}, with no other parameters than ${databaseParameters.join(', ')}`;
  return withEscapes(known, url.search);
}

const ledgerSection = z
  .strictObject({
    databaseUrl: checkedText(expectedDatabaseUrl, databaseUrlProblem)
      .nullable()
      .default(null)
      .describe('The PostgreSQL database of the ledger; null means a SQLite file in the data folder.')
      .register(settingTraits, { env: 'DATABASE_URL', secret: 'password' }),
  })
  .describe('The ledger, the memory of all that was read, sent and answered.');

// The data folder (`docs/contract.md`, "Data folder").

const dataSection = z
  .strictObject({
    folder: path()
      .default('./data')
      .describe('The folder of the ledger, the reports, the logs and the import folder.')
      .register(settingTraits, { env: 'PATCHBAY_DATA', path: true }),
    importFolder: path()
      .nullable()
      .default(null)
      .describe('The folder to drop files into; null means import in the data folder.')
      .register(settingTraits, { env: 'PATCHBAY_IMPORT', path: true }),
    keepFiles: duration('1d', '3650d')
      .prefault('30d')
      .describe('How long archived originals, fix-files and reports are kept after the end of their run.'),
    keepJournal: duration('1d', '3650d')
      .prefault('90d')
      .describe('How long the ledger keeps what each write changed in a contact.'),
    keepHistory: duration('30d', '3650d')
      .prefault('400d')
      .describe(
        'How long the ledger keeps the records of runs that have ended; the last one that a feed accepted always stays.',
      ),
  })
  .describe(
    'Where Patchbay keeps its files. A relative path starts at the folder of the config file that holds it, elsewhere at the current folder.',
  );

// How a row becomes a contact (`docs/rules.md`, "What a cell means").

const expectedCountry = 'a country code of two capital letters such as US or DE';

const mappingSection = z
  .strictObject({
    defaultCountry: checkedText(expectedCountry, (text) => (/^[A-Z]{2}$/.test(text) ? null : expectedCountry))
      .nullable()
      .default(null)
      .describe('The country of phone numbers that are written without one; null means that such a row is rejected.'),
    onBlank: choice(['keep', 'clear'])
      .default('keep')
      .describe("What a blank cell does to the contact's field: keep it or clear it."),
    file: path()
      .nullable()
      .default(null)
      .describe('The mapping file of the feed main; null means that the layout is recognised by its headers.')
      .register(settingTraits, { path: true }),
  })
  .describe('How a row of a file becomes a contact.');

// Files that feeds take from URLs (`docs/contract.md`, "Feeds and schedules, in the config").

const downloadSection = z
  .strictObject({
    hosts: hostNames()
      .default([])
      .describe("Further hosts that a redirect of a feed's URL may lead to; without them it stays on its own host."),
    privateAddresses: yesOrNo()
      .default(false)
      .describe('Whether files may come from this machine or a private network, and by plain http.'),
    bytesMax: wholeNumber(1, 100_000_000_000)
      .default(1_000_000_000)
      .describe('A download that is larger than this many bytes (at most 100000000000) is refused.'),
    timeout: duration('1s', '25m').prefault('10m').describe('How long one download may take as a whole.'),
  })
  .describe('Files that feeds take from URLs.');

// Snapshots (`docs/rules.md`, "Snapshots" and "Schedules").

const phoneNumbersGroup = z
  .strictObject({
    every: duration('10s', '366d')
      .nullable()
      .default(null)
      .describe('How often a snapshot is taken; null, and no at either, means only on request.'),
    at: cron()
      .nullable()
      .default(null)
      .describe('When a snapshot is taken, as a cron expression of five fields, instead of every.'),
    zone: timeZone()
      .nullable()
      .default(null)
      .describe("The IANA time zone of at; null means the zone of TZ, or the machine's."),
    keep: duration('1d', '3650d').prefault('400d').describe('How long snapshots are kept; the last one always stays.'),
    keepMax: wholeNumber(2, 100_000).default(10_000).describe('At most this many snapshots are kept.'),
  })
  .superRefine(checkRule)
  .describe('Snapshots of the phone numbers and of the users who share them.');

const snapshotsSection = z
  .strictObject({ phoneNumbers: phoneNumbersGroup.prefault({}) })
  .describe('What is kept as history.');

// The web page and its probes (`docs/rules.md`, "Secrets and personal data"), and the log.

const expectedHost = 'an address or host name such as 127.0.0.1, without a port';

// The links of the pages begin at the root of their host.
const expectedPageAddress = 'an address such as https://patchbay.example.com, without a path or a query';

function pageAddressProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.href === `${url.origin}${url.pathname}` && /^\/*$/.test(url.pathname);
  return isPlain && /^https?:\/\/[^\s<>|]+$/i.test(text) ? null : expectedPageAddress;
}

const pageSection = z
  .strictObject({
    host: checkedText(expectedHost, (text) => (/^[0-9A-Za-z.:_-]{1,253}$/.test(text) ? null : expectedHost))
      .default('127.0.0.1')
      .describe('The address the page listens on; off loopback a token is needed.')
      .register(settingTraits, { env: 'HOST' }),
    port: wholeNumber(0, 65_535)
      .nullable()
      .default(null)
      .describe('The port of the page; 0 takes any free one, null takes 8080 or the next free one.')
      .register(settingTraits, { env: 'PORT' }),
    address: checkedText(expectedPageAddress, pageAddressProblem)
      .transform((text) => text.replace(/\/+$/, ''))
      .nullable()
      .default(null)
      .describe(
        'The address under which people reach the page, without a path, for links in notices; null means that these have none.',
      ),
    workerPort: wholeNumber(0, 65_535)
      .nullable()
      .default(null)
      .describe(
        'The port on which a worker process answers /metrics and /healthz; 0 takes any free one, null means that it has none.',
      ),
    token: secret()
      .nullable()
      .default(null)
      .describe('The token that opens the page; null means none, which only loopback allows.')
      .register(settingTraits, { env: 'PATCHBAY_TOKEN', secret: 'whole' }),
  })
  .describe('The web page and its probes.');

const logSection = z
  .strictObject({
    level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .default('info')
      .describe('The least important level that is logged.')
      .register(settingTraits, { env: 'LOG_LEVEL' }),
    format: choice(['json', 'pretty'])
      .nullable()
      .default(null)
      .describe('How log lines are written; null means pretty on a terminal and JSON elsewhere.')
      .register(settingTraits, { env: 'LOG_FORMAT' }),
  })
  .describe('The log.');

// The whole.

const expectedName = 'a name of letters, digits, spaces, ., _ and -, at most 40, such as berlin';
const namePattern = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]{0,38}[\p{L}\p{N}._-])?$/u;

const nameSetting = checkedText(expectedName, (text) => (namePattern.test(text) ? null : expectedName))
  .nullable()
  .default(null)
  .describe(
    'Which installation this is, in at most 40 characters, where there are several: in pages, notices, log lines, metrics and traces; null means that it has no name.',
  );

/** The sections, as they are written and before anything is checked across them; and the one setting without a section. */
export const configSections = z.strictObject({
  name: nameSetting,
  service: serviceSection.prefault({}),
  upsert: upsertSection.prefault({}),
  queue: queueSection.prefault({}),
  ledger: ledgerSection.prefault({}),
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

/** Checks a configuration as it is written, and parses it; `{}` parses to the defaults. */
export const configSchema = configSections
  .superRefine(({ page, feeds, download }, context) => {
    if (!isLoopback(page.host) && page.token === null) {
      const message = `is ${page.host}, which others can reach: set a token too (PATCHBAY_TOKEN), or use 127.0.0.1`;
      sentence(context, ['page', 'host'], message);
    }
    for (const [name, { take }] of Object.entries(feeds)) {
      if (take === null || !isUrl(take) || !/^http:/i.test(take) || download.privateAddresses) continue;
      const message = 'an https URL; plain http needs download.privateAddresses';
      context.addIssue({ code: 'custom', path: ['feeds', name, 'take'], message });
    }
  })
  .transform((sections) => {
    const feeds = Object.entries(sections.feeds).map(([name, feed]) => [name, withUnits(feedSchema, feed)] as const);
    return { ...withUnits(configSections, sections), feeds: recordOf(feeds) };
  });

/** Names each duration with its unit, as `lease` → `leaseMs`, in a group and in its groups. */
type WithUnits<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? {
        [K in keyof T as K extends string
          ? NonNullable<T[K]> extends Milliseconds
            ? `${K}Ms`
            : K
          : never]: NonNullable<T[K]> extends Milliseconds ? number | Extract<T[K], null> : WithUnits<T[K]>;
      }
    : T;

/** `value` is what the schema gave. Ends since groups are finitely deep. */
function withUnits<T>(schema: z.core.$ZodType, value: T): WithUnits<T> {
  const core = coreOf(schema);
  if (!(core instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value as WithUnits<T>;
  const members = Object.entries(value).map(([name, inner]) => {
    const member = core.shape[name];
    return [`${name}${numberForms.get(coreOf(member))?.suffix ?? ''}`, withUnits(member, inner)];
  });
  return Object.fromEntries(members) as WithUnits<T>;
}

/**
 * The parsed configuration: durations are milliseconds and their names end in `Ms`, percentages are fractions from 0 to 1,
 * paths are absolute. Feeds are in the order of the file, except that names that are whole numbers come first.
 */
export type Config = z.output<typeof configSchema>;

/** The configuration as it is written: durations and percentages as text. */
export type ConfigInput = z.input<typeof configSchema>;

/** What the configuration says of one feed. At most one of `at` and `everyMs` is set, and `zone` where `at` is. */
export type FeedConfig = Config['feeds'][string];

// Defaults that depend on the service: a real one, or the embedded sandbox (`docs/contract.md`, "Environment").

export type ServiceMode = 'sandbox' | 'real';

export interface ServiceFigures {
  /** Requests in any sliding second; null: no limit. */
  readonly requestsPerSecond: number | null;
  /** D of `docs/rules.md`: how long after it was sent a POST may still be committed. */
  readonly latestCommitMs: number;
  /** V of `docs/rules.md`: how long a committed contact may be missing from lists. */
  readonly visibilityLagMs: number;
}

const serviceDefaults: Readonly<Record<ServiceMode, ServiceFigures>> = {
  real: { requestsPerSecond: 8, latestCommitMs: 30_000, visibilityLagMs: 10_000 },
  sandbox: { requestsPerSecond: null, latestCommitMs: 2_000, visibilityLagMs: 0 },
};

/** What is configured; where nothing is, the default of the service in use. */
export function serviceFigures(
  { service, upsert }: Pick<Config, 'service' | 'upsert'>,
  mode: ServiceMode,
): ServiceFigures {
  const { requestsPerSecond, latestCommitMs, visibilityLagMs } = serviceDefaults[mode];
  return {
    requestsPerSecond: service.requestsPerSecond ?? requestsPerSecond,
    latestCommitMs: upsert.latestCommitMs ?? latestCommitMs,
    visibilityLagMs: upsert.visibilityLagMs ?? visibilityLagMs,
  };
}

/** A PATCH is sent at most this long after the read that it was planned from (`docs/rules.md`, "Three pictures, one plan"). No setting. */
export const readAgeMaxMs = 2_000;
