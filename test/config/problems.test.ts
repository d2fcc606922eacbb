import { describe, expect, it } from 'vitest';
import { configBench } from './support.ts';

async function fileProblems(text: string | Uint8Array): Promise<string[]> {
  await using bench = await configBench();
  await bench.write('patchbay.yaml', text);
  return await bench.problems();
}

describe('unknown keys', () => {
  it('an unknown key is an error with its place and the closest name', async () => {
    expect(await fileProblems('guards:\n  updateMax: 30%\n')).toEqual([
      'patchbay.yaml:2:3: unknown key "updateMax" in guards (did you mean "updatesMax"?)',
    ]);
  });

  it('an unknown section is an error with its place and the closest name', async () => {
    expect(await fileProblems('# first\nguard:\n  updatesMax: 30%\n')).toEqual([
      'patchbay.yaml:2:1: unknown section "guard" (did you mean "guards"?)',
    ]);
  });

  it('a setting in the wrong section is told its right one', async () => {
    expect(await fileProblems('baseUrl: https://api.example.com\nlog:\n  port: 1\n')).toEqual([
      'patchbay.yaml:1:1: unknown section "baseUrl" (did you mean "service.baseUrl"?)',
      'patchbay.yaml:3:3: unknown key "port" in log (did you mean "page.port"?)',
    ]);
  });

  it('a setting by its whole name is told how it is written', async () => {
    expect(await fileProblems('guards.updatesMax: 30%\nfeeds.crm.take: x\nlog:\n  guards.deadMax: 1%\n')).toEqual([
      'patchbay.yaml:1:1: unknown section "guards.updatesMax": write "guards:" at the beginning of a line, and below it "updatesMax:"',
      'patchbay.yaml:2:1: unknown section "feeds.crm.take": write "feeds:" at the beginning of a line, and below it "crm:", and below it "take:"',
      'patchbay.yaml:4:3: unknown key "guards.deadMax" in log: write "guards:" at the beginning of a line, and below it "deadMax:"',
    ]);
    expect(await fileProblems('guards:\n  guards.updatesMax: 30%\n')).toEqual([
      'patchbay.yaml:2:3: unknown key "guards.updatesMax" in guards (did you mean "updatesMax"?)',
    ]);
  });

  it('a key that resembles none is an error with the keys that are known there', async () => {
    expect(await fileProblems('log:\n  zzzzzzzz: 1\n')).toEqual([
      expect.stringMatching(/^patchbay\.yaml:2:3: unknown key "zzzzzzzz" in log; known here: .*\blevel\b/),
    ]);
  });

  it('a section that is not there is refused with those that are', async () => {
    expect(await fileProblems('memory:\n  some: thing\n')).toEqual([
      expect.stringMatching(/^patchbay\.yaml:1:1: unknown section "memory"; known here: name, service, .*, log$/),
    ]);
  });
});

describe('wrong values', () => {
  it('all problems are told at once, in the order of their lines, each with the expected form', async () => {
    const text = [
      'upsert:',
      '  lease: 45',
      '  attemptsMax: 0',
      '  itemRemoval: all',
      'guards:',
      '  updatesMax: 0.3',
      '  deadFloor:',
      'page:',
      '  port: "80"',
      '  hots: x',
    ].join('\n');
    const expectedDuration = 'a duration such as 500ms, 30s, 10m, 26h or 400d, from 20s to 10m';
    const lines = await fileProblems(text);
    expect(lines).toEqual([
      `patchbay.yaml:2:10: upsert.lease must be ${expectedDuration}, not 45`,
      'patchbay.yaml:3:16: upsert.attemptsMax must be a whole number from 1 to 10, not 0',
      'patchbay.yaml:4:16: upsert.itemRemoval must be one of owned, none, not "all"',
      'patchbay.yaml:6:15: guards.updatesMax must be a percentage such as 30%, from 0% to 100%, not 0.3',
      'patchbay.yaml:7:13: guards.deadFloor must be a whole number from 0 to 1000000000, not empty',
      'patchbay.yaml:9:9: page.port must be a whole number from 0 to 65535, not "80"',
      'patchbay.yaml:10:3: unknown key "hots" in page (did you mean "host"?)',
    ]);
  });

  it('a wrong variable is named instead of a place', async () => {
    await using bench = await configBench();
    const lines = await bench.problems({
      env: { PATCHBAY_RATE: 'fast', LOG_LEVEL: 'loud', PATCHBAY_UPSERT_LEASE: '5s' },
    });
    expect(lines).toEqual([
      'LOG_LEVEL: log.level must be one of trace, debug, info, warn, error, fatal, silent, not "loud"',
      'PATCHBAY_RATE: service.requestsPerSecond must be a whole number from 1 to 10000, not "fast"',
      'PATCHBAY_UPSERT_LEASE: upsert.lease must be a duration such as 500ms, 30s, 10m, 26h or 400d, from 20s to 10m, not "5s"',
    ]);
  });

  it('a value that a higher layer replaces is not checked, and what counts is', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'page:\n  port: no\n  host: 5\n');
    expect(await bench.problems({ env: { PORT: '1' } })).toEqual([
      'patchbay.yaml:3:9: page.host must be an address or host name such as 127.0.0.1, without a port, not 5',
    ]);
  });

  it('a country must exist', async () => {
    await using bench = await configBench();
    expect(await bench.problems({ env: { PATCHBAY_MAPPING_DEFAULT_COUNTRY: 'UK' } })).toEqual([
      'PATCHBAY_MAPPING_DEFAULT_COUNTRY: there is no country UK; the United Kingdom is GB',
    ]);
    const { config } = await bench.load({ env: { PATCHBAY_MAPPING_DEFAULT_COUNTRY: 'DE' } });
    expect(config.mapping.defaultCountry).toBe('DE');
  });
});

describe('files that are not as expected', () => {
  it.each([
    ['a list at the root', '- a\n', 'patchbay.yaml:1:1: the file must hold sections, such as "data:"'],
    ['a text at the root', 'hello\n', 'patchbay.yaml:1:1: the file must hold sections, such as "data:"'],
    ['a section that is a text', 'log: debug\n', 'patchbay.yaml:1:6: log must be a section of settings'],
    ['a list for a setting', 'log:\n  level: [info]\n', 'not a list'],
    ['a group for a setting', 'log:\n  level: { a: 1 }\n', 'not a group of keys'],
    ['a key twice', 'log:\n  level: info\n  level: warn\n', 'patchbay.yaml:3:3: this key is here a second time'],
    ['two documents', 'log:\n---\npage:\n', 'the file holds one YAML document'],
    ['tabs', 'log:\n\tlevel: info\n', 'patchbay.yaml:2:1: YAML is indented by spaces'],
    ['an open quote', 'log:\n  level: "info\n', 'patchbay.yaml:'],
    ['a tag', 'log:\n  level: !!binary aGk=\n', 'tags (!name) are not supported here'],
    ['bytes that are no UTF-8', new Uint8Array([0x6c, 0xff, 0xfe, 0x3a]), 'patchbay.yaml: the file is not UTF-8'],
    ['a huge file', `#${'x'.repeat(1_100_000)}\n`, 'patchbay.yaml: the file is larger than'],
  ])('%s is refused', async (_name, text, expected) => {
    expect((await fileProblems(text)).join('\n')).toContain(expected);
  });

  it('anchors and aliases are refused and never expanded', async () => {
    const bomb = [
      'a: &a [x, x]',
      ...[...'bcdefghij'].map((name, at) => `${name}: &${name} [${`*${'abcdefghi'[at]}, `.repeat(9)}]`),
    ];
    const lines = await fileProblems(`${bomb.join('\n')}\n`);
    expect(lines[0]).toBe('patchbay.yaml:1:7: anchors (&name) are not supported here');
    expect(lines.join('\n')).toContain('aliases (*name) are not supported here');
    expect(lines).toHaveLength(51);
    expect(lines.at(-1)).toMatch(/^and \d+ more$/);
  });

  it('a folder in place of a file is refused', async () => {
    await using bench = await configBench();
    expect(await bench.problems({ configPath: bench.folder })).toEqual([`${bench.folder}: the file is a folder`]);
  });
});

describe('a config file', () => {
  it('is a regular file: a device that never ends is refused at once', async () => {
    await using bench = await configBench();
    expect(await bench.problems({ configPath: '/dev/zero' })).toEqual(['/dev/zero: the file is not a regular file']);
  });
});

describe('the service', () => {
  it.each([
    ['https://api.example.com/v1', 'the origin without /v1, which is added to it: write https://api.example.com'],
    ['https://api.example.com/v1/', 'the origin without /v1'],
    ['https://api.example.com/api', 'the origin alone: write https://api.example.com'],
    ['https://api.example.com?x=1', 'the origin alone'],
    ['https://me:hush@api.example.com', 'an origin without user name and password'],
    ['ftp://api.example.com', 'an origin such as https://api.example.com'],
    ['api.example.com', 'an origin such as'],
  ])('%s is refused as base URL', async (url, expected) => {
    await using bench = await configBench();
    const [line] = await bench.problems({ env: { PATCHBAY_BASE_URL: url } });
    expect(line).toContain(`PATCHBAY_BASE_URL: service.baseUrl must be ${expected}`);
    expect(line).not.toContain('hush');
  });

  it.each(['redis://h:1?password=hush', 'http://h', 'redis:hush', 'redis://h/name', '/run/redis.sock'])(
    '%s is refused as the URL of Redis, and not repeated',
    async (url) => {
      await using bench = await configBench();
      const [line] = await bench.problems({ env: { REDIS_URL: url } });
      expect(line).toContain('REDIS_URL: queue.redisUrl must be a URL such as redis://localhost:6379');
      expect(line).not.toContain('hush');
    },
  );

  it.each([
    'postgres://h/d?password=hush',
    'mysql://hush@h/d',
    'postgres:hush',
    'host=h password=hush',
    'postgres://h/d#hush',
  ])('%s is refused as the URL of a database, and not repeated', async (url) => {
    await using bench = await configBench();
    const [line] = await bench.problems({ env: { DATABASE_URL: url } });
    expect(line).toContain('DATABASE_URL: ledger.databaseUrl must be a URL such as postgres://user:password@localhost');
    expect(line).not.toContain('hush');
  });

  const escapes = 'in a user name or a password, write @ as %40, / as %2F, ? as %3F, # as %23, % as %25';

  it.each([
    'postgres://patchbay:12/hush@127.0.0.1:5432/patchbay',
    'postgres://patchbay:p@ss/hush2@127.0.0.1:5432/patchbay',
    'postgres://patchbay:pa/hush@127.0.0.1/patchbay',
    'postgres://patchbay:12#hush@127.0.0.1/patchbay',
    'postgres://patchbay:12?hush@127.0.0.1/patchbay',
    'postgres://patchbay:pa?hush@127.0.0.1/patchbay',
  ])('%s, whose password is not escaped, is refused with what to write, and no part of it is shown', async (url) => {
    await using bench = await configBench();
    const [line] = await bench.problems({ env: { DATABASE_URL: url } });
    expect(line).toContain(escapes);
    expect(line).not.toContain('hush');
  });

  it.each([
    ['postgres://u@/d?host=/run/postgresql', 'no host behind the @: write the folder of a socket as user@%2Fvar%2Frun'],
    ['postgres://u:hush@:5432/d', 'no host behind the @'],
    ['postgres://u:hush@h1:5432,h2:5432/d', 'more than one host: name one'],
    ['postgres://h1,h2/d', 'more than one host: name one'],
    ['postgres://u:hush%@h/d', 'a % that begins no escape'],
    ['postgres://u:hush@h/d%', 'a % that begins no escape'],
  ])('%s is refused as the URL of a database for what is wrong with it', async (url, problem) => {
    await using bench = await configBench();
    const [line] = await bench.problems({ env: { DATABASE_URL: url } });
    expect(line).toContain(`; this one has ${problem}`);
    expect(line).not.toContain('hush');
  });

  it('the URL of a database whose password was cut in two is told to escape it, not to name one host', async () => {
    await using bench = await configBench();
    for (const url of ['postgres://u:a@b,c/d@h/d', 'postgres://u:p@/d@h/d', 'postgres://u:a,b/c@h/d']) {
      const [line] = await bench.problems({ env: { DATABASE_URL: url } });
      expect(line).toContain(escapes);
      expect(line).not.toContain('host behind');
    }
  });

  it.each([
    'redis://patchbay:12/hush@127.0.0.1:6379',
    'redis://:p@12/hush@127.0.0.1:6379/0',
    'redis://:pa/hush@127.0.0.1:6379/0',
    'redis://patchbay:12#hush@127.0.0.1:6379',
    'redis://patchbay:12?hush@127.0.0.1:6379',
    'redis://:50%hush@127.0.0.1:6379',
  ])('%s, whose password is not escaped, is refused with what to write, and no part of it is shown', async (url) => {
    await using bench = await configBench();
    const [line] = await bench.problems({ env: { REDIS_URL: url } });
    expect(line).toContain(escapes);
    expect(line).not.toContain('hush');
  });

  it('a password with any character is taken where it is escaped', async () => {
    await using bench = await configBench();
    const password = encodeURIComponent('a@b/c?d#e%f:g');
    const urls = [`postgres://me:${password}@h/d`, `redis://me:${password}@h:6379/1`] as const;
    const { config } = await bench.load({ env: { DATABASE_URL: urls[0], REDIS_URL: urls[1] } });
    expect([config.ledger.databaseUrl, config.queue.redisUrl]).toEqual(urls);
  });
});
