/** Dead letters that are not open: what `patchbay dead` advises about them, and answers where one is named. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listDead, retryDead } from '#src/cli/commands/dead.ts';
import { dropDead, editDead, exportDead } from '#src/cli/commands/mend-letters.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { writeFixFile } from '#src/runs/fix/fix-file.ts';
import { deadRow, slice, stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

/** A data folder of the sandbox, with letters of these keys, of a run that has ended. */
async function dataFolder(...keys: readonly string[]) {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const run = await stagingRun(ledger, '20261121T140000Z-1111aa', { importFolder: join(data, 'import') });
  const dead = keys.map((key, index) => deadRow(key, { line: index + 2 }));
  await ledger.runs.stage(slice(run, { dead, counts: { rows: keys.length, dead: keys.length } }));
  await ledger.runs.move(run.id, ['staging'], 'applying', { atMs: 1 });
  await writeFixFile(ledger.runs, run);
  await ledger.runs.move(run.id, ['applying'], 'doneWithDead', { atMs: 1 });
  const letters = await ledger.deadLetters.list({ limit: 10 });
  const idOf = (key: string): string => letters.find((letter) => letter.key === key)?.id ?? '';
  const listed = async (state: 'open' | 'redriven' | 'closed' | 'dropped' | 'all'): Promise<string> => {
    const captured = captureOutput();
    await listDead({ state, limit: 10, again: () => 'patchbay dead ls', data, color: false });
    return captured.stdout();
  };
  const quietly = async (work: () => Promise<number>): Promise<{ readonly code: number; readonly stderr: string }> => {
    const captured = captureOutput();
    return { code: await work(), stderr: captured.stderr() };
  };
  const drop = (...ids: readonly string[]) => quietly(() => dropDead({ data }, ids));
  const retry = (...ids: readonly string[]) => quietly(() => retryDead({ data, sandbox: true, detach: true }, ids));
  return { data, ledger, idOf, listed, drop, retry };
}

describe('the advice below a list', () => {
  it('of dropped letters is to import the row again, and names no command that would take others', async () => {
    const { idOf, listed, drop } = await dataFolder('k-1', 'k-2');
    await drop(idOf('k-1'));
    const dropped = await listed('dropped');
    expect(dropped).toMatch(/1 dropped: nothing is done for its row any more; .* import a file that holds it/);
    expect(dropped).not.toMatch(/dead retry|fix-file/);
    const all = await listed('all');
    expect(all).toMatch(/fix the open rows in the fix-file of their run.*dead retry --all --remap\n1 dropped: /);
    expect(await listed('open')).toContain('fix these rows in the fix-file of their run');
  });

  it('of letters that are being tried again names the run that tries them, in each list', async () => {
    const { ledger, listed, retry } = await dataFolder('k-1');
    await retry((await ledger.deadLetters.list({ limit: 1 }))[0]?.id ?? '');
    const [letter] = await ledger.deadLetters.list({ limit: 1 });
    expect(letter?.state).toBe('redriven');
    for (const state of ['redriven', 'open', 'all'] as const) {
      const text = await listed(state);
      expect(text).toMatch(new RegExp(`1 being tried again: patchbay .*runs show ${letter?.redriveRunId}\n`));
      expect(text).not.toMatch(/dead retry|fix-file/);
    }
  });
});

describe('a letter that is named, and is not open', () => {
  it('was dropped: each command says so, and what to do if the row is to go in after all', async () => {
    const { data, idOf, drop, retry } = await dataFolder('k-1');
    const id = idOf('k-1');
    await drop(id);
    const wasDropped = {
      kind: 'usage',
      code: 'letterNotOpen',
      message: `dead letter ${id} was dropped: nothing is done for its row any more`,
      hint: expect.stringContaining('import a file that holds it'),
    };
    await expect(retry(id)).rejects.toMatchObject(wasDropped);
    await expect(drop(id)).rejects.toMatchObject(wasDropped);
    await expect(exportDead({ data, output: tempFolder() }, [id])).rejects.toMatchObject(wasDropped);
    await expect(editDead({ data, sandbox: true, set: ['name=Bo'] }, id)).rejects.toMatchObject(wasDropped);
  });

  it('is being tried again, or is not there, or is a notice: each is said as it is', async () => {
    const { ledger, idOf, drop, retry } = await dataFolder('k-1');
    const id = idOf('k-1');
    await retry(id);
    expect((await retry(id)).stderr).toMatch(/^run \S+ tries dead letter \S+ again already: going on with it$/m);
    await expect(drop(id)).rejects.toMatchObject({
      code: 'letterNotOpen',
      message: expect.stringMatching(/being tried again by run \S+$/),
      hint: expect.stringMatching(new RegExp(`^To go on with it: patchbay dead retry ${id}\n`)),
    });
    await expect(drop('d-nothing')).rejects.toMatchObject({ code: 'noSuchDeadLetter' });
    const notice = { id: 'n1', kind: 'notice', type: 'feed.bad', feed: 'crm', data: {}, atMs: 1 } as const;
    await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: 1 }, [notice]);
    await expect(drop('n1')).rejects.toMatchObject({
      code: 'letterNotOpen',
      message: 'notice n1 still waits to be sent',
    });
  });

  it('is none where it is named twice: that is once', async () => {
    const { idOf, drop, retry } = await dataFolder('k-1', 'k-2');
    const [dropped, tried] = [idOf('k-1'), idOf('k-2')];
    expect(await drop(dropped, dropped)).toEqual({ code: 0, stderr: '' });
    await expect(drop(dropped, dropped)).rejects.toMatchObject({ code: 'letterNotOpen' });
    expect((await retry(tried, tried)).stderr).toBe('');
    expect((await retry(tried, tried)).stderr.match(/going on with it/g)).toHaveLength(1);
  });

  it('is noted where others that are named are tried', async () => {
    const { ledger, idOf, drop, retry } = await dataFolder('k-1', 'k-2');
    await drop(idOf('k-1'));
    const { code, stderr } = await retry(idOf('k-1'), idOf('k-2'));
    expect(code).toBe(0);
    expect(stderr).toContain(`dead letter ${idOf('k-1')} was dropped`);
    const states = (await ledger.deadLetters.list({ limit: 9 })).map(({ key, state }) => [key, state]);
    expect(Object.fromEntries(states)).toEqual({ 'k-1': 'dropped', 'k-2': 'redriven' });
  });
});
