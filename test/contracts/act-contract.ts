/** Acts of people: entered with what they did, listed newest first, kept as long as the records of runs. */
import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { approvalOf } from '#src/ledger/rules/approval.ts';
import { act, createdAtMs, deadRow, newRun, slice, stagingRun } from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const shown = { code: 'guardDead', message: 'm', hint: null, facts: { deadCount: 25 } };

async function stoppedRun(ledger: Ledger, id: string): Promise<void> {
  await stagingRun(ledger, id, { feed: 'crm' });
  await ledger.runs.move(id, ['staging'], 'stopped', { atMs: createdAtMs, reason: shown });
}

const kindsOf = async (ledger: Ledger): Promise<readonly string[]> =>
  (await ledger.acts.list({ limit: 100 })).map(({ kind }) => kind);

export function actContract(open: OpenLedger): void {
  test('an act is there with what it did, and tells who, when, what and why', async () => {
    const { ledger, reopen } = await openForTest(open);
    await stoppedRun(ledger, 'r1');
    const approval = approvalOf(shown, { reason: 'known rows', atMs: createdAtMs });
    await ledger.runs.approve(
      'r1',
      approval,
      act('approve', { reason: 'known rows', facts: { stoppedBy: 'guardDead' } }),
    );
    expect(await (await reopen()).acts.list({ limit: 10 })).toEqual([
      {
        ...act('approve', { reason: 'known rows' }),
        ...{
          number: expect.any(Number),
          id: expect.stringMatching(/^a[0-9a-f]{12}$/),
          run: 'r1',
          feed: 'crm',
          schedule: null,
        },
        facts: { stoppedBy: 'guardDead', checksum: approval.checksum },
      },
    ]);
  });

  test('nobody is said to have done what did not happen', async () => {
    const { ledger } = await openForTest(open);
    await stoppedRun(ledger, 'r1');
    const other = approvalOf({ ...shown, facts: { deadCount: 26 } }, { reason: null, atMs: createdAtMs });
    expect(await ledger.runs.approve('r1', other, act('approve'))).toBe(false);
    expect(await ledger.runs.move('r1', ['queued'], 'cancelling', { atMs: createdAtMs, act: act('cancel') })).toBe(
      false,
    );
    expect(await ledger.schedules.setPaused('none', 1, null, null, act('schedulePause'))).toBe(false);
    expect(await ledger.deliveries.retry('n1', 1, act('deadRetry'))).toBe(false);
    expect(await ledger.hosts.forget('none', 'heir', 1, act('hostForget'))).toBe(0);
    expect(await ledger.deadLetters.enterRedrive(newRun('r2'), { metBy: ['r1'] }, act('deadRetry'))).toBeNull();
    const request = { id: 't1', schedule: 'none', trigger: 'request', user: null, dueAtMs: 1 } as const;
    await expect(ledger.schedules.request(request, act('scheduleRun'))).rejects.toMatchObject({
      code: 'noSuchSchedule',
    });
    expect(await kindsOf(ledger)).toEqual([]);
  });

  test('each kind of act is entered by what does it', async () => {
    const { ledger } = await openForTest(open);
    await ledger.runs.create(newRun('r0'), act('import'));
    const run = await stagingRun(ledger, 'r1');
    await ledger.runs.stage(slice(run, { dead: [deadRow('k1')], counts: { rows: 1, dead: 1 } }));
    await ledger.deadLetters.enterRedrive(newRun('r2'), { metBy: ['r1'] }, act('deadRetry'));
    await ledger.runs.move('r1', ['staging'], 'cancelling', { atMs: createdAtMs, act: act('cancel') });
    await ledger.schedules.put({ name: 'crm', work: 'take', rule: null, dueAtMs: null, createdAtMs });
    await ledger.schedules.setPaused('crm', 1, null, null, act('schedulePause'));
    await ledger.schedules.resume('crm', 2, null, act('scheduleResume'));
    const request = { id: 't1', schedule: 'crm', trigger: 'request', user: null, dueAtMs: 1 } as const;
    await ledger.schedules.request(request, act('scheduleRun'));
    // The same request waits: nothing new was asked for.
    await ledger.schedules.request({ ...request, id: 't2' }, act('scheduleRun'));
    expect((await kindsOf(ledger)).toReversed()).toEqual([
      ...['import', 'deadRetry', 'cancel', 'schedulePause', 'scheduleResume', 'scheduleRun'],
    ]);
    expect(await ledger.acts.list({ runId: 'r2', limit: 10 })).toMatchObject([
      { kind: 'deadRetry', facts: { letters: 1 } },
    ]);
    expect(await ledger.acts.list({ runId: 'r9', limit: 10 })).toEqual([]);
  });

  test('acts are read page by page, and leave with the records of runs', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put({ name: 'crm', work: 'take', rule: null, dueAtMs: null, createdAtMs });
    for (let number = 1; number <= 5; number += 1)
      await ledger.schedules.setPaused('crm', 1, null, null, act('schedulePause', { atMs: createdAtMs + number }));
    const atOf = (acts: readonly { readonly atMs: number }[]) => acts.map(({ atMs }) => atMs - createdAtMs);
    const first = await ledger.acts.list({ limit: 2 });
    const after = first.at(-1);
    if (after === undefined) throw new Error('there are acts');
    expect([atOf(first), atOf(await ledger.acts.list({ after, limit: 9 }))]).toEqual([
      [5, 4],
      [3, 2, 1],
    ]);
    await ledger.forget(createdAtMs + 13, 1_000_000, { historyMs: 10 });
    expect(atOf(await ledger.acts.list({ limit: 9 }))).toEqual([5, 4, 3]);
    await ledger.forget(createdAtMs + 1_000, 1_000_000);
    expect(atOf(await ledger.acts.list({ limit: 9 }))).toEqual([5, 4, 3]);
  });
}
