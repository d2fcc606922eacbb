/**
 * `--reason` of a decision: a person at a terminal is asked for it, and no one else (`docs/contract.md`, "Commands"). What is carried out by
 * an engine is in `test/journeys/reasons.test.ts`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { applyingRun, deadRow, slice, stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { settledHolds } from '../contracts/held-contract.ts';
import { atTerminal } from './support/at-terminal.ts';

const asked = 'Why? logs --acts shows it (Enter: no reason) ';

function dataFolder() {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const call = (...args: readonly string[]) => callPatchbay([...args, '--data', data, '--sandbox'], {});
  const reasons = async () => (await ledger.acts.list({ limit: 99 })).map(({ kind, reason }) => [kind, reason]);
  return { data, ledger, call, reasons };
}

async function withLetters() {
  const folder = dataFolder();
  const run = await stagingRun(folder.ledger, 'r-1');
  const dead = ['k-1', 'k-2', 'k-3'].map((key, index) => deadRow(key, { line: index + 2 }));
  await folder.ledger.runs.stage(slice(run, { dead, counts: { rows: 3, dead: 3 } }));
  const ids = (await folder.ledger.deadLetters.list({ limit: 9 })).map(({ id }) => id);
  return { ...folder, ids };
}

const role = { field: 'role', said: 'X', ours: 'Z', theirs: 'Y' } as const;

describe('a person at a terminal is asked why', () => {
  it('dead letters are dropped: behind the yes, or alone where they are named', async () => {
    const { call, ids, reasons } = await withLetters();
    const [first = ''] = ids;
    expect((await atTerminal('a footer\n', () => call('dead', 'drop', first))).stderr).toBe(asked);
    const all = await atTerminal('y\nfooters\n', () => call('dead', 'drop', '--all'));
    expect(all.stderr).toMatch(/Continue\? \[y\/N\] Why\? logs --acts shows it/);
    expect(await reasons()).toEqual([
      ['deadDrop', 'footers'],
      ['deadDrop', 'a footer'],
    ]);
  });

  it('a side is taken', async () => {
    const { ledger, call, reasons } = dataFolder();
    await settledHolds(ledger, 'r-1', { 'k-1': [role] });
    const no = await atTerminal('n\nnever read\n', () => call('held', 'take', 'app', 'k-1'));
    expect([no.code, no.stderr.includes('Why?')]).toEqual([5, false]);
    const yes = await atTerminal('y\nthe app is right\n', () => call('held', 'take', 'app', 'k-1'));
    expect(yes.stderr).toContain(`Continue? [y/N] ${asked}`);
    expect(await reasons()).toEqual([['heldTake', 'the app is right']]);
  });

  it('not with --yes, --json or a reason, and not where there is no terminal', async () => {
    const { call, ids, reasons } = await withLetters();
    const [first = '', second = '', third = ''] = ids;
    for (const args of [
      [first, '--yes'],
      [second, '--json'],
      [third, '--reason', 'given'],
    ]) {
      const { code, stderr } = await atTerminal('never read\n', () => call('dead', 'drop', ...args));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
    expect((await reasons()).toReversed().map(([, reason]) => reason)).toEqual([null, null, 'given']);
    const { call: piped, ids: others } = await withLetters();
    expect(await piped('dead', 'drop', ...others)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a person at a terminal is not asked about what is refused', () => {
  it('dead letters that are not there, or not open', async () => {
    const { call, ids, reasons } = await withLetters();
    const [first = ''] = ids;
    await call('dead', 'drop', first);
    for (const [code, ...args] of [
      ['noSuchDeadLetter', 'd-none'],
      ['letterNotOpen', first],
      ['noDeadLetters', '--code', 'emailInvalid'],
      ['noSuchRun', '--run', 'r-9'],
      ['nothingChosen'],
    ] as const) {
      const { stderr } = await atTerminal('y\nnever read\n', () => call('dead', 'drop', ...args));
      expect(stderr).toContain(`[${code}]`);
      expect(stderr).not.toMatch(/Why\?|Continue\?/);
    }
    expect(await reasons()).toEqual([['deadDrop', null]]);
  });

  it('files and plans that are not there, and files that no engine takes', async () => {
    const { data, call } = dataFolder();
    const importOf = (...args: readonly string[]) =>
      atTerminal('first load\n', () => call('import', '--accept', '--detach', ...args));
    const file = join(data, 'people.csv');
    writeFileSync(file, 'externalId,firstName\nc-1,Ann\n');
    const missing = join(data, 'missing.csv');
    const lost = await importOf(file);
    expect([lost.code, lost.stderr.includes('Why?'), lost.stderr.includes('[noEngine]')]).toEqual([2, false, true]);
    const engine = takeEngineLock(join(data, 'sandbox', 'engine.lock'));
    onTestFinished(() => engine?.release());
    for (const args of [[missing], [data], ['https://example.com/a.csv'], ['--plan', 'none']]) {
      const { code, stderr } = await importOf(...args);
      expect([code === 0, stderr.includes('Why?')], stderr).toEqual([false, false]);
    }
    const one = await importOf(missing, file);
    expect(one).toMatchObject({ code: 3, stderr: expect.stringContaining('Why? Recorded in the report') });
    expect(one.stdout).toContain('people.csv: handed over as run ');
  });

  it('a stopped run that cannot be read anew', async () => {
    const { ledger, call } = dataFolder();
    const run = await applyingRun(ledger, 'r-1', ['k-1'], { kind: 'undo' });
    await ledger.runs.move(run.id, ['applying'], 'stopped', { atMs: 1 });
    const { code, stderr } = await atTerminal('never read\n', () => call('runs', 'restage', 'r-1', '--detach'));
    expect([code, stderr.includes('Why?'), stderr.includes('[restageKind]')], stderr).toEqual([2, false, true]);
  });
});

describe('forget', () => {
  it('needs a reason where none is asked for: without a terminal, with --yes and with --json', async () => {
    const { call, reasons } = dataFolder();
    for (const flags of [['--yes'], ['--json'], ['--yes', '--reason', ' ']]) {
      const { code, stdout, stderr } = await atTerminal('y\nnever read\n', () => call('forget', 'c-1', ...flags));
      expect([code, `${stdout}${stderr}`.includes('reasonMissing')]).toEqual([2, true]);
    }
    expect(await call('forget', 'c-1')).toMatchObject({ code: 2 });
    expect(await reasons()).toEqual([]);
    const { code, stdout } = await call('forget', 'c-1', '--help');
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('needed without one, and with --yes or --json');
  });
});
