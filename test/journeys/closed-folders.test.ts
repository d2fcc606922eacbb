/** A folder that takes no file keeps a run waiting: the command and `status` name the folder, and nothing is called a defect. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';

const csv = (...rows: readonly string[]) => ['externalId,firstName,phone', ...rows, ''].join('\n');

describe('a folder in whose place a file stands', () => {
  test.for<[string, string]>([
    ['import/_done', 'c-2,Ann,'],
    ['reports', 'c-2,Ann,'],
    ['import/_fix', 'c-2,Ann,call me'],
    ['import/_failed', '"never closed'],
  ])('%s', async ([below, row], { journey }) => {
    await journey.service();
    const folder = join(journey.data, below);
    await journey.call(['import', journey.file('first.csv', csv('c-1,Bea,'))]);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(folder), { recursive: true });
    writeFileSync(folder, 'a file');
    const file = journey.file('second.csv', csv(row));

    const waits = await journey.call(['import', '--wait', '1s', '--json', file]);
    expect(waits.code, waits.stderr).toBe(6);
    const message = `no file can be stored in ${folder}: a file stands where a folder is needed (EEXIST)`;
    expect(waits.documents).toMatchObject([
      { exitCode: 6, error: { code: 'folderUnusable', message: expect.stringContaining(message) } },
    ]);
    const { stdout } = await journey.call(['status']);
    expect(stdout).toContain(`No file can be stored in ${folder}: `);
    expect(stdout).toMatch(new RegExp(`; the run ${waits.documents[0].run} waits\\. Nothing is lost`));

    rmSync(folder);
    const [ended] = (await journey.call(['import', '--json', file])).documents;
    expect(ended).toMatchObject({
      run: waits.documents[0].run,
      exitCode: row.startsWith('c-2,Ann,') && !row.endsWith('me') ? 0 : 3,
    });
    expect((await journey.call(['status'])).stdout).not.toContain('No file can be stored');
  });
});
