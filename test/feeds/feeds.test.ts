/** Feeds: their mapping, label and limits (`docs/rules.md`, "Workspace, feed, key"; `docs/contract.md`, "Feeds and schedules, in the config"). */

import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configSchema } from '#src/config/schema.ts';
import { createFeeds, type Feeds, findMapping } from '#src/feeds/feeds.ts';
import { tempFolder } from '../ledger/support/temp-ledger.ts';
import { testFeeds } from './support/test-feeds.ts';

const yaml = (name: string, more = ''): string => `name: ${name}\nkey: Nr\n${more}`;

/** An import folder with a mapping in each of the folders named, and the feeds of the configuration. */
async function feedsWith(
  mappings: Readonly<Record<string, string>>,
  configured: Parameters<typeof testFeeds>[0] = {},
): Promise<{ feeds: Feeds; folder: string }> {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(mappings)) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, '_mapping.yaml'), text);
  }
  return { feeds: await testFeeds({ ...configured, importFolders: [folder] }), folder };
}

describe('a feed', () => {
  it('is looked for in the import folder alone', async () => {
    const { feeds, folder } = await feedsWith({ crm: yaml('crm') });
    await mkdir(join(folder, '_done'));
    writeFileSync(join(folder, '.hidden'), '');
    expect(feeds.exists('crm')).toBe(true);
    for (const name of ['.', '..', '../..', 'crm/_mapping.yaml', 'crm/..', '_done', '.hidden', ''])
      expect(feeds.exists(name), name).toBe(false);
  });

  it('needs no entry anywhere: it has the limits of all, its name as source label, and full files', async () => {
    const { feeds } = await feedsWith({});
    expect(await feeds.get('crm')).toMatchObject({
      ...{ name: 'crm', kind: 'full', source: 'crm', ownSource: null, mapping: null, take: null },
      guards: configSchema.parse({}).guards,
    });
    expect(feeds.configured).toEqual([]);
  });

  it('is not seen to be gone while the import folder cannot be listed', async () => {
    const { feeds, folder } = await feedsWith({ crm: yaml('of-crm') }, { configured: { shop: {} } });
    const seen = () => ['main', 'shop', 'crm', 'erp'].map((name) => feeds.seen(name));
    expect(seen()).toEqual([true, true, true, false]);
    await rm(folder, { recursive: true });
    expect(seen()).toEqual([true, true, null, null]);
  });

  it('main writes the source label patchbay, unless its mapping names one', async () => {
    const { feeds, folder } = await feedsWith({});
    expect(await feeds.get('main')).toMatchObject({ name: 'main', source: 'patchbay', mapping: null });
    const file = join(folder, 'main.yaml');
    await writeFile(file, yaml('of-main', 'source: office\n'));
    const config = configSchema.parse({ mapping: { file } });
    expect(await createFeeds(config, [folder]).get('main')).toMatchObject({
      source: 'office',
      mapping: { name: 'of-main' },
    });
  });

  it('has what the configuration says of it, and of its limits only those', async () => {
    const { feeds } = await feedsWith(
      {},
      {
        configured: {
          crm: { take: '/exports/*.csv', every: '15m', kind: 'delta', expectEvery: '26h', guards: { rowsMin: '90%' } },
          shop: {},
        },
      },
    );
    expect(feeds.configured.map(({ name }) => name)).toEqual(['crm', 'shop']);
    expect(feeds.rulesOf('crm')).toMatchObject({
      ...{
        kind: 'delta',
        take: '/exports/*.csv',
        expectEveryMs: 93_600_000,
      },
      guards: { rowsMin: 0.9, keysMin: 0.5, updatesMax: 0.3 },
    });
    expect(feeds.rulesOf('shop').guards.rowsMin).toBe(0.7);
  });

  it('may be called as a word of the language', async () => {
    const { feeds } = await feedsWith({});
    expect(await feeds.get('constructor')).toMatchObject({ name: 'constructor', kind: 'full', ownSource: null });
  });
});

describe('the mapping of a feed', () => {
  it('is the one in its folder, read anew each time', async () => {
    const { feeds, folder } = await feedsWith({ crm: yaml('first') });
    expect((await feeds.get('crm')).mapping?.name).toBe('first');
    await writeFile(join(folder, 'crm', '_mapping.yaml'), yaml('second'));
    expect((await feeds.get('crm')).mapping?.name).toBe('second');
    await rm(join(folder, 'crm', '_mapping.yaml'));
    expect((await feeds.get('crm')).mapping).toBeNull();
  });

  it('is the one of the configuration where that names one, by name or by file', async () => {
    const file = join(tempFolder(), 'mine.yaml');
    await writeFile(file, yaml('mine'));
    const configured = { crm: { mapping: file }, shop: { mapping: 'example-crm' }, plain: { mapping: 'generic' } };
    const own = yaml('in-folder');
    const { feeds } = await feedsWith({ crm: own, shop: own, plain: own }, { configured });
    expect((await feeds.get('crm')).mapping?.name).toBe('mine');
    expect((await feeds.get('shop')).mapping?.name).toBe('example-crm');
    expect((await feeds.get('plain')).mapping).toBeNull();
    await writeFile(file, yaml('edited'));
    expect((await feeds.get('crm')).mapping?.name).toBe('edited');
  });

  it('that is broken is told with file, line and column, and is no reason not to start', async () => {
    const { feeds, folder } = await feedsWith({ crm: 'name: crm\nkey: Nr\nfeilds: {}\n' }, { configured: { crm: {} } });
    await expect(feeds.get('crm')).rejects.toMatchObject({
      kind: 'usage',
      code: 'mappingInvalid',
      message: `${join(folder, 'crm', '_mapping.yaml')}:3:1: unknown key "feilds"; did you mean "fields"?`,
    });
    await expect(testFeeds({ configured: { crm: { mapping: 'no-such' } } })).rejects.toMatchObject({
      kind: 'usage',
      code: 'mappingNotFound',
    });
  });
});

describe('a mapping under another name', () => {
  it('takes no mapping from behind a link in its folder', async () => {
    const { feeds, folder } = await feedsWith({});
    await mkdir(join(folder, 'crm'));
    await symlink('/dev/zero', join(folder, 'crm', '_mapping.yaml'));
    await expect(feeds.get('crm')).rejects.toMatchObject({ kind: 'usage', code: 'mappingUnreadable' });
  });

  it.each(['_mapping.yml', '_Mapping.yaml', '_mapping.yaml.txt'])(
    'such as %s is told, since the file would be read without it',
    async (name) => {
      const { feeds, folder } = await feedsWith({ crm: yaml('crm') });
      await rename(join(folder, 'crm', '_mapping.yaml'), join(folder, 'crm', name));
      await expect(feeds.get('crm')).rejects.toMatchObject({
        ...{ kind: 'usage', code: 'mappingMisnamed', hint: 'Rename it to _mapping.yaml.' },
        message: expect.stringContaining(`${join('crm', name)} is not read`),
      });
      await writeFile(join(folder, 'crm', '_mapping.yaml'), yaml('right'));
      expect((await feeds.get('crm')).mapping?.name).toBe('right');
    },
  );
});

describe('the source label of a feed', () => {
  it('is that of the configuration, else the mapping’s own, else the feed’s name', async () => {
    const labelled = yaml('labelled', 'source: from mapping\n');
    const { feeds } = await feedsWith(
      { crm: labelled, shop: labelled, plain: yaml('plain') },
      { configured: { crm: { source: 'from config' } } },
    );
    expect((await feeds.get('crm')).source).toBe('from config');
    expect((await feeds.get('shop')).source).toBe('from mapping');
    expect((await feeds.get('plain')).source).toBe('plain');
  });

  it.each([
    ['csv', 'the service reserves the word "csv"'],
    ['CSV exports', 'the service reserves source labels that begin with "csv"'],
    ['OpenPhone', 'the service reserves the word "openphone"'],
    ['zapier', 'the service reserves the word "zapier"'],
  ])('is refused where it is the reserved name %s', async (name, why) => {
    const { feeds } = await feedsWith({});
    await expect(feeds.get(name)).rejects.toMatchObject({
      kind: 'usage',
      code: 'sourceRefused',
      message: `feed "${name}": its name cannot be its source label: ${why}`,
      hint: expect.stringContaining(`Rename the folder ${name}, or choose a label with feeds.${name}.source`),
    });
  });

  it('is not the reserved name where another one is chosen', async () => {
    const { feeds } = await feedsWith(
      { zapier: yaml('zaps', 'source: zaps\n') },
      { configured: { csv: { source: 'export' } } },
    );
    expect((await feeds.get('zapier')).source).toBe('zaps');
    expect((await feeds.get('csv')).source).toBe('export');
  });
});

describe('the name of a feed', () => {
  it.each([
    ['-old', 'a feed needs a name that begins with a letter or digit'],
    ['x'.repeat(61), 'a feed needs a name that begins with a letter or digit'],
    ['phone-numbers', '"phone-numbers" cannot be a feed: that is the schedule of the phone-number snapshots'],
    ['Main', '"Main" cannot be a feed: that is the feed of the import folder itself'],
    ['CRM', 'differs only in case from the feed crm'],
  ])('cannot be %s', async (name, message) => {
    const { feeds } = await feedsWith({}, { configured: { crm: {} } });
    await expect(feeds.get(name)).rejects.toMatchObject({
      kind: 'usage',
      code: 'feedRefused',
      message: expect.stringContaining(message),
    });
  });

  it('is one name however its letters are encoded: folder, configuration and command line mean the same feed', async () => {
    const [composed, decomposed] = ['Müller', 'Müller'.normalize('NFD')];
    expect(composed).not.toBe(decomposed);
    const { feeds } = await feedsWith({ [decomposed]: yaml('of-folder') }, { configured: { [composed]: {} } });
    for (const name of [composed, decomposed]) {
      expect(await feeds.get(name)).toMatchObject({ name: composed, mapping: { name: 'of-folder' } });
      expect(feeds.rulesOf(name).name).toBe(composed);
    }
    expect((await feeds.ofFolder(decomposed)).name).toBe(composed);
  });

  it('is not main for a folder, since the import folder itself is that feed', async () => {
    const { feeds } = await feedsWith({});
    expect((await feeds.get('main')).name).toBe('main');
    await expect(feeds.ofFolder('main')).rejects.toMatchObject({ code: 'feedRefused' });
  });
});

/** `--mapping NAME|FILE` (`docs/contract.md`, "Commands"). */
const text = 'name: mine\nkey: Nr\nfields:\n  firstName: Vorname\n';

describe('a mapping is found', () => {
  it('by the name of one that comes along', async () => {
    expect(await findMapping('example-crm')).toMatchObject({ name: 'example-crm', keyPrefix: 'crm-' });
  });

  it('by its file, whatever that is called', async () => {
    const folder = tempFolder();
    for (const name of ['mine.yaml', 'mine.yml', 'mine']) {
      writeFileSync(join(folder, name), text);
      expect(await findMapping(join(folder, name))).toMatchObject({ name: 'mine', key: 'Nr' });
    }
  });

  it('as none for generic: the layout that needs no mapping', async () => {
    expect(await findMapping('generic')).toBeNull();
  });
});

describe('a mapping is refused', () => {
  it('where none has the name: the names there are stand in the hint', async () => {
    await expect(findMapping('no-such')).rejects.toMatchObject({
      kind: 'usage',
      code: 'mappingNotFound',
      message: 'there is no mapping "no-such"',
      hint: expect.stringMatching(/^Name a YAML file, or one of: example-crm, generic, google, /),
    });
  });

  it('where the file is not there', async () => {
    const file = join(tempFolder(), 'none.yaml');
    await expect(findMapping(file)).rejects.toMatchObject({ kind: 'usage', code: 'mappingNotFound', facts: { file } });
  });

  it('where it is a folder', async () => {
    const folder = join(tempFolder(), 'maps');
    mkdirSync(folder);
    await expect(findMapping(folder)).rejects.toMatchObject({ kind: 'usage', code: 'mappingUnreadable' });
  });

  it('where it is wrong, with file, line and column', async () => {
    const file = join(tempFolder(), 'mine.yaml');
    writeFileSync(file, `${text}frist: x\n`);
    await expect(findMapping(file)).rejects.toMatchObject({
      kind: 'usage',
      code: 'mappingInvalid',
      message: expect.stringContaining(`${file}:5:1`),
    });
  });
});
