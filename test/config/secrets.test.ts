import { chmod, rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { printConfig } from '#src/config/document.ts';
import { readApiKey } from '#src/config/secrets.ts';
import { configBench, loaded } from './support.ts';

const canary = 'canary-4f1d0c7e';

describe('the API key', () => {
  it('is refused in a config file and as a flag, and not repeated', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', `service:\n  apiKey: ${canary}\n`);
    expect(await bench.problems({ flags: { service: { apiKey: canary } } })).toEqual([
      'flag: service.apiKey must not be set here, where others could read it: set PATCHBAY_API_KEY, or name a file of mode 0600 with service.apiKeyFile',
      'patchbay.yaml:2:11: service.apiKey must not be set here, where others could read it: set PATCHBAY_API_KEY, or name a file of mode 0600 with service.apiKeyFile',
    ]);
  });

  it('a wrong key is not repeated', async () => {
    await using bench = await configBench();
    for (const wrong of [`${canary} ü`, `Bearer ${canary}`]) {
      expect(await bench.problems({ env: { PATCHBAY_API_KEY: wrong } })).toEqual([
        'PATCHBAY_API_KEY: service.apiKey must be the raw key, without Bearer: up to 1000 printable ASCII characters without spaces',
      ]);
    }
  });

  it('a file that is no YAML does not show its content', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', `page:\n  token: "${canary}" "${canary}"\n}`);
    expect((await bench.problems()).join('\n')).not.toContain(canary);
  });

  it.skipIf(process.platform === 'win32')('a key file that others may read is refused', async () => {
    await using bench = await configBench();
    const file = await bench.write('key', canary, 0o600);
    const env = { PATCHBAY_API_KEY_FILE: 'key' };
    for (const mode of [0o640, 0o604, 0o620]) {
      await chmod(file, mode);
      const [line] = await bench.problems({ env });
      expect(line).toContain(`PATCHBAY_API_KEY_FILE: the key file ${file} has mode 0${mode.toString(8)}`);
      expect(line).toContain(`chmod 600 ${file}`);
    }
    for (const mode of [0o600, 0o400]) {
      await chmod(file, mode);
      expect((await bench.load({ env })).config.service.apiKeyFile).toBe(file);
    }
  });

  it('is read anew from its file each time', async () => {
    await using bench = await configBench();
    const file = await bench.write('key', 'first\n', 0o600);
    const { config } = await bench.load({ env: { PATCHBAY_API_KEY_FILE: 'key' } });
    expect(await readApiKey(config.service)).toBe('first');
    await bench.write('key', 'second\n');
    expect(await readApiKey(config.service)).toBe('second');
    await bench.write('key', 'two\nlines\n');
    await expect(readApiKey(config.service)).rejects.toMatchObject({ kind: 'auth', code: 'apiKeyMissing' });
    await rm(file);
    await expect(readApiKey(config.service)).rejects.toMatchObject({ kind: 'auth', code: 'apiKeyMissing' });
  });

  it('comes from the environment where both are set, with a warning', async () => {
    await using bench = await configBench();
    await bench.write('key', 'from-file', 0o600);
    const { config, warnings } = await bench.load({ env: { PATCHBAY_API_KEY_FILE: 'key', PATCHBAY_API_KEY: canary } });
    expect(await readApiKey(config.service)).toBe(canary);
    expect(warnings).toEqual([
      'PATCHBAY_API_KEY: service.apiKeyFile is also set; it is not read while the key itself is set',
    ]);
  });

  it('is null where none is set', async () => {
    await using bench = await configBench();
    expect(await readApiKey((await bench.load()).config.service)).toBeNull();
  });
});

describe('the page off loopback', () => {
  it.each(['0.0.0.0', '::', '192.0.2.7', 'example.com', '127.example.com'])('%s needs a token', async (host) => {
    await using bench = await configBench();
    const [line] = await bench.problems({ env: { HOST: host } });
    expect(line).toBe(
      `HOST: page.host is ${host}, which others can reach: set a token too (PATCHBAY_TOKEN), or use 127.0.0.1`,
    );
    const { config, warnings } = await bench.load({ env: { HOST: host, PATCHBAY_TOKEN: 'a-token-of-some-length' } });
    expect([config.page.host, warnings]).toEqual([host, []]);
  });

  it('a short token is a warning that does not repeat it', async () => {
    await using bench = await configBench();
    const { warnings } = await bench.load({ env: { HOST: '0.0.0.0', PATCHBAY_TOKEN: 'hush' } });
    expect(warnings).toEqual(['PATCHBAY_TOKEN: page.token has fewer than 16 characters and can be guessed']);
  });

  it.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('%s needs none', async (host) => {
    await using bench = await configBench();
    expect((await bench.load({ env: { HOST: host } })).config.page.host).toBe(host);
  });
});

describe('printing the configuration', () => {
  it('masks every secret', async () => {
    await using bench = await configBench();
    const loaded = await bench.load({
      env: {
        PATCHBAY_API_KEY: canary,
        PATCHBAY_TOKEN: canary,
        REDIS_URL: `rediss://me:${canary}@127.0.0.1:6380/2`,
        DATABASE_URL: `postgres://me:${canary}@db/patchbay?sslmode=require`,
      },
    });
    const text = printConfig(loaded);
    expect(text).not.toContain(canary);
    expect(text).toContain('apiKey: "********" # PATCHBAY_API_KEY');
    expect(text).toContain('redisUrl: rediss://me:********@127.0.0.1:6380/2 # REDIS_URL');
    expect(text).toContain('databaseUrl: postgres://me:********@db/patchbay?sslmode=require # DATABASE_URL');
    const lone = await bench.load({ env: { REDIS_URL: `redis://${canary}@127.0.0.1` } });
    expect(printConfig(lone)).not.toContain(canary);
  });

  it('names the origin of each value', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'guards:\n  updatesMax: 2.5%\n');
    const text = printConfig(await bench.load({ flags: { log: { level: 'warn' } } }));
    expect(text).toContain('  updatesMax: 2.5% # patchbay.yaml:2:15\n');
    expect(text).toContain('  level: warn # flag\n');
    expect(text).toContain('  lease: 45s # default\n');
  });

  it('loads again to the same configuration', async () => {
    await using bench = await configBench();
    const loaded = await bench.load({
      env: { PATCHBAY_UPSERT_LATEST_COMMIT: '90s', PATCHBAY_GUARDS_DEAD_MAX: '7%', PATCHBAY_DATA: 'a # b: "c"' },
    });
    const path = await bench.write('printed.yaml', printConfig(loaded));
    expect(parse(printConfig(loaded))).toBeTypeOf('object');
    expect((await bench.load({ configPath: path })).config).toEqual(loaded.config);
  });
});

describe('a service over http', () => {
  it.each(['http://api.example.com', 'http://203.0.113.7:8080'])('at %s is worth a warning', async (url) => {
    const { serviceWarnings } = await loaded(`service: { baseUrl: "${url}" }\n`);
    expect(serviceWarnings.filter((one) => one.includes('http'))).toEqual([
      expect.stringContaining('service.baseUrl: the API key and all contacts go there unencrypted, over http'),
    ]);
  });

  it.each([
    ...['https://api.example.com', 'http://127.0.0.1:8080', 'http://10.1.2.3', 'http://service:8080'],
    ...['http://api.default.svc:8080', 'http://api.default.svc.cluster.local'],
  ])('at %s has none', async (url) => {
    const { serviceWarnings } = await loaded(`service: { baseUrl: "${url}" }\n`);
    expect(serviceWarnings.filter((one) => one.includes('http'))).toEqual([]);
  });
});

describe('a service without a key', () => {
  it.each([
    ['', 'service.apiKeyFile is not set, nor PATCHBAY_API_KEY: '],
    [', apiKeyFile: /nowhere/key', 'service.apiKeyFile: there is no file /nowhere/key: '],
  ])('is worth a warning: "%s"', async (setting, sentence) => {
    const { serviceWarnings } = await loaded(`service: { baseUrl: "https://api.example.com"${setting} }\n`);
    const end = 'without a key, what needs the service ends with exit code 4';
    expect(serviceWarnings).toEqual([expect.stringMatching(`${sentence}${end}$`)]);
  });
});
