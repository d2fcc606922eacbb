/** A fix-file of letters that hold one of several rows of a key that differ: none of them goes in unless a person decides. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { exportLetters } from '#src/dead-letters/export-letters.ts';
import { redrive } from '#src/dead-letters/redrive.ts';
import { testFeeds } from '#test/feeds/support/test-feeds.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const rows = csv(['c-1,Ann,A', 'c-1,Bea,A']);
const records = '{"externalId":"c-1","firstName":"Ann"}\n{"externalId":"c-1","firstName":"Bea"}\n';

async function exported({ ledger, folder }: RunsBench): Promise<string> {
  const [file] = await exportLetters(ledger, {}, { folder, prefix: 'export' });
  return readFile(file?.file ?? '', 'utf8');
}

async function retried(bench: RunsBench): Promise<string> {
  const [run] = await redrive(bench.parts, { remap: false });
  if (run === undefined) throw new Error('nothing was tried again');
  return (await bench.fixFile(await bench.carryOut(run))).text;
}

const stateOf = async (bench: RunsBench) => (await bench.letters()).map(({ code, state }) => [code, state]);

describe.each([
  ['an export', exported],
  ['a retry', retried],
])('the fix-file of %s', (_of, fixFileOf) => {
  it.each([
    ['a.csv', rows],
    ['a.ndjson', records],
  ])('is rejected as long as its one row of the key is as it was: %s', async (name, content) => {
    const bench = await openRunsBench();
    await bench.import(name, content);
    let text = await fixFileOf(bench);
    // Again and again: the fix-file of a fix-file holds no other row either.
    for (const round of [1, 2]) {
      const run = await bench.import(`${round}-${name}`, text);
      expectCounts(run, { rows: 1, dead: 1 });
      text = (await bench.fixFile(run)).text;
    }
    expect(await bench.world.contacts()).toEqual([]);
    expect(await stateOf(bench)).toEqual([['duplicateKey', 'open']]);
  });

  it.each([
    ['a.csv', rows],
    ['a.ndjson', records],
  ])('says in the row what to do, and that goes in: %s', async (name, content) => {
    const bench = await openRunsBench();
    await bench.import(name, content);
    const text = await fixFileOf(bench);
    expect(text).toContain('This is one of these rows, and the others are not in this file');
    expect(text).not.toContain('Keep one of them');
    const decided = text.replace('duplicateKey (one of several)', '');
    expectCounts(await bench.import(`decided-${name}`, decided), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('Bea');
    expect(await stateOf(bench)).toEqual([['duplicateKey', 'closed']]);
  });

  it('goes in when its row was corrected, and where the mapping says by then that the last one wins', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', rows);
    expectCounts(await bench.import('corrected.csv', (await fixFileOf(bench)).replace('Bea', 'Cleo')), {
      rows: 1,
      created: 1,
    });
    const other = await openRunsBench();
    await other.import('a.csv', rows);
    const last = mapping({ duplicateKeys: 'lastWins' });
    expectCounts(await other.import('last.csv', await fixFileOf(other), { mapping: last }), { rows: 1, created: 1 });
  });
});

describe('what the hint of rows of one key advises', () => {
  const nameOf = async (bench: RunsBench) => (await bench.world.contactOf('c-1')).defaultFields.firstName;

  it('works: the fix-file by either setting, and a retry by lastWins, which it names for that alone', async () => {
    for (const [duplicateKeys, firstName] of [
      ['firstWins', 'Ann'],
      ['lastWins', 'Bea'],
    ] as const) {
      const bench = await openRunsBench();
      const run = await bench.import('a.csv', rows);
      const { text } = await bench.fixFile(run);
      expect(text).toContain('to lastWins, and do the same or retry the dead letter, mapped anew.');
      expect((await bench.letters())[0]?.hint).toContain('to firstWins, and drop the fix-file in again');
      const again = await bench.import('fix.csv', text, { mapping: mapping({ duplicateKeys }) });
      expectCounts(again, { rows: 2, created: 1, skipped: 1 });
      expect(await nameOf(bench)).toBe(firstName);
    }
    for (const [duplicateKeys, remap, counts] of [
      ['firstWins', true, { rows: 1, dead: 1 }],
      ['lastWins', true, { rows: 1, created: 1 }],
      ['lastWins', false, { rows: 1, dead: 1 }],
    ] as const) {
      const bench = await openRunsBench();
      await bench.import('a.csv', rows);
      const feeds = await testFeeds({ mapping: mapping({ duplicateKeys }) });
      const [run] = await redrive({ ...bench.parts, feeds }, { remap });
      if (run === undefined) throw new Error('nothing was tried again');
      expectCounts(await bench.carryOut(run), counts);
    }
  });
});

describe('a fix-file that had all rows of the key', () => {
  it('is decided by taking rows out of it, whichever is left', async () => {
    for (const left of ['Ann', 'Bea']) {
      const bench = await openRunsBench();
      const { text } = await bench.fixFile(await bench.import('a.csv', rows));
      const both = await bench.import('both.csv', text);
      expectCounts(both, { rows: 2, dead: 2 });
      const [head, ...lines] = (await bench.fixFile(both)).text.split('\r\n');
      const one = [head, ...lines.filter((line) => line.includes(left))].join('\r\n');
      expectCounts(await bench.import('one.csv', one), { rows: 1, created: 1 });
      expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe(left);
    }
  });

  it('is decided so also where the other row was rejected for itself', async () => {
    const bench = await openRunsBench();
    const run = await bench.import(
      'a.csv',
      csv(['c-1,Ann,+14155550101', 'c-1,Bea,call me'], 'externalId,firstName,phone'),
    );
    const { text } = await bench.fixFile(run);
    const one = text.split('\r\n').filter((line) => !line.includes('Bea'));
    expectCounts(await bench.import('one.csv', one.join('\r\n')), { rows: 1, created: 1 });
  });
});
