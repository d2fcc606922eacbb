/** How tries of deliveries end, and which die where too many wait, without a database. */
import { describe, expect, it } from 'vitest';
import { waitingMax } from '#src/ledger/deliveries.ts';
import { again, dead, entered, groupOf, groupsOf, tooMany, tried } from '#src/ledger/rules/deliveries.ts';

const why = { code: 'webhookFailed', message: 'why' };
const fresh = entered({ id: 'n1', kind: 'notice', type: 'feed.bad', feed: 'crm', data: {}, atMs: 10 });

describe('a delivery', () => {
  it('is due at once and waits since it was entered', () => {
    expect(fresh).toMatchObject({ state: 'waiting', attempts: 0, dueAtMs: 0, waitsSinceMs: 10, endedAtMs: null });
  });

  it('waits for its next try with the reason of the last one, and ends without a reason where it arrives', () => {
    const waiting = tried(fresh, 20, { state: 'waiting', why, nextDueAtMs: 30 });
    expect(waiting).toMatchObject({ ...why, state: 'waiting', attempts: 1, dueAtMs: 30, endedAtMs: null });
    expect(tried(waiting, 31, { state: 'delivered' })).toMatchObject({
      ...{ state: 'delivered', attempts: 2, endedAtMs: 31, code: null, message: null },
    });
    expect(tried(waiting, 31, { state: 'dead', why })).toMatchObject({ ...why, state: 'dead', endedAtMs: 31 });
  });

  it('that died counts no try, and waits again with all its tries when a person asks for it', () => {
    const died = dead(tried(fresh, 20, { state: 'waiting', why, nextDueAtMs: 30 }), 40, { code: 'old', message: 'm' });
    expect(died).toMatchObject({ state: 'dead', attempts: 1, code: 'old', endedAtMs: 40 });
    expect(again(died, 50)).toMatchObject({
      ...{ state: 'waiting', attempts: 0, waitsSinceMs: 50, dueAtMs: 0, endedAtMs: null },
    });
  });

  it('is listed by its state, and by its kind while it waits', () => {
    expect([groupOf(fresh), groupOf({ ...fresh, kind: 'change' }), groupOf(dead(fresh, 1, why))]).toEqual([
      ...['noticeWaits', 'changeWaits', 'dead'],
    ]);
    expect(groupsOf('waiting')).toEqual(['noticeWaits', 'changeWaits']);
    expect(groupsOf('delivered')).toEqual(['delivered']);
  });
});

describe('where too many wait', () => {
  it('changes die before notices', () => {
    expect(tooMany({ notice: 5, change: waitingMax - 5 })).toEqual({ notice: 0, change: 0 });
    expect(tooMany({ notice: 5, change: waitingMax })).toEqual({ notice: 0, change: 5 });
    expect(tooMany({ notice: waitingMax + 1, change: 3 })).toEqual({ notice: 1, change: 3 });
  });
});
