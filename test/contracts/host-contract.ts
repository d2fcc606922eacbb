/** Hosts: their entries, whose files stand in the lines of the feeds, and who leads. */
import { expect, onTestFinished, test } from 'vitest';
import type { HostRecord } from '#src/ledger/hosts.ts';
import type { Candidacy } from '#src/ledger/lead.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { act, applyingRun, createdAtMs, newRun } from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const nowMs = 1_800_000_000_000;

function host(id: string, parts: Partial<HostRecord> = {}): HostRecord {
  return {
    ...{ id, name: `${id}:/data`, session: `${id}#1`, engine: null, queue: 'redis', isSandbox: false },
    ...{ runsSchedules: true, leads: false, feeds: [], startedAtMs: nowMs, seenAtMs: nowMs, hasLeft: false },
    ...parts,
  };
}

const nobodyIsDead = (): boolean => false;

export function hostContract(open: OpenLedger): void {
  test('hosts enter one after the other: the first one gives the queue its identity, the next one is told of it', async () => {
    const { ledger, reopen } = await openForTest(open);
    expect(await ledger.hosts.queueId()).toBeNull();
    expect(await ledger.hosts.enter(host('a'), 'q1', nobodyIsDead)).toEqual({
      ...{ kind: 'entered', queueId: 'q1', others: [] },
    });
    const other = await reopen();
    expect(await other.hosts.enter(host('b'), 'q2', nobodyIsDead)).toEqual({
      ...{ kind: 'entered', queueId: 'q1', others: [host('a')] },
    });
    expect(await ledger.hosts.list()).toEqual([host('a'), host('b')]);
    expect(await ledger.hosts.queueId()).toBe('q1');
  });

  test('an entry is renewed and left by its own session alone', async () => {
    const { ledger } = await openForTest(open);
    await ledger.hosts.enter(host('a'), 'q1', nobodyIsDead);
    expect(await ledger.hosts.renew(host('a', { seenAtMs: nowMs + 3_000, leads: true }))).toBe(true);
    expect(await ledger.hosts.renew(host('a', { session: 'a#2', seenAtMs: nowMs + 4_000 }))).toBe(false);
    await ledger.hosts.leave('a', 'a#2');
    expect(await ledger.hosts.list()).toEqual([host('a', { seenAtMs: nowMs + 3_000, leads: true })]);
    await ledger.hosts.leave('a', 'a#1');
    expect(await ledger.hosts.list()).toEqual([host('a', { seenAtMs: nowMs + 3_000, hasLeft: true })]);
  });

  test('where nobody is at work any more, the next host gives the queue a new identity', async () => {
    const { ledger } = await openForTest(open);
    await ledger.hosts.enter(host('a'), 'q1', nobodyIsDead);
    const late = host('b', { seenAtMs: nowMs + 15_000 });
    expect(await ledger.hosts.enter(late, 'q2', nobodyIsDead)).toMatchObject({ queueId: 'q2', others: [] });
    expect(await ledger.hosts.queueId()).toBe('q2');
  });

  test('what a host that is away has not read holds up nobody; while it works, its runs stand in line', async () => {
    const { ledger } = await openForTest(open);
    await ledger.runs.create(newRun('a1', { host: 'a' }));
    await ledger.runs.create(newRun('b1', { host: 'b' }));
    await ledger.runs.create(newRun('b2', { host: 'b' }));
    const next = async (host: string, away: readonly string[]) =>
      (await ledger.runs.nextQueued(10, { hosts: [host], away })).map(({ id }) => id);
    expect(await next('b', [])).toEqual([]);
    expect(await next('a', [])).toEqual(['a1']);
    expect(await next('b', ['a'])).toEqual(['b1']);
    await ledger.runs.beginStaging('a1', createdAtMs);
    expect(await next('b', [])).toEqual([]);
    expect(await next('b', ['a'])).toEqual(['b1']);
    // It comes back while a later file is being read: it waits for that one, and then comes before those that wait.
    await ledger.runs.move('a1', ['staging'], 'queued', { atMs: createdAtMs });
    await ledger.runs.beginStaging('b1', createdAtMs);
    expect(await next('a', [])).toEqual([]);
    await ledger.runs.move('b1', ['staging'], 'done', { atMs: createdAtMs });
    expect(await next('a', [])).toEqual(['a1']);
    expect(await next('b', [])).toEqual([]);
  });

  test('a run of a host that is away holds up its feed as long as rows are pending', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'a1', ['k1'], { host: 'a' });
    await ledger.runs.create(newRun('b1', { host: 'b' }));
    const next = async (away: readonly string[]) =>
      (await ledger.runs.nextQueued(10, { hosts: ['b'], away })).map(({ id }) => id);
    expect(await next(['a'])).toEqual([]);
    await ledger.runs.skipPending(run.id, 'cancelled', createdAtMs);
    expect(await next([])).toEqual([]);
    expect(await next(['a'])).toEqual(['b1']);
  });

  test('the runs of a host that is forgotten go to another one; files that were not read are cancelled', async () => {
    const { ledger } = await openForTest(open);
    await ledger.hosts.enter(host('a'), 'q1', nobodyIsDead);
    const staged = await applyingRun(ledger, 'a1', ['k1'], { host: 'a' });
    await ledger.runs.create(newRun('a2', { host: 'a' }));
    await ledger.runs.create(newRun('b1', { host: 'b' }));
    expect(await ledger.hosts.forget('a', 'b', createdAtMs, act('hostForget'))).toBe(2);
    expect(await ledger.hosts.forget('a', 'b', createdAtMs, act('hostForget'))).toBe(0);
    expect(await ledger.acts.list({ limit: 9 })).toMatchObject([
      { kind: 'hostForget', who: 'ann', run: null, facts: { host: 'a', heir: 'b', runs: 2 } },
    ]);
    expect(await ledger.hosts.list()).toEqual([]);
    expect(await ledger.runs.get(staged.id)).toMatchObject({ host: 'b', state: 'applying' });
    expect(await ledger.runs.get('a2')).toMatchObject({
      host: 'b',
      state: 'cancelling',
      reason: { code: 'hostForgotten', facts: { host: 'a:/data' } },
    });
    expect(await ledger.runs.list({ hosts: [null], limit: 10 })).toEqual([]);
    expect(await ledger.runs.list({ hosts: ['b'], limit: 10 })).toHaveLength(3);
  });

  test('who stands for the lead alone leads, until it gives the lead back', async () => {
    const { ledger } = await openForTest(open);
    const { candidacy, led } = stand(ledger);
    const lost = await led;
    expect(candidacy.isLeading()).toBe(true);
    await candidacy.close();
    expect(candidacy.isLeading()).toBe(false);
    expect(lost.aborted).toBe(true);
  });
}

/** A candidate, and the signal that it is given when it leads first. */
export function stand(ledger: Ledger, mayLead: () => boolean = () => true) {
  const led = Promise.withResolvers<AbortSignal>();
  const candidacy: Candidacy = ledger.standForLead({ mayLead, onLead: led.resolve });
  onTestFinished(() => candidacy.close());
  return { candidacy, led: led.promise };
}
