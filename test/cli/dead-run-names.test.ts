/** A run that is named by the end of its id, in `patchbay dead` (`docs/contract.md`, "Commands"). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listDead, retryDead } from '#src/cli/commands/dead.ts';
import { dropDead, exportDead } from '#src/cli/commands/mend-letters.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { deadRow, slice, stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

const runs = { first: '20261121T140000Z-1111aa', second: '20261121T140100Z-2222bb' } as const;
const list = { state: 'open', limit: 10, again: () => 'patchbay dead ls' } as const;

/** A data folder of the sandbox: of two runs, each has rejected a row, `k-first` and `k-second`. */
async function dataFolder() {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  for (const [name, id] of Object.entries(runs)) {
    const run = await stagingRun(ledger, id, { feed: name });
    await ledger.runs.stage(slice(run, { dead: [deadRow(`k-${name}`)], counts: { rows: 1, dead: 1 } }));
  }
  const states = async () => {
    const letters: readonly DeadLetter[] = await ledger.deadLetters.list({ limit: 10 });
    return Object.fromEntries(letters.map(({ key, state }) => [key ?? '', state]));
  };
  return { data, ledger, states };
}

describe('a run that is named by the end of its id', () => {
  it('is the one whose letters are listed', async () => {
    const { data } = await dataFolder();
    const captured = captureOutput();
    expect(await listDead({ ...list, data, json: true, run: '22bb' })).toBe(0);
    expect(JSON.parse(captured.stdout())).toMatchObject({ run: runs.second, key: 'k-second' });
  });

  it('is the one whose letters are dropped', async () => {
    const { data, states } = await dataFolder();
    captureOutput();
    expect(await dropDead({ data, json: true, run: '22bb' }, [])).toBe(0);
    expect(await states()).toEqual({ 'k-first': 'open', 'k-second': 'dropped' });
  });

  it('is said to have none of its letters any more, where they are not open', async () => {
    const { data } = await dataFolder();
    captureOutput();
    await dropDead({ data, json: true, run: '22bb' }, []);
    const captured = captureOutput();
    await listDead({ ...list, data, run: '22bb' });
    expect(captured.stdout()).toMatch(
      /^this run rejected 1 row, and none is listed .*: patchbay .*dead ls .*--feed second\n$/,
    );
  });

  it('is the one whose letters are exported', async () => {
    const { data } = await dataFolder();
    const captured = captureOutput();
    expect(await exportDead({ data, json: true, run: '11aa', output: tempFolder() }, [])).toBe(0);
    expect(JSON.parse(captured.stdout())).toMatchObject({ feed: 'first', letters: 1 });
  });

  it('is the one whose letters are tried again, and that the act names', async () => {
    const { data, ledger, states } = await dataFolder();
    captureOutput();
    expect(await retryDead({ data, sandbox: true, json: true, detach: true, run: '22bb' }, [])).toBe(0);
    expect(await states()).toEqual({ 'k-first': 'open', 'k-second': 'redriven' });
    expect(await ledger.acts.list({ limit: 1 })).toMatchObject([{ kind: 'deadRetry', facts: { run: runs.second } }]);
  });
});

describe('a run that is not there', () => {
  it('is an error in each of these commands, and nothing is done', async () => {
    const { data, states } = await dataFolder();
    const noSuchRun = { code: 'noSuchRun', kind: 'usage' };
    await expect(listDead({ ...list, data, run: 'nosuch' })).rejects.toMatchObject(noSuchRun);
    await expect(listDead({ ...list, data, run: '2bb' })).rejects.toMatchObject(noSuchRun);
    await expect(retryDead({ data, sandbox: true, run: 'nosuch' }, [])).rejects.toMatchObject(noSuchRun);
    await expect(dropDead({ data, run: 'nosuch' }, [])).rejects.toMatchObject(noSuchRun);
    await expect(exportDead({ data, run: 'nosuch', output: tempFolder() }, [])).rejects.toMatchObject(noSuchRun);
    expect(await states()).toEqual({ 'k-first': 'open', 'k-second': 'open' });
  });
});
