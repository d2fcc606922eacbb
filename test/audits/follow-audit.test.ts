/** Following an audit through the ledger, whichever process works on it (`docs/contract.md`). */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditRecord } from '#src/ledger/audits.ts';
import { type AuditEnd, type FollowAuditOptions, followAudit } from '#src/ledger/follow.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { applyingRun, pendingOf, settleAs, settled } from '#test/contracts/support/build.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { type SteppedClock, steppedClock } from '#test/runs/support/stepped-clock.ts';

const minute = 60_000;

interface Followed {
  readonly ledger: Ledger;
  readonly clock: SteppedClock;
  readonly audit: AuditRecord;
  follow(given?: Partial<FollowAuditOptions>): Promise<AuditEnd>;
}

/** An ended run whose audit is due `dueInMs` from now. */
async function followed(dueInMs = 0): Promise<Followed> {
  const opened = await openTempLedger();
  onTestFinished(() => opened.close());
  const { ledger } = opened;
  const clock = steppedClock();
  const run = await applyingRun(ledger, 'r1', ['k1']);
  await settleAs(
    ledger,
    run,
    'w1',
    (await pendingOf(ledger, run)).map((record) => settled(record)),
  );
  const atMs = clock.nowMs();
  await ledger.audits.enter({ runId: 'r1', atMs, firstDueAtMs: atMs + dueInMs, secondDueAtMs: atMs + minute });
  await ledger.runs.move('r1', ['applying'], 'done', { atMs });
  const [audit] = await ledger.audits.ofRun('r1');
  if (audit === undefined) throw new Error('no audit');
  const follow: Followed['follow'] = (given = {}) =>
    followAudit({
      ledger,
      clock,
      auditId: audit.id,
      patienceMs: minute,
      signal: new AbortController().signal,
      ...given,
    });
  return { ledger, clock, audit, follow };
}

describe('following an audit ends', () => {
  it('when it is done', async () => {
    const { ledger, clock, audit, follow } = await followed();
    clock.onSleep = (ms) => (ms >= 5_000 ? ledger.audits.finish(audit.id, 1) : undefined);
    expect(await follow()).toMatchObject({ kind: 'done', audit: { id: audit.id, state: 'done' } });
  });

  it('at a refused key, at once', async () => {
    const { ledger, clock, follow } = await followed();
    const pause = { code: 'auth', message: 'the key was refused', sinceMs: 1 } as const;
    clock.onSleep = (ms) => (ms >= 300 ? ledger.setPause(pause) : undefined);
    expect(await follow()).toMatchObject({ kind: 'auth', pause });
  });

  it('when nothing moved for the whole patience, which begins when the audit is due', async () => {
    const { clock, follow } = await followed(5_000);
    const startMs = clock.monotonicMs();
    expect((await follow({ patienceMs: 2_000 })).kind).toBe('unreachable');
    expect(clock.monotonicMs() - startMs).toBeGreaterThan(7_000);
    expect(clock.monotonicMs() - startMs).toBeLessThan(7_500);
  });

  it.each([
    ['counts where the audit is due', 0, 11_000],
    ['is over where it is not due yet', 5_000, 65_000],
  ])('when nothing moved for the whole patience: what was waited for before %s', async (_, dueInMs, endMs) => {
    const { clock, follow } = await followed(dueInMs);
    const startMs = clock.monotonicMs();
    expect((await follow({ stillMs: 50_000 })).kind).toBe('unreachable');
    expect(Math.abs(clock.monotonicMs() - startMs - endMs)).toBeLessThan(1_500);
  });

  it('when the engine is gone', async () => {
    const { follow } = await followed();
    expect((await follow({ isEngineGone: () => true })).kind).toBe('engineGone');
  });

  it('with an AbortError when somebody presses Ctrl-C', async () => {
    const { clock, follow } = await followed();
    const controller = new AbortController();
    clock.onSleep = (ms) => (ms >= 500 ? controller.abort() : undefined);
    await expect(follow({ signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});
