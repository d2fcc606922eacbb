/** What commands say of a `--feed` that is the name of none: it may be misspelt. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

/** With a feed that is configured, one with a folder, and an engine that carries nothing out. */
function dataFolder(): { readonly flags: readonly string[]; readonly file: string } {
  const folder = tempFolder();
  const data = join(folder, 'data');
  mkdirSync(join(data, 'sandbox', 'import', 'verein'), { recursive: true });
  writeFileSync(join(folder, 'patchbay.yaml'), 'feeds: { hubspot: {} }\n');
  const file = join(folder, 'contacts.csv');
  writeFileSync(file, 'externalId,firstName\n1,Ada\n');
  const lock = takeEngineLock(join(data, 'sandbox', 'engine.lock'));
  onTestFinished(() => lock?.release());
  return { flags: ['--config', join(folder, 'patchbay.yaml'), '--data', data, '--sandbox'], file };
}

describe('a misspelt feed', () => {
  it('is a new one for an import, which asks whether the close one was meant, and says nothing once it is there', async () => {
    const { flags, file } = dataFolder();
    const given = (feed: string) => ['import', ...flags, '--detach', '--feed', feed, file];
    const misspelt = await callPatchbay(given('hubspto'), {});
    expect(misspelt.stderr).toContain(
      'creating new feed "hubspto" (no configuration or folder found); did you mean hubspot?\n',
    );
    expect(misspelt.code).toBe(0);
    const other = await callPatchbay(given('crm'), {});
    expect(other.stderr).toContain('creating new feed "crm" (no configuration or folder found)\n');
    expect((await callPatchbay(given('hubspto'), {})).stderr).not.toContain('did you mean');
  });

  it.each([
    ['runs', 'ls'],
    ['held', 'ls'],
    ['held', 'take', 'app'],
    ['dead', 'ls'],
    ['dead', 'retry', '--detach'],
    ['dead', 'drop', '--yes'],
    ['dead', 'export'],
    ['logs', '--acts'],
  ])('is noted by a command that chooses by it: %s %s', async (...words) => {
    const { flags } = dataFolder();
    const of = async (feed: string) => (await callPatchbay([...words, ...flags, '--feed', feed], {})).stderr;
    expect(await of('verien')).toContain('there is no feed "verien": did you mean verein?\n');
    expect(await of('nightly')).toMatch(/there is no feed "nightly"$/m);
    for (const known of ['main', 'verein', 'hubspot', 'phone-numbers'])
      expect(await of(known)).not.toContain('there is no feed');
  });
});
