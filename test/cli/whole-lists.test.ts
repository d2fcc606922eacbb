/** `dead ls --json` and `held ls --json` have one line for each item (`docs/contract.md`); `--limit` alone cuts them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { deadRow, slice, stagingRun } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';
import { settledHolds } from '../contracts/held-contract.ts';

/** More than a list in text shows unless it is asked for more, and more than a page that is read at once. */
const count = 1_203;
const shownInText = 1_000;

const keys = Array.from({ length: count }, (_, index) => `k-${String(index).padStart(4, '0')}`);

/** A data folder of the sandbox, and its command line. */
function dataFolder() {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const call = async (...args: readonly string[]) => callPatchbay([...args, '--data', data, '--sandbox'], {});
  return { ledger, call };
}

/** With as many dead letters, and one notice that was given up behind them. */
async function withLetters() {
  const { ledger, call } = dataFolder();
  const run = await stagingRun(ledger, 'r-1');
  const dead = keys.map((key, index) => deadRow(key, { line: index + 2 }));
  await ledger.runs.stage(slice(run, { dead, counts: { rows: count, dead: count } }));
  const notice = { id: 'n1', kind: 'notice', type: 'feed.bad', feed: 'crm', data: {}, atMs: 1 } as const;
  await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: 1 }, [notice]);
  await ledger.deliveries.tried('n1', 2, { state: 'dead', why: { code: 'webhookGone', message: 'gone' } });
  return call;
}

async function withHolds() {
  const { ledger, call } = dataFolder();
  const field = { field: 'role', said: 'X', ours: 'Z', theirs: 'Y' } as const;
  await settledHolds(ledger, 'r-1', Object.fromEntries(keys.map((key) => [key, [field]])));
  return call;
}

/** Of a command that was printed, without its data folder. */
function wordsOf(command: string): readonly string[] {
  return command.split(' ').filter((word) => !/^--(?:data|sandbox)$|^\//.test(word));
}

describe('dead ls --json', () => {
  it('has every letter and notice, and as many of them as --limit says', async () => {
    const call = await withLetters();
    const all = await call('dead', 'ls', '--json');
    expect(
      all.documents
        .slice(0, -1)
        .map(({ key }) => key)
        .toSorted(),
    ).toEqual(keys);
    expect(all.documents.at(-1)).toMatchObject({ id: 'n1', run: null });
    const cut = await call('dead', 'ls', '--json', '--limit', '1001');
    expect(cut.documents).toEqual(all.documents.slice(0, 1_001));
    const after = all.documents[count - 2]?.id;
    const rest = await call('dead', 'ls', '--json', '--after', after);
    expect(rest.documents).toEqual(all.documents.slice(count - 1));
  });

  it('is what the text names where it is cut', async () => {
    const call = await withLetters();
    const { stdout, stderr } = await call('dead', 'ls');
    expect(stdout).toContain(`${count} × phoneInvalid`);
    expect(stderr).toContain(`of each reason are shown, of the newest ${shownInText}; row by row: `);
    const [, command = ''] = /… and 1198 more: patchbay (.*)\n/.exec(stdout) ?? [];
    expect(command).toContain('--json');
    const named = await call(...wordsOf(command));
    expect(named.documents).toHaveLength(count);
  });

  it('has the rows that the text shows part by part, each once, where the commands below the parts are followed', async () => {
    const call = await withLetters();
    const [notices, shown]: [string[], string[]] = [[], []];
    for (let command: string | undefined = 'dead ls --limit 500'; command !== undefined; ) {
      const { stdout, stderr } = await call(...wordsOf(command));
      for (const [, id = '', key] of stdout.matchAll(/^(d[0-9a-f]{12}|n1) +(k-\d+|feed\.bad) /gm))
        (key === 'feed.bad' ? notices : shown).push(key === 'feed.bad' ? id : (key ?? ''));
      command = / go on with: patchbay (.*)\n/.exec(stderr)?.[1];
    }
    expect(shown.toSorted()).toEqual(keys);
    expect(notices).toEqual(['n1']);
  });

  it('names in text, where a few rows of each reason are shown, the command that shows them row by row', async () => {
    const call = await withLetters();
    const [, command = ''] = /; row by row: patchbay (.*)\n/.exec((await call('dead', 'ls')).stderr) ?? [];
    const { stdout } = await call(...wordsOf(command));
    expect(stdout.match(/ k-\d+ /g)).toHaveLength(shownInText);
  });
});

describe('held ls --json', () => {
  it('has every field, and as many of them as --limit says', async () => {
    const call = await withHolds();
    const all = await call('held', 'ls', '--json');
    expect(all.documents.map(({ key }) => key)).toEqual(keys);
    expect(all.documents[0]).toMatchObject({ feed: 'main', field: 'role', file: 'Z', app: 'Y', run: 'r-1' });
    const cut = await call('held', 'ls', '--json', '--limit', '1001');
    expect(cut.documents).toEqual(all.documents.slice(0, 1_001));
    const ofKeys = await call('held', 'ls', '--json', 'k-0001', 'k-1202');
    expect(ofKeys.documents.map(({ key }) => key)).toEqual(['k-0001', 'k-1202']);
  });

  it('is cut in text, which says how many more there are', async () => {
    const call = await withHolds();
    const { stdout } = await call('held', 'ls');
    expect(stdout.match(/^main /gm)).toHaveLength(shownInText);
    expect(stdout).toContain(`… and ${count - shownInText} more: `);
  });
});
