/** Guards: stop before the first write (`docs/rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import { noOptions, type RunOptions, zeroCounts } from '#src/ledger/runs.ts';
import { guardReason } from '#src/runs/guard-reason.ts';
import { checkGuards, type FeedTally, type FileBefore, type FileHistory } from '#src/runs/guards.ts';
import { defaultGuards, tallyOf } from './support/tallies.ts';

const guardsOf = (given: Partial<FeedTally>, options = {}) =>
  checkGuards(tallyOf(given), defaultGuards, { ...noOptions, ...options }).map((verdict) => verdict.guard);

describe('the guard on updates', () => {
  it('lets 30 % of the known contacts change', () => {
    expect(guardsOf({ known: 100, updates: 30 })).toEqual([]);
  });

  it('stops one contact above 30 %', () => {
    expect(guardsOf({ known: 100, updates: 31 })).toEqual(['updates']);
  });

  it('does not work below 10 known contacts', () => {
    expect(guardsOf({ known: 9, updates: 9 })).toEqual([]);
    expect(guardsOf({ known: 10, updates: 4 })).toEqual(['updates']);
  });
});

describe('the guard on creates', () => {
  it('lets new contacts be 30 % of all that the feed knows, in the file or not', () => {
    expect(guardsOf({ known: 1, knownKeys: 100, creates: 30 })).toEqual([]);
  });

  it('stops one contact above 30 %', () => {
    expect(guardsOf({ known: 1, knownKeys: 100, creates: 31 })).toEqual(['creates']);
    expect(guardsOf({ known: 100, knownKeys: 1_000, creates: 31 })).toEqual([]);
  });

  it('does not work below 100 known contacts', () => {
    expect(guardsOf({ known: 99, creates: 1_000 })).toEqual([]);
  });
});

describe('the guard on a file of strangers', () => {
  const full: FileHistory = { before: null, older: null, isNamed: false };
  const strangersOf = (given: Partial<FeedTally>, history: FileHistory | null = full) =>
    checkGuards(tallyOf({ known: 0, ...given }), defaultGuards, noOptions, history).map((verdict) => verdict.guard);

  it('stops 20 rows that share no key with the 100 that the feed knows', () => {
    expect(strangersOf({ rows: 20, knownKeys: 100 })).toEqual(['strangers']);
    expect(strangersOf({ rows: 19, knownKeys: 100 })).toEqual([]);
    expect(strangersOf({ rows: 20, knownKeys: 99 })).toEqual([]);
  });

  it('lets a file pass that shares one key, be it of a dead row', () => {
    expect(strangersOf({ rows: 20, knownKeys: 100, shared: 1 })).toEqual([]);
  });

  it('does not look at deltas, fix-files and redrives', () => {
    expect(strangersOf({ rows: 20, knownKeys: 100 }, null)).toEqual([]);
  });

  it('gives way to --accept alone', () => {
    const pass = (options: Partial<RunOptions>) =>
      checkGuards(tallyOf({ rows: 20, knownKeys: 100 }), defaultGuards, { ...noOptions, ...options }, full);
    expect(pass({ maxChange: 1, maxDead: 1 })).toHaveLength(1);
    expect(pass({ accept: true })).toEqual([]);
  });
});

describe('the guard on an older file', () => {
  const older = { runId: 'r-1', atMs: Date.parse('2026-11-15T02:30:00Z'), newerCount: 2 };
  const olderOf = (given: Partial<FeedTally>, isNamed: boolean) =>
    checkGuards(tallyOf({ known: 1_000, ...given }), defaultGuards, noOptions, { before: null, older, isNamed });

  it('stops one that changes contacts: of a named feed, and of main from 20 rows', () => {
    for (const rows of [1, 19, 20]) expect(olderOf({ rows, updates: 1 }, true)).toMatchObject([{ guard: 'older' }]);
    expect(olderOf({ rows: 19, updates: 1 }, false)).toEqual([]);
    expect(olderOf({ rows: 20, updates: 1 }, false)).toMatchObject([{ guard: 'older' }]);
  });

  it('lets one pass that changes nothing', () => {
    for (const isNamed of [true, false]) expect(olderOf({ rows: 100, updates: 0, creates: 5 }, isNamed)).toEqual([]);
  });

  it('says which run it was, of which day, and how many newer ones there were', () => {
    const { message, hint, code } = guardReason(
      olderOf({ rows: 20, updates: 1 }, true),
      { id: 'r-4', feed: 'crm', kind: 'file', options: noOptions, counts: zeroCounts },
      'sandbox',
    );
    expect(code).toBe('guardOlder');
    expect(message).toContain('this is the file of run r-1 of 2026-11-15, and 2 newer files have been imported since');
    expect(hint).toContain(
      'import it again with --feed crm --accept, or approve the run: patchbay runs approve --sandbox r-4',
    );
  });
});

describe('the guard on clears and removals', () => {
  it('lets 10 % of the known contacts lose a value', () => {
    expect(guardsOf({ known: 200, clears: 20 })).toEqual([]);
  });

  it('stops one value above 10 %', () => {
    expect(guardsOf({ known: 200, clears: 21 })).toEqual(['clears']);
  });

  it('does not work below 10 values', () => {
    expect(guardsOf({ known: 20, clears: 9 })).toEqual([]);
    expect(guardsOf({ known: 20, clears: 10 })).toEqual(['clears']);
  });
});

describe('the guard on dead rows', () => {
  it('lets 5 % of the rows be dead', () => {
    expect(guardsOf({ rows: 1_000, dead: 50 })).toEqual([]);
  });

  it('stops one row above 5 %', () => {
    expect(guardsOf({ rows: 1_000, dead: 51 })).toEqual(['dead']);
  });

  it('does not work below 20 dead rows', () => {
    expect(guardsOf({ rows: 19, dead: 19 })).toEqual([]);
    expect(guardsOf({ rows: 20, dead: 20 })).toEqual(['dead']);
  });

  it('works on a first load too', () => {
    expect(guardsOf({ rows: 100, known: 0, creates: 80, dead: 20 })).toEqual(['dead']);
  });
});

describe('the guards against the file before', () => {
  const alike: FileBefore = {
    rows: 100,
    keys: 100,
    sharedKeys: 100,
    mappedColumns: 3,
    missingColumns: [],
    blankedColumns: [],
    filledRows: 0,
  };
  const against = (rows: number, before: Partial<FileBefore> | null, options = {}) =>
    checkGuards(
      tallyOf({ rows }),
      defaultGuards,
      { ...noOptions, ...options },
      before === null ? null : { before: { ...alike, ...before }, older: null, isNamed: true },
    ).map((verdict) => verdict.guard);

  it('let 70 % of its rows and half of its keys pass, and stop one below', () => {
    expect(against(70, { sharedKeys: 50 })).toEqual([]);
    expect(against(69, { sharedKeys: 50 })).toEqual(['rows']);
    expect(against(70, { sharedKeys: 49 })).toEqual(['keys']);
  });

  it('do not work below 10 rows, or 10 keys, of the file before', () => {
    expect(against(0, { rows: 9, keys: 9, sharedKeys: 0 })).toEqual([]);
    expect(against(0, { rows: 10, keys: 10, sharedKeys: 0 })).toEqual(['rows', 'keys']);
  });

  it('stop one missing column, however small the file', () => {
    expect(against(1, { rows: 1, keys: 1, sharedKeys: 1, missingColumns: ['Role'] })).toEqual(['columns']);
  });

  it('stop a column that has lost its values, from 10 rows of the file before', () => {
    expect(against(10, { rows: 10, blankedColumns: ['Role'], filledRows: 10 })).toEqual(['blanks']);
    expect(against(9, { rows: 9, blankedColumns: ['Role'], filledRows: 9 })).toEqual([]);
  });

  it('give way to --accept alone', () => {
    const before = { sharedKeys: 0, missingColumns: ['Role'] };
    expect(against(1, before, { maxChange: 1, maxDead: 1 })).toEqual(['columns', 'rows', 'keys']);
    expect(against(1, before, { accept: true })).toEqual([]);
  });

  it('say nothing where there is no file before', () => {
    expect(against(0, null)).toEqual([]);
  });

  it('name in their reason the feed and the one flag that lets them pass', () => {
    const history = { before: alike, older: null, isNamed: true };
    const verdicts = checkGuards(tallyOf({ rows: 1, known: 100, updates: 100 }), defaultGuards, noOptions, history);
    const reason = guardReason(
      verdicts,
      { id: 'r-1', feed: 'The CRM', kind: 'file', options: noOptions, counts: zeroCounts },
      'https://api.example.com',
    );
    expect(reason.message).toContain(
      'the file has 1 row, and the previous file had 100 (1%; your limit is 70%: guards.rowsMin',
    );
    expect(reason.hint).toContain("import it again with --feed 'The CRM' --accept,");
    const chosen = { ...noOptions, only: ['c-1'], createOnly: true, encoding: 'windows-1252', maxChange: 0.4 };
    const ofSome = guardReason(
      verdicts,
      { id: 'r-1', feed: 'crm', kind: 'file', options: chosen, counts: zeroCounts },
      'sandbox',
    );
    expect(ofSome.hint).toContain(
      'import it again with --feed crm --encoding windows-1252 --only c-1 --create-only --accept,',
    );
    expect(reason.facts).toMatchObject({ rowsCount: 1, rowsBase: 100, rowsLimit: 0.7, updatesCount: 100 });
  });
});

describe('guards', () => {
  it('exempt a first load from the rules on updates and creates', () => {
    expect(guardsOf({ rows: 100_000, known: 0, creates: 100_000 })).toEqual([]);
  });

  it('exempt a first load also where the floors are set to 0', () => {
    const floors = { ...defaultGuards, updatesFloor: 0, createsFloor: 0, clearsFloor: 0, deadFloor: 0 };
    expect(checkGuards(tallyOf({ known: 0, creates: 500 }), floors, noOptions)).toEqual([]);
  });

  it('give way to --max-change, which raises updates, creates and clears and no other', () => {
    const tally = { rows: 100, known: 100, updates: 60, creates: 60, clears: 60, dead: 60 };
    expect(guardsOf(tally)).toEqual(['updates', 'creates', 'clears', 'dead']);
    expect(guardsOf(tally, { maxChange: 0.6 })).toEqual(['dead']);
    expect(guardsOf(tally, { maxChange: 0.59 })).toEqual(['updates', 'creates', 'clears', 'dead']);
  });

  it('give way to --max-dead, which raises those on dead rows and on rows that lose a value, and no other', () => {
    const tally = { rows: 100, known: 100, updates: 60, dead: 60, lossy: 60 };
    expect(guardsOf(tally)).toEqual(['updates', 'dead', 'losses']);
    expect(guardsOf(tally, { maxDead: 0.6 })).toEqual(['updates']);
    expect(guardsOf(tally, { maxDead: 0.59 })).toEqual(['updates', 'dead', 'losses']);
  });

  it('are never made stricter by a flag', () => {
    expect(guardsOf({ known: 100, updates: 30, dead: 50 }, { maxChange: 0.01, maxDead: 0.01 })).toEqual([]);
  });

  it('all give way to --accept', () => {
    expect(guardsOf({ known: 100, updates: 100, creates: 900, clears: 90, dead: 900 }, { accept: true })).toEqual([]);
  });

  it('let exactly the limit pass, whatever the percentage and the base', () => {
    for (let percent = 1; percent <= 100; percent += 1) {
      const limits = { ...defaultGuards, updatesMax: percent / 100 };
      for (const base of [100, 300, 1_900, 12_300]) {
        const allowed = (base / 100) * percent;
        expect(checkGuards(tallyOf({ known: base, updates: allowed }), limits, noOptions)).toEqual([]);
        expect(checkGuards(tallyOf({ known: base, updates: allowed + 1 }), limits, noOptions)).toHaveLength(1);
      }
    }
  });
});

describe('the reason of a stopped run', () => {
  const main = {
    id: '20261121T190405Z-94d92d',
    feed: 'main',
    kind: 'file',
    options: noOptions,
    counts: zeroCounts,
  } as const;
  const reasonOf = (given: Partial<FeedTally>, serviceName = 'https://api.example.com') =>
    guardReason(checkGuards(tallyOf(given), defaultGuards, noOptions), main, serviceName);

  it('ends with the exact command to go on, for the sandbox where the run is one of it', () => {
    expect(reasonOf({ known: 400, updates: 300 }).hint).toMatch(/: patchbay runs approve 20261121T190405Z-94d92d$/);
    expect(reasonOf({ known: 400, updates: 300 }, 'sandbox').hint).toMatch(
      / approve --sandbox 20261121T190405Z-94d92d$/,
    );
  });

  it('names the count, the base, the share, the limit and the key to set', () => {
    const { message } = reasonOf({ known: 400, updates: 300 });
    expect(message).toBe(
      'stopped before the first write: the file changes 300 of its 400 known contacts (75%; your limit is 30%: guards.updatesMax)',
    );
  });

  it('counts apart the contacts of people whom the file no longer has, which are none of its rows', () => {
    expect(reasonOf({ known: 12, updates: 14, gone: 2 }).message).toBe(
      "stopped before the first write: the run changes 12 of the file's 12 known contacts, and 2 contacts of people whom it no longer has (116.7%; your limit is 30%: guards.updatesMax)",
    );
    expect(reasonOf({ known: 100, clears: 45, gone: 2, goneCleared: 1 }).message).toContain(
      'the file clears or removes 45 values of its 100 known contacts, also of 1 contact of people whom it no longer has (45%;',
    );
    expect(reasonOf({ known: 0, clears: 45, gone: 45, goneCleared: 45 }).message).toContain(
      'the file clears or removes 45 values of 45 contacts of people whom it no longer has, and has none of the contacts',
    );
    expect(reasonOf({ known: 100, clears: 45, gone: 30 }).message).toContain(
      'the file clears or removes 45 values of its 100 known contacts (45%;',
    );
  });

  it.each(['folder', 'schedule', 'request'] as const)(
    'offers no second import of a file that came by itself, but to read it anew: %s',
    (origin) => {
      const run = { ...main, options: { ...noOptions, origin } };
      const { hint } = guardReason(
        checkGuards(tallyOf({ known: 400, updates: 300 }), defaultGuards, noOptions),
        run,
        's',
      );
      expect(hint?.split('\n')).toEqual([
        `Check the file. To refuse the file: patchbay runs cancel ${main.id}`,
        `To read it anew after a change of the mapping or the limits: patchbay runs restage ${main.id}`,
        `If this is expected, approve the run: patchbay runs approve ${main.id}`,
      ]);
    },
  );

  it('carries the figures as facts', () => {
    expect(reasonOf({ known: 400, updates: 300 }).facts).toEqual({
      updatesCount: 300,
      updatesBase: 400,
      updatesLimit: 0.3,
    });
  });

  it.each([
    ['updates', { known: 100, updates: 75 }, 'guardUpdates', 'guards.updatesMax', '--max-change 75%'],
    ['creates', { known: 200, creates: 101 }, 'guardCreates', 'guards.createsMax', '--max-change 51%'],
    ['clears', { known: 100, clears: 11 }, 'guardClears', 'guards.clearsMax', '--max-change 11%'],
    ['dead rows', { rows: 100, dead: 33 }, 'guardDead', 'guards.deadMax', '--max-dead 33%'],
    ['rows that lose a value', { rows: 100, lossy: 33 }, 'guardLosses', 'guards.lossesMax', '--max-dead 33%'],
  ])('has a code, a key and a flag for %s', (_name, tally, code, key, flag) => {
    const reason = reasonOf(tally);
    expect(reason.code).toBe(code);
    expect(reason.message).toContain(key);
    expect(reason.hint).toContain(flag);
    expect(reason.hint).toContain('--accept, or approve the run');
  });

  it('says so where the file has none of the contacts that it clears', () => {
    expect(reasonOf({ known: 0, clears: 45 }).message).toContain(
      'the file clears or removes 45 values, and has none of the contacts that the feed knows (your limit is 10%: guards.clearsMax)',
    );
  });

  it('tells every guard that said no, and the flags that let all of them pass', () => {
    const { message, hint, facts } = reasonOf({ rows: 100, known: 100, updates: 40, clears: 60, dead: 50 });
    expect(message).toContain('the file changes 40 of its 100 known contacts');
    expect(message).toContain('the file clears or removes 60 values of its 100 known contacts');
    expect(message).toContain('50 of 100 rows are rejected');
    expect(hint).toContain('--max-change 60% --max-dead 50%');
    expect(Object.keys(facts)).toHaveLength(9);
  });

  it('names no percentage where none is enough', () => {
    const { hint } = reasonOf({ known: 100, creates: 150 });
    expect(hint).not.toContain('--max-change');
    expect(hint).toContain('--accept, or approve the run');
  });

  it('names flags that do let the same file pass', () => {
    for (let base = 100; base <= 700; base += 1) {
      for (const count of [Math.ceil(base * 0.31), Math.floor(base * 0.57), Math.floor(base * 0.58), base]) {
        const tally = tallyOf({ known: base, updates: count, rows: base, dead: count });
        const { hint } = guardReason(checkGuards(tally, defaultGuards, noOptions), main, 'sandbox');
        const [, change, dead] = /--max-change (\d+)% --max-dead (\d+)%/.exec(hint ?? '') ?? [];
        expect(change).toBeDefined();
        const options = { ...noOptions, maxChange: Number(change) / 100, maxDead: Number(dead) / 100 };
        expect(checkGuards(tally, defaultGuards, options)).toEqual([]);
      }
    }
  });
});

describe('a sentence about one', () => {
  it.each([
    ['updates', 1, 1, 'the file changes 1 of its 1 known contact ('],
    ['creates', 1, 3, 'the file adds 1 contact to the 3 that'],
    ['clears', 1, 2, 'the file clears or removes 1 value of its 2 known contacts ('],
    ['dead', 1, 2, '1 of 2 rows is rejected ('],
  ] as const)('names it so: %s', (guard, count, base, words) => {
    const run = { id: 'r-1', kind: 'file', counts: zeroCounts, options: noOptions, feed: 'crm' } as const;
    expect(guardReason([{ guard, count, base, limit: 0.1 }], run, 'sandbox').message).toContain(words);
  });
});
