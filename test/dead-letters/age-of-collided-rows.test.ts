/**
 * Rows of a fix-file that collide are no younger than the letters that they came from (`docs/rules.md`, "Dead letters"), however often
 * they are rejected again.
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { exportLetters } from '#src/dead-letters/export-letters.ts';
import { editLetter } from '#src/operations/mend-letters.ts';
import { csv, expectCounts, fillers, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,role,phone';
const fileOf = (...rows: readonly string[]) => csv(rows, header);
const number = '+14155550104';

const roleOf = async ({ world }: RunsBench, key: string) => (await world.contactOf(key)).defaultFields.role;
const open = async (bench: RunsBench) =>
  (await bench.letters()).flatMap(({ state, code, key }) => (state === 'open' ? [[code, key]] : []));

/** The lines of a fix-file that hold none of these texts. */
function without(text: string, ...texts: readonly string[]): string {
  return text
    .split('\r\n')
    .filter((line) => !texts.some((one) => line.includes(one)))
    .join('\r\n');
}

/** An old file with a pair and a row of its own, then a newer one, then the fix-file of the old one in which the pair was left as it was. */
async function collidedAgain(between: readonly string[] = []) {
  const bench = await openRunsBench();
  const rows = ['k2,Ben,Old,', ...between, 'k2,Bob,Old,', 'k4,Dee,D,call me'];
  const first = (await bench.fixFile(await bench.import('t1.csv', fileOf(...rows)))).text;
  await bench.import('t2.csv', fileOf('k2,Ben,New,', 'k4,Dee,D,call me'));
  const run = await bench.import('fixed.csv', first.replace('call me', number));
  return { bench, text: (await bench.fixFile(run)).text };
}

describe('a row of a pair that was rejected again, and is chosen then', () => {
  it('never overwrites what a newer file has set', async () => {
    const { bench, text } = await collidedAgain();
    expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });

  it('does not where its letter is exported, and called right', async () => {
    const { bench } = await collidedAgain();
    const [file] = await exportLetters(bench.ledger, {}, { folder: bench.folder, prefix: 'export' });
    const text = await readFile(file?.file ?? '', 'utf8');
    const chosen = text.replace('duplicateKey (one of several)', '');
    expectCounts(await bench.import('chosen.csv', chosen), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });

  it('does not where its letter is edited', async () => {
    const { bench } = await collidedAgain();
    const letter = (await bench.letters()).find(({ state }) => state === 'open');
    const given = { submit: bench.parts, actor: bench.parts.actor };
    const edited = await editLetter(given, letter?.id ?? '', ['firstName=Bobby'], null);
    expectCounts(await bench.carryOut(edited), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });
});

describe('rows that collide with each other only in a fix-file', () => {
  /** Their old file, and its fix-file with the key of a newer row in these places. */
  async function collided(rows: readonly string[], edit: (text: string) => string) {
    const bench = await openRunsBench();
    const first = (await bench.fixFile(await bench.import('t1.csv', fileOf(...rows)))).text;
    await bench.import('t2.csv', fileOf('k2,Ben,New,'));
    const run = await bench.import('fixed.csv', edit(first));
    return { bench, run };
  }

  it('are no younger where one row was copied', async () => {
    const { bench, run } = await collided(['k2,Ben,Old,call me'], (text) => {
      const mended = text.replace('call me', number);
      const [, line = ''] = mended.split('\r\n');
      return `${mended}${line.replace('Ben', 'Bob')}\r\n`;
    });
    if (run.counts.dead > 0) {
      const { text } = await bench.fixFile(run);
      expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    }
    expect(await roleOf(bench, 'k2')).toBe('New');
    expect(await open(bench)).toEqual([]);
  });

  it('are no younger where they had no key, and share one letter from then on', async () => {
    const { bench, run } = await collided(['1.2E+11,Ben,Old,', '1.2E+11,Bob,Old,'], (text) =>
      text.replaceAll('\n1.2E+11', '\nk2'),
    );
    expectCounts(run, { rows: 2, dead: 2 });
    expect(await open(bench)).toEqual([['duplicateKey', 'k2']]);
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
    expect(await open(bench)).toEqual([]);
  });

  it('leave nothing open once each has a key of its own', async () => {
    const { bench, run } = await collided(['1.2E+11,Ben,Old,', '1.2E+11,Bob,Old,'], (text) =>
      text.replaceAll('\n1.2E+11', '\nk7'),
    );
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('two.csv', text.replace('k7,Bob', 'k8,Bob')), { rows: 2, created: 2 });
    expect(await open(bench)).toEqual([]);
  });

  it('are as old as the oldest of them', async () => {
    const bench = await openRunsBench();
    const older = (await bench.fixFile(await bench.import('t1.csv', fileOf('k2,Ben,Old,call me')))).text;
    await bench.import('t2.csv', fileOf('k2,Ben,New,'));
    const newer = (await bench.fixFile(await bench.import('t3.csv', fileOf('1.2E+11,Bob,Newest,')))).text;
    const [, ofNewer = ''] = newer.replace('\n1.2E+11', '\nk2').split('\r\n');
    const run = await bench.import('fixed.csv', `${older.replace('call me', number)}${ofNewer}\r\n`);
    const { text } = await bench.fixFile(run);
    await bench.import('chosen.csv', without(text, 'Bob'));
    expect(await roleOf(bench, 'k2')).not.toBe('Old');
  });

  it('are no younger where they are far apart in the file', async () => {
    const filled = fillers(600).map((row) => `${row},call me`);
    const { bench, run } = await collided(['1.2E+11,Ben,Old,', ...filled, '1.2E+11,Bob,Old,'], (text) =>
      text.replaceAll('\n1.2E+11', '\nk2').replaceAll('call me', number),
    );
    expectCounts(run, { rows: 602, dead: 2, created: 600 });
    expect(await open(bench)).toEqual([['duplicateKey', 'k2']]);
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });
});
