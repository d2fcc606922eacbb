/** `import --detach` hands files to the running engine: what became of each is said, also where a later one ends the command. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

it('says why a file was refused also where a later one cannot be entered', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  // Where the folder of copies should be is a file.
  writeFileSync(join(data, 'sandbox', 'handed-over'), '');
  const engine = takeEngineLock(join(data, 'sandbox', 'engine.lock'));
  onTestFinished(() => engine?.release());
  const file = join(data, 'people.csv');
  writeFileSync(file, 'externalId,firstName\nc-1,Ann\n');
  const args = ['import', '--detach', join(data, 'missing.csv'), file, '--data', data, '--sandbox'];
  const { code, documents } = await callPatchbay([...args, '--json'], {});
  expect({ code, codes: documents.map(({ error }) => error.code) }).toEqual({
    code: 2,
    codes: ['fileMissing', 'folderUnusable'],
  });
  const { stderr } = await callPatchbay(args, {});
  expect(stderr).toMatch(/missing\.csv.*\[fileMissing\].*\[folderUnusable\]/s);
});
