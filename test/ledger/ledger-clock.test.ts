/** The ledger's clock: what waits in the ledger waits by it, whatever becomes of the wall clock. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Moment } from '#src/clock.ts';
import { liveWorkers } from '#src/ledger/engine-presence.ts';
import type { Ledger } from '#src/ledger/port.ts';
import {
  applyingRun,
  boundTo,
  lease,
  nobodyOwns,
  pendingOf,
  settleAs,
  settled,
  stagingRun,
} from '#test/contracts/support/build.ts';
import { openTempLedger } from './support/temp-ledger.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 10, 22, 12);

interface Machine extends Moment {
  bootId: string;
  wallMs: number;
  upMs: number;
  /** Time passes, for both clocks. */
  pass(ms: number): void;
}

function machine(bootId = 'boot-1', upMs = 50_000): Machine {
  const one: Machine = {
    bootId,
    wallMs: startMs,
    upMs,
    nowMs: () => one.wallMs,
    monotonicMs: () => one.upMs,
    pass: (ms) => {
      one.wallMs += ms;
      one.upMs += ms;
    },
  };
  return one;
}

async function opened() {
  const { ledger, reopen, close } = await openTempLedger();
  onTestFinished(() => close());
  return { ledger, reopen };
}

/** A run of two rows in one batch: the first is put off for so long. */
async function parkedRow(ledger: Ledger, clock: Moment, waitMs: number): Promise<string> {
  const run = await applyingRun(ledger, 'r1', ['k1', 'k2']);
  const nowMs = await ledger.nowMs(clock);
  const both = await ledger.runs.pendingRecords(run.id, 1, nowMs, 10);
  const due = both.map(({ position }) => ({ position, notBeforeMs: nowMs + waitMs * position, burnAttempt: false }));
  await ledger.runs.defer(run.id, due);
  const [batch] = await ledger.runs.nextBatches(nowMs, 10);
  await ledger.runs.releaseBatch(run.id, 1, batch?.generation ?? 0, 0);
  return run.id;
}

/** An audit that is due ten minutes from now. @returns now. */
async function demandedAudit(ledger: Ledger, clock: Moment): Promise<number> {
  const nowMs = await ledger.nowMs(clock);
  await stagingRun(ledger, 'r1');
  await ledger.runs.move('r1', ['staging'], 'done', { atMs: nowMs });
  await ledger.audits.demand({ runId: 'r1', atMs: nowMs, dueAtMs: nowMs + 600_000 });
  return nowMs;
}

const pending = async (ledger: Ledger, runId: string, clock: Moment): Promise<number> =>
  (await ledger.runs.pendingRecords(runId, 1, await ledger.nowMs(clock), 10)).length;

describe('the ledger’s clock', () => {
  it('tells about the time of day, and goes on at its own pace when the wall clock is set', async () => {
    const { ledger, reopen } = await opened();
    const clock = machine();
    expect(await ledger.nowMs(clock)).toBe(startMs);
    clock.wallMs -= hourMs;
    clock.pass(1_000);
    expect(await ledger.nowMs(clock)).toBe(startMs + 1_000);
    clock.wallMs += 3 * hourMs;
    clock.pass(1_000);
    expect(await ledger.nowMs(clock)).toBe(startMs + 2_000);
    // A process that is started now reads the same.
    expect(await (await reopen()).nowMs(machine('boot-1', clock.upMs))).toBe(startMs + 2_000);
  });

  it.each([-hourMs, hourMs])(
    'lets a parked row wait as long as it was to when the wall clock steps by %i ms',
    async (step) => {
      const { ledger, reopen } = await opened();
      const clock = machine();
      const run = await parkedRow(ledger, clock, 40_000);
      clock.wallMs += step;
      clock.pass(39_999);
      expect(await pending(await reopen(), run, clock)).toBe(0);
      clock.pass(1);
      expect(await pending(await reopen(), run, clock)).toBe(1);
      expect((await ledger.runs.nextBatches(await ledger.nowMs(clock), 1))[0]?.dueAtMs).toBeLessThanOrEqual(
        await ledger.nowMs(clock),
      );
    },
  );

  it.each([0, -hourMs, -startMs])(
    'a new boot lets every parked row be due at once, with a wall clock %i ms off',
    async (step) => {
      const { ledger, reopen } = await opened();
      const run = await parkedRow(ledger, machine(), 40_000);
      const next = machine('boot-2', 3_000);
      next.wallMs += step;
      expect(await pending(await reopen(), run, next)).toBe(2);
      const nowMs = await ledger.nowMs(next);
      expect((await ledger.runs.nextBatches(nowMs, 1))[0]?.dueAtMs).toBeLessThanOrEqual(nowMs);
    },
  );

  it('a new boot with a clock that is far behind keeps audits and deliveries waiting for an hour at most', async () => {
    const { ledger } = await opened();
    const clock = machine();
    const nowMs = await demandedAudit(ledger, clock);
    const notice = { id: 'n1', kind: 'notice', type: 'feed.bad', feed: 'crm', data: {}, atMs: nowMs } as const;
    await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard'], sinceMs: nowMs }, [notice]);
    await ledger.deliveries.tried('n1', nowMs, {
      state: 'waiting',
      why: { code: 'webhookFailed', message: '' },
      nextDueAtMs: nowMs + 5 * hourMs,
    });
    const next = machine('boot-2', 3_000);
    next.wallMs = Date.UTC(1970, 0, 2);
    const thenMs = await ledger.nowMs(next);
    expect(await ledger.audits.nextDue(thenMs + hourMs, 10)).toHaveLength(1);
    expect(await ledger.deliveries.nextDue(thenMs + hourMs, 10)).toHaveLength(1);
  });

  it('a new boot with a clock that is right leaves an audit its time', async () => {
    const { ledger } = await opened();
    const clock = machine();
    const nowMs = await demandedAudit(ledger, clock);
    const next = machine('boot-2', 3_000);
    next.wallMs += 60_000;
    expect((await ledger.audits.nextDue((await ledger.nowMs(next)) + hourMs, 1))[0]?.dueAtMs).toBe(nowMs + 600_000);
  });

  it('a new boot voids the leases of the one before, and starts each horizon again in full, once', async () => {
    const { ledger, reopen } = await opened();
    const clock = machine();
    const nowMs = await ledger.nowMs(clock);
    await lease(ledger, 'w1', ['k1', 'k2'], { nowMs, leaseMs: hourMs });
    const contacts = [{ key: 'k2', owned: nobodyOwns, claim: null }];
    const horizon = { atMs: nowMs + 2_000, spanMs: 2_000 };
    await ledger.contacts.intend({ contacts, owner: 'w1', runId: 'r1', horizon });
    const next = machine('boot-2', 3_000);
    next.wallMs += 60_000;
    const ask = async () => {
      const answers = await lease(ledger, 'w2', ['k1', 'k2'], { nowMs: await (await reopen()).nowMs(next) });
      await ledger.contacts.release('w2', ['k1', 'k2']);
      return [answers.get('k1'), answers.get('k2')];
    };
    expect(await ask()).toMatchObject([{ kind: 'leased' }, { kind: 'horizon', waitMs: 2_000 }]);
    next.pass(500);
    expect(await ask()).toMatchObject([{ kind: 'leased' }, { kind: 'horizon', waitMs: 1_500 }]);
    next.pass(1_500);
    expect(await ask()).toMatchObject([{ kind: 'leased' }, { kind: 'leased', contact: { state: 'intent' } }]);
  });

  it('a new boot with a clock that is behind goes on behind the last write', async () => {
    const { ledger } = await opened();
    const writtenAtMs = await ledger.nowMs(machine());
    const run = await applyingRun(ledger, 'r1', ['k1']);
    const records = (await pendingOf(ledger, run)).map((one) =>
      settled(one, { bound: boundTo('k1', { writtenAtMs }) }),
    );
    await settleAs(ledger, run, 'w1', records);
    const next = machine('boot-2', 3_000);
    next.wallMs -= hourMs;
    expect(await ledger.nowMs(next)).toBe(writtenAtMs);
  });

  it('processes that reckoned the boot a little differently call it by one id, and read one time', async () => {
    const { ledger, reopen } = await opened();
    const first = machine('booted-at-1766000000');
    const second = machine('booted-at-1766000001');
    expect(await ledger.bootId(first)).toBe('booted-at-1766000000');
    second.wallMs += 700;
    const other = await reopen();
    expect(await other.bootId(second)).toBe('booted-at-1766000000');
    expect(await other.nowMs(second)).toBe(await ledger.nowMs(first));
  });

  it('tells a worker’s silence, whatever the wall clock says meanwhile', async () => {
    const { ledger } = await opened();
    const clock = machine();
    const seenAtMs = await ledger.nowMs(clock);
    await ledger.register('worker', { identity: 'host/boot-1/7/8', startedAtMs: clock.wallMs, seenAtMs });
    const live = async () =>
      liveWorkers((await ledger.registrations()).workers, await ledger.nowMs(clock), () => false).length;
    clock.wallMs += hourMs;
    expect(await live()).toBe(1);
    clock.wallMs -= 2 * hourMs;
    clock.pass(15_000);
    expect(await live()).toBe(0);
  });
});
