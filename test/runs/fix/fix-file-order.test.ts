/**
 * How old the rows of a fix-file are (`docs/rules.md`, "Dead letters" and "Workspace, feed, key"): as old as the run that met their
 * letters last, whenever the file is dropped in.
 */
import { describe, expect, it } from 'vitest';
import { openPlanBench } from '#test/plans/support/plan-bench.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { generousGuards } from '#test/runs/support/tallies.ts';

const header = 'externalId,firstName,role,phone';
const fileOf = (...rows: readonly string[]) => csv(rows, header);

async function fixFileOf(bench: RunsBench, name: string, ...rows: readonly string[]): Promise<string> {
  return (await bench.fixFile(await bench.import(name, fileOf(...rows)))).text;
}

const roleOf = async (bench: RunsBench) => (await bench.world.contactOf('c-1')).defaultFields.role;
const states = async (bench: RunsBench) => (await bench.letters()).map(({ state }) => state);

describe('a row of an old fix-file', () => {
  it('never overwrites what a newer file of its feed has set: it is skipped, and its run says so', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'a.csv', 'c-1,Ann,Old,bad');
    await bench.import('b.csv', fileOf('c-1,Ann,New,+14155550109'));
    expect(await states(bench)).toEqual(['closed']);
    const run = await bench.import('mended.csv', text.replace('bad', '+14155550101'));
    expectCounts(run, { rows: 1, skipped: 1 });
    expect((await bench.report(run)).outcomes).toMatchObject([{ kind: 'skipped', line: 2, code: 'superseded' }]);
    expect(run.notes).toEqual([expect.stringMatching(/^1 row was skipped \(superseded\), the first in line 2: .*_id/)]);
    const { defaultFields } = await bench.world.contactOf('c-1');
    expect(defaultFields).toMatchObject({ role: 'New', phoneNumbers: [{ value: '+14155550109' }] });
    expect(await states(bench)).toEqual(['closed']);
  });

  it('is skipped in a plan, as in the import', async () => {
    const planned = await openPlanBench();
    const { bench } = planned;
    const text = await fixFileOf(bench, 'a.csv', 'c-1,Ann,Old,bad', 'c-2,Bob,B,bad');
    await bench.import('b.csv', fileOf('c-1,Ann,New,'));
    const made = await planned.plan('mended.csv', text.replaceAll('bad', '+14155550101'));
    expect(made.plan.totals.rows).toMatchObject({ rows: 2, created: 1, updated: 0, skipped: 1 });
    expect(made.outcomes).toMatchObject([{ kind: 'skipped', key: 'c-1', code: 'superseded' }]);
  });

  it('is no younger after it was rejected once more', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'a.csv', 'c-1,Ann,Old,bad');
    const newer = await bench.stage(await bench.submit('b.csv', fileOf('c-1,Ann,New,')));
    const again = await bench.import('again.csv', text);
    expectCounts(again, { rows: 1, dead: 1 });
    await bench.finish(await bench.apply(newer));
    const next = (await bench.fixFile(again)).text;
    expectCounts(await bench.import('mended.csv', next.replace('bad', '')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench)).toBe('New');
  });

  it('is skipped also as it was, and beside another one of its key', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'a.csv', 'c-1,Ann,Old,', 'c-1,Bea,Old,', 'c-2,Bob,Old,bad', 'c-3,Cy,Old,bad');
    await bench.import('b.csv', fileOf('c-1,Ann,New,', 'c-2,Bob,New,'));
    expectCounts(await bench.import('again.csv', text), { rows: 4, skipped: 3, dead: 1 });
    expect(await roleOf(bench)).toBe('New');
    expect((await bench.letters()).flatMap(({ state, key }) => (state === 'open' ? [key] : []))).toEqual(['c-3']);
  });

  it('is skipped also where its letter had no key, and it has got that of a newer row', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'a.csv', ',Ann,Old,');
    await bench.import('b.csv', fileOf('c-1,Ann,New,'));
    expectCounts(await bench.import('mended.csv', text.replace('\n,Ann', '\nc-1,Ann')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench)).toBe('New');
  });

  it('is written where the feed has said nothing newer, again and again', async () => {
    const bench = await openRunsBench();
    const text = (await fixFileOf(bench, 'a.csv', 'c-1,Ann,A,bad')).replace('bad', '');
    expectCounts(await bench.import('mended.csv', text), { rows: 1, created: 1 });
    expectCounts(await bench.import('same.csv', `${text}\r\n`), { rows: 1, unchanged: 1 });
    expectCounts(await bench.import('better.csv', text.replace(',A,', ',B,')), { rows: 1, updated: 1 });
    expect(await roleOf(bench)).toBe('B');
  });

  it('is a new row without its _id, and wins', async () => {
    const bench = await openRunsBench();
    await fixFileOf(bench, 'a.csv', 'c-1,Ann,Old,bad');
    await bench.import('b.csv', fileOf('c-1,Ann,New,'));
    expectCounts(await bench.import('c.csv', fileOf('c-1,Ann,Old,')), { rows: 1, updated: 1 });
  });
});

describe('an unchanged row of a fix-file', () => {
  it('keeps no newer row of its feed from being written', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', fileOf('c-1,Ann,A,'));
    const text = await fixFileOf(bench, 'b.csv', 'c-1,Ann,A,bad');
    const newer = await bench.stage(await bench.submit('c.csv', fileOf('c-1,Ann,C,')));
    expectCounts(await bench.import('mended.csv', text.replace('bad', '')), { rows: 1, unchanged: 1 });
    expectCounts(await bench.finish(await bench.apply(newer)), { rows: 1, updated: 1 });
    expect(await roleOf(bench)).toBe('C');
  });

  it('keeps an older row of its feed from being written', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', fileOf('c-1,Ann,A,'));
    const older = await bench.stage(await bench.submit('b.csv', fileOf('c-1,Ann,B,')));
    const text = await fixFileOf(bench, 'c.csv', 'c-1,Ann,A,bad');
    expectCounts(await bench.import('mended.csv', text.replace('bad', '')), { rows: 1, unchanged: 1 });
    expectCounts(await bench.finish(await bench.apply(older)), { rows: 1, skipped: 1 });
    expect(await roleOf(bench)).toBe('A');
  });
});

describe('a row of an old fix-file whose key a newer file of its feed found unchanged', () => {
  const phone = (text: string) => text.replace('bad', '+14155550101');

  async function confirmed(feed: string) {
    const bench = await openRunsBench({ guards: generousGuards, configured: { [feed]: { kind: 'delta' } } });
    const imported = (name: string, ...rows: readonly string[]) => bench.import(name, fileOf(...rows), { feed });
    await imported('a.csv', 'c-1,Ann,A,', 'c-2,Bob,B,');
    return { bench, imported };
  }

  it('never turns that file back', async () => {
    const { bench, imported } = await confirmed('crm');
    const text = (await bench.fixFile(await imported('b.csv', 'c-1,Ann,B,bad'))).text;
    expectCounts(await imported('c.csv', 'c-1,Ann,A,'), { rows: 1, unchanged: 1 });
    expect(await states(bench)).toEqual(['closed']);
    expectCounts(await bench.import('mended.csv', phone(text)), { rows: 1, skipped: 1 });
    expect(await roleOf(bench)).toBe('A');
  });

  it('does not after a further file without that key either', async () => {
    const { bench, imported } = await confirmed('crm');
    const text = (await bench.fixFile(await imported('b.csv', 'c-1,Ann,B,bad'))).text;
    await imported('c.csv', 'c-1,Ann,A,');
    expectCounts(await imported('d.csv', 'c-2,Bob,Z,'), { rows: 1, updated: 1 });
    expectCounts(await bench.import('mended.csv', phone(text)), { rows: 1, skipped: 1 });
    expect(await roleOf(bench)).toBe('A');
  });

  it('does not where its letter had no key', async () => {
    const { bench, imported } = await confirmed('crm');
    const text = (await bench.fixFile(await imported('b.csv', ',Ann,B,'))).text;
    expectCounts(await imported('c.csv', 'c-1,Ann,A,'), { rows: 1, unchanged: 1 });
    expectCounts(await bench.import('mended.csv', text.replace('\n,Ann', '\nc-1,Ann')), { rows: 1, skipped: 1 });
    expect(await roleOf(bench)).toBe('A');
  });
});

describe('an older copy of a fix-file', () => {
  const twoRows = ['c-1,Ann,A,bad', 'c-2,Bob,B,BAD'];
  const open = async (bench: RunsBench) =>
    (await bench.letters()).flatMap(({ state, key }) => (state === 'open' ? [key] : []));

  it('opens no letter of a person whose row went in from another copy', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'a.csv', ...twoRows);
    expectCounts(await bench.import('one.csv', text.replace('bad', '')), { rows: 2, created: 1, dead: 1 });
    const run = await bench.import('two.csv', text.replace('BAD', ''));
    expectCounts(run, { rows: 2, created: 1, skipped: 1 });
    expect((await bench.report(run)).outcomes).toMatchObject([{ kind: 'skipped', key: 'c-1', code: 'superseded' }]);
    expect(run.notes).toEqual([expect.stringMatching(/^1 row was skipped \(superseded\), the first in line 2/)]);
    expect(await open(bench)).toEqual([]);
  });

  it('opens none of a row that had no key, and got one in another copy', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'a.csv', ',Ann,A,', 'c-2,Bob,B,BAD');
    await bench.import('one.csv', text.replace('\n,Ann', '\nc-1,Ann'));
    const run = await bench.import('two.csv', text.replace('BAD', ''));
    expectCounts(run, { rows: 2, created: 1, skipped: 1 });
    expect(await open(bench)).toEqual([]);
  });

  it('opens none of rows of one key of which another copy chose one, and may choose the other', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'a.csv', 'c-1,Ann,A,', 'c-1,Bea,B,');
    const only = (name: string) => text.split('\r\n').filter((line) => !line.includes(`,${name},`));
    expectCounts(await bench.import('bea.csv', only('Ann').join('\r\n')), { rows: 1, created: 1 });
    expect(await open(bench)).toEqual([]);
    expectCounts(await bench.import('ann.csv', only('Bea').join('\r\n')), { rows: 1, updated: 1 });
    expect(await roleOf(bench)).toBe('A');
  });

  it('is rejected all the same where a person has made another mistake in it', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'a.csv', ...twoRows);
    await bench.import('one.csv', text.replace('bad', '').replace('BAD', ''));
    const run = await bench.import('two.csv', text.replace('bad', 'ring me').replace('BAD', ''));
    expectCounts(run, { rows: 2, unchanged: 1, dead: 1 });
    expectCounts(await bench.import('three.csv', (await bench.fixFile(run)).text), { rows: 1, dead: 1 });
    expect(await open(bench)).toEqual(['c-1']);
  });
});
