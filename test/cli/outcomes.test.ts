/** However a command ends that follows runs, each file has its line (`docs/contract.md`, "import --json"). */
import { describe, expect, it } from 'vitest';
import type { Home } from '#src/app.ts';
import { type OutcomesOptions, startOutcomes } from '#src/cli/outcomes.ts';
import { createOutput } from '#src/cli/output.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { passing } from '#src/ledger/trouble.ts';
import { errorDocument } from '#src/operations/error-document.ts';
import { csv, fillers, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { defaultGuards } from '#test/runs/support/tallies.ts';
import { captureOutput } from './support/captured-output.ts';

function homeOf({ parts }: RunsBench): Home {
  const home: Pick<Home, 'ledger' | 'runFolders' | 'serviceName' | 'clock'> = {
    ledger: parts.ledger,
    runFolders: parts.folders,
    serviceName: parts.serviceName,
    clock: parts.clock,
  };
  return home as Home;
}

const header = 'externalId,firstName,role,phone';
const signal = { exitCode: 130, error: null };
const away = passing('ledgerAway', 'the database does not answer', null);
const missing = { error: { code: 'fileMissing', message: 'there is no missing.csv', hint: null }, exitCode: 3 };

interface Case {
  readonly bench: RunsBench;
  readonly home: Home;
  /** One that ended with a rejected row, one that a guard stopped, one under way; all as they were entered. */
  readonly seen: readonly RunRecord[];
}

async function threeRuns(): Promise<Case> {
  const bench = await openRunsBench({ guards: defaultGuards });
  const a = await bench.submit('a.csv', csv(['c-1,Ann,A,', 'c-2,Ann,A,call me'], header));
  const rows = Array.from({ length: 20 }, (_, index) => `g-${index},Ann,A,call me`);
  const stopped = await bench.submit('stopped.csv', csv(rows, header));
  const b = await bench.submit('b.csv', csv(fillers(3)));
  await bench.carryOut(a);
  await bench.carryOut(stopped);
  await bench.stage(b);
  return { bench, home: homeOf(bench), seen: [a, stopped, b] };
}

function started(home: Home, seen: readonly RunRecord[], options: Partial<OutcomesOptions> & { json: boolean }) {
  const output = createOutput({ json: options.json, color: false });
  const outcomes = startOutcomes(home, { refused: [missing], ...options, output });
  for (const run of seen) outcomes.see(run);
  return outcomes;
}

// biome-ignore lint/suspicious/noExplicitAny: literal JSON, whose shape is what the tests are about
function documentsOf(text: string): any[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const asTheyAre = [
  { file: 'a.csv', state: 'doneWithDead', dead: 1, exitCode: 3, problems: [{ line: 3, code: 'phoneLetters' }] },
  { file: 'stopped.csv', state: 'stopped', dead: 20, exitCode: 5, error: { code: 'guardDead' } },
];

describe('a command that is cut off', () => {
  it('by a signal prints those at rest as they are, those under way as interrupted, and those that were refused', async () => {
    const { home, seen } = await threeRuns();
    const captured = captureOutput();
    expect(await started(home, seen, { json: true }).cutOff(signal), 'how many it cut off').toBe(1);
    const documents = documentsOf(captured.stdout());
    const interrupted = { file: 'b.csv', state: 'stopped', exitCode: 130, pending: 3, error: { code: 'interrupted' } };
    expect(documents).toMatchObject([...asTheyAre, interrupted, missing]);
    expect(documents[0].error).toBeUndefined();
    expect(documents[1].problems).toHaveLength(20);
    expect(documents[2].problems).toMatchObject([{ line: 0, code: 'interrupted' }]);
  });

  it('says as text what became of each, and how a stopped one goes on', async () => {
    const { home, seen } = await threeRuns();
    const captured = captureOutput();
    await started(home, seen, { json: false }).cutOff(signal);
    const stdout = captured.stdout();
    expect(stdout).toContain('2 rows: 1 created, 1 rejected\n');
    expect(stdout).toContain(`patchbay runs approve --sandbox ${seen[1]?.id}`);
    expect(captured.stderr()).toBe(
      'b.csv: interrupted with 3 rows to go; run the same command again to continue\npatchbay: there is no missing.csv [fileMissing]\n',
    );
  });

  it('by an error says in each that was under way which it was, with its code', async () => {
    const { home, seen } = await threeRuns();
    const captured = captureOutput();
    const outcomes = started(home, seen, { json: true });
    await outcomes.cutOff(errorDocument(away));
    const cut = { file: 'b.csv', state: 'stopped', exitCode: 6, pending: 3, problems: [] };
    const error = { code: 'ledgerAway', message: away.message, hint: expect.stringContaining('DATABASE_URL') };
    expect(documentsOf(captured.stdout())).toMatchObject([...asTheyAre, { ...cut, error }, missing]);
    expect(outcomes.exitCode()).toBe(6);
  });

  it('prints what was seen last while the ledger is away, and asks it once', async () => {
    const { bench, home } = await threeRuns();
    const seen = await bench.ledger.runs.list({ limit: 3, oldestFirst: true });
    let asked = 0;
    const get = async (): Promise<never> => {
      asked += 1;
      throw away;
    };
    const cutHome = { ...home, ledger: { ...home.ledger, runs: { ...home.ledger.runs, get } } };
    const captured = captureOutput();
    await started(cutHome, seen, { json: true }).cutOff(errorDocument(away));
    expect(documentsOf(captured.stdout())).toMatchObject([
      { file: 'a.csv', state: 'doneWithDead', dead: 1, exitCode: 3 },
      { file: 'stopped.csv', state: 'stopped', exitCode: 5, error: { code: 'guardDead' } },
      { file: 'b.csv', state: 'stopped', exitCode: 6, error: { code: 'ledgerAway' } },
      missing,
    ]);
    expect(asked).toBe(1);
  });

  it('and leaves at once prints what was seen last, without waiting', async () => {
    const { bench, home } = await threeRuns();
    const seen = await bench.ledger.runs.list({ limit: 3, oldestFirst: true });
    const captured = captureOutput();
    started(home, seen, { json: true }).leave(signal);
    expect(documentsOf(captured.stdout())).toMatchObject([
      { file: 'a.csv', state: 'doneWithDead', exitCode: 3 },
      { file: 'stopped.csv', state: 'stopped', exitCode: 5, error: { code: 'guardDead' } },
      { file: 'b.csv', state: 'stopped', exitCode: 130, error: { code: 'interrupted' } },
      missing,
    ]);
  });

  it('prints no run a second time', async () => {
    const { bench, home, seen } = await threeRuns();
    const captured = captureOutput();
    const outcomes = started(home, seen, { json: true });
    const [a] = await bench.ledger.runs.list({ limit: 3, oldestFirst: true });
    if (a === undefined) return expect.unreachable();
    await outcomes.end({ kind: 'rest', run: a }, null, (read) => read());
    outcomes.see(a);
    expect(documentsOf(captured.stdout()), 'as soon as it rests').toMatchObject([asTheyAre[0]]);
    await outcomes.cutOff(signal);
    outcomes.leave(signal);
    outcomes.refused();
    expect(documentsOf(captured.stdout()).map(({ file = 'refused' }) => file)).toEqual([
      ...['a.csv', 'stopped.csv', 'b.csv', 'refused'],
    ]);
  });

  it('before the audit that belongs to the outcome says that, with the code of the signal unless a worse one is due', async () => {
    const bench = await openRunsBench();
    const home = homeOf(bench);
    const well = await bench.import('well.csv', csv(['c-1,Ann,A'], 'externalId,firstName,role'));
    const badly = await bench.import('badly.csv', csv(['c-2,Ann,A,call me'], header));
    const captured = captureOutput();
    const mixed = await bench.import('mixed.csv', csv(['c-1,Ann,B,', 'c-2,Ann,A,call me'], header));
    await started(home, [well, mixed, badly], { json: true, audit: true, refused: [] }).cutOff(signal);
    const hint = expect.stringContaining(`patchbay audit ${well.id}`);
    expect(documentsOf(captured.stdout())).toMatchObject([
      { state: 'done', exitCode: 130, problems: [], audit: null, error: { code: 'interrupted', hint } },
      { state: 'doneWithDead', exitCode: 3, problems: [{ code: 'phoneLetters' }], audit: null },
      { state: 'doneWithDead', exitCode: 3, problems: [{ code: 'phoneLetters' }], audit: { checked: 0 } },
    ]);
    const text = captureOutput();
    await started(home, [well], { json: false, audit: true, refused: [] }).cutOff(signal);
    expect(text.stdout()).toContain(`  The next engine continues the audit, and so does: patchbay audit ${well.id}`);
  });
});
