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

/** An old file, and its fix-file, edited, which is imported while a newer file waits to be written. */
async function collided(rows: readonly string[], edit: (text: string) => string) {
  const bench = await openRunsBench();
  const first = (await bench.fixFile(await bench.import('t1.csv', fileOf(...rows)))).text;
  const newer = await bench.stage(await bench.submit('t2.csv', fileOf('k2,Ben,New,')));
  const run = await bench.import('fixed.csv', edit(first));
  const { text } = await bench.fixFile(run);
  return { bench, run, text, writeNewer: async () => bench.finish(await bench.apply(newer)) };
}

/** A pair that was left as it was, beside a row that was corrected. */
const collidedAgain = () =>
  collided(['k2,Ben,Old,', 'k2,Bob,Old,', 'k4,Dee,D,call me'], (text) => text.replace('call me', number));

describe('a row of a pair that was rejected again, and is chosen then', () => {
  it('never overwrites what a newer file has set', async () => {
    const { bench, text, writeNewer } = await collidedAgain();
    await writeNewer();
    expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });

  it('does not where its letter is exported, and called right', async () => {
    const { bench, writeNewer } = await collidedAgain();
    const [file] = await exportLetters(bench.ledger, {}, { folder: bench.folder, prefix: 'export' });
    const text = await readFile(file?.file ?? '', 'utf8');
    const chosen = text.replace('duplicateKey (one of several)', '');
    await writeNewer();
    expectCounts(await bench.import('chosen.csv', chosen), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });

  it('does not where its letter is edited', async () => {
    const { bench, writeNewer } = await collidedAgain();
    const letter = (await bench.letters()).find(({ state }) => state === 'open');
    const given = { submit: bench.parts, actor: bench.parts.actor };
    const edited = await editLetter(given, letter?.id ?? '', ['firstName=Bobby'], null);
    const staged = await bench.stage(edited);
    await writeNewer();
    expectCounts(await bench.finish(await bench.apply(staged)), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });
});

describe('rows that collide with each other only in a fix-file', () => {
  it('are no younger where one row was copied', async () => {
    const { bench, text, writeNewer } = await collided(['k2,Ben,Old,call me'], (first) => {
      const mended = first.replace('call me', number);
      const [, line = ''] = mended.split('\r\n');
      return `${mended}${line.replace('Ben', 'Bob')}\r\n`;
    });
    await writeNewer();
    expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
    expect(await open(bench)).toEqual([]);
  });

  it('are no younger where they had no key, and share one letter from then on', async () => {
    const { bench, run, text, writeNewer } = await collided(['1.2E+11,Ben,Old,', '1.2E+11,Bob,Old,'], (first) =>
      first.replaceAll('\n1.2E+11', '\nk2'),
    );
    expectCounts(run, { rows: 2, dead: 2 });
    await writeNewer();
    expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
    expect(await open(bench)).toEqual([]);
  });

  it('leave nothing open once each has a key of its own', async () => {
    const { bench, text, writeNewer } = await collided(['1.2E+11,Ben,Old,', '1.2E+11,Bob,Old,'], (first) =>
      first.replaceAll('\n1.2E+11', '\nk7'),
    );
    await writeNewer();
    expect(await open(bench)).toEqual([['duplicateKey', 'k7']]);
    expectCounts(await bench.import('two.csv', text.replace('k7,Bob', 'k8,Bob')), { rows: 2, created: 2 });
    expect(await open(bench)).toEqual([]);
  });

  it('are as old as the oldest of them', async () => {
    const bench = await openRunsBench();
    const older = (await bench.fixFile(await bench.import('t1.csv', fileOf('k2,Ben,Old,call me')))).text;
    const waiting = await bench.stage(await bench.submit('t2.csv', fileOf('k2,Ben,New,')));
    const newer = (await bench.fixFile(await bench.import('t3.csv', fileOf('1.2E+11,Bob,Newest,')))).text;
    const [, ofNewer = ''] = newer.replace('\n1.2E+11', '\nk2').split('\r\n');
    const run = await bench.import('fixed.csv', `${older.replace('call me', number)}${ofNewer}\r\n`);
    await bench.finish(await bench.apply(waiting));
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });

  it('are no younger where they are far apart in the file', async () => {
    const filled = fillers(600).map((row) => `${row},call me`);
    const { bench, run, text, writeNewer } = await collided(
      ['1.2E+11,Ben,Old,', ...filled, '1.2E+11,Bob,Old,'],
      (first) => first.replaceAll('\n1.2E+11', '\nk2').replaceAll('call me', number),
    );
    expectCounts(run, { rows: 602, dead: 2, created: 600 });
    await writeNewer();
    expectCounts(await bench.import('chosen.csv', without(text, 'Bob')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench, 'k2')).toBe('New');
  });
});
