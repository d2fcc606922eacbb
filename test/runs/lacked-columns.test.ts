/** Mapped columns that a person has let a file of the feed lack (`docs/rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { approveRun } from '#src/operations/run-acts.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { phone } from '#test/upsert/support/build.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { generousGuards } from './support/tallies.ts';

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

/** A whole file of the feed that went in. */
async function laterFile({ ledger }: RunsBench, id: string): Promise<void> {
  await ledger.runs.create(newRun(id, { feed: 'crm' }));
  await ledger.runs.beginStaging(id, 1);
  await ledger.runs.move(id, ['staging'], 'done', { atMs: 1 });
}

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

  it('is needed by the fix-file of a file that has it, also where some of its rows come from one that lacks it', async () => {
    const bench = await openRunsBench();
    await letPass(bench, [`1,Ada,Sales,${phone(1)}`, '2,Bo,Sales,bad']);
    const later = await load(bench, whole, [`1,Ada,Chief,Sales,${phone(1)}`, '3,Cy,Clerk,Sales,bad']);
    const { text } = await bench.fixFile(later);
    expect(text).toContain('Nr,Name,Role,Team,Phone,_id');
    const [ofBo] = (await bench.letters()).filter(({ key }) => key === '2');
    const rowOfBo = `2,Bo,Sales,${phone(2)},${ofBo?.id}`;
    const rowOfCy = text.split('\r\n')[1]?.replace('Clerk,', '').replace('bad', phone(3));
    const cut = [`${withoutRole},_id,_line,_code,_hint`, `${rowOfBo},,,`, rowOfCy]
      .map((line) => `${line}\r\n`)
      .join('');
    const run = await bench.import('cut.csv', cut, { mapping: staff });
    expect(codeOf(run)).toEqual(['failed', 'columnMissing']);
    expect(run.reason?.message).toContain('the file lacks the column "Role"');
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['open', 'open']);
    expectCounts(await bench.import('bo.csv', `${withoutRole},_id\r\n${rowOfBo}\r\n`, { mapping: staff }), {
      ...{ rows: 1, created: 1 },
    });
  });

  it('is needed by rows of a fix-file that have no letter', async () => {
    const bench = await openRunsBench();
    await letPass(bench);
    const run = await bench.import('new.csv', `${withoutRole},_id,_line,_code\r\n9,Eve,Sales,${phone(9)},,,\r\n`, {
      ...{ feed: 'crm', mapping: staff },
    });
    expect([run.kind, ...codeOf(run)]).toEqual(['fixFile', 'failed', 'columnMissing']);
  });

  it('is not needed by such rows behind any number of later files and of retries', async () => {
    const bench = await openRunsBench();
    const run = await letPass(bench, [`1,Ada,Sales,${phone(1)}`, '2,Bo,Sales,bad', '3,Cy,Sales,bad']);
    for (let count = 0; count <= 100; count += 1) await laterFile(bench, `later-${count}`);
    const retried = async () => {
      const [retry] = await redrive(bench.parts, { remap: false });
      return bench.carryOut(retry ?? run);
    };
    expectCounts(await retried(), { rows: 2, dead: 2 });
    expectCounts(await retried(), { rows: 2, dead: 2 });
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('fixed.csv', text.replace('bad', phone(2)), { mapping: staff }), {
      ...{ rows: 2, created: 1, dead: 1 },
    });
    expectCounts(await retried(), { rows: 1, dead: 1 });
  });

  it('is not needed by rows of a later file that another guard stops', async () => {
    const bench = await openRunsBench({ guards: { ...generousGuards, deadMax: 0.05 } });
    await letPass(bench);
    const rows = Array.from({ length: 20 }, (_, index) => `${index + 2},Bo,Sales,bad`);
    const stopped = await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`, ...rows]);
    expect(codeOf(stopped)).toEqual(['stopped', 'guardDead']);
    const [retry] = await redrive(bench.parts, { remap: false });
    expectCounts(await bench.carryOut(retry ?? stopped), { rows: 20, dead: 20 });
  });

  it('is not needed by rows that an older version tried again, without a word of what they may lack', async () => {
    const bench = await openRunsBench();
    const run = await letPass(bench, [`1,Ada,Sales,${phone(1)}`, '2,Bo,Sales,bad']);
    const retried = async () => {
      const [retry] = await redrive(bench.parts, { remap: false });
      return bench.carryOut(retry ?? run);
    };
    const first = await retried();
    const { lacked, ...older } = first.shape ?? { format: 'csv', columns: [], delimiter: ',' };
    expect(lacked).toEqual(['Role']);
    await bench.ledger.runs.record(first.id, { shape: older });
    expectCounts(await retried(), { rows: 1, dead: 1 });
  });

  it('is needed by rows of a file that was not let pass', async () => {
    const bench = await openRunsBench();
    await load(bench, whole, [`1,Ada,Chief,Sales,${phone(1)}`]);
    const stopped = await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`, '2,Bo,Sales,bad']);
    const [retry] = await redrive(bench.parts, { remap: false });
    expect(codeOf(await bench.carryOut(retry ?? stopped))).toEqual(['failed', 'columnMissing']);
  });
});

describe('an empty file that a person has let pass', () => {
  const empty = (bench: RunsBench) => bench.import('staff.csv', '', { feed: 'crm', mapping: staff });
  const letEmptyPass = async (bench: RunsBench): Promise<void> => {
    const stopped = await empty(bench);
    expect(codeOf(stopped)).toEqual(['stopped', 'guardColumns']);
    await approveRun(bench.parts, stopped, null, null);
    expect((await bench.finish(await bench.apply(await bench.again(stopped)))).state).toBe('done');
  };

  it('lets no other file lack a column', async () => {
    const bench = await openRunsBench();
    await load(bench, whole, [`1,Ada,Chief,Sales,${phone(1)}`]);
    await letEmptyPass(bench);
    const less = await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`]);
    expect(codeOf(less)).toEqual(['stopped', 'guardColumns']);
    expect(less.reason?.message).toContain('the file lacks the mapped column "Role"');
    expectCounts(await load(bench, whole, [`1,Ada,Owner,Sales,${phone(1)}`]), { rows: 1, updated: 1 });
  });

  it('makes none needed again that a file was let lack', async () => {
    const bench = await openRunsBench();
    await letPass(bench);
    await letEmptyPass(bench);
    expectCounts(await load(bench, withoutRole, [`1,Ada,Support,${phone(1)}`]), { rows: 1, updated: 1 });
  });

  it('may be followed by another empty one', async () => {
    const bench = await openRunsBench();
    await load(bench, whole, [`1,Ada,Chief,Sales,${phone(1)}`]);
    await letEmptyPass(bench);
    expect((await empty(bench)).state).toBe('done');
    expect(codeOf(await load(bench, withoutRole, [`1,Ada,Sales,${phone(1)}`]))).toEqual(['stopped', 'guardColumns']);
  });
});

describe('numbered columns beyond those that a file has', () => {
  const numbered = (more: object = {}) =>
    mapping({ key: 'Nr', fields: { firstName: 'Name' }, phones: [{ column: 'Phone {n}' }], ...more });
  const three = 'Nr,Name,Phone 1,Phone 2,Phone 3';
  const two = 'Nr,Name,Phone 1,Phone 2';
  const numbersOf = async ({ world }: RunsBench) =>
    (await world.contactOf('1')).defaultFields.phoneNumbers.map(({ value }) => value);

  it('are no lacked columns, and are as blank in all rows: the numbers stay', async () => {
    const bench = await openRunsBench();
    await load(bench, three, [`1,Ada,${phone(1)},${phone(2)},${phone(3)}`, `2,Bo,${phone(4)},,`], { by: numbered() });
    expectCounts(
      await load(bench, two, [`1,Ada,${phone(1)},${phone(2)}`, `2,Boris,${phone(4)},`], { by: numbered() }),
      { rows: 2, updated: 1, unchanged: 1 },
    );
    expect(await numbersOf(bench)).toEqual([phone(1), phone(2), phone(3)]);
  });

  it('take their numbers away where blank cells do, also in the file after the next', async () => {
    const bench = await openRunsBench();
    const by = numbered({ onBlank: 'clear' });
    await load(bench, three, [`1,Ada,${phone(1)},${phone(2)},${phone(3)}`], { by });
    const less = [`1,Ada,${phone(1)},${phone(2)}`];
    expectCounts(await load(bench, two, less, { by }), { rows: 1, updated: 1 });
    expect(await numbersOf(bench)).toEqual([phone(1), phone(2)]);
    expectCounts(await load(bench, two, [...less, `2,Bo,${phone(4)},`], { by }), { rows: 2, unchanged: 1, created: 1 });
    expectCounts(await load(bench, 'Nr,Name,Phone 1', [`1,Ada,${phone(1)}`, `2,Bo,${phone(4)}`], { by }), {
      ...{ rows: 2, updated: 1, unchanged: 1 },
    });
    expect(await numbersOf(bench)).toEqual([phone(1)]);
  });

  it('stop the file where half of the rows or more had a value there, and fail it without any of lower numbers', async () => {
    const bench = await openRunsBench();
    const rows = (cells: (n: number) => string) => Array.from({ length: 12 }, (_, n) => `${n},P,${cells(n)}`);
    await load(
      bench,
      two,
      rows((n) => `${phone(n)},${n < 6 ? phone(50 + n) : ''}`),
      { by: numbered() },
    );
    const less = await load(
      bench,
      'Nr,Name,Phone 1',
      rows((n) => phone(n)),
      { by: numbered() },
    );
    expect(codeOf(less)).toEqual(['stopped', 'guardBlanks']);
    expect(less.reason?.message).toContain('the mapped column "Phone 2"');
    expect(
      codeOf(
        await load(
          bench,
          'Nr,Name',
          rows(() => 'x'),
          { by: numbered() },
        ),
      ),
    ).toEqual(['failed', 'columnMissing']);
  });

  it('are needed where the mapping names them', async () => {
    const bench = await openRunsBench();
    const by = numbered({ phones: [{ column: 'Phone {n}' }, { column: 'Phone 2', label: 'work' }] });
    await load(bench, two, [`1,Ada,${phone(1)},${phone(2)}`], { by });
    expect(codeOf(await load(bench, 'Nr,Name,Phone 1', [`1,Ada,${phone(1)}`], { by }))).toEqual([
      'stopped',
      'guardColumns',
    ]);
  });
});
