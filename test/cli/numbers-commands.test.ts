/** `patchbay numbers ls|history|diff` (`docs/contract.md`, "Commands", "numbers snapshot --json"). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { numberHistory, numbers, numbersDiff } from '#src/cli/commands/numbers.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { number, restricted, user } from '#test/snapshots/support/numbers.ts';
import { openSnapshotBench, startNumberService } from '#test/snapshots/support/snapshot-bench.ts';
import { captureOutput } from './support/captured-output.ts';

/** A data folder of the sandbox that has seen these lists, one an hour from 14:00 on. */
function dataFolder(...lists: readonly (readonly PhoneNumber[])[]): Promise<string> {
  return dataFolderOf(null, lists);
}

/** @param ofUser whose numbers were taken; null: those of the workspace. */
async function dataFolderOf(ofUser: string | null, lists: readonly (readonly PhoneNumber[])[]): Promise<string> {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  onTestFinished(() => ledger.close());
  const service = await startNumberService([]);
  const folder = join(data, 'sandbox', 'snapshots', 'phone-numbers');
  const bench = await openSnapshotBench(service.origin, { ledger, folder });
  for (const [hour, list] of lists.entries()) {
    service.numbers = list;
    bench.hour(hour);
    await bench.take(ofUser);
  }
  return data;
}

const before = [number(1), number(2)];
const after = [
  number(1, { users: [user('Ann'), user('Dee')], restrictions: restricted({ calling: { Intl: 'restricted' } }) }),
  number(3),
];

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');
const documentsOf = (text: string): readonly unknown[] => linesOf(text).map((line) => JSON.parse(line));

describe('numbers ls', () => {
  it('shows the last snapshot: number, name, users, restrictions, porting', async () => {
    const captured = captureOutput();
    expect(await numbers({ data: await dataFolder(before, after) })).toBe(0);
    const [head, columns, first] = linesOf(captured.stdout());
    expect(head).toBe('2 numbers, seen 2026-11-21 15:00:00Z');
    expect(columns).toMatch(/number +name +users +restrictions +porting/);
    expect(first).toMatch(/\+1 415 555 0101 +Main +Ann, Dee +international calls restricted +PN1/);
  });

  it('cuts what no cell bears, and heads each 250 rows', async () => {
    const many = Array.from({ length: 260 }, (_, index) => number(index + 1));
    const users = Array.from({ length: 14 }, (_, index) => user(`Ann${index}`));
    const odd = number(261, { name: 'x'.repeat(5_000), portingStatus: 'y'.repeat(5_000), users });
    const captured = captureOutput();
    await numbers({ data: await dataFolder([...many, odd]) });
    const lines = linesOf(captured.stdout());
    expect(lines.filter((line) => /^number +name/.test(line))).toHaveLength(2);
    expect(lines.at(-1)).toMatch(/ x{60}… +Ann0, .*Ann11 and 2 more +y{60}… +PN261/);
  });

  it('--json is one line per number, with all that the service holds; --no-values leaves people and numbers out', async () => {
    const data = await dataFolder(before, after);
    const captured = captureOutput();
    await numbers({ data, json: true });
    expect(documentsOf(captured.stdout())).toEqual(after);
    const hidden = captureOutput();
    await numbers({ data, json: true, values: false });
    await numbers({ data, values: false });
    expect(hidden.stdout()).toContain('USdee');
    expect(hidden.stdout()).not.toMatch(/Dee|Main|example\.com|555/);
  });

  it.each([
    ['there is no snapshot yet', {}, 'noSnapshot'],
    ['the user has no snapshot yet', { user: 'USdee' }, 'noSnapshot'],
    ['that is no id of a user', { user: '../x' }, 'userInvalid'],
  ])('says what to do where %s', async (_, options, code) => {
    const data = await dataFolder();
    await expect(numbers({ data, ...options })).rejects.toMatchObject({ kind: 'usage', code });
  });
});

describe('numbers diff', () => {
  it('compares the last published snapshot with the one before it by default', async () => {
    const captured = captureOutput();
    expect(await numbersDiff({ data: await dataFolder(before, before, after) })).toBe(0);
    expect(linesOf(captured.stdout())).toEqual([
      '2026-11-21 15:00:00Z → 2026-11-21 16:00:00Z: 1 added, 1 removed, 1 changed',
      '  +1 415 555 0101: Dee joined; international calls now restricted',
      '  +1 415 555 0103: new, Main, with Ann',
      '  +1 415 555 0102: gone',
    ]);
  });

  it('--json is one document with the keys of the contract', async () => {
    const data = await dataFolder(before, after);
    const captured = captureOutput();
    await numbersDiff({ data, json: true });
    const changes = {
      'users.USdee': { from: null, to: user('Dee') },
      'restrictions.calling.Intl': { from: 'unrestricted', to: 'restricted' },
    };
    expect(documentsOf(captured.stdout())).toEqual([
      {
        from: '2026-11-21T14:00:00.000Z',
        to: '2026-11-21T15:00:00.000Z',
        added: [number(3)],
        removed: [number(2)],
        changed: [{ id: 'PN1', number: '+14155550101', changes }],
      },
    ]);
    const hidden = captureOutput();
    await numbersDiff({ data, json: true, values: false });
    expect(hidden.stdout()).not.toMatch(/Dee|Main|example\.com|555/);
    expect(hidden.stdout()).toContain('"restrictions.calling.Intl":{"from":"unrestricted","to":"restricted"}');
  });

  it('takes instants as in file names, times and days', async () => {
    const data = await dataFolder(before, after, before);
    for (const [times, shown] of [
      [['20261121T140000Z'], '14:00:00Z → 2026-11-21 16:00:00Z'],
      [['2026-11-21T14:30:00Z', '2026-11-21T15:59:00Z'], '14:00:00Z → 2026-11-21 15:00:00Z'],
      [['2026-11-21'], '14:00:00Z → 2026-11-21 16:00:00Z'],
      [['2026-11-21', '2026-11-21'], '14:00:00Z → 2026-11-21 16:00:00Z'],
      // As snapshots are listed, and without a zone: in UTC, wherever the machine is.
      [['2026-11-21 14:00:00Z', '2026-11-21 15:30'], '14:00:00Z → 2026-11-21 15:00:00Z'],
    ] as const) {
      const captured = captureOutput();
      await numbersDiff({ data }, ...times);
      expect(captured.stdout()).toContain(shown);
    }
  });

  it('says what is wrong with a time, and where there is nothing to compare with', async () => {
    const data = await dataFolder(before);
    for (const [times, code] of [
      [[], 'onlyOneSnapshot'],
      [['yesterday'], 'instantInvalid'],
      [['2026-13-45'], 'instantInvalid'],
      // Days and instants that the calendar does not have.
      [['2026-11-31'], 'instantInvalid'],
      [['2025-02-29', '2026-11-21'], 'instantInvalid'],
      [['2026-11-31 14:00'], 'instantInvalid'],
      [['20261131T140000Z'], 'instantInvalid'],
      [['2026-11-21T14:00 and more'], 'instantInvalid'],
      // Not come yet, and the wrong way round.
      [['9999-12-31'], 'instantInvalid'],
      [['2026-11-21', '9999-12-31'], 'instantInvalid'],
      [['2026-11-21T15:00:00Z', '2026-11-21T14:00:00Z'], 'instantInvalid'],
      [['2026-11-20'], 'noSnapshotThen'],
    ] as const) {
      await expect(numbersDiff({ data }, ...times)).rejects.toMatchObject({ kind: 'usage', code });
    }
  });
});

describe('numbers history', () => {
  it('lists the snapshots with what changed, those without a change in one line', async () => {
    const data = await dataFolder(before, before, before, after);
    const captured = captureOutput();
    expect(await numberHistory({ data, limit: 20 })).toBe(0);
    expect(linesOf(captured.stdout())).toEqual([
      '2026-11-21 17:00:00Z  2 numbers, 1 added, 1 removed, 1 changed',
      '  +1 415 555 0101: Dee joined; international calls now restricted',
      '  +1 415 555 0103: new, Main, with Ann',
      '  +1 415 555 0102: gone',
      '2026-11-21 16:00:00Z  2 numbers, nothing changed in 2 snapshots',
      '2026-11-21 14:00:00Z  2 numbers, the oldest snapshot',
    ]);
    const json = captureOutput();
    await numberHistory({ data, limit: 2, json: true });
    const file = join(data, 'sandbox', 'snapshots', 'phone-numbers', '20261121T140000Z.json');
    expect(documentsOf(json.stdout())).toMatchObject([
      { takenAt: '2026-11-21T17:00:00.000Z', changed: true, changedNumbers: 1 },
      { takenAt: '2026-11-21T16:00:00.000Z', count: 2, pages: 1, changed: false, added: 0, file },
    ]);
  });

  it('tells what became of one number, found by its id or its digits', async () => {
    const data = await dataFolder(before, after, [number(3)], before);
    for (const text of ['PN1', '+14155550101', '(415) 555-0101', '+1 415 555 0101']) {
      const captured = captureOutput();
      expect(await numberHistory({ data, limit: 20 }, text)).toBe(0);
      expect(linesOf(captured.stdout())).toEqual([
        '+1 415 555 0101 (PN1)',
        '  2026-11-21 14:00:00Z  seen for the first time, Main, with Ann',
        '  2026-11-21 15:00:00Z  Dee joined; international calls now restricted',
        '  2026-11-21 15:00:00Z  gone after this',
        '  2026-11-21 17:00:00Z  back: Dee left; international calls now unrestricted',
      ]);
    }
  });

  it('a number that was given up and assigned anew is shown under each id that it has had', async () => {
    const [given, other, anew] = [number(1), number(2), { ...number(1), id: 'PN9' }];
    const data = await dataFolder([given, other], [other], [other, anew]);
    const captured = captureOutput();
    await numberHistory({ data, limit: 20 }, '+14155550101');
    expect(linesOf(captured.stdout())).toEqual([
      '+1 415 555 0101 (PN1)',
      '  2026-11-21 14:00:00Z  seen for the first time under this id, Main, with Ann',
      '  2026-11-21 14:00:00Z  seen for the last time under this id',
      '+1 415 555 0101 (PN9)',
      '  2026-11-21 16:00:00Z  seen for the first time under this id, Main, with Ann',
    ]);
    const json = captureOutput();
    await numberHistory({ data, limit: 20, json: true }, '+14155550101');
    expect(documentsOf(json.stdout())).toMatchObject([
      { id: 'PN1', from: '2026-11-21T14:00:00.000Z', until: '2026-11-21T14:00:00.000Z' },
      { id: 'PN9', from: '2026-11-21T16:00:00.000Z', until: null },
    ]);
    const newest = captureOutput();
    await numberHistory({ data, limit: 1, json: true }, '+14155550101');
    expect(documentsOf(newest.stdout())).toMatchObject([{ id: 'PN9' }]);
    const one = captureOutput();
    await numberHistory({ data, limit: 20, json: true }, 'PN1');
    expect(documentsOf(one.stdout())).toMatchObject([{ id: 'PN1' }]);
  });

  it('a number that is gone is found, too', async () => {
    const captured = captureOutput();
    await numberHistory({ data: await dataFolder(before, after), limit: 20 }, '+14155550102');
    expect(linesOf(captured.stdout()).at(-1)).toBe('  2026-11-21 14:00:00Z  seen for the last time');
  });

  it('and numbers diff say of the numbers of one user how to list those, and not all', async () => {
    const data = await dataFolderOf('USann', [before, after]);
    const options = { data, user: 'USann' };
    const unknown = numberHistory({ ...options, limit: 20 }, '+14155550199');
    await expect(unknown).rejects.toMatchObject({ hint: expect.stringMatching(/ numbers ls --user USann$/) });
    const tooEarly = numbersDiff(options, '2026-11-20');
    await expect(tooEarly).rejects.toMatchObject({ hint: expect.stringMatching(/ numbers history --user USann$/) });
  });

  it('says what is wrong with a number that nobody knows', async () => {
    const data = await dataFolder([
      number(1),
      number(2, { number: '+445550101' }),
      number(4, { number: '+495550101' }),
    ]);
    const history = (text: string): Promise<number> => numberHistory({ data, limit: 20 }, text);
    await expect(history('PN9')).rejects.toMatchObject({ kind: 'usage', code: 'noSuchNumber' });
    await expect(history('0101')).rejects.toMatchObject({ code: 'noSuchNumber' });
    await expect(history('5550101')).rejects.toMatchObject({ code: 'numberAmbiguous' });
  });
});
