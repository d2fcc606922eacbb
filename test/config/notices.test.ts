/** Snapshots, downloads and notices in the configuration, and the example that shows them. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { printConfig } from '#src/config/document.ts';
import { configSchema } from '#src/config/schema.ts';
import { readNotifySecret } from '#src/config/secrets.ts';
import { configBench, loaded } from './support.ts';

const canary = 'canary-4f1d0c7e';

describe('snapshots of phone numbers', () => {
  it('are set in the file or in the environment', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'snapshots:\n  phoneNumbers: { every: 1h, keep: 30d }\n');
    const { config, sources } = await bench.load({ env: { PATCHBAY_SNAPSHOTS_PHONE_NUMBERS_KEEP: '40d' } });
    expect(config.snapshots.phoneNumbers).toEqual({
      everyMs: 3_600_000,
      at: null,
      zone: null,
      keepMs: 3_456_000_000,
      keepMax: 10_000,
    });
    expect(sources['snapshots.phoneNumbers.every']?.name).toBe('patchbay.yaml:2:26');
    expect(sources['snapshots.phoneNumbers.keep']?.name).toBe('PATCHBAY_SNAPSHOTS_PHONE_NUMBERS_KEEP');
  });

  it('are due at a time of day in the zone of TZ where none is named', async () => {
    await using bench = await configBench();
    const env = { PATCHBAY_SNAPSHOTS_PHONE_NUMBERS_AT: '0 6 * * *', TZ: 'Asia/Tokyo' };
    expect((await bench.load({ env })).config.snapshots.phoneNumbers).toMatchObject({
      at: '0 6 * * *',
      zone: 'Asia/Tokyo',
    });
  });

  it('at and every exclude each other, wherever they stand', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'snapshots: { phoneNumbers: { every: 1h } }\n');
    expect(await bench.problems({ env: { PATCHBAY_SNAPSHOTS_PHONE_NUMBERS_AT: '0 6 * * *' } })).toEqual([
      'PATCHBAY_SNAPSHOTS_PHONE_NUMBERS_AT: snapshots.phoneNumbers.at cannot be combined with every; remove one of them (every: patchbay.yaml:1:37)',
    ]);
  });

  it('a wrong key, a key in the wrong place and a wrong shape name their place', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'snapshots:\n  every: 1h\n  phoneNumbers:\n    kep: 1d\n');
    expect(await bench.problems()).toEqual([
      'patchbay.yaml:2:3: unknown key "every" in snapshots (did you mean "snapshots.phoneNumbers.every"?)',
      'patchbay.yaml:4:5: unknown key "kep" in snapshots.phoneNumbers (did you mean "keep"?)',
    ]);
    await bench.write('patchbay.yaml', 'snapshots:\n  phoneNumbers: 1h\n');
    expect(await bench.problems()).toEqual(['patchbay.yaml:2:17: snapshots.phoneNumbers must be a group of settings']);
  });
});

describe('downloads', () => {
  it('hosts are a list in the file and text with commas in the environment', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'download:\n  hosts: [CDN.example.com, files.example.com]\n');
    expect((await bench.load()).config.download.hosts).toEqual(['cdn.example.com', 'files.example.com']);
    const { config } = await bench.load({ env: { PATCHBAY_DOWNLOAD_HOSTS: 'a.example.com, 127.0.0.1' } });
    expect(config.download.hosts).toEqual(['a.example.com', '127.0.0.1']);
  });

  it('what is no host, and what is not true or false, is refused', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'download:\n  hosts: [a.example.com, "https://b"]\n  privateAddresses: yes\n');
    expect(await bench.problems()).toEqual([
      'patchbay.yaml:2:10: download.hosts must be a list of host names such as [files.example.com, cdn.example.com], without ports, not "https://b"',
      'patchbay.yaml:3:21: download.privateAddresses must be true or false, not "yes"',
    ]);
  });
});

describe('the webhook', () => {
  it.each([
    'https://hooks.example.com/t/abc',
    'http://127.0.0.1:9/x',
    'http://[::1]/x',
    'http://10.1.2.3/',
    'http://100.64.1.2/',
    'http://hooks:8080/x',
  ])('%s is accepted', (url) => {
    expect(configSchema.parse({ notify: { url } }).notify.url).toBe(url);
  });

  it.each([
    `http://hooks.example.com/${canary}`,
    `http://172.32.0.1/${canary}`,
    `https://me:${canary}@hooks.example.com`,
    `hooks/${canary}`,
    `ftp://hooks.example.com/${canary}`,
  ])('%s is refused', (url) => {
    expect(configSchema.safeParse({ notify: { url } }).success).toBe(false);
  });

  it('is not repeated where it is refused', async () => {
    await using bench = await configBench();
    expect(await bench.problems({ env: { PATCHBAY_NOTIFY_URL: `http://hooks.example.com/${canary}` } })).toEqual([
      'PATCHBAY_NOTIFY_URL: notify.url must be an https URL such as https://hooks.example.com/patchbay, or an http one of this machine or a private network',
    ]);
  });

  it('is printed without its path, and its secret not at all', async () => {
    await using bench = await configBench();
    const env = {
      PATCHBAY_NOTIFY_URL: `https://hooks.example.com/${canary}?${canary}`,
      PATCHBAY_NOTIFY_SECRET: canary,
    };
    const text = printConfig(await bench.load({ env }));
    expect(text).not.toContain(canary);
    expect(text).toContain('url: https://hooks.example.com/******** # PATCHBAY_NOTIFY_URL');
    expect(text).toContain('secret: "********" # PATCHBAY_NOTIFY_SECRET');
  });

  it('its secret is refused in a config file', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', `notify:\n  secret: ${canary}\n`);
    expect(await bench.problems()).toEqual([
      'patchbay.yaml:2:11: notify.secret must not be set here, where others could read it: set PATCHBAY_NOTIFY_SECRET, or name a file of mode 0600 with notify.secretFile',
    ]);
  });

  it.skipIf(process.platform === 'win32')('a secret file that others may read is refused', async () => {
    await using bench = await configBench();
    const file = await bench.write('secret', canary, 0o644);
    const env = { PATCHBAY_NOTIFY_SECRET_FILE: 'secret' };
    expect(await bench.problems({ env })).toEqual([
      `PATCHBAY_NOTIFY_SECRET_FILE: the secret file ${file} has mode 0644, so others may use it: run chmod 600 ${file}`,
    ]);
  });

  it('its secret is read anew from its file each time, and that of the environment wins', async () => {
    await using bench = await configBench();
    const file = await bench.write('secret', 'first\n', 0o600);
    const env = { PATCHBAY_NOTIFY_SECRET_FILE: 'secret' };
    const { config } = await bench.load({ env });
    expect(await readNotifySecret(config.notify)).toBe('first');
    await bench.write('secret', 'second\n');
    expect(await readNotifySecret(config.notify)).toBe('second');
    const both = await bench.load({ env: { ...env, PATCHBAY_NOTIFY_SECRET: canary } });
    expect(await readNotifySecret(both.config.notify)).toBe(canary);
    expect(both.warnings).toHaveLength(1);
    await rm(file);
    await expect(readNotifySecret(config.notify)).rejects.toMatchObject({ kind: 'usage', code: 'notifySecretMissing' });
    expect(await readNotifySecret((await bench.load()).config.notify)).toBeNull();
  });
});

describe('config/patchbay.example.yaml', () => {
  const example = new URL('../../config/patchbay.example.yaml', import.meta.url);

  it('is right as it stands', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', await readFile(example));
    const { config } = await bench.load();
    expect([config.mapping.defaultCountry, config.feeds]).toEqual(['US', {}]);
  });

  it('is right with every commented setting taken in', async () => {
    await using bench = await configBench();
    const text = await readFile(example, 'utf8');
    await bench.write('patchbay.yaml', text.replaceAll(/^# ( *(?:[a-zA-Z]+:|#))/gm, '$1'));
    const { config } = await bench.load();
    expect(Object.keys(config.feeds)).toEqual(['crm', 'helpdesk']);
    expect(config.feeds.crm).toMatchObject({ take: '/exports/crm/*.csv', at: '30 2 * * *', zone: 'Europe/Berlin' });
    expect(config.feeds.helpdesk).toMatchObject({ everyMs: 900_000, authorization: 'HELPDESK_AUTHORIZATION' });
    expect(config.snapshots.phoneNumbers.everyMs).toBe(3_600_000);
    expect(config.notify).toMatchObject({ url: 'https://hooks.example.com/patchbay', outageAfterMs: 60_000 });
    expect(config.notify.secretFile).toBe(join('/etc', 'patchbay', 'notify-secret'));
  });
});

describe('Slack, Teams and e-mail', () => {
  it('are set in the file or in the environment, several at once, beside the webhook', async () => {
    await using bench = await configBench();
    await bench.write(
      'patchbay.yaml',
      'notify:\n  slack: { url: https://hooks.slack.com/services/T/B/x }\n  mail:\n    server: smtps://mail.example.com\n    from: a@example.com\n    to: [b@example.com]\n',
    );
    const env = {
      PATCHBAY_NOTIFY_TEAMS_URL: 'https://prod.logic.azure.com/workflows/x?sig=y',
      PATCHBAY_NOTIFY_MAIL_TO: 'c@example.com, d@example.com',
      PATCHBAY_NOTIFY_MAIL_PASSWORD: canary,
    };
    const { notify } = (await bench.load({ env })).config;
    expect(notify).toMatchObject({
      url: null,
      slack: { url: 'https://hooks.slack.com/services/T/B/x' },
      teams: { url: 'https://prod.logic.azure.com/workflows/x?sig=y' },
      mail: { server: 'smtps://mail.example.com', to: ['c@example.com', 'd@example.com'], password: canary },
    });
  });

  it('are printed without what is secret in them', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', `notify:\n  slack: { url: "https://hooks.slack.com/services/${canary}" }\n`);
    const env = { PATCHBAY_NOTIFY_MAIL_PASSWORD: canary, PATCHBAY_NOTIFY_TEAMS_URL: `https://x.example.com/${canary}` };
    const printed = printConfig(await bench.load({ env }));
    expect(printed).not.toContain(canary);
    expect(printed).toContain('url: https://hooks.slack.com/********');
  });

  it('a file of a secret that is not there is worth a note, where nothing else holds the secret', async () => {
    await using bench = await configBench();
    const mail = 'server: smtp://mail.example.com, from: a@example.com, to: [b@example.com], passwordFile: no-password';
    await bench.write('patchbay.yaml', `notify:\n  secretFile: no-secret\n  mail: { ${mail} }\n`);
    const { warnings } = await bench.load();
    const without = 'without it no notice is delivered there';
    expect(warnings).toEqual([
      `patchbay.yaml:2:15: notify.secretFile: there is no file ${join(bench.folder, 'no-secret')}: ${without}`,
      `patchbay.yaml:3:100: notify.mail.passwordFile: there is no file ${join(bench.folder, 'no-password')}: ${without}`,
    ]);
    const env = { PATCHBAY_NOTIFY_SECRET: canary, PATCHBAY_NOTIFY_MAIL_PASSWORD: canary };
    expect((await bench.load({ env })).warnings.join()).not.toContain('there is no file');
  });

  it('e-mail without a server, or with a user name and no password, is worth a warning', async () => {
    const warningsOf = async (mail: string, env = {}) =>
      (await loaded(`notify:\n  mail: { ${mail} }\n`, env)).startWarnings.map((one) => one.replace(/, and .*/, ''));
    expect(await warningsOf('from: a@example.com, to: [b@example.com]')).toEqual([
      'patchbay.yaml:2:17: notify.mail.from is set',
    ]);
    expect(await warningsOf('to: [b@example.com]')).toEqual(['patchbay.yaml:2:15: notify.mail.to is set']);
    const mail = 'server: smtp://mail.example.com, from: a@example.com, to: [b@example.com]';
    expect(await warningsOf(mail)).toEqual([]);
    expect(await warningsOf(`${mail}, user: me`)).toEqual(['patchbay.yaml:2:92: notify.mail.user is set']);
    expect(await warningsOf(`${mail}, user: me, passwordFile: its-file`)).toEqual([]);
    expect(await warningsOf(`${mail}, user: me`, { PATCHBAY_NOTIFY_MAIL_PASSWORD: canary })).toEqual([]);
  });

  it('a secret that no post can be signed with is worth a warning, and is not shown', async () => {
    const warningsFor = async (secret: string) => {
      const env = { PATCHBAY_NOTIFY_URL: 'https://hooks.example.com/x', PATCHBAY_NOTIFY_SECRET: secret };
      return (await loaded('', env)).warnings;
    };
    expect(await warningsFor('too-short')).toEqual([
      expect.stringMatching(
        /^PATCHBAY_NOTIFY_SECRET: notify\.secret is neither whsec_ and base64 of at least 16 bytes/,
      ),
    ]);
    expect((await warningsFor('too-short')).join()).not.toContain('too-short');
    expect(await warningsFor('a-secret-of-enough-characters')).toEqual([]);
  });

  it('a mail server needs a sender and receivers, and no password in its address or in the file', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'notify:\n  mail:\n    server: smtp://mail.example.com:587\n');
    expect(await bench.problems()).toEqual([
      'patchbay.yaml:3:13: notify.mail.from must be set as well, where server is',
      'patchbay.yaml:3:13: notify.mail.to must be set as well, where server is',
    ]);
    await bench.write(
      'patchbay.yaml',
      `notify:\n  mail:\n    server: "smtp://user:${canary}@mail.example.com"\n    to: [nobody]\n    password: ${canary}\n`,
    );
    const problems = await bench.problems();
    expect(problems).toHaveLength(4);
    expect(problems.join()).toContain('without user name and password');
    expect(problems.join()).toContain('a list of e-mail addresses');
    expect(problems.join()).toContain('set PATCHBAY_NOTIFY_MAIL_PASSWORD');
    expect(problems.join()).not.toContain(canary);
  });
});

describe('the address of the page', () => {
  it('is a URL without a path or a query, and loses its last slash', () => {
    const parse = (address: string) => configSchema.parse({ page: { address } }).page.address;
    expect(parse('https://patchbay.example.com:8443/')).toBe('https://patchbay.example.com:8443');
    // Pages link to each other from the root of their host.
    expect(() => parse('https://example.com/patchbay')).toThrow('without a path');
    for (const wrong of ['patchbay.example.com', 'https://a@b.example.com', 'https://x.example.com/?a=b', 'ftp://x'])
      expect(() => parse(wrong)).toThrow();
  });
});
