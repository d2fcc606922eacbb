/** `patchbay dead ls|show` (`docs/contract.md`, "dead ls --json"; `docs/rules.md`, "Secrets and personal data"). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listDead, showDead } from '#src/cli/commands/dead.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { writeFixFile } from '#src/runs/fix/fix-file.ts';
import { deadRow, slice, stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { captureOutput } from './support/captured-output.ts';

const clearScreen = '\u001b[2J';

/** A data folder of the sandbox with two dead letters: one of mapping, one of the service's answer. */
async function dataFolder(): Promise<{ data: string; ids: readonly string[] }> {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const run = await stagingRun(ledger, 'r-1', {
    fileName: `${clearScreen}people.csv`,
    importFolder: join(data, 'import'),
  });
  const answer = { status: 422, code: 'x', title: 'Bad', message: 'Canary Secret is no name', trace: 't-1' };
  const said = {
    code: 'refused',
    line: 3,
    field: null,
    value: null,
    message: 'the service refused the contact with 422: Bad: Canary Secret is no name',
    hint: 'Mend it.',
  };
  const row = {
    kind: 'cells',
    line: 2,
    record: 1,
    columns: [`${clearScreen}phone`],
    cells: [`Canary ${clearScreen}Cell`],
  } as const;
  const problem = {
    code: 'phoneInvalid',
    line: 2,
    field: `${clearScreen}phone`,
    value: 'x',
    message: `wrong ${clearScreen}`,
    hint: `Correct ${clearScreen}`,
  };
  const dead = [
    deadRow('canary-key-1', { row, problems: [problem] }),
    deadRow('canary-key-2', { class: 'refused', code: 'refused', line: 3, problems: [said], answer }),
  ];
  await ledger.runs.stage(slice(run, { dead, counts: { rows: 2, dead: 2 } }));
  const letters = await ledger.deadLetters.list({ limit: 10 });
  return { data, ids: letters.toSorted((a, b) => a.line - b.line).map(({ id }) => id) };
}

const list = { state: 'open', limit: 10, again: () => 'patchbay dead ls' } as const;

describe('dead show', () => {
  it('shows every cell of a row that has more of them than its header', async () => {
    const { data } = await dataFolder();
    const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
    onTestFinished(() => ledger.close());
    const run = await stagingRun(ledger, 'r-2');
    const row = { kind: 'cells', line: 2, record: 1, columns: ['externalId'], cells: ['c-1', '+14155550101'] } as const;
    await ledger.runs.stage(slice(run, { dead: [deadRow('c-9', { row })], counts: { rows: 1, dead: 1 } }));
    const letter = (await ledger.deadLetters.list({ limit: 10 })).find(({ key }) => key === 'c-9');
    const captured = captureOutput();
    await showDead({ data, json: true }, letter?.id ?? '');
    expect(JSON.parse(captured.stdout()).cells).toEqual({ externalId: 'c-1', 'cell 2': '+14155550101' });
  });
});

describe('dead ls', () => {
  it('says of rows with one key that a dead letter is one for each key', async () => {
    const data = tempFolder();
    mkdirSync(join(data, 'sandbox'));
    const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
    onTestFinished(() => ledger.close());
    const run = await stagingRun(ledger, 'r-1', { importFolder: join(data, 'import') });
    const dead = [2, 3].map((line) => deadRow('k1', { code: 'duplicateKey', line }));
    await ledger.runs.stage(slice(run, { dead, counts: { rows: 2, dead: 2 } }));
    const captured = captureOutput();
    await listDead({ ...list, data, color: false });
    expect(captured.stdout()).toContain('1 × duplicateKey');
    expect(captured.stdout()).toContain('one dead letter for each key, whatever number of rows has it');
  });

  it('gives the advice of a group without the id of one of its letters', async () => {
    const data = tempFolder();
    mkdirSync(join(data, 'sandbox'));
    const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
    onTestFinished(() => ledger.close());
    const enter = async (name: string, hintOf: (key: string) => string) => {
      const run = await stagingRun(ledger, name, { importFolder: join(data, 'import') });
      const dead = ['k1', 'k2'].map((key, index) => {
        const about = { code: 'phoneInvalid', line: index + 2, field: 'phone', value: 'x', message: 'wrong' };
        return deadRow(key, { line: index + 2, problems: [{ ...about, hint: hintOf(key) }] });
      });
      await ledger.runs.stage(slice(run, { dead, counts: { rows: 2, dead: 2 } }));
      return new Map((await ledger.deadLetters.list({ limit: 10 })).map(({ key, id }) => [key, id]));
    };
    const ids = await enter('r-1', () => '');
    await enter('r-2', (key) => `Correct it: patchbay dead edit ${ids.get(key)} --set phone=1`);
    const captured = captureOutput();
    await listDead({ ...list, data, color: false });
    expect(captured.stdout()).toMatch(/dead edit \S*ID --set phone=1/);
    for (const id of ids.values()) expect(captured.stdout()).not.toContain(`edit ${id}`);
  });

  it('--json is one line per dead letter, with the keys of the contract', async () => {
    const { data } = await dataFolder();
    const captured = captureOutput();
    expect(await listDead({ ...list, data, json: true })).toBe(0);
    const documents = captured
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(documents).toHaveLength(2);
    expect(Object.keys(documents[0])).toEqual(
      'id run feed file line key class code field message attempts seen state firstAt lastAt'.split(' '),
    );
  });

  it('groups them by code and field for people, with what to do', async () => {
    const { data } = await dataFolder();
    const captured = captureOutput();
    await listDead({ ...list, data, color: false });
    expect(captured.stdout()).toMatch(/1 × phoneInvalid in .*phone \(invalid\)\n {2}Correct/);
    expect(captured.stdout()).toMatch(/try again: patchbay --data \S+ dead retry --all/);
  });

  it('names a fix-file where there is one: of a run that a guard stopped there is none yet', async () => {
    const { data } = await dataFolder();
    const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
    onTestFinished(() => ledger.close());
    const listed = async (): Promise<string> => {
      const captured = captureOutput();
      await listDead({ ...list, data, code: 'phoneInvalid' });
      return captured.stdout();
    };
    const reason = { code: 'guardDead', message: 'too many rejected rows', hint: null, facts: {} };
    await ledger.runs.move('r-1', ['staging'], 'stopped', { atMs: 1, reason });
    const stopped = await listed();
    expect(stopped).toMatch(/run r-1 is stopped by a guard, so that its rows are in no fix-file yet; look at it/);
    expect(stopped).toMatch(/decide: patchbay --data \S+ runs show r-1/);
    expect(stopped).not.toContain('in the fix-file of their run');
    await ledger.runs.move('r-1', ['stopped'], 'cancelling', { atMs: 1 });
    const run = await ledger.runs.get('r-1');
    if (run !== null) await writeFixFile(ledger.runs, run);
    await ledger.runs.move('r-1', ['cancelling'], 'cancelled', { atMs: 1 });
    expect(await listed()).toContain('fix these rows in the fix-file of their run and drop it in again');
  });

  it('says so where there are none, and where others are open than those that were asked for', async () => {
    const { data } = await dataFolder();
    const captured = captureOutput();
    await listDead({ ...list, data, code: 'another' });
    expect(captured.stdout()).toMatch(
      /^no dead letters of those that were asked for; \d+ open in all: patchbay --data \S+ dead ls\n$/,
    );
  });
});

describe('--no-values', () => {
  it.each([true, false])('leaves keys and the service’s words out of dead ls (json: %s)', async (json) => {
    const { data } = await dataFolder();
    const captured = captureOutput();
    await listDead({ ...list, data, json, values: false });
    expect(captured.stdout()).toContain('refused');
    expect(captured.stdout()).not.toMatch(/canary/i);
  });

  it.each([true, false])(
    'leaves keys, cells, records and the service’s words out of dead show (json: %s)',
    async (json) => {
      const { data, ids } = await dataFolder();
      for (const id of ids) {
        const captured = captureOutput();
        await showDead({ data, json, values: false }, id);
        expect(captured.stdout()).toContain(id);
        expect(captured.stdout()).not.toMatch(/canary/i);
      }
    },
  );

  it('is a choice: without it they are there', async () => {
    const { data, ids } = await dataFolder();
    const captured = captureOutput();
    await showDead({ data, json: true }, ids[1] ?? '');
    expect(JSON.parse(captured.stdout())).toMatchObject({
      key: 'canary-key-2',
      answer: { status: 422, message: 'Canary Secret is no name', trace: 't-1' },
      cells: { id: 'canary-key-2', name: 'Ann' },
    });
  });
});

describe('text from files', () => {
  it('neither moves the cursor nor colours the terminal in dead ls and dead show', async () => {
    const { data, ids } = await dataFolder();
    const captured = captureOutput();
    await listDead({ ...list, data, color: false });
    for (const id of ids) await showDead({ data, color: false }, id);
    expect(captured.stdout()).toContain('Cell');
    expect(captured.stdout()).not.toContain('\u001b');
  });
});

describe('dead show', () => {
  it('refuses an id that is not there, and says where to look', async () => {
    const { data } = await dataFolder();
    await expect(showDead({ data }, 'd-none')).rejects.toMatchObject({ code: 'noSuchDeadLetter', kind: 'usage' });
  });
});
