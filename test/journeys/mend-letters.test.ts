/** `patchbay dead edit|drop|export|retry --rate` on a real service. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';

const text = 'externalId,firstName,phone\nc-1,Ann,call me\nc-2,Bo,call me\nc-3,Cy,call me\n';

describe('dead letters on the command line', () => {
  test('are edited, exported and dropped, each with what a script needs', async ({ journey }) => {
    const service = await journey.service();
    expect((await journey.call(['import', journey.file('a.csv', text)])).code).toBe(3);
    const { documents } = await journey.call(['--json', 'dead', 'ls']);
    const idOf = (key: string): string => documents.find((one) => one.key === key).id;

    const none = await journey.call(['dead', 'edit', idOf('c-1')]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--set "Phone=+14155550100"')]);
    const wrong = await journey.call(['dead', 'edit', idOf('c-1'), '--set', 'phon=x']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean "phone"?')]);
    const edited = await journey.call(['--json', 'dead', 'edit', idOf('c-1'), '--set', 'phone=+14155550109']);
    expect([edited.code, edited.documents[0]]).toMatchObject([0, { state: 'done', created: 1 }]);
    expect(await service.keys()).toEqual(['c-1']);

    const folder = `${journey.data}/mine`;
    const [exported] = (await journey.call(['--json', 'dead', 'export', idOf('c-2'), '--output', folder])).documents;
    expect(exported).toEqual({ file: expect.stringContaining(folder), feed: 'main', letters: 1 });
    const rows = readFileSync(exported.file, 'utf8');
    expect(rows).not.toContain('c-3');
    writeFileSync(exported.file, rows.replace('call me', '+14155550108'));
    expect((await journey.call(['import', exported.file])).code).toBe(0);

    const dropped = await journey.call(['dead', 'drop', idOf('c-3'), idOf('c-1'), '--reason', 'a test']);
    expect([dropped.code, dropped.stdout]).toEqual([0, expect.stringContaining('1 dead letter dropped')]);
    expect(dropped.stderr).toContain('1 of those named were not open');
    expect((await journey.call(['--json', 'dead', 'ls'])).documents).toEqual([]);
    const trail = await journey.call(['logs', '--acts']);
    expect(trail.stdout).toMatch(/edited a dead letter: run \S+, feed main, 1 letter, phone\n/);
    expect(trail.stdout).toMatch(/dropped dead letters: 1 letter: a test\n/);
  });

  test('whose fix-file is gone are written anew by the command that dead ls and runs show advise', async ({
    journey,
  }) => {
    await journey.service();
    const [run] = (await journey.call(['import', '--json', journey.file('a.csv', text)])).documents;
    expect((await journey.call(['dead', 'ls'])).stdout).toContain('in the fix-file of their run');
    rmSync(run.fixFile);
    const advised = `patchbay dead export --run ${run.run}`;
    const listed = await journey.call(['dead', 'ls']);
    expect(listed.stdout).not.toContain('in the fix-file of their run');
    expect(listed.stdout).toContain(
      `the fix-file of run ${run.run} is not there any more; to write its open rows anew: ${advised}`,
    );
    expect((await journey.call(['runs', 'show', run.run])).stdout).toContain(`to write the open rows anew: ${advised}`);
    expect((await journey.call(['runs', 'show', '--json', run.run])).documents[0].fixFile).toBeNull();
    const [exported] = (await journey.call(['--json', ...advised.split(' ').slice(1)])).documents;
    expect(exported).toMatchObject({ letters: 3 });
  });

  test('are retried at a rate below the key’s, or refused', async ({ journey }) => {
    await journey.service();
    await journey.call(['import', journey.file('a.csv', text)]);
    const above = await journey.call(['dead', 'retry', '--all', '--rate', '500']);
    expect([above.code, above.stderr]).toEqual([2, expect.stringContaining('not below what the key allows: 500')]);
    expect((await journey.call(['dead', 'retry', '--all', '--rate', '0'])).code).toBe(2);
    expect((await journey.call(['dead', 'retry', '--all', '--rate', '20'])).code).toBe(3);
  });
});
