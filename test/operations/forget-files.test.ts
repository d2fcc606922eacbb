/** Which files are searched for what is left of a person (`docs/rules.md`, "Forgetting a person"). */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { filesOfHomeHolding, isOfService } from '#src/operations/forget.ts';

it('files of the data folder are, and those of an import folder elsewhere, each once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-forget-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [root, elsewhere] = [join(folder, 'data'), join(folder, 'data-import')];
  const names = ['data/import/_done/a.csv', 'data/reports/r1.json', 'data/service.sqlite', 'data-import/_fix/b.csv'];
  const paths = names.map((name) => join(folder, name));
  for (const path of paths) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, 'zelda@example.com');
  }
  const home = { folders: { root, watched: [] }, runFolders: { importFolders: [join(root, 'import'), elsewhere] } };
  const found = await filesOfHomeHolding(home as never, ['zelda@example.com'], isOfService);
  expect(found.toSorted()).toEqual(paths.filter((path) => !path.endsWith('.sqlite')).toSorted());
});
