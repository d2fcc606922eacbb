/** What the pages advise can be pasted: with the options that the process was started with, which open the same data folder. */
import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fixFilePath } from '#src/runs/fix/fix-file.ts';
import { dashboardBench, deadRow, finishedRun } from './dashboard-bench.ts';

const folderFlags = { data: "/data/Ann's folder", config: '/etc/patchbay.yaml', sandbox: true };
const problem = { code: 'cellCount', line: 3, field: null, value: null, message: 'too many cells' };
const dead = deadRow({ problems: [{ ...problem, hint: 'Write it again: patchbay dead edit ID' }] });

describe('commands on the pages of a process that was started with options', () => {
  it('have these options, in HTML and in JSON', async () => {
    const bench = await dashboardBench({ folderFlags });
    const run = await finishedRun(bench, [dead]);
    await rm(fixFilePath(run));
    const flags = `--config /etc/patchbay.yaml --data '/data/Ann'\\''s folder'`;
    const shown = flags.replaceAll("'", '&#39;');
    const { text } = await bench.page('/dead-letters');
    expect(text).toContain(`<code>patchbay ${shown} dead export --sandbox --run ${run.id}</code>`);
    expect(text).toContain(`Write it again: patchbay ${shown} dead edit --sandbox ID`);
    const hint = `Write it again: patchbay ${flags} dead edit --sandbox ID`;
    expect((await bench.json('/')).body.deadLetterGroups).toMatchObject([{ hint }]);
    for (const path of ['/', `/runs/${run.id}`])
      expect((await bench.page(path)).text, path).toContain(`patchbay ${shown} dead e`);
  });
});
