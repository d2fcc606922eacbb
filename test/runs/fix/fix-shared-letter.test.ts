/** Rows of a fix-file that share a dead letter, and have different fates: it is open as long as one of them is rejected. */
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,role,phone';
const fileOf = (...rows: readonly string[]) => csv(rows, header);

async function fixFileOf(bench: RunsBench, run: RunRecord): Promise<string> {
  return (await bench.fixFile(run)).text;
}

/** The open ones, and the first names in the rows that they hold. */
async function openLetters(bench: RunsBench) {
  const open = (await bench.letters()).filter(({ state }) => state === 'open');
  return open
    .map(({ code, key, row, others = [] }) => {
      const names = [...others, ...(row === null ? [] : [row])].map((one) => one.kind === 'cells' && one.cells[1]);
      return [code, key, names.join(' ')];
    })
    .toSorted();
}

describe('a dead letter that rows of a fix-file share', () => {
  it.each([
    ['was settled by a newer file', 'k7', { rows: 2, skipped: 1, dead: 1 }],
    ['goes in', 'k8', { rows: 2, created: 1, dead: 1 }],
  ])('stays open for the row that is rejected, where the other %s', async (_, key, counts) => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, await bench.import('a.csv', fileOf(',Cy,x,', ',Cy,x,')));
    await bench.import('b.csv', fileOf('k7,Cy,new,'));
    const run = await bench.import('fixed.csv', text.replace('\n,Cy', `\n${key},Cy`));
    expectCounts(run, counts);
    expect(await openLetters(bench)).toEqual([['keyMissing', null, 'Cy']]);
  });

  it('stays open for the rows that collide, where a third one was settled by a newer file', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, await bench.import('a.csv', fileOf('k2,Ben,A,', 'k2,Bob,B,', 'k2,Bea,C,')));
    await bench.import('b.csv', fileOf('k7,Cy,new,'));
    const run = await bench.import('fixed.csv', text.replace('k2,Bea', 'k7,Bea'));
    expectCounts(run, { rows: 3, skipped: 1, dead: 2 });
    expect(await openLetters(bench)).toEqual([['duplicateKey', 'k2', expect.stringMatching(/Ben Bob$/)]]);
  });

  it('is no letter of rows that got another key: a later pair of the old key takes nothing from them', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, await bench.import('a.csv', fileOf('k2,Ben,A,', 'k2,Bob,B,')));
    expectCounts(await bench.import('fixed.csv', text.replaceAll('\nk2', '\nk7')), { rows: 2, dead: 2 });
    expect(await openLetters(bench)).toEqual([['duplicateKey', 'k7', 'Ben Bob']]);
    await bench.import('b.csv', fileOf('k2,Xen,A,', 'k2,Xob,B,'));
    expect(await openLetters(bench)).toEqual([
      ['duplicateKey', 'k2', 'Xen Xob'],
      ['duplicateKey', 'k7', 'Ben Bob'],
    ]);
  });

  it('is that of its new key, and open, where a row was moved onto one that was rejected, too', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, await bench.import('a.csv', fileOf('k2,Ben,A,', 'k2,Bob,B,', 'k3,Cy,C,BAD')));
    const run = await bench.import('two.csv', text.replace('k2,Bob', 'k3,Bob').replace('BAD', ''));
    expectCounts(run, { rows: 3, created: 1, dead: 2 });
    expect(await openLetters(bench)).toEqual([['duplicateKey', 'k3', 'Bob Cy']]);
  });

  it('is not opened by an older copy with all of its rows, where one of them went in', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(
      bench,
      await bench.import('a.csv', fileOf('c-1,Ann,A,', 'c-1,Bea,B,', 'c-2,Bob,B,BAD')),
    );
    const chosen = text.split('\r\n').filter((line) => !line.includes(',Ann,') && !line.includes(',Bob,'));
    expectCounts(await bench.import('bea.csv', chosen.join('\r\n')), { rows: 1, created: 1 });
    const whole = await bench.import('two.csv', text.replace('BAD', ''));
    // Bea is as her contact is.
    expectCounts(whole, { rows: 3, created: 1, unchanged: 1, skipped: 1 });
    expect(await openLetters(bench)).toEqual([]);
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('Bea');
  });

  it('keeps no other row where it has no key: by that a person who is forgotten is found', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, await bench.import('a.csv', fileOf('1.2E+11,Ben,A,')));
    const [, line = ''] = text.split('\r\n');
    await bench.import('two.csv', `${text}${line.replace('Ben', 'Bob')}\r\n`);
    expect(await openLetters(bench)).toEqual([['keyDamaged', null, 'Bob']]);
  });
});
