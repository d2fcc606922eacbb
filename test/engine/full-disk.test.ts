/**
 * The ledger cannot be written while an answer comes in: the process lives, the write is a doubt that is looked up later,
 * nothing is written twice, and work goes on when there is room (`rules.md`, "Retries, rate, outages").
 */
import { channel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createHealth } from '#src/engine/health.ts';
import { PatchbayError } from '#src/errors.ts';
import { silentLogger } from '#src/log.ts';
import { type StepMessage, type StepName, stepChannelName } from '#src/steps.ts';
import { csv, expectCounts, fillers } from '#test/runs/support/runs-bench.ts';
import { mountSmallDisk, type SmallDisk } from '#test/support/small-disk.ts';
import { type OutageBench, openOutageBench } from './support/outage-bench.ts';

const probe = mountSmallDisk(1);
probe?.close();
const reason = probe === null ? ' (skipped: no disk can be mounted here)' : '';
const rows = 20;

/** Calls it right before the first such step. */
function before(step: StepName, act: () => void): void {
  const steps = channel(stepChannelName);
  let done = false;
  const listen = (message: unknown): void => {
    const { step: name, moment } = message as StepMessage;
    if (done || name !== step || moment !== 'before') return;
    done = true;
    act();
  };
  steps.subscribe(listen);
  onTestFinished(() => void steps.unsubscribe(listen));
}

/** One round of work; @returns the code of what ended it early, if anything did. */
async function workOnce(bench: OutageBench): Promise<string | null> {
  try {
    await bench.work();
    return null;
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    expect(error.kind, error.message).toBe('transient');
    return error.code;
  }
}

/** Sweeps until all rows have an outcome. */
async function workOff(bench: OutageBench, runId: string): Promise<void> {
  for (let round = 0; (await bench.ledger.staging.pendingCount(runId)) > 0; round += 1) {
    if (round > 60) throw new Error('the run does not come to its end');
    await bench.sweep();
  }
}

describe.skipIf(probe === null)(`a disk that is full${reason}`, () => {
  const openOnDisk = async (): Promise<{ disk: SmallDisk; bench: OutageBench }> => {
    const disk = mountSmallDisk(8);
    if (disk === null) throw new Error('a disk could be mounted a moment ago');
    onTestFinished(disk.close);
    vi.stubEnv('TMPDIR', disk.folder);
    const bench = await openOutageBench();
    vi.unstubAllEnvs();
    return { disk, bench };
  };

  it.each(['settle', 'intend', 'release'] as const)(
    'at the step %s loses no row and writes none twice',
    async (step) => {
      const { disk, bench } = await openOnDisk();
      await bench.import('before.csv', csv(fillers(rows / 2)));
      const changed = fillers(rows).map((line) => line.replace('Engineer', 'Pilot'));
      const run = await bench.stage(await bench.submit('after.csv', csv(changed)));
      before(step, disk.fill);
      const codes = new Set([await workOnce(bench), await workOnce(bench), await workOnce(bench)]);
      expect(codes).toContain('diskFull');
      const { creates } = requests(bench);
      expect(creates, 'the bench knows what reached the service').toBeLessThanOrEqual(rows);

      disk.makeRoom();
      await workOff(bench, run.id);
      const finished = await bench.finish(await bench.again(run));
      expectCounts(finished, { rows, created: rows / 2, updated: rows / 2 });
      expect(requests(bench).creates, 'no POST is repeated').toBe(rows);
      await bench.world.expectSound();
      expect(await bench.letters()).toEqual([]);
    },
  );

  it('is seen by whoever asks for the room', async () => {
    const { disk, bench } = await openOnDisk();
    const { clock } = bench.world;
    const log = silentLogger();
    const health = createHealth({ clock, log, queueDescription: 'x', folder: disk.folder });
    await health.look();
    expect(health.troubles()).toEqual([]);
    disk.fill();
    await health.look();
    expect(health.troubles()).toMatchObject([{ part: 'disk', code: 'diskFull' }]);
    disk.makeRoom();
    await health.look();
    expect(health.troubles()).toEqual([]);
  });
});

function requests({ world }: OutageBench): { readonly creates: number } {
  return { creates: world.service.counts().create ?? 0 };
}
