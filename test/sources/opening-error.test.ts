/** Paths that cannot be opened: what is wrong is said in words, alike for import, plan and map. */
import { symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readForMap } from '#src/operations/read-for-map.ts';
import { readSettingsFile } from '#src/settings-file.ts';
import { copyIntoFolder } from '#src/sources/check-out.ts';
import { openingError, openSourceFile } from '#src/sources/source-file.ts';
import { errorOf, useTempFolder } from './temp-files.ts';

const folder = useTempFolder();
const long = `${'x'.repeat(300)}.csv`;

describe('a path that cannot be opened', () => {
  it.each<[string, string, string]>([
    ['l.csv', 'fileUnreadable', 'cannot be opened: its links lead in a circle'],
    ['plain.csv/x', 'fileMissing', 'is not there: a part of its path is a file, not a folder'],
    [long, 'fileMissing', 'is not there: the name is too long'],
    ['gone.csv', 'fileMissing', 'is not there'],
  ])('%s is an error of that file, in words', async (below, code, why) => {
    await folder.write('plain.csv', 'id\n1\n');
    await symlink('l.csv', folder.path('l.csv')).catch(() => undefined);
    const path = folder.path(below);
    const name = below.split('/').at(-1) ?? '';
    const expected = { kind: 'file', code, message: `${name} ${why}`, hint: expect.stringContaining(path) };
    expect(await errorOf(copyIntoFolder(path, folder.path('to'), 'run1'))).toMatchObject(expected);
    expect(await errorOf(openSourceFile(path, name))).toMatchObject(expected);
    expect(await errorOf(readForMap(path, {}, undefined))).toMatchObject(expected);
    if (below === 'gone.csv') return;
    await expect(readSettingsFile(path)).rejects.toMatchObject({ name: 'NotSettings', message: why });
  });

  it('for want of rights names the path, whose folders may be closed', () => {
    const denied = Object.assign(new Error('EACCES'), { code: 'EACCES' });
    expect(openingError(denied, '/closed/a.csv', 'a.csv')).toMatchObject({
      ...{ kind: 'file', code: 'fileUnreadable', message: 'a.csv cannot be opened (EACCES)' },
      hint: 'Give this user the right to read it, and to enter the folders above it: /closed/a.csv',
    });
  });
});
