/** Failures of jobs are noted in the ledger, and taken back once the job has ended well. */
import { describe, expect, it } from 'vitest';
import { forgetJobFailures, jobFailureNotes } from '#src/engine/job-failure-notes.ts';
import { failuresGoingOn } from '#src/ledger/follow.ts';
import { silentLogger } from '#src/log.ts';
import { readJobFailures } from '#src/operations/job-failures.ts';
import { csv, openRunsBench } from '#test/runs/support/runs-bench.ts';

const closed = {
  code: 'folderUnusable',
  message: 'no file can be stored in /data/reports: permission denied (EACCES)',
};
const defect = { code: 'unexpected', message: 'datatype mismatch' };

async function noted() {
  const bench = await openRunsBench();
  const { ledger, clock } = bench.parts;
  const home = { ledger, clock, log: silentLogger() };
  const notes = jobFailureNotes(home);
  /** Notes are written beside the work. */
  const ended = async (...end: Parameters<typeof notes>): Promise<void> => {
    notes(...end);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { bench, home, ended };
}

describe('a job that ends early again and again', () => {
  it('is said with its folder at once, with its defect at the third time, and no longer once it has ended well', async () => {
    const { bench, home, ended } = await noted();
    const run = await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A'])));
    const end = { job: 'finish-run', runId: run.id, id: 'job-1' };
    await ended({ ...end, failure: closed });
    expect(await readJobFailures(home)).toEqual([
      `No file can be stored in /data/reports: permission denied (EACCES); the run ${run.id} waits. Nothing is lost: work goes on once that is repaired.`,
    ]);
    await ended({ ...end, failure: defect });
    await ended({ ...end, failure: defect });
    expect(await readJobFailures(home)).toEqual([]);
    await ended({ ...end, failure: defect });
    expect(await readJobFailures(home)).toEqual([
      expect.stringMatching(/^The job finish-run of the run \S+ has ended with an error inside Patchbay 3 times since/),
    ]);
    await ended({ ...end, id: 'job-2', failure: null });
    expect(await home.ledger.jobFailures(), 'another job has ended well').toHaveLength(1);
    await ended({ ...end, failure: null });
    expect(await home.ledger.jobFailures()).toEqual([]);
  });

  it('is not said any more of a run that has ended all the same, and a new engine forgets what an old one noted', async () => {
    const { bench, home, ended } = await noted();
    const applied = await bench.apply(await bench.stage(await bench.submit('a.csv', csv(['c-1,Ann,A']))));
    await ended({ job: 'finish-run', runId: applied.id, id: 'job-1', failure: closed });
    await ended({ job: 'audit', runId: null, id: 'job-2', failure: closed });
    expect(await readJobFailures(home)).toEqual([expect.stringContaining(`; the run ${applied.id} waits. `)]);
    await bench.finish(applied);
    expect(await failuresGoingOn(home)).toMatchObject([{ job: 'audit' }]);
    expect(await readJobFailures(home)).toEqual([expect.stringContaining('; audit waits. ')]);
    await forgetJobFailures(home);
    expect(await home.ledger.jobFailures()).toEqual([]);
  });
});
