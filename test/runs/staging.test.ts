/** Staging: a file is read to its end before anything is sent (`docs/design.md`, "Stage, then apply"). */
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { createLogger, keyHash } from '#src/log.ts';
import { finishCancelled } from '#src/runs/finish-run.ts';
import { openFileSupply, type RowSupply } from '#src/runs/supply.ts';
import { itemsPerSliceMax } from '#src/sources/format-reader.ts';
import { csv, expectCounts, fillers, mapping, openRunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

/** The same supply, with something happening before its second slice. */
function interrupted(supply: RowSupply, happen: () => unknown): RowSupply {
  return {
    ...supply,
    items: async function* (look) {
      let slices = 0;
      for await (const items of supply.items(look)) {
        slices += 1;
        if (slices === 2) await happen();
        yield items;
      }
    },
  };
}

describe('a row', () => {
  it('is unchanged before it is even mapped, when its cells and mapping version equal the settled ones', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Engineer']));
    const supply = await openFileSupply(bench.parts, await bench.submit('b.csv', csv(['c-1,Ann,Engineer'])));
    const neverMap = (): never => {
      throw new Error('the row was mapped');
    };
    const [queued] = await bench.ledger.runs.list({ states: ['queued'], limit: 1 });
    if (queued === undefined) throw new Error('no run waits');
    const run = await bench.stage(queued, {
      supply: async () => ({ ...supply, compiled: { ...supply.compiled, mapRow: neverMap } }),
    });
    expectCounts(run, { rows: 1, unchanged: 1 });
  });

  it('is unchanged by fingerprint after a new mapping version, and known by its cells from then on', async () => {
    const bench = await openRunsBench();
    const rows = csv(['c-1,Ann,Engineer', 'c-2,Bob,Engineer']);
    await bench.import('a.csv', rows);
    const settledBy = async (name: string) => {
      const supply = await openFileSupply(bench.parts, await bench.submit(name, rows, { mapping: mapping({}) }));
      let mappedCount = 0;
      const mapRow: typeof supply.compiled.mapRow = (row) => {
        mappedCount += 1;
        return supply.compiled.mapRow(row);
      };
      const [queued] = await bench.ledger.runs.list({ states: ['queued'], limit: 1 });
      if (queued === undefined) throw new Error('no run waits');
      const counting = { ...supply, compiled: { ...supply.compiled, mapRow } };
      const run = await bench.stage(queued, { supply: async () => counting });
      expectCounts(run, { rows: 2, unchanged: 2 });
      await bench.finish(run);
      return mappedCount;
    };
    expect(await settledBy('b.csv')).toBe(2);
    expect(await settledBy('c.csv')).toBe(0);
  });

  it('is counted in every case: rows = unchanged + skipped + dead + pending', async () => {
    const bench = await openRunsBench();
    const header = 'externalId,firstName,role,phone';
    await bench.import('a.csv', csv(['same,Ann,A,', 'moves,Ann,A,'], header));
    const rows = ['same,Ann,A,', 'moves,Ann,B,', 'new,Ann,A,', 'new,Ann,A,', ',Ann,A,', 'bad,Ann,A,call me', 'ragged'];
    const run = await bench.stage(await bench.submit('b.csv', csv(rows, header)));
    expect(run.state).toBe('applying');
    expectCounts(run, { rows: 7, unchanged: 1, skipped: 1, dead: 3, pending: 2 });
    expect(await bench.ledger.runs.pendingCount(run.id)).toBe(2);
  });

  it('that repeats an unchanged one costs no request', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(fillers(30)));
    const run = await bench.import('b.csv', csv(fillers(30)));
    expectCounts(run, { rows: 30, unchanged: 30 });
    expect(run.requests).toEqual({ get: 0, post: 0, patch: 0, delete: 0, retried: 0, rateLimited: 0 });
  });
});

describe('a word that may stand for "nothing"', () => {
  const doubt = 'what the cell holds may stand for "nothing", as NA or None do; it was read as a value';
  const notesOf = async (rows: readonly string[], header = 'externalId,firstName,phone') => {
    const bench = await openRunsBench();
    return bench.import('a.csv', csv(rows, header));
  };

  it('is noted where it stands for nothing in another column', async () => {
    const run = await notesOf(['c-1,NA,+14155550121', 'c-2,Ada,NA']);
    expect(run.notes).toEqual([`line 2: "firstName": ${doubt} (1 row)`]);
  });

  it('is noted where many rows of a column hold it', async () => {
    const run = await notesOf(Array.from({ length: 6 }, (_, index) => `c-${index},${index === 0 ? 'Ada' : 'None'},`));
    expect(run.notes).toEqual([`line 3: "firstName": ${doubt} (5 rows)`]);
    expect(run.counts.warnings).toBe(1);
  });

  it('is a name like any other in a few rows', async () => {
    const run = await notesOf(['c-1,None,', 'c-2,NA,', 'c-3,None,N/A']);
    expect(run.notes).toEqual([]);
  });
});

describe('a word for "nothing", or codes of HTML, in each row of a column', () => {
  it('is listed of the first rows, and counted once for the column', async () => {
    const bench = await openRunsBench();
    const rows = Array.from({ length: 300 }, (_, index) => `c-${index},NULL,R&amp;D ${index}`);
    const run = await bench.import('a.csv', csv([...rows, 'c-x,Ada,Sales'], 'externalId,firstName,company'));
    expectCounts(run, { rows: 301, created: 301 });
    const { outcomes } = await bench.report(run);
    expect(run.counts.warnings).toBe(12);
    const listed = (wanted: string) =>
      outcomes.flatMap(({ key, field, line }: RunEvent) => (key !== null && field === wanted ? [line] : []));
    expect([listed('firstName'), listed('company')]).toEqual([
      [2, 3, 4, 5, 6],
      [2, 3, 4, 5, 6],
    ]);
    const counted = expect.stringMatching(/\(300 rows; the first 5 are listed\)$/);
    expect(outcomes.filter(({ key }: RunEvent) => key === null)).toMatchObject([
      { line: 2, field: 'firstName', code: 'placeholderText', value: 'NULL', message: counted },
      { line: 2, field: 'company', code: 'textEscaped', value: 'R&amp;D 0', message: counted },
    ]);
    expect(run.notes).toEqual([
      'line 2: "firstName": what the cell holds stands for "nothing"; it was read as blank (300 rows; the first 5 are listed)',
      expect.stringMatching(/^line 2: "company": the text holds a code of HTML.*\(300 rows; the first 5 are listed\)$/),
    ]);
  });
});

describe('the key of a formula-safe export', () => {
  it('is that of the same people in any other export, and the run says once what was taken off', async () => {
    const bench = await openRunsBench();
    const header = 'externalId,firstName';
    await bench.import('plain.csv', csv(['7309457916160,Ada', '7309457916161,Ben'], header));
    const run = await bench.import('shop.csv', csv(["'7309457916160,Ada", '"=""7309457916161""",Ben'], header));
    expectCounts(run, { rows: 2, unchanged: 2 });
    expect(run.counts.warnings).toBe(1);
    expect(run.notes).toEqual([
      `line 2: the key was read without the guard against formulas (' or ="…") around it (first of 2 rows)`,
    ]);
  });
});

describe('an empty file', () => {
  it.each(['', '\ufeff', '\n\n'])('is done with 0 rows, a warning, and is archived: %j', async (text) => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', text);
    expect(run).toMatchObject({ state: 'done', counts: { rows: 0, dead: 0 } });
    expect(run.notes.length).toBeGreaterThan(0);
  });
});

describe('a file with a header only', () => {
  it('is done with 0 rows and a note', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv([]));
    expect(run.state).toBe('done');
    expectCounts(run, {});
    expect(run.notes).toEqual(['a.csv holds a header and no rows']);
    expect(await bench.names('import', '_done')).toEqual([`${run.id}__a.csv`, `${run.id}__a.csv.txt`]);
  });
});

describe('rows that cannot be used', () => {
  it('have a log line each, with run, feed, line and code and without what the cells hold; of a flood the first', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'warn', stream: { write: (line) => void lines.push(line) } });
    const bench = await openRunsBench({ log });
    const rows = Array.from({ length: 25 }, (_, index) => `c-${index},CANARY`);
    const run = await bench.stage(await bench.submit('a.csv', `externalId,phone\n${rows.join('\n')}\n`));
    const [first, ...others] = lines.map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      ...{ run: run.id, feed: 'main', line: 2, key: keyHash('c-0'), class: 'invalid', msg: 'row rejected' },
    });
    expect([others.length, others.at(-1)]).toMatchObject([20, { run: run.id, more: 5, msg: 'further rows rejected' }]);
    expect(lines.join('')).not.toMatch(/CANARY|c-1/);
  });
});

describe('a file that cannot be read', () => {
  const unterminated = csv([...fillers(999), 'last,"Ann,Engineer']);

  it('fails as a whole: nothing is staged, all counts are zero', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', unterminated);
    expect(run.state).toBe('failed');
    expect(new Set(Object.values(run.counts))).toEqual(new Set([0]));
    expect(await bench.ledger.runs.pendingCount(run.id)).toBe(0);
    expect(await bench.world.contacts()).toEqual([]);
    expect(run.reason).toMatchObject({ message: expect.stringContaining('quote opened at line 1001 never closes') });
  });

  it('goes to _failed with a reason beside it, and has a report', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', unterminated);
    const name = `${run.id}__a.csv`;
    expect(await bench.names('import', '_failed')).toEqual([name, `${name}.reason.txt`]);
    expect(await readFile(join(bench.folder, 'import', '_failed', name), 'utf8')).toBe(unterminated);
    const reason = await readFile(join(bench.folder, 'import', '_failed', `${name}.reason.txt`), 'utf8');
    expect(reason).toContain('quote opened at line 1001 never closes');
    expect(await bench.names('handed-over')).toEqual([]);
    expect(await bench.report(run)).toMatchObject({
      state: 'failed',
      exitCode: 3,
      rows: 0,
      problems: [],
      outcomes: [],
    });
  });

  it('leaves no dead letter of rows that were met before it turned out', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv([',no key,x', ...fillers(999), 'last,"Ann,Engineer']));
    expect(run.state).toBe('failed');
    expect(await bench.deadRows(run)).toEqual([]);
  });

  it('fails where no key column is found', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['1,Ann'], 'Kundennummer,firstName'));
    expect(run).toMatchObject({ state: 'failed', reason: { code: 'keyColumnMissing' } });
  });

  it('fails where it changed while being read', async () => {
    const bench = await openRunsBench();
    const queued = await bench.submit('a.csv', csv(fillers(1_200)));
    const run = await bench.stage(queued, {
      supply: async (one) =>
        interrupted(await openFileSupply(bench.parts, one), () =>
          appendFile(one.claimedPath, 'f-9999,Ann,Engineer\r\n'),
        ),
    });
    expect(run).toMatchObject({ state: 'failed', reason: { code: 'changedWhileRead' } });
    expect(new Set(Object.values(run.counts))).toEqual(new Set([0]));
  });

  it('keeps its reason when the process died after the file was moved away', async () => {
    const bench = await openRunsBench();
    const queued = await bench.submit('a.csv', unterminated);
    const { runs } = bench.ledger;
    const dies = { ...runs, move: () => Promise.reject(new Error('killed')) };
    const dying = { ...bench.parts, ledger: { ...bench.ledger, runs: dies } };
    await expect(bench.stage(queued, { parts: dying })).rejects.toThrow('killed');
    expect((await bench.again(queued)).state).toBe('staging');
    const run = await bench.stage(await bench.again(queued));
    expect(run).toMatchObject({ state: 'failed', reason: { message: expect.stringContaining('never closes') } });
    const name = `${run.id}__a.csv.reason.txt`;
    expect(await readFile(join(bench.folder, 'import', '_failed', name), 'utf8')).toContain('never closes');
  });
});

describe('staging that is cut off', () => {
  const header = 'externalId,firstName,role,phone';
  const rows = [...fillers(700).map((row) => `${row},`), 'bad,Ann,A,call me', 'f-1,Ann,Engineer,', ',nobody,A,'];

  it('is begun anew, and comes to the same counts', async () => {
    const bench = await openRunsBench();
    const queued = await bench.submit('a.csv', csv(['bad,Ann,A,call me', ...rows], header));
    const controller = new AbortController();
    const cut = bench.stage(queued, {
      signal: controller.signal,
      supply: async (one) => interrupted(await openFileSupply(bench.parts, one), () => controller.abort()),
    });
    await expect(cut).rejects.toMatchObject({ name: 'AbortError' });
    bench.world.clock.advance(1);
    const half = await bench.again(queued);
    expect(half.state).toBe('staging');
    expect(half.counts.rows).toBe(itemsPerSliceMax);
    const run = await bench.stage(half);
    expect(run.state).toBe('applying');
    expectCounts(run, { rows: 704, pending: 700, skipped: 1, dead: 3 });
    expect(run.counts.deadNew).toBe(2);
    expect((await bench.letters()).map(({ code, seenCount }) => [code, seenCount])).toEqual([
      ['phoneLetters', 1],
      ['keyMissing', 1],
    ]);
  });

  it('stays to be staged where the service had to be asked and did not answer', async () => {
    const bench = await openRunsBench();
    const queued = await bench.submit('a.csv', csv(['c-1,Ann,A']));
    const error = new PatchbayError('unreachable', 'serviceUnreachable', 'no answer');
    await expect(bench.stage(queued, { supply: () => Promise.reject(error) })).rejects.toBe(error);
    expect((await bench.again(queued)).state).toBe('staging');
    expectCounts(await bench.stage(queued), { rows: 1, pending: 1 });
  });

  it('does nothing for a run that is past it: a late redelivery', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A'])));
    const again = await bench.stage(run, {
      supply: () => Promise.reject(new Error('the file was opened')),
    });
    expect(again).toEqual(run);
  });

  it('by a person who cancels the run leaves a cancelled run whose rows add up', async () => {
    const bench = await openRunsBench();
    const queued = await bench.submit('a.csv', csv(fillers(1_700)));
    const { runs } = bench.ledger;
    const cancel = async () => {
      await runs.move(queued.id, ['staging'], 'cancelling', { atMs: 1 });
      await finishCancelled(bench.parts, queued.id);
    };
    const run = await bench.stage(queued, {
      supply: async (one) => interrupted(await openFileSupply(bench.parts, one), cancel),
    });
    expect(run.state).toBe('cancelled');
    expect(run.counts.created).toBe(0);
    expect(run.counts.rows).toBe(run.counts.skipped);
    expect(await bench.names('import', '_done')).toEqual([`${run.id}__a.csv`, `${run.id}__a.csv.txt`]);
    expect(await bench.names('import', '_failed')).toEqual([]);
    expect((await bench.report(run)).state).toBe('cancelled');
  });
});

describe('dead letters of a file', () => {
  const header = 'externalId,firstName,role,phone';
  const broken = csv(['c-1,Ann,A,call me', ',nobody,A,'], header);

  it('are new in the first run that meets them', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', broken);
    expect(run.counts).toMatchObject({ dead: 2, deadNew: 2 });
    expect((await bench.letters()).map((letter) => letter.seenCount)).toEqual([1, 1]);
  });

  it('are counted as new once, however often the file has them', async () => {
    const bench = await openRunsBench();
    const twice = ['n-1,First,A,', 'n-1,Second,A,', 'c-1,Ann,A,call me', ',nobody,A,'];
    const rows = [...twice, ...fillers(itemsPerSliceMax).map((row) => `${row},`), 'n-1,Third,A,', ...twice.slice(2)];
    const run = await bench.import('a.csv', csv(rows, header));
    expect(run.counts).toMatchObject({ dead: 7, deadNew: 3 });
    expect(await bench.letters()).toHaveLength(3);
  });

  it('are listed in the order of their lines, also where the file is read for a while', async () => {
    const bench = await openRunsBench();
    const { runs } = bench.parts.ledger;
    const { stage } = runs;
    runs.stage = (slice) => {
      bench.world.clock.advance(1_000);
      return stage(slice);
    };
    const rows = Array.from({ length: itemsPerSliceMax * 2 }, (_, index) => `d-${index},Ann,A,call me`);
    await bench.import('a.csv', csv(rows, header));
    const listed = (await bench.parts.ledger.deadLetters.list({ limit: 10_000 })).map(({ line }) => line);
    expect(listed).toHaveLength(rows.length);
    expect(listed).toEqual(listed.toSorted((a, b) => a - b));
  });

  it('are seen once more, and not new, in the next one; their ids and first moments stay', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', broken);
    const before = await bench.letters();
    bench.world.clock.advance(60_000);
    const run = await bench.import('b.csv', `${broken}c-9,Zoe,A,none yet\r\n`);
    expect(run.counts).toMatchObject({ dead: 3, deadNew: 1 });
    const after = await bench.letters();
    expect(after.map(({ seenCount }) => seenCount)).toEqual([2, 2, 1]);
    for (const [index, letter] of before.entries()) {
      expect(after[index]).toMatchObject({ id: letter.id, firstAtMs: letter.firstAtMs, runId: run.id });
      expect(after[index]?.lastAtMs).toBeGreaterThan(letter.lastAtMs);
    }
  });
});

describe('a run that a guard stops', () => {
  const broken = (count: number) => Array.from({ length: count }, (_, index) => `,nobody ${index},A`);

  it('has written nothing, keeps what it staged, and its report says why', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    const run = await bench.import('a.csv', csv([...fillers(50), ...broken(20)]));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardDead' } });
    expectCounts(run, { rows: 70, dead: 20, pending: 50 });
    expect(await bench.world.contacts()).toEqual([]);
    expect(await bench.ledger.runs.pendingCount(run.id)).toBe(50);
    expect(await bench.report(run)).toMatchObject({
      state: 'stopped',
      exitCode: 5,
      pending: 50,
      fixFile: null,
      reason: { code: 'guardDead' },
    });
    expect(await bench.names('handed-over')).toHaveLength(1);
  });

  it('is one of an address book whose numbers lack their country, although the mapping leaves out what cannot be read', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    const people = Array.from(
      { length: 25 },
      (_, index) => `Ann,Fir${index},ann${index}@example.com,Mobile,555 01${10 + index}`,
    );
    const header = 'First Name,Last Name,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Organization Name';
    const run = await bench.import(
      'google.csv',
      csv(
        people.map((row) => `${row},`),
        header,
      ),
    );
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardLosses', facts: { lossesCount: 25 } } });
    expect(await bench.world.contacts()).toEqual([]);
  });

  it('goes on when it is approved', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    const stopped = await bench.import('a.csv', csv([...fillers(50), ...broken(20)]));
    await bench.ledger.runs.move(stopped.id, ['stopped'], 'applying', { atMs: 1, reason: null });
    const run = await bench.finish(await bench.apply(stopped));
    expect(run.state).toBe('doneWithDead');
    expectCounts(run, { rows: 70, created: 50, dead: 20 });
  });

  it('would not be stopped with --max-dead or --accept', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    const rows = csv([...fillers(50), ...broken(20)]);
    const passed = await bench.stage(await bench.submit('a.csv', rows, { options: { maxDead: 0.3 } }));
    expect(passed.state).toBe('applying');
    await bench.finish(await bench.apply(passed));
    expect((await bench.stage(await bench.submit('b.csv', `${rows}\r\n`, { options: { accept: true } }))).state).toBe(
      'applying',
    );
  });

  it('gives way to the same file that was brought again with other options before it was stopped, in `main`, too', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    await bench.import('a.csv', csv(fillers(20)));
    const changed = csv(fillers(20).map((row) => row.replace('Engineer', 'Boss')));
    const first = await bench.submit('b.csv', changed);
    const limited = await bench.submit('b.csv', changed, { options: { accept: true, limit: 1 } });
    const second = await bench.submit('b.csv', changed, { options: { accept: true, onBlank: 'clear' } });
    expect(await bench.stage(first)).toMatchObject({ state: 'stopped', reason: { code: 'guardUpdates' } });
    await bench.carryOut(limited);
    expect((await bench.again(first)).state).toBe('stopped');
    expect(await bench.carryOut(second)).toMatchObject({ state: 'done' });
    expect(await bench.again(first)).toMatchObject({
      state: 'cancelling',
      reason: { code: 'replaced', message: `run ${second.id} read the same file again and took its place` },
    });
  });

  it('is stopped by the contacts that the file knows: updates, and a row that stands twice counts once', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    await bench.import('a.csv', csv(fillers(20)));
    const boss = (count: number) =>
      fillers(20).map((row, index) => (index < count ? row.replace('Engineer', 'Boss') : row));
    const twice = [...boss(6), ...boss(6).slice(0, 6)];
    const passed = await bench.stage(await bench.submit('b.csv', csv(twice)));
    expect(passed.state).toBe('applying');
    await bench.ledger.runs.move(passed.id, ['applying'], 'cancelling', { atMs: 1 });
    await bench.finish(passed);
    const run = await bench.stage(await bench.submit('c.csv', csv(boss(7))));
    expect(run).toMatchObject({
      state: 'stopped',
      reason: { code: 'guardUpdates', facts: { updatesCount: 7, updatesBase: 20 } },
    });
  });

  it('is stopped by removals: an item that the file said before, and a replaced one is none', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, updatesMax: 1 } });
    const header = 'externalId,firstName,email';
    const people = (cell: (index: number) => string) =>
      csv(
        Array.from({ length: 12 }, (_, index) => `p-${index},Ann,${cell(index)}`),
        header,
      );
    await bench.import(
      'a.csv',
      people((index) => `ann${index}@example.com`),
    );
    const replaced = await bench.import(
      'b.csv',
      people((index) => `ann${index}@example.org`),
    );
    expectCounts(replaced, { rows: 12, updated: 12 });
    const run = await bench.import(
      'c.csv',
      people((index) => (index < 10 ? '#CLEAR' : `ann${index}@example.org`)),
    );
    expect(run).toMatchObject({
      state: 'stopped',
      reason: { code: 'guardClears', facts: { clearsCount: 10, clearsBase: 12 } },
    });
  });
});
