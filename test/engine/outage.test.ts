/** Outages of the service: work pauses, asks, and goes on by itself; no row dies (`docs/rules.md`, "Retries, rate, outages"). */
import { describe, expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { csv, expectCounts, fillers } from '#test/runs/support/runs-bench.ts';
import { type OutageBench, openOutageBench } from './support/outage-bench.ts';

const people = (count: number, role: string): string =>
  csv(Array.from({ length: count }, (_, index) => `f-${index + 1},Ann,${role}`));

/** Contacts that are known, and a run that changes each of them. */
async function changedPeople(count: number): Promise<{ bench: OutageBench; runId: string }> {
  const bench = await openOutageBench();
  await bench.import('before.csv', people(count, 'Engineer'));
  const run = await bench.stage(await bench.submit('after.csv', people(count, 'Pilot')));
  return { bench, runId: run.id };
}

/** As a person changes it in the app. */
const pilot = { defaultFields: { role: 'Pilot' } };

/** Ends: each round makes progress, or the test fails. */
async function workOff(bench: OutageBench, runId: string): Promise<void> {
  for (let round = 0; (await bench.ledger.runs.pendingCount(runId)) > 0; round += 1) {
    if (round > 60) throw new Error('the run does not come to its end');
    await bench.sweep();
  }
}

const pauseOf = (bench: OutageBench) => bench.ledger.pause();

describe('while all updates fail and reads pass', () => {
  it('writing pauses, in words for people; each sweep sends one write; no row dies', async () => {
    const { bench, runId } = await changedPeople(40);
    await bench.world.faults('update:status=503');
    const before = bench.sent();
    await bench.work();
    expect(await pauseOf(bench)).toMatchObject({
      code: 'unreachable',
      scope: 'writes',
      errorCode: 'serviceFailing',
      message: `Creates and updates fail at ${bench.world.service.origin} (status 503); reads succeed.`,
    });
    expect(bench.sent().writes - before.writes, 'what was begun stops soon').toBeLessThan(20);

    expect(await bench.jobNames()).not.toContain('upsert-batch');
    for (let sweep = 0; sweep < 30; sweep += 1) {
      const { writes } = bench.sent();
      await bench.sweep();
      expect(bench.sent().writes - writes).toBe(1);
    }
    expect(await pauseOf(bench)).toMatchObject({ scope: 'writes' });
    expect(await bench.letters()).toEqual([]);
    expect(bench.lines.filter((line) => line.includes('work'))).toEqual(['warn serviceFailing work paused']);

    await bench.world.faults();
    await workOff(bench, runId);
    expect(await pauseOf(bench)).toBeNull();
    expect(bench.lines.filter((line) => line.includes('work'))).toEqual([
      'warn serviceFailing work paused',
      'info work resumed',
    ]);
    const run = await bench.ledger.runs.get(runId);
    if (run === null) throw new Error('the run is in the ledger');
    expectCounts(await bench.finish(run), { rows: 40, updated: 40 });
    await bench.world.expectSound();
  });

  it('writing pauses, too, where all of them are answered with 429 for half a minute, until one is not', async () => {
    const { bench, runId } = await changedPeople(10);
    await bench.world.faults('update:status=429;retryAfter=0');
    for (let sweep = 0; sweep < 6; sweep += 1) await bench.sweep();
    expect(await pauseOf(bench), 'a rate limit is no outage').toBeNull();
    await bench.sweep();
    const pause = await pauseOf(bench);
    expect(pause).toMatchObject({
      ...{ code: 'unreachable', scope: 'writes', errorCode: 'rateLimited' },
      message: `Creates and updates fail at ${bench.world.service.origin} (status 429, too many requests); reads succeed.`,
    });
    for (let sweep = 0; sweep < 20; sweep += 1) {
      const { writes } = bench.sent();
      await bench.sweep();
      expect(bench.sent().writes - writes).toBe(1);
    }
    expect(await pauseOf(bench)).toEqual(pause);
    await bench.world.faults();
    await workOff(bench, runId);
    expect(await pauseOf(bench)).toBeNull();
    expect(await bench.letters()).toEqual([]);
    await bench.world.expectSound();
  });

  it('files are read on', async () => {
    const bench = await openOutageBench();
    await bench.submit('people.csv', csv(fillers(3)));
    const pause = { code: 'unreachable', message: 'no writes', sinceMs: 1 } as const;
    await bench.ledger.setPause({ ...pause, scope: 'writes' });
    expect(await bench.jobNames()).toEqual(['import-file']);
    await bench.ledger.setPause(pause);
    expect(await bench.jobNames()).toEqual([]);
  });

  it('a trial ends on the way what needs no write, and finds a row that does', async () => {
    const { bench, runId } = await changedPeople(10);
    for (const { id, externalId } of await bench.world.contacts()) {
      if (externalId !== 'f-9') await bench.world.byHand('PATCH', `/v1/contacts/${id}`, pilot);
    }
    await bench.ledger.setPause({ code: 'unreachable', scope: 'writes', message: 'no writes', sinceMs: 1 });
    const { writes } = bench.sent();
    expect(await bench.watch.probe()).toBe(true);
    expect(bench.sent().writes - writes).toBe(1);
    expect(await bench.ledger.runs.pendingCount(runId)).toBe(1);
  });

  it('work goes on where nothing is left to write', async () => {
    const bench = await openOutageBench();
    await bench.ledger.setPause({ code: 'unreachable', scope: 'writes', message: 'no writes', sinceMs: 1 });
    expect(await bench.watch.probe()).toBe(true);
    expect(await pauseOf(bench)).toBeNull();
  });

  it('work resumes with a write, also where a rate limit kept the service from being asked meanwhile', async () => {
    const { bench, runId } = await changedPeople(10);
    await bench.world.faults('update:status=503');
    await bench.work();
    const pause = await pauseOf(bench);
    await bench.world.faults('*:status=429;retryAfter=30');
    await bench.sweep();
    await bench.sweep();
    expect(await pauseOf(bench)).toEqual(pause);
    await bench.world.faults('update:status=503');
    bench.world.clock.advance(60_000);
    const { writes } = bench.sent();
    await bench.sweep();
    expect(bench.sent().writes - writes, 'one is tried').toBe(1);
    expect(await pauseOf(bench)).toEqual(pause);
    await bench.world.faults();
    await workOff(bench, runId);
    expect(await pauseOf(bench)).toBeNull();
  });

  it('all work pauses when reads fail as well, since the first of both', async () => {
    const { bench } = await changedPeople(10);
    await bench.world.faults('update:status=503');
    await bench.work();
    const first = await pauseOf(bench);
    await bench.world.faults('*:dropBefore');
    await bench.sweep();
    const second = await pauseOf(bench);
    expect(second).toMatchObject({ scope: 'all', errorCode: 'serviceUnreachable', sinceMs: first?.sinceMs });
    await bench.world.faults('update:status=503');
    // The rows in doubt are due again.
    bench.world.clock.advance(60_000);
    await bench.sweep();
    expect(await pauseOf(bench), 'reads pass again, and writes are tried').toMatchObject({ scope: 'writes' });
  });
});

describe('while all creates are in doubt', () => {
  it('nothing is sent before the rows are due; then one is tried, and none is made twice', async () => {
    const bench = await openOutageBench();
    const run = await bench.stage(await bench.submit('people.csv', people(10, 'Engineer')));
    await bench.world.faults('create:dropAfter');
    await bench.work();
    expect(await pauseOf(bench)).toMatchObject({ scope: 'writes', errorCode: 'serviceUnreachable' });
    const { writes } = bench.sent();
    await bench.sweep();
    await bench.sweep();
    expect(bench.sent().writes).toBe(writes);
    await bench.world.faults();
    await workOff(bench, run.id);
    expectCounts(await bench.finish(run), { rows: 10, created: 10 });
    expect(bench.sent().writes, 'what had landed is found').toBe(writes);
    expect(await bench.world.contacts()).toHaveLength(10);
  });

  it('an outage of an hour kills no row', async () => {
    const bench = await openOutageBench();
    const run = await bench.stage(await bench.submit('people.csv', people(5, 'Engineer')));
    await bench.world.faults('create:status=500');
    await bench.work();
    for (let minute = 0; minute < 60; minute += 1) {
      bench.world.clock.advance(55_000);
      await bench.sweep();
    }
    expect(await bench.letters()).toEqual([]);
    await bench.world.faults();
    await workOff(bench, run.id);
    expectCounts(await bench.finish(run), { rows: 5, created: 5 });
  });
});

describe('a read that gets no answer', () => {
  it('puts off its batch alone; the fifth failure in a row pauses all work', async () => {
    const bench = await openOutageBench();
    const run = await bench.stage(await bench.submit('people.csv', people(1, 'Engineer')));
    await bench.world.faults('list:dropBefore');
    await bench.work();
    expect(await pauseOf(bench)).toBeNull();
    const nowMs = await bench.ledger.nowMs(bench.world.clock);
    const [batch] = await bench.ledger.runs.nextBatches(nowMs, 1);
    const waitMs = (batch?.dueAtMs ?? 0) - nowMs;
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(3_000);

    bench.world.clock.advance(3_000);
    await bench.work();
    expect(await pauseOf(bench)).toMatchObject({
      code: 'unreachable',
      scope: 'all',
      errorCode: 'serviceUnreachable',
    });
    await bench.world.faults();
    await workOff(bench, run.id);
    expectCounts(await bench.finish(run), { rows: 1, created: 1 });
  });

  it('defers its batch by the clock of the ledger: a wall clock that was set ahead does not delay it', async () => {
    const bench = await openOutageBench();
    await bench.stage(await bench.submit('people.csv', people(1, 'Engineer')));
    await bench.ledger.nowMs(bench.world.clock);
    bench.world.clock.setWallBy(3_600_000);
    await bench.world.faults('list:dropBefore');
    await bench.work();
    const nowMs = await bench.ledger.nowMs(bench.world.clock);
    const [batch] = await bench.ledger.runs.nextBatches(nowMs, 1);
    const waitMs = (batch?.dueAtMs ?? 0) - nowMs;
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(3_000);
  });

  it('where the service says that it fails, the control key is the fifth: all work pauses at once, and no row is blamed', async () => {
    const bench = await openOutageBench();
    const run = await bench.stage(await bench.submit('people.csv', people(1, 'Engineer')));
    await bench.world.faults('list:status=503');
    await bench.work();
    expect(await pauseOf(bench)).toMatchObject({
      code: 'unreachable',
      scope: 'all',
      errorCode: 'serviceFailing',
      message: expect.stringContaining('(status 503)'),
    });
    for (let sweep = 0; sweep < 5; sweep += 1) await bench.sweep();
    await bench.world.faults();
    await workOff(bench, run.id);
    expectCounts(await bench.finish(run), { rows: 1, created: 1 });
  });

  it('for a limited rate opens no breaker; the second one in a row pauses', async () => {
    const bench = await openOutageBench();
    const limited = new PatchbayError('unreachable', 'rateLimited', 'the rate is limited');
    await bench.watch.exhausted(limited);
    expect(await pauseOf(bench)).toBeNull();
    await bench.watch.exhausted(limited);
    expect(await pauseOf(bench)).toMatchObject({ errorCode: 'rateLimited', scope: 'all' });
  });

  it('pauses nothing where another read was answered in between', async () => {
    const bench = await openOutageBench();
    const failing = new PatchbayError('unreachable', 'serviceFailing', 'it fails');
    await bench.watch.exhausted(failing);
    await bench.work();
    const run = await bench.stage(await bench.submit('people.csv', people(1, 'Engineer')));
    await workOff(bench, run.id);
    await bench.watch.exhausted(failing);
    expect(await pauseOf(bench)).toBeNull();
  });
});

describe('a refused key', () => {
  it.each([401, 403])('pauses all work at once: %i', async (status) => {
    const { bench, runId } = await changedPeople(10);
    await bench.world.faults(`*:status=${status}`);
    await bench.work();
    expect(await pauseOf(bench)).toMatchObject({ code: 'auth', scope: 'all' });
    expect(bench.sent().writes).toBe(0);
    await bench.world.faults();
    await workOff(bench, runId);
    expect(await bench.letters()).toEqual([]);
  });
});
