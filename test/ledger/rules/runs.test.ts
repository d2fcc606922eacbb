/** How runs move and what they keep, and how the history of phone numbers is kept, without a database. */
import { describe, expect, it } from 'vitest';
import { approvalOf } from '#src/ledger/rules/approval.ts';
import { keepsKeys } from '#src/ledger/rules/feeds.ts';
import { approved, moved, notesWith, planOf } from '#src/ledger/rules/runs.ts';
import { noOptions, type RunReason } from '#src/ledger/runs.ts';

const working = { state: 'applying', stoppedAtMs: null, stoppedMs: 40 } as const;

describe('a run', () => {
  it('moves only from the states that are named', () => {
    expect(moved(working, ['queued'], 'applying', { atMs: 100 })).toBeNull();
    expect(moved(null, ['queued'], 'applying', { atMs: 100 })).toBeNull();
  });

  it('counts the time in which it was stopped, and keeps its reason unless another is given', () => {
    const stopped = moved(working, ['applying'], 'stopped', { atMs: 100 });
    expect(stopped).toEqual({ state: 'stopped', stoppedAtMs: 100, stoppedMs: 40 });
    const on = moved({ ...working, state: 'stopped', stoppedAtMs: 100 }, ['stopped'], 'done', {
      atMs: 130,
      reason: null,
    });
    expect(on).toEqual({ state: 'done', stoppedAtMs: null, stoppedMs: 70, finishedAtMs: 130, reason: null });
  });

  it('goes on after an approval of what stopped it, and of nothing else', () => {
    const reason: RunReason = { code: 'guardDead', message: '', hint: null, facts: { deadCount: 5 } };
    const approval = approvalOf(reason, { reason: 'known', atMs: 9 });
    const run = { ...working, state: 'stopped', reason, approvals: [] } as const;
    expect(approved(run, approval)).toMatchObject({ state: 'applying', reason: null, approvals: [approval] });
    expect(approved({ ...run, reason: { ...reason, facts: { deadCount: 6 } } }, approval)).toBeNull();
    expect(approved({ ...run, state: 'cancelled' }, approval)).toBeNull();
    expect(approved(null, approval)).toBeNull();
  });

  it('carries out the plan that was shown last, and none once a person chose to link contacts which it would make', () => {
    const options = { ...noOptions, planId: 'p1' };
    const reason: RunReason = { code: 'guardUnlinked', message: '', hint: null, facts: { unlinkedCount: 1 } };
    const approval = approvalOf(reason, { reason: null, atMs: 9 });
    const shown = { ...approval, plan: { id: 'p2', checksum: '' } };
    const planAfter = (...approvals: Parameters<typeof planOf>[0]['approvals']) => planOf({ options, approvals });
    expect(planAfter()).toBe('p1');
    expect(planAfter(shown)).toBe('p2');
    expect(planAfter({ ...approval, choice: 'createAnyway' })).toBe('p1');
    expect(planAfter({ ...approval, choice: 'adopt' })).toBeNull();
  });

  it('keeps its keys where the next file of a named feed is compared with it', () => {
    expect(keepsKeys({ id: 'r1', feed: 'crm' }, 'r1')).toBe(true);
    expect(keepsKeys({ id: 'r1', feed: 'crm' }, 'r2')).toBe(false);
    expect(keepsKeys({ id: 'r1', feed: 'main' }, 'r1')).toBe(false);
  });

  it('keeps each note once, and a bounded number of them', () => {
    expect(notesWith(['a'], ['a', 'b'])).toEqual(['a', 'b']);
    expect(
      notesWith(
        [],
        Array.from({ length: 300 }, (_, index) => `${index}`),
      ),
    ).toHaveLength(200);
  });
});
