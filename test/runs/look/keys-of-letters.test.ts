/** Rows that were rejected under another form of a known key, and are corrected or tried again (`docs/rules.md`, "One person under two keys"). */
import { describe, expect, test } from 'vitest';
import { redrive, redriveEdited } from '#src/dead-letters/redrive.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { approveRun, cancelRun } from '#src/operations/run-acts.ts';
import { act } from '#test/contracts/support/build.ts';
import { expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { phone } from '#test/upsert/support/build.ts';

const staff = mapping({
  key: 'Nr',
  keyPrefix: 'w-',
  fields: { firstName: 'Name', lastName: 'Last' },
  phones: [{ column: 'Phone' }],
});
const given = { feed: 'crm', mapping: staff };
const file = (...rows: readonly string[]) => ['Nr,Name,Last,Phone', ...rows].map((row) => `${row}\r\n`).join('');
const keys = async ({ world }: RunsBench) => (await world.contacts()).map(({ externalId }) => externalId).toSorted();
const goOn = async (bench: RunsBench, run: RunRecord) => bench.finish(await bench.apply(await bench.again(run)));

/** What a spreadsheet leaves of a file: keys without their zeros, and phones that cannot be read. */
async function rejected(bench: RunsBench): Promise<RunRecord> {
  await bench.import('whole.csv', file(`0101,Ann,Fir,${phone(1)}`, `0102,Bea,Elm,${phone(2)}`), given);
  const run = await bench.import('saved.csv', file('101,Ann,Fir,"4,9E+11"', '102,Bea,Elm,"4,9E+11"'), given);
  expectCounts(run, { rows: 2, dead: 2 });
  return run;
}

async function corrected(bench: RunsBench): Promise<RunRecord> {
  const { text } = await bench.fixFile(await rejected(bench));
  const right = text.replace('"4,9E+11"', phone(1)).replace('"4,9E+11"', phone(2));
  return bench.import('fixed.csv', right, { mapping: staff });
}

async function retried(bench: RunsBench): Promise<RunRecord> {
  await rejected(bench);
  const lenient = mapping({ ...staff, onInvalid: 'drop' });
  const [run] = await redrive({ ...bench.parts, feeds: await lenientFeeds(bench, lenient) }, { remap: true });
  if (run === undefined) throw new Error('nothing was entered');
  return bench.carryOut(run);
}

async function lenientFeeds({ parts }: RunsBench, lenient: typeof staff) {
  return { ...parts.feeds, get: async (name: string) => ({ ...(await parts.feeds.get(name)), mapping: lenient }) };
}

describe.each([
  ['a fix-file', corrected],
  ['a retry', retried],
])('%s with keys that have lost their zeros', (_, load) => {
  test('stops before it makes the same people twice, and says which they are', async () => {
    const bench = await openRunsBench();
    const run = await load(bench);
    expect([run.state, run.reason?.code]).toEqual(['stopped', 'guardKeyForms']);
    expect(run.reason?.message).toContain('2 of the 2 new keys are known with more or fewer zeros in front');
    expect(run.reason?.hint?.split('\n')).toEqual([
      'A spreadsheet takes the zeros in front of numbers away: take the export as it was before it was opened there.',
      `To leave these rows out: patchbay runs cancel --sandbox ${run.id}`,
      'Their dead letters are open again then: dead edit gives one another key, and dead drop closes it. To list them: patchbay dead ls --sandbox --feed crm',
      `To create these people a second time: patchbay runs approve --sandbox ${run.id}`,
      `To see each pair: patchbay runs show --sandbox ${run.id}`,
    ]);
    expect((await bench.events(run)).filter(({ kind }) => kind === 'match')).toMatchObject([
      { code: 'matchKey', key: 'w-101', contact: 'w-0101' },
      { code: 'matchKey', key: 'w-102', contact: 'w-0102' },
    ]);
    expect(await keys(bench)).toEqual(['w-0101', 'w-0102']);
  });

  test('makes them where a person approves that', async () => {
    const bench = await openRunsBench();
    const run = await load(bench);
    await approveRun(bench.parts, run, null, null);
    expectCounts(await goOn(bench, run), { rows: 2, created: 2 });
    expect(await keys(bench)).toEqual(['w-0101', 'w-0102', 'w-101', 'w-102']);
  });

  test('leaves its letters open where it is cancelled; one with the key that is known goes in', async () => {
    const bench = await openRunsBench();
    const run = await load(bench);
    await cancelRun(bench.parts, run);
    expect((await bench.finish(run)).state).toBe('cancelled');
    const letters = await bench.letters();
    expect(letters.map(({ key, state }) => [key, state])).toEqual([
      ['w-101', 'open'],
      ['w-102', 'open'],
    ]);
    const [letter] = letters;
    const columns = ['Nr', 'Name', 'Last', 'Phone'];
    const row = { kind: 'cells', line: 2, record: 1, columns, cells: ['0101', 'Anna', 'Fir', phone(1)] } as const;
    if (letter === undefined) throw new Error('there is no letter');
    const feeds = await lenientFeeds(bench, staff);
    const edited = await redriveEdited({ ...bench.parts, feeds }, letter, row, act('deadEdit'));
    expectCounts(await bench.carryOut(edited ?? run), { rows: 1, updated: 1 });
    expect(await keys(bench)).toEqual(['w-0101', 'w-0102']);
  });
});

test('a fix-file that is imported with --accept makes them', async () => {
  const bench = await openRunsBench();
  const { text } = await bench.fixFile(await rejected(bench));
  const right = text.replace('"4,9E+11"', phone(1)).replace('"4,9E+11"', phone(2));
  expectCounts(await bench.import('fixed.csv', right, { mapping: staff, options: { accept: true } }), {
    ...{ rows: 2, created: 2 },
  });
});

describe('where one key of several has another form', () => {
  const cancelOf = (run: RunRecord) =>
    `To leave these rows out, cancel all 3 rows of the run: patchbay runs cancel --sandbox ${run.id}`;

  async function rejectedMixed(bench: RunsBench): Promise<RunRecord> {
    await bench.import('whole.csv', file(`0101,Ann,Fir,${phone(1)}`), given);
    const rows = ['101,Ann,Fir,"4,9E+11"', '7201,Cy,Oak,"4,9E+11"', '7202,Di,Ash,"4,9E+11"'];
    const run = await bench.import('saved.csv', file(...rows), given);
    expectCounts(run, { rows: 3, dead: 3 });
    return run;
  }

  async function cancelled(bench: RunsBench, run: RunRecord): Promise<readonly string[]> {
    expect([run.state, run.reason?.code]).toEqual(['stopped', 'guardKeyForms']);
    await cancelRun(bench.parts, run);
    expect((await bench.finish(run)).state).toBe('cancelled');
    return run.reason?.hint?.split('\n') ?? [];
  }

  test('a fix-file says that all rows are cancelled, and goes in without that row', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await rejectedMixed(bench));
    const right = text.replaceAll('"4,9E+11"', () => phone(1)).replace(`Oak,${phone(1)}`, `Oak,${phone(3)}`);
    const run = await bench.import('fixed.csv', right.replace(`Ash,${phone(1)}`, `Ash,${phone(4)}`), {
      mapping: staff,
    });
    expect((await cancelled(bench, run)).slice(1, 3)).toEqual([
      cancelOf(run),
      'Then take these rows out of the fix-file, which alone has what was corrected in the others, and import it again.',
    ]);
    const others = right.split('\r\n').filter((line) => !line.includes('Ann'));
    expectCounts(await bench.import('others.csv', others.join('\r\n'), { mapping: staff }), { rows: 2, created: 2 });
  });

  test('a retry says so too, and the other letters go in by their ids', async () => {
    const bench = await openRunsBench();
    await rejectedMixed(bench);
    const parts = { ...bench.parts, feeds: await lenientFeeds(bench, mapping({ ...staff, onInvalid: 'drop' })) };
    const carryOut = async (ids?: readonly string[]) => {
      const [run] = await redrive(parts, { remap: true, ...(ids === undefined ? {} : { ids }) });
      if (run === undefined) throw new Error('nothing was entered');
      return bench.carryOut(run);
    };
    const run = await carryOut();
    expect((await cancelled(bench, run)).slice(1, 3)).toEqual([
      cancelOf(run),
      'Then try the others again: dead retry takes their ids.',
    ]);
    const others = (await bench.letters()).flatMap(({ id, key }) => (key === 'w-101' ? [] : [id]));
    expectCounts(await carryOut(others), { rows: 2, created: 2 });
  });
});
