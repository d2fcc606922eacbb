/** What a run touched is entered for audits before the run is final (`rules.md`, "One contact per key", step 7). */
import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '#src/ledger/audits.ts';
import { finishRun, tidyFinished } from '#src/runs/finish-run.ts';
import { csv, openRunsBench, type RunsBench } from './support/runs-bench.ts';

async function audited(bench: RunsBench, runId: string): Promise<readonly AuditRecord[]> {
  return bench.ledger.audits.ofRun(runId);
}

async function keysOf(bench: RunsBench, audit: AuditRecord | undefined): Promise<readonly string[]> {
  return (await bench.ledger.audits.keysAfter(audit?.id ?? '', 0, 100)).map((one) => one.key);
}

describe('the end of a run', () => {
  it('enters an audit of the keys it touched, due when what was sent last has landed and is seen', async () => {
    const bench = await openRunsBench({ auditAfterMs: 40_000 });
    const run = await bench.import('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A']));
    const [first, ...others] = await audited(bench, run.id);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ kind: 'first', state: 'waiting', keyCount: 2 });
    const waitMs = (first?.dueAtMs ?? 0) - (run.finishedAtMs ?? 0);
    expect(waitMs).toBeGreaterThanOrEqual(39_990);
    expect(waitMs).toBeLessThan(50_000);
    expect(await keysOf(bench, first)).toEqual(['c-1', 'c-2']);
  });

  it('has nothing to audit where every row is unchanged, and of a changed file only what changed', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A']));
    const same = await bench.import('b.csv', csv(['c-2,Bob,A', 'c-1,Ann,A']));
    expect(await audited(bench, same.id)).toMatchObject([{ kind: 'first', state: 'done', keyCount: 0 }]);
    const changed = await bench.import('c.csv', csv(['c-1,Ann,A', 'c-2,Bob,B']));
    expect(await keysOf(bench, (await audited(bench, changed.id))[0])).toEqual(['c-2']);
  });

  it('enters a second one, ten minutes later, of the keys that were in doubt', async () => {
    const bench = await openRunsBench();
    await bench.world.faults('create:dropAfter');
    const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A'])));
    await bench.world.workOnce(run);
    await bench.world.faults();
    const done = await bench.finish(await bench.apply(run));
    expect(done.counts).toMatchObject({ created: 1, dead: 0 });
    const [first, second] = await audited(bench, run.id);
    expect(second).toMatchObject({ kind: 'second', keyCount: 1 });
    expect((second?.dueAtMs ?? 0) - (first?.dueAtMs ?? 0)).toBe(600_000);
    expect(await keysOf(bench, second)).toEqual(['c-1']);
  });

  it('enters them once, also where a crash lies between that and the end', async () => {
    const bench = await openRunsBench();
    const run = await bench.apply(await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A']))));
    const { runs } = bench.ledger;
    const crash = async (): Promise<never> => {
      throw new Error('the process ends here');
    };
    const broken = { ...bench.parts, ledger: { ...bench.ledger, runs: { ...runs, move: crash } } };
    await expect(finishRun(broken, run.id)).rejects.toThrow('the process ends here');
    const before = await audited(bench, run.id);
    expect(before).toHaveLength(1);
    expect(await bench.ledger.audits.nextDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);

    expect((await bench.finish(run)).state).toBe('done');
    await tidyFinished(bench.parts);
    expect(await audited(bench, run.id)).toEqual(before);
    expect(await keysOf(bench, before[0])).toEqual(['c-1']);
  });

  it('of a cancelled run audits what was written', async () => {
    const bench = await openRunsBench({ rowsPerBatch: 1 });
    const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A'])));
    await bench.world.workOnce(run);
    const other = await bench.stage(await bench.submit('b.csv', csv(['c-3,Cat,A'])));
    for (const { id } of [run, other]) await bench.ledger.runs.move(id, ['applying'], 'cancelling', { atMs: 1 });
    const written = await bench.finish(run);
    expect(written.state).toBe('cancelled');
    expect(await keysOf(bench, (await audited(bench, run.id))[0])).toEqual(['c-1', 'c-2']);
    await bench.finish(other);
    expect(await audited(bench, other.id)).toMatchObject([{ state: 'done', keyCount: 0 }]);
  });

  it('of a file that cannot be read there is nothing to audit', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', 'nothing,that,is,a,key\n1,2,3,4,5\n');
    expect(run.state).toBe('failed');
    expect(await audited(bench, run.id)).toMatchObject([{ state: 'done', keyCount: 0 }]);
  });
});
