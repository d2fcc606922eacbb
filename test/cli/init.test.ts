/** `patchbay init`: a first config file and the import folder. */
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { init } from '#src/cli/commands/init.ts';
import { loadCliConfig } from '#src/cli/open-home.ts';
import { captureOutput } from './support/captured-output.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-init-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('patchbay init', () => {
  it('writes a config file that is right, and makes the import folder of the data folder that it names', async () => {
    const folder = await temporaryFolder();
    const [config, data] = [join(folder, 'patchbay.yaml'), join(folder, 'my data')];
    const captured = captureOutput();
    expect(await init({ config, data, defaultCountry: 'de', json: true })).toBe(0);
    const importFolder = join(data, 'import');
    expect(JSON.parse(captured.stdout())).toEqual({ configFile: config, importFolder, exitCode: 0 });
    expect((await stat(importFolder)).mode & 0o777).toBe(0o700);
    const loaded = (await loadCliConfig({ config })).config;
    expect([loaded.data.folder, loaded.mapping.defaultCountry, loaded.service.baseUrl]).toEqual([data, 'DE', null]);
    expect(await readFile(config, 'utf8')).toContain('# feeds:');
  });

  it('names no country where none was given, and says what to do next', async () => {
    const folder = await temporaryFolder();
    const config = join(folder, 'patchbay.yaml');
    const captured = captureOutput();
    await init({ config, data: join(folder, 'data') });
    expect((await loadCliConfig({ config })).config.mapping.defaultCountry).toBeNull();
    expect(captured.stdout()).toContain(`wrote ${config}\ndrop files into ${join(folder, 'data', 'import')}\n`);
    expect(captured.stdout()).toContain(`next: patchbay --config ${config} --data ${join(folder, 'data')} start`);
  });

  it('replaces no file', async () => {
    const folder = await temporaryFolder();
    const config = join(folder, 'patchbay.yaml');
    await writeFile(config, 'name: mine\n');
    await expect(init({ config })).rejects.toMatchObject({ kind: 'usage', code: 'configExists' });
    expect(await readFile(config, 'utf8')).toBe('name: mine\n');
    expect(await readdir(folder)).toEqual(['patchbay.yaml']);
  });

  it('says what is in the way where that is no file, and what it advises works', async () => {
    const folder = await temporaryFolder();
    const data = join(folder, 'data');
    await expect(init({ config: folder, data })).rejects.toMatchObject({
      ...{ kind: 'usage', code: 'outputNotWritten' },
      message: `no config file can be written at ${folder}: it is a folder`,
      hint: `Name a file in it: --config ${join(folder, 'patchbay.yaml')}`,
    });
    const link = join(folder, 'link.yaml');
    await symlink(join(folder, 'none.yaml'), link);
    await expect(init({ config: link, data })).rejects.toMatchObject({
      message: expect.stringMatching(/: it is a link to a file that is not there$/),
    });
    captureOutput();
    expect(await init({ config: join(folder, 'patchbay.yaml'), data })).toBe(0);
  });

  it('leaves nothing behind where the country is none, or a folder cannot be made', async () => {
    const folder = await temporaryFolder();
    const config = join(folder, 'patchbay.yaml');
    await expect(init({ config, defaultCountry: 'Germany' })).rejects.toMatchObject({ kind: 'usage' });
    await writeFile(join(folder, 'file'), '');
    await expect(init({ config, data: join(folder, 'file') })).rejects.toMatchObject({ code: 'outputNotWritten' });
    await expect(init({ config: join(folder, 'none', 'patchbay.yaml') })).rejects.toMatchObject({
      code: 'outputNotWritten',
    });
    expect(await readdir(folder)).toEqual(['file']);
  });
});
