/** `--mapping NAME|FILE` (`contract.md`, "Commands"). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findMapping } from '#src/feeds/feeds.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';

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
      hint: 'Name a YAML file, or one of: example-crm, generic.',
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
