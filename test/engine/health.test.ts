/** What a process knows of its surroundings: told once when it begins and once when it ends. */
import { channel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createHealth, type Health, queueTrouble } from '#src/engine/health.ts';
import { PatchbayError } from '#src/errors.ts';
import { ledgerDamaged } from '#src/ledger/sqlite/damage.ts';
import { createLogger, silentLogger } from '#src/log.ts';
import { type StepMessage, type StepName, stepChannelName } from '#src/steps.ts';
import { csv, expectCounts, fillers } from '../runs/support/runs-bench.ts';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { type MovedClock, movedClock } from '../upsert/support/moved-clock.ts';
import { type OutageBench, openOutageBench } from './support/outage-bench.ts';

const oom = "OOM command not allowed when used memory > 'maxmemory'.";
const full = new PatchbayError('transient', 'diskFull', 'the disk has no room for the ledger');
const busy = new PatchbayError('transient', 'ledgerBusy', 'another process holds the ledger');

interface Bench {
  readonly health: Health;
  readonly clock: MovedClock;
  /** `level code message` of every line. */
  readonly lines: readonly string[];
  leaveRoom(bytes: number): void;
  codes(): readonly string[];
}

function bench(): Bench {
  const clock = movedClock();
  const lines: string[] = [];
  const write = (line: string): void => {
    const { level, code, msg } = JSON.parse(line);
    lines.push(`${level} ${code} ${msg}`);
  };
  let free = 1e9;
  const health = createHealth({
    clock,
    log: createLogger({ level: 'info', stream: { write } }),
    queueDescription: 'Redis at 127.0.0.1:6379',
    folder: '/data',
    freeBytes: async () => free,
  });
  const leaveRoom = (bytes: number): void => {
    free = bytes;
  };
  return { health, clock, lines, leaveRoom, codes: () => health.troubles().map((trouble) => trouble.code) };
}

describe('a damaged ledger', () => {
  it('is told once as an error with what to do, and stands for good', async () => {
    const { health, clock, lines, codes } = bench();
    health.ledgerEnded(busy);
    for (const _turn of [1, 2]) health.ledgerEnded(ledgerDamaged('/data/ledger.sqlite', 'malformed'));
    health.ledgerEnded(null);
    clock.advance(600_000);
    await health.look();
    expect(codes()).toEqual(['ledgerDamaged']);
    expect(health.troubles()[0]?.message).toBe('The ledger /data/ledger.sqlite is damaged: malformed.');
    expect(lines).toEqual(['warn ledgerBusy a problem began', 'error ledgerDamaged all work stops']);
  });
});

describe('the queue', () => {
  it.each([
    ['connect ECONNREFUSED 127.0.0.1:6379', 'queueAway'],
    ["Stream isn't writeable and enableOfflineQueue options is false", 'queueAway'],
    [oom, 'queueFull'],
    ['Command timed out', 'queueSlow'],
    ['MISCONF Redis is configured to save RDB snapshots', 'queueRefuses'],
    ['LOADING Redis is loading the dataset in memory', 'queueRefuses'],
  ])('is in trouble: %s', (message, code) => {
    const { health, codes } = bench();
    health.queueEnded(new Error(message), 0);
    expect(codes()).toEqual([code]);
    expect(health.troubles()[0]?.message).toContain('Redis at 127.0.0.1:6379');
  });

  it.each([
    "READONLY You can't write against a read only replica. script: 5ab4e2d1c0ffee5ab4e2d1c0ffee5ab4e2d1c0ff, on @user_script:589.",
    "READONLY You can't write against a read only replica.",
    "ERR Error running script (call to f_5ab4e2d1c0ffee): @user_script:589: @user_script: 589: -READONLY You can't write against a read only replica. ",
  ])('is told of in the words of Redis, without those about the script that met it: %s', (message) => {
    expect(queueTrouble('Redis at h:6379', new Error(message), 0)).toEqual({
      code: 'queueRefuses',
      message:
        "The queue does not accept jobs: Redis at h:6379 answers READONLY You can't write against a read only replica. Work waits, and nothing is lost.",
    });
  });

  it('is slow where it takes jobs late, and well again where it takes them soon', () => {
    const { health, codes } = bench();
    health.queueEnded(null, 2_500);
    expect(codes()).toEqual(['queueSlow']);
    health.queueEnded(null, 3);
    expect(codes()).toEqual([]);
  });

  it('is told of once for each change, not for each error', () => {
    const { health, lines } = bench();
    for (let error = 0; error < 50; error += 1) health.queueEnded(new Error('connect ECONNREFUSED'), 0);
    for (let error = 0; error < 50; error += 1) health.queueEnded(new Error(oom), 0);
    health.queueEnded(null, 1);
    health.queueEnded(null, 1);
    expect(lines).toEqual([
      'warn queueAway a problem began',
      'warn queueFull a problem began',
      'info queueFull a problem ended',
    ]);
  });

  it('is in trouble since the first error', () => {
    const { health, clock } = bench();
    health.queueEnded(new Error('connect ECONNREFUSED'), 0);
    const [first] = health.troubles();
    clock.advance(60_000);
    health.queueEnded(new Error('connect ECONNREFUSED'), 0);
    expect(health.troubles()[0]?.sinceMs).toBe(first?.sinceMs);
  });
});

describe('the ledger', () => {
  it('is well again with a write that comes some time after the last failure', () => {
    const { health, clock, codes } = bench();
    health.ledgerEnded(full);
    health.ledgerEnded(null);
    expect(codes(), 'a small write passes where a large one does not').toEqual(['diskFull']);
    clock.advance(5_000);
    health.ledgerEnded(null);
    expect(codes()).toEqual([]);
  });

  it('is not asked: its trouble is forgotten when nobody has met it for a minute', async () => {
    const { health, clock, codes } = bench();
    health.ledgerEnded(busy);
    clock.advance(59_000);
    await health.look();
    expect(codes()).toEqual(['ledgerBusy']);
    clock.advance(1_000);
    await health.look();
    expect(codes()).toEqual([]);
  });
});

describe('the disk', () => {
  it('is full where less than a megabyte is free', async () => {
    const { health, lines, leaveRoom } = bench();
    leaveRoom(400_000);
    await health.look();
    await health.look();
    expect(health.troubles()).toMatchObject([{ part: 'disk', code: 'diskFull' }]);
    expect(health.troubles()[0]?.message).toBe('The disk of /data is full (400 kB free).');
    leaveRoom(2_000_000);
    await health.look();
    expect(lines).toEqual(['warn diskFull a problem began', 'info diskFull a problem ended']);
  });

  it('that does not tell how full it is, is no trouble', async () => {
    const { clock } = bench();
    const log = createLogger({ level: 'silent' });
    const freeBytes = () => Promise.reject(new Error('ENOSYS'));
    const health = createHealth({ clock, log, queueDescription: 'x', folder: '/data', freeBytes });
    await health.look();
    expect(health.troubles()).toEqual([]);
  });
});

/**
 * The ledger cannot be written while an answer comes in: the process lives, the write is a doubt that is looked up later,
 * nothing is written twice, and work goes on when there is room (`docs/rules.md`, "Retries, rate, outages").
 */
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
  for (let round = 0; (await bench.ledger.runs.pendingCount(runId)) > 0; round += 1) {
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
