import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configBench, problems } from './support.ts';

describe('layers of the configuration', () => {
  it('without file, environment and flags every setting has its default', async () => {
    await using bench = await configBench();
    const { config, sources, warnings, configFile } = await bench.load();
    expect(config).toEqual({
      name: null,
      service: { baseUrl: null, apiKey: null, apiKeyFile: null, requestsPerSecond: null },
      upsert: {
        latestCommitMs: null,
        visibilityLagMs: null,
        itemRemoval: 'owned',
        attemptsMax: 3,
        rowsPerBatch: 100,
        batchesAtOnce: 2,
        leaseMs: 45_000,
      },
      queue: { redisUrl: null, stopDeadlineMs: 20_000, jobsMax: 200 },
      ledger: { databaseUrl: null },
      data: {
        folder: join(bench.folder, 'data'),
        importFolder: null,
        keepFilesMs: 2_592_000_000,
        keepHistoryMs: 34_560_000_000,
        keepJournalMs: 7_776_000_000,
      },
      guards: {
        updatesMax: 0.3,
        updatesFloor: 10,
        createsMax: 0.3,
        createsFloor: 100,
        clearsMax: 0.1,
        clearsFloor: 10,
        deadMax: 0.05,
        deadFloor: 20,
        lossesMax: 0.2,
        lossesFloor: 20,
        adoptionsMax: 0.3,
        adoptionsFloor: 10,
        refusalsMax: 20,
        rowsMin: 0.7,
        rowsFloor: 10,
        keysMin: 0.5,
        keysFloor: 10,
        strangersRows: 20,
        strangersFloor: 100,
        olderRows: 20,
      },
      mapping: { defaultCountry: null, onBlank: 'keep', file: null },
      feeds: {},
      download: { hosts: [], privateAddresses: false, bytesMax: 1_000_000_000, timeoutMs: 600_000 },
      snapshots: { phoneNumbers: { everyMs: null, at: null, zone: null, keepMs: 34_560_000_000, keepMax: 10_000 } },
      notify: {
        ...{ url: null, secret: null, secretFile: null, outageAfterMs: 60_000 },
        ...{ slack: { url: null }, teams: { url: null } },
        mail: { server: null, from: null, to: [], user: null, password: null, passwordFile: null },
      },
      page: { host: '127.0.0.1', port: null, address: null, workerPort: null, token: null },
      log: { level: 'info', format: null },
    });
    expect(new Set(Object.values(sources).map((source) => source.kind))).toEqual(new Set(['default']));
    expect(warnings).toEqual([]);
    expect(configFile).toBeNull();
  });

  it('a flag wins over the environment, the environment over the file, the file over the default', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'log:\n  level: warn\npage:\n  port: 9001\nupsert:\n  rowsPerBatch: 7\n');
    const { config, sources } = await bench.load({
      env: { PORT: '9002', LOG_LEVEL: 'error' },
      flags: { log: { level: 'debug' }, page: { port: undefined } },
    });
    expect([config.log.level, config.page.port, config.upsert.rowsPerBatch]).toEqual(['debug', 9002, 7]);
    expect(sources['log.level']).toEqual({ kind: 'flag', name: 'flag' });
    expect(sources['page.port']).toEqual({ kind: 'environment', name: 'PORT' });
    expect(sources['upsert.rowsPerBatch']).toEqual({ kind: 'file', name: 'patchbay.yaml:6:17' });
    expect(sources['upsert.lease']).toEqual({ kind: 'default', name: 'default' });
  });

  it('the config file is the one of the flag, else of PATCHBAY_CONFIG, else patchbay.yaml', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'page: { port: 1001 }\n');
    await bench.write('named.yaml', 'page: { port: 1002 }\n');
    const flagged = await bench.write('flagged.yaml', 'page: { port: 1003 }\n');
    const env = { PATCHBAY_CONFIG: 'named.yaml' };
    expect((await bench.load()).config.page.port).toBe(1001);
    expect((await bench.load({ env })).config.page.port).toBe(1002);
    const loaded = await bench.load({ env, configPath: flagged });
    expect(loaded.config.page.port).toBe(1003);
    expect(loaded.configFile).toBe(flagged);
  });

  it('a config file that is named but missing is an error', async () => {
    await using bench = await configBench();
    expect(await bench.problems({ configPath: 'gone.yaml' })).toEqual(['gone.yaml: there is no such file']);
    expect(await bench.problems({ env: { PATCHBAY_CONFIG: 'gone.yaml' } })).toEqual([
      'gone.yaml: there is no such file',
    ]);
    const hint = (path: string) => ({ code: 'configInvalid', hint: expect.stringContaining(path) });
    await expect(bench.load({ configPath: 'gone.yaml' })).rejects.toMatchObject(hint('--config'));
    await expect(bench.load({ env: { PATCHBAY_CONFIG: 'gone.yaml' } })).rejects.toMatchObject(hint('PATCHBAY_CONFIG'));
  });

  it('a link to a file that is gone is an error, and not a folder without a config file', async () => {
    await using bench = await configBench();
    await symlink('gone.yaml', join(bench.folder, 'patchbay.yaml'));
    const link = 'patchbay.yaml: it is a link to a file that is not there';
    expect(await bench.problems()).toEqual([link]);
    await expect(bench.load()).rejects.toMatchObject({ hint: expect.stringContaining('Remove the link') });
    expect(await bench.problems({ configPath: 'patchbay.yaml' })).toEqual([link]);
    await bench.write('gone.yaml', 'page: { port: 1004 }\n');
    expect((await bench.load()).config.page.port).toBe(1004);
  });

  it('a blank is no path: not the folder of the config file, nor that of the command', async () => {
    const text = [
      ...['data: { folder: "" }', 'service: { apiKeyFile: " " }', 'mapping: { file: "" }'],
      ...['feeds: { crm: { take: "", mapping: " " } }', ''],
    ].join('\n');
    expect(await problems(text)).toEqual([
      'patchbay.yaml:1:17: data.folder must be the path of a file or folder, not ""',
      'patchbay.yaml:2:24: service.apiKeyFile must be the path of a file or folder, not " "',
      'patchbay.yaml:3:18: mapping.file must be the path of a file or folder, not ""',
      'patchbay.yaml:4:23: feeds.crm.take must be a path, a glob or an https URL such as https://files.example.com/crm.csv',
      'patchbay.yaml:4:36: feeds.crm.mapping must be the path of a file or folder, not " "',
    ]);
    await using bench = await configBench();
    await expect(bench.load({ flags: { data: { folder: '' } } })).rejects.toMatchObject({ code: 'configInvalid' });
  });

  it('relative paths start at the folder of the config file, and at the current folder elsewhere', async () => {
    await using bench = await configBench();
    await mkdir(join(bench.folder, 'etc'));
    await bench.write('etc/p.yaml', 'data:\n  folder: ../var\n  importFolder: drop\nmapping:\n  file: m.yaml\n');
    await bench.write('own.yaml', '');
    const { config } = await bench.load({ configPath: 'etc/p.yaml', env: { PATCHBAY_MAPPING_FILE: 'own.yaml' } });
    expect(config.data.folder).toBe(join(bench.folder, 'var'));
    expect(config.data.importFolder).toBe(join(bench.folder, 'etc', 'drop'));
    expect(config.mapping.file).toBe(join(bench.folder, 'own.yaml'));
    const flagged = await bench.load({ flags: { data: { folder: 'here' } } });
    expect(flagged.config.data.folder).toBe(join(bench.folder, 'here'));
  });

  it('an empty file, an empty section and comments alone change nothing', async () => {
    await using bench = await configBench();
    const { config } = await bench.load();
    for (const text of ['', '# nothing\n', '---\n', 'guards:\n  # updatesMax: 30%\n', '\uFEFFlog:\n']) {
      const path = await bench.write('empty.yaml', text);
      expect((await bench.load({ configPath: path })).config).toEqual(config);
    }
  });
});

describe('the environment', () => {
  it('takes every name of the contract', async () => {
    await using bench = await configBench();
    await bench.write('key', 'k\n', 0o600);
    const { config, warnings } = await bench.load({
      env: {
        PATCHBAY_BASE_URL: 'https://api.example.com/',
        PATCHBAY_API_KEY_FILE: 'key',
        REDIS_URL: 'redis://127.0.0.1:6379/1',
        PATCHBAY_DATA: 'd',
        PATCHBAY_IMPORT: '/srv/drop',
        PATCHBAY_RATE: '5',
        PATCHBAY_UPSERT_LATEST_COMMIT: '1m',
        PATCHBAY_UPSERT_VISIBILITY_LAG: '0s',
        HOST: '::1',
        PORT: '0',
        PATCHBAY_TOKEN: 'a-token-of-some-length',
        LOG_LEVEL: 'trace',
        LOG_FORMAT: 'json',
        NO_COLOR: '1',
      },
    });
    expect(config.service).toEqual({
      baseUrl: 'https://api.example.com',
      apiKey: null,
      apiKeyFile: join(bench.folder, 'key'),
      requestsPerSecond: 5,
    });
    expect(config.upsert).toMatchObject({ latestCommitMs: 60_000, visibilityLagMs: 0 });
    expect(config.queue.redisUrl).toBe('redis://127.0.0.1:6379/1');
    expect(config.data).toMatchObject({ folder: join(bench.folder, 'd'), importFolder: '/srv/drop' });
    expect(config.page).toMatchObject({ host: '::1', port: 0, token: 'a-token-of-some-length' });
    expect(config.log).toEqual({ level: 'trace', format: 'json' });
    expect(warnings).toEqual([]);
  });

  it('takes PATCHBAY_<SECTION>_<KEY> for every setting', async () => {
    await using bench = await configBench();
    const { config } = await bench.load({
      env: {
        PATCHBAY_SERVICE_BASE_URL: 'http://127.0.0.1:9',
        PATCHBAY_SERVICE_API_KEY: 'key',
        PATCHBAY_GUARDS_UPDATES_MAX: '75%',
        PATCHBAY_UPSERT_ROWS_PER_BATCH: '12',
        PATCHBAY_PAGE_PORT: '1',
      },
    });
    expect(config.service).toMatchObject({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key' });
    expect([config.guards.updatesMax, config.upsert.rowsPerBatch, config.page.port]).toEqual([0.75, 12, 1]);
  });

  it('an empty variable counts as unset', async () => {
    await using bench = await configBench();
    const { config, warnings } = await bench.load({
      env: { PORT: '', PATCHBAY_BASE_URL: ' ', PATCHBAY_CONFIG: '', PATCHBAY_NOTHING: '', DATABASE_URL: '' },
    });
    expect([config.page.port, config.service.baseUrl, warnings]).toEqual([null, null, []]);
  });

  it('an unknown PATCHBAY_ variable is a warning with a suggestion', async () => {
    await using bench = await configBench();
    const { warnings } = await bench.load({
      env: { PATCHBAY_API_KEI: 'x', PATCHBAY_REDIS_URL: 'w', PATCHBAY_ZZZZ: 'y', OTHER: 'z' },
    });
    expect(warnings).toEqual([
      'PATCHBAY_API_KEI: no such setting (did you mean PATCHBAY_API_KEY?)',
      'PATCHBAY_REDIS_URL: no such setting (did you mean REDIS_URL?)',
      'PATCHBAY_ZZZZ: no such setting',
    ]);
  });

  it('two names of one setting with different values are an error', async () => {
    await using bench = await configBench();
    expect(await bench.problems({ env: { PATCHBAY_RATE: '5', PATCHBAY_SERVICE_REQUESTS_PER_SECOND: '6' } })).toEqual([
      'PATCHBAY_RATE: PATCHBAY_SERVICE_REQUESTS_PER_SECOND is also set, to another value; unset one of them',
    ]);
    const { config } = await bench.load({ env: { PORT: '5', PATCHBAY_PAGE_PORT: '5' } });
    expect(config.page.port).toBe(5);
  });

  it('DATABASE_URL names the database of the ledger', async () => {
    await using bench = await configBench();
    const url = 'postgresql://user:hush@127.0.0.1/db?sslmode=require&schema=mine';
    expect((await bench.load({ env: { DATABASE_URL: url } })).config.ledger.databaseUrl).toBe(url);
  });
});
