import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { printConfig } from '#src/config/document.ts';
import { feedNameProblem, readOnMissing, sourceProblem } from '#src/config/feed-schema.ts';
import { configBench, feedProblems, loaded, problems } from './support.ts';

const whole = `feeds:
  crm:
    take: exports/crm/*.csv
    at: "30  2 * * MON-FRI"
    zone: Europe/Berlin
    mapping: example-crm
    source: CRM
    kind: delta
    expectEvery: 26h
    guards: { updatesMax: 50%, rowsMin: 90%, deadFloor: 5 }
  helpdesk:
    take: https://files.example.com/helpdesk.ndjson?sig=abc
    every: 15m
    authorization: HELPDESK_AUTHORIZATION
    mapping: own.yaml
    adopt: true
  by hand:
`;

describe('a feed in the config', () => {
  it('has what the file says, in milliseconds, shares and absolute paths, and the defaults besides', async () => {
    const { config, sources, folder } = await loaded(whole);
    const unset = {
      take: null,
      at: null,
      everyMs: null,
      zone: null,
      mapping: null,
      source: null,
      kind: 'full',
      expectEveryMs: null,
      authorization: null,
      adopt: false,
      onGone: 'skip',
      onMissing: 'report',
      guards: {},
    };
    expect(config.feeds).toEqual({
      crm: {
        ...unset,
        take: join(folder, 'exports', 'crm', '*.csv'),
        at: '30 2 * * MON-FRI',
        zone: 'Europe/Berlin',
        mapping: 'example-crm',
        source: 'CRM',
        kind: 'delta',
        expectEveryMs: 93_600_000,
        guards: { updatesMax: 0.5, rowsMin: 0.9, deadFloor: 5 },
      },
      helpdesk: {
        ...unset,
        take: 'https://files.example.com/helpdesk.ndjson?sig=abc',
        everyMs: 900_000,
        authorization: 'HELPDESK_AUTHORIZATION',
        mapping: join(folder, 'own.yaml'),
        adopt: true,
      },
      'by hand': unset,
    });
    expect(Object.keys(config.feeds)).toEqual(['crm', 'helpdesk', 'by hand']);
    expect(sources['feeds.crm.guards.rowsMin']).toEqual({ kind: 'file', name: 'patchbay.yaml:10:41' });
    expect(sources['feeds.by hand']).toEqual({ kind: 'file', name: 'patchbay.yaml:17:3' });
  });

  it.each([
    ['report', { kind: 'report' }],
    ['clear role,phones , custom.tier', { kind: 'clear', fields: ['role', 'phones', 'custom.tier'] }],
    ['tag custom.status = left = gone', { kind: 'tag', field: 'custom.status', value: 'left = gone' }],
    ['clear', null],
    ['clear role nickname', null],
    ['tag role', null],
    ['tag phones=+1', null],
    ['delete', null],
  ])('what becomes of people who left is read from %j', (text, rule) => {
    expect(readOnMissing(text)).toEqual(rule);
  });

  it('who left is not known from files of kind delta', async () => {
    await expect(loaded('feeds:\n  crm: { kind: delta, onMissing: clear role }\n')).rejects.toThrow(
      'feeds.crm.onMissing needs full files',
    );
  });

  it('its paths start at the folder of the config file', async () => {
    await using bench = await configBench();
    await mkdir(join(bench.folder, 'etc'));
    await bench.write('etc/m.yml', '');
    await bench.write('etc/p.yaml', 'feeds: { a: { take: ../in/*.csv, mapping: ./m.yml } }\n');
    const { config } = await bench.load({ configPath: 'etc/p.yaml' });
    expect(config.feeds.a).toMatchObject({
      take: join(bench.folder, 'in', '*.csv'),
      mapping: join(bench.folder, 'etc', 'm.yml'),
    });
  });

  it('a typo in one of its keys names the line and the key that was meant', async () => {
    expect(await feedProblems('evry: 15m', 'guards:', '  updateMax: 3%', 'cron: "* * * * *"', 'timezone: UTC')).toEqual(
      [
        '3:5: unknown key "evry" in feeds.crm (did you mean "every"?)',
        '5:7: unknown key "updateMax" in feeds.crm.guards (did you mean "updatesMax"?)',
        '6:5: unknown key "cron" in feeds.crm (did you mean "at"?)',
        '7:5: unknown key "timezone" in feeds.crm (did you mean "zone"?)',
      ],
    );
  });

  it('one of its settings without its group is told to stay in the feed: beside the feeds it would hold for all of them', async () => {
    expect(await feedProblems('guards.updatesMax: 4%', 'deadMax: 4%', 'guards:', '  guards.createsMax: 4%')).toEqual([
      '3:5: unknown key "guards.updatesMax" in feeds.crm: write "guards:" in feeds.crm, and below it "updatesMax:"',
      '4:5: unknown key "deadMax" in feeds.crm: write "guards:" in feeds.crm, and below it "deadMax:"',
      '6:7: unknown key "guards.createsMax" in feeds.crm.guards (did you mean "createsMax"?)',
    ]);
  });

  it('wrong values are told all at once, each with its place and the expected form', async () => {
    const lines = [
      'every: 5s',
      'kind: some',
      'expectEvery: 1y',
      'guards: { rowsMin: 2 }',
      'take: [a, b]',
      'at: "@daily"',
    ];
    expect(await feedProblems(...lines)).toEqual([
      '3:12: feeds.crm.every must be a duration such as 500ms, 30s, 10m, 26h or 400d, from 10s to 366d, not "5s"',
      '4:11: feeds.crm.kind must be one of full, delta, not "some"',
      '5:18: feeds.crm.expectEvery must be a duration such as 500ms, 30s, 10m, 26h or 400d, from 1m to 366d, not "1y"',
      '6:24: feeds.crm.guards.rowsMin must be a percentage such as 30%, from 0% to 100%, not 2',
      '7:11: feeds.crm.take must be a path, a glob or an https URL such as https://files.example.com/crm.csv, not a list',
      '8:9: feeds.crm.at must be a cron expression of five fields (minute, hour, day, month, weekday) such as "30 2 * * *", not "@daily"',
    ]);
  });

  it.each([
    ['main', 'that is the feed of the import folder itself'],
    ['Phone-Numbers', 'that is the schedule of the phone-number snapshots'],
    ['_crm', 'a feed needs a name that begins with a letter or digit'],
    ['a/b', 'a feed needs a name'],
    ['a:b', 'a feed needs a name'],
    ['__proto__', 'a feed needs a name'],
    ['crm ', 'must not end with a space or a dot'],
    ['x'.repeat(61), 'up to 60 characters'],
  ])('may not be called %s', (name, expected) => {
    expect(feedNameProblem(name)).toContain(expected);
  });

  it('a name that is refused is told with its place', async () => {
    expect(await problems('feeds:\n  crm: {}\n  _crm: {}\n  main: {}\n')).toEqual([
      `patchbay.yaml:3:3: ${feedNameProblem('_crm')}`,
      `patchbay.yaml:4:3: no feed may be called main: ${feedNameProblem('main')}`,
    ]);
  });

  it('may be called by a number, a word of YAML and letters of any script', async () => {
    const names = ['007', 'yes', 'constructor', 'Ärzte 2', 'a.b_c-d', '1e3', 'null'];
    const { config } = await loaded(`feeds:\n${names.map((name) => `  ${name}: { kind: delta }\n`).join('')}`);
    expect(Object.keys(config.feeds)).toEqual(names);
    expect(config.feeds['1e3']?.kind).toBe('delta');
  });

  it('is not found where it is not configured, whatever it is called', async () => {
    const { config } = await loaded('feeds: { crm: {} }\n');
    expect(config.feeds.constructor).toBeUndefined();
  });

  it('two names that differ only in case are refused', async () => {
    expect(await problems('feeds:\n  crm: {}\n  CRM: {}\n')).toEqual([
      'patchbay.yaml:3:3: feeds.CRM and feeds.crm differ only in case, and so would their folders',
    ]);
  });

  it('the feeds are a group of groups', async () => {
    expect(await problems('feeds: [crm]\n')).toEqual([
      'patchbay.yaml:1:8: feeds must be a group of feeds by name, such as "crm:"',
    ]);
    expect(await problems('feeds:\n  crm: x.csv\n')).toEqual([
      'patchbay.yaml:2:8: feeds.crm must be a group of settings',
    ]);
    expect(await problems('feeds:\n  crm: {}\n  take: x.csv\n')).toEqual([
      'patchbay.yaml:3:9: feeds.take must be a group of settings; if it is the take of a feed, write it below the name of that feed, such as "crm:"',
    ]);
    expect((await loaded('feeds:\n')).config.feeds).toEqual({});
  });

  it('at most 200 are allowed', async () => {
    const feeds = (count: number) => `feeds:\n${Array.from({ length: count }, (_, at) => `  f${at}:\n`).join('')}`;
    expect(Object.keys((await loaded(feeds(200))).config.feeds)).toHaveLength(200);
    expect(await problems(feeds(201))).toEqual([
      'patchbay.yaml:202:3: feeds.f200 is one feed more than the 200 that are allowed',
    ]);
  });

  it('may be set in the config file only: a variable sets nothing, and is a warning that says so', async () => {
    const env = { PATCHBAY_FEEDS_CRM_TAKE: '/x.csv', PATCHBAY_FEEDS_PORT: 'tcp://10.0.0.1:80', PATCHBAY_FEED: 'crm' };
    const { config, warnings } = await loaded('', env);
    expect(config.feeds).toEqual({});
    const where = 'no such setting; feeds are set in the config file only, under "feeds:"';
    expect(warnings).toEqual(
      Object.keys(env)
        .toSorted()
        .map((name) => `${name}: ${where}`),
    );
  });

  it('a variable that a feed names is no unknown one, whatever it is called', async () => {
    const text = 'feeds: { crm: { take: https://files.example.com/x, authorization: PATCHBAY_FEED_TOKEN } }\n';
    expect((await loaded(text, { PATCHBAY_FEED_TOKEN: 'x' })).warnings).toEqual([]);
  });
});

describe('what a feed takes', () => {
  it('is a path or an http URL', async () => {
    const urls = ['ftp://files.example.com/x.csv', 'file:///exports/x.csv', '"https://"'];
    const lines = await problems(`feeds:\n${urls.map((url, at) => `  f${at}: { take: ${url} }\n`).join('')}`);
    expect(lines).toHaveLength(urls.length);
    for (const line of lines) expect(line).toContain('.take must be a path, a glob or an https URL');
  });

  it('a URL with a password is refused and not repeated', async () => {
    const [line] = await feedProblems('take: https://me:hush@files.example.com/x.csv');
    expect(line).toBe(
      '3:11: feeds.crm.take must be a URL without user name and password; name a variable that holds what is sent with authorization',
    );
  });

  it('plain http needs download.privateAddresses', async () => {
    const text = 'feeds: { crm: { take: "http://127.0.0.1:8000/x.csv" } }\n';
    expect(await problems(text)).toEqual([
      'patchbay.yaml:1:23: feeds.crm.take must be an https URL; plain http needs download.privateAddresses',
    ]);
    const { config } = await loaded(text, { PATCHBAY_DOWNLOAD_PRIVATE_ADDRESSES: 'true' });
    expect(config.feeds.crm?.take).toBe('http://127.0.0.1:8000/x.csv');
  });

  it('a secret in place of the name of a variable is refused and not repeated', async () => {
    const secrets = ['Bearer hush-4f1d0c7e', 'hush4f1d0c7eAb', 'hush_secret'];
    const feeds = secrets.map(
      (secret, at) => `  f${at}: { take: https://a.example.com/x, authorization: ${secret} }\n`,
    );
    expect((await problems(`feeds:\n${feeds.join('')}`)).map((line) => line.replace(/^.*?f\d/, ''))).toEqual(
      secrets.map(
        () =>
          '.authorization must be the name of an environment variable in capitals such as CRM_AUTHORIZATION, which holds the value: no secret may be written here',
      ),
    );
  });

  it('a secret of Patchbay itself is never sent elsewhere', async () => {
    for (const name of ['PATCHBAY_API_KEY', 'PATCHBAY_SERVICE_API_KEY']) {
      const [line] = await feedProblems('take: https://files.example.com/x', `authorization: ${name}`);
      expect(line).toContain(`4:20: feeds.crm.authorization names ${name}, a setting of Patchbay`);
    }
  });

  it('an authorization needs a URL', async () => {
    expect(await feedProblems('take: x.csv', 'authorization: CRM_TOKEN')).toEqual([
      '4:20: feeds.crm.authorization is only sent to a URL, and take is none',
    ]);
  });

  it('a variable that a feed names is no unknown one', async () => {
    const text = 'feeds: { crm: { take: https://files.example.com/x, authorization: PATCHBAY_CRM_TOKEN } }\n';
    expect((await loaded(text, { PATCHBAY_CRM_TOKEN: 'x' })).warnings).toEqual([]);
  });

  it('a variable that is not set is worth a warning before the first take', async () => {
    const text = 'feeds: { crm: { take: https://files.example.com/x, authorization: CRM_TOKEN } }\n';
    const warningsIn = async (env: Record<string, string>) => (await loaded(text, env)).startWarnings;
    const sentence = 'feeds.crm.authorization: the variable CRM_TOKEN is not set here: ';
    for (const env of [{}, { CRM_TOKEN: ' ' }])
      expect(await warningsIn(env)).toEqual([expect.stringMatching(`^patchbay.yaml:1:67: ${sentence}`)]);
    expect(await warningsIn({ CRM_TOKEN: 'Bearer x' })).toEqual([]);
  });

  it.each(['127.0.0.1', 'localhost', '10.1.2.3', '[::1]', '[fd00::1]'])(
    'a URL of %s is worth a warning, unless private addresses are allowed',
    async (host) => {
      const text = `feeds: { crm: { take: "https://${host}/a.csv?secret=1" } }\n`;
      const sentence = `patchbay.yaml:1:23: feeds.crm.take: ${host} is an address of this machine or of a private network: nothing is taken from there without download.privateAddresses`;
      expect((await loaded(text)).startWarnings).toEqual([sentence]);
      expect((await loaded(`${text}download: { privateAddresses: true }\n`)).startWarnings).toEqual([]);
    },
  );

  it.each(['203.0.113.7', 'files.example.com', 'files.internal', 'files'])('a URL of %s has none', async (host) => {
    expect((await loaded(`feeds: { crm: { take: "https://${host}/a.csv" } }\n`)).startWarnings).toEqual([]);
  });

  it('a mapping file must be there; a name must be one that comes with Patchbay', async () => {
    const [line] = await feedProblems('mapping: maps/gone.yaml');
    expect(line).toMatch(/^3:14: feeds\.crm\.mapping: there is no file .*gone\.yaml$/);
    expect((await loaded('feeds: { crm: { mapping: hubspot } }\n')).config.feeds.crm?.mapping).toBe('hubspot');
    const [unknown] = await feedProblems('mapping: hubspt');
    expect(unknown).toBe('3:14: feeds.crm.mapping: there is no mapping "hubspt" (did you mean "hubspot"?)');
  });
});

describe("a feed's source label", () => {
  it.each([
    ['CSV', 'a label that the service does not reserve'],
    ['openphone-2', 'a label that does not begin with "openphone", which the service reserves'],
    ['', 'a label of 1 to 72 characters'],
    ['x'.repeat(73), 'a label of 1 to 72 characters'],
  ])('%s is refused', (label, expected) => {
    expect(sourceProblem(label)).toContain(expected);
  });

  it('a label that is refused is told with its place', async () => {
    expect(await feedProblems('source: CSV')).toEqual([
      '3:13: feeds.crm.source must be a label that the service does not reserve, not "CSV"',
    ]);
  });

  it("a feed's name that the service reserves needs a label of its own", async () => {
    expect(await problems('feeds:\n  csv: {}\n')).toEqual([
      'patchbay.yaml:2:3: feeds.csv is reserved by the service as a source label; rename the feed, or set its source',
    ]);
    expect((await loaded('feeds: { csv: { source: CRM } }\n')).config.feeds.csv?.source).toBe('CRM');
  });
});

describe('printing feeds', () => {
  it('names the origin of each value, and hides the query of a URL', async () => {
    const text = printConfig(await loaded(whole));
    expect(text).toContain('  crm: # patchbay.yaml:2:3\n');
    expect(text).toContain('    take: https://files.example.com/helpdesk.ndjson?******** # patchbay.yaml:12:11\n');
    expect(text).toContain('    guards:\n      updatesMax: 50% # patchbay.yaml:10:27\n');
    expect(text).toContain('    kind: full # default\n');
    expect(text).not.toContain('sig=abc');
    expect(printConfig(await loaded(''))).toContain('\nfeeds: {} # default\n');
  });

  it('loads again to the same configuration', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', whole.replace('?sig=abc', ''));
    await bench.write('own.yaml', '');
    const first = await bench.load({ env: { PATCHBAY_DOWNLOAD_HOSTS: 'a.example.com,B.example.com' } });
    const path = await bench.write('printed.yaml', printConfig(first));
    expect((await bench.load({ configPath: path })).config).toEqual(first.config);
  });
});
