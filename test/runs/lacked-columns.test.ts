/** Mapped columns that a person has let a file of the feed lack (`docs/rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { approveRun } from '#src/operations/run-acts.ts';
import { phone } from '#test/upsert/support/build.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const staff = mapping({
  key: 'Nr',
  fields: { firstName: 'Name', role: 'Role', company: 'Team' },
  phones: [{ column: 'Phone' }],
});
const whole = 'Nr,Name,Role,Team,Phone';
const withoutRole = 'Nr,Name,Team,Phone';
const load = (
  bench: RunsBench,
  header: string,
  rows: readonly string[],
  more: { accept?: true; by?: typeof staff } = {},
) =>
  bench.import('staff.csv', csv(rows, header), {
    feed: 'crm',
    mapping: more.by ?? staff,
    options: more.accept === undefined ? {} : { accept: true },
  });
const codeOf = ({ state, reason }: RunRecord) => [state, reason?.code ?? null];

/** A feed whose file lacks the role, which a person has let pass. */
async function letPass(bench: RunsBench, rows: readonly string[] = [`1,Ada,Sales,${phone(1)}`]): Promise<RunRecord> {
  await load(bench, whole, [`1,Ada,Chief,Sales,${phone(1)}`]);
  const stopped = await load(bench, withoutRole, rows);
  expect(codeOf(stopped)).toEqual(['stopped', 'guardColumns']);
  await approveRun(bench.parts, stopped, null, null);
  return bench.finish(await bench.apply(await bench.again(stopped)));
}

describe('a column that a person has let a file lack', () => {
  it('is not needed by the files that follow: the same one is unchanged, others go in, and its field stays', async () => {
    const bench = await openRunsBench();
    expect((await letPass(bench)).state).toBe('done');
    expectCounts(await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`]), { rows: 1, unchanged: 1 });
    expectCounts(await load(bench, withoutRole, [`1,Ada,Support,${phone(1)}`]), { rows: 1, updated: 1 });
    expectCounts(await load(bench, withoutRole, [`1,Ada,Support,${phone(1)}`, `2,Bo,Sales,${phone(2)}`]), {
      ...{ rows: 2, unchanged: 1, created: 1 },
    });
    expect((await bench.world.contactOf('1')).defaultFields).toMatchObject({ role: 'Chief', company: 'Support' });
  });

  it('is watched again once a file has had it', async () => {
    const bench = await openRunsBench();
    await letPass(bench);
    expectCounts(await load(bench, whole, [`1,Ada,Owner,Sales,${phone(1)}`]), { rows: 1, updated: 1 });
    expect(codeOf(await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`]))).toEqual(['stopped', 'guardColumns']);
  });

  it('says nothing of the others: another that is gone stops the file, and one that no file had fails it', async () => {
    const bench = await openRunsBench();
    await letPass(bench);
    const less = await load(bench, 'Nr,Name,Phone', [`1,Ada,${phone(1)}`]);
    expect(codeOf(less)).toEqual(['stopped', 'guardColumns']);
    expect(less.reason?.message).toContain('the file lacks the mapped column "Team"');
    const more = mapping({ ...staff, fields: { ...staff.fields, lastName: 'Firm' } });
    const failed = await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`], { by: more });
    expect(codeOf(failed)).toEqual(['failed', 'columnMissing']);
    expect(failed.reason?.message).toContain('the file lacks the column "Firm"');
  });

  it('is needed where another mapping names it', async () => {
    const bench = await openRunsBench();
    await letPass(bench);
    const other = mapping({ ...staff, name: 'other' });
    expect(codeOf(await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`], { by: other }))).toEqual([
      'failed',
      'columnMissing',
    ]);
  });

  it('is needed where the file that lacks it was not let pass', async () => {
    const bench = await openRunsBench();
    await load(bench, whole, [`1,Ada,Chief,Sales,${phone(1)}`]);
    await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`]);
    expect(codeOf(await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`]))).toEqual(['stopped', 'guardColumns']);
  });

  it('is not needed by rows of such a file that are corrected, or tried again with the mapping', async () => {
    const bench = await openRunsBench();
    const run = await letPass(bench, [`1,Ada,Sales,${phone(1)}`, '2,Bo,Sales,bad', '3,Cy,Sales,bad']);
    expectCounts(run, { rows: 3, unchanged: 1, dead: 2 });
    await load(bench, whole, [`1,Ada,Owner,Sales,${phone(1)}`]);
    const { text } = await bench.fixFile(run);
    const lines = text.split('\r\n').filter((line) => !line.includes(',Cy,'));
    const fixed = lines.join('\r\n').replace('bad', phone(2));
    expectCounts(await bench.import('fixed.csv', fixed, { mapping: staff }), { rows: 1, created: 1 });
    const [retry] = await redrive(bench.parts, { remap: false });
    expectCounts(await bench.carryOut(retry ?? run), { rows: 1, dead: 1 });
  });
});
