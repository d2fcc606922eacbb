/** Forgetting a person: every row that names the key is gone, and a salted hash of it stays. */
import { expect, test } from 'vitest';
import type { NewAct } from '#src/ledger/acts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { approvalOf } from '#src/ledger/rules/approval.ts';
import { noOptions } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import {
  applyingRun,
  createdAtMs,
  deadRow,
  ended,
  lease,
  pendingOf,
  settleAs,
  settled,
  slice,
  stagingRun,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const act: NewAct = {
  ...{ who: 'ann', by: 'command', kind: 'forget', reason: 'they asked', atMs: createdAtMs, ledgerAtMs: 1, facts: {} },
};

const person = { key: 'forget-me', letterIds: [], texts: [] };

/** A key that was written, with its journal and a dead letter, and another one beside it. */
async function withTwo(ledger: Ledger): Promise<void> {
  const run = await applyingRun(ledger, 'r1', ['forget-me', 'keep-me']);
  const [one, two] = await pendingOf(ledger, run);
  if (one === undefined || two === undefined) throw new Error('two records were staged');
  await settleAs(ledger, run, 'w1', [settled(one), settled(two)]);
  await ledger.runs.move('r1', ['applying'], 'done', { atMs: createdAtMs });
  await ledger.runs.prune('r1');
  const next = await applyingRun(ledger, 'r2', ['forget-me', 'keep-me']);
  const died = await pendingOf(ledger, next);
  const ends = died.map((record) => ended(record, { outcome: 'dead', dead: deadRow(record.key) }));
  await settleAs(ledger, next, 'w1', ends);
  await ledger.runs.move('r2', ['applying'], 'doneWithDead', { atMs: createdAtMs });
  await ledger.runs.prune('r2');
}

export function forgettingContract(open: OpenLedger): void {
  test('the key is in no table any more, in any process, and others are as they were', async () => {
    const { ledger, reopen } = await openForTest(open);
    await withTwo(ledger);
    expect((await ledger.forgetting.search(['forget-me'])).map(({ table }) => table)).toEqual(
      expect.arrayContaining(['contacts', 'letters']),
    );
    const forgotten = await ledger.forgetting.forgetPerson(person, act);
    expect(forgotten).toMatchObject({ kind: 'done' });
    const other = await reopen();
    expect(await other.forgetting.search(['forget-me'])).toEqual([]);
    expect((await other.contacts.get(['forget-me'])).size).toBe(0);
    expect((await other.contacts.get(['keep-me'])).size).toBe(1);
    expect((await other.runs.saidOf('main', ['forget-me', 'keep-me'])).size).toBe(1);
    expect((await other.counts()).openLetters).toBe(1);
    const [kept] = await other.deadLetters.list({ limit: 1 });
    await other.forgetting.forgetPerson({ ...person, letterIds: [kept?.id ?? ''] }, act);
    expect([(await other.counts()).openLetters, await other.deadLetters.list({ limit: 1 })]).toEqual([0, []]);
    const [entered] = await other.acts.list({ limit: 1 });
    expect(entered).toMatchObject({ kind: 'forget', who: 'ann', reason: 'they asked' });
    expect(['overwritten', 'later', 'database']).toContain(await other.forgetting.scrub());
  });

  test('the hosts whose files were searched are known, also after the person is forgotten again', async () => {
    const { ledger, reopen } = await openForTest(open);
    expect(await ledger.forgetting.searchedOn('forget-me', 'h1')).toEqual([]);
    await ledger.forgetting.forgetPerson(person, act);
    expect(await ledger.forgetting.searchedOn('forget-me', null)).toEqual([]);
    expect(await ledger.forgetting.searchedOn('forget-me', 'h1')).toEqual(['h1']);
    const other = await reopen();
    await other.forgetting.forgetPerson(person, act);
    expect(await other.forgetting.searchedOn('forget-me', 'h2')).toEqual(['h1', 'h2']);
    expect(await other.forgetting.searchedOn('forget-me', 'h2')).toEqual(['h1', 'h2']);
    expect(await other.forgetting.searchedOn('keep-me', 'h2')).toEqual([]);
  });

  test('a person is forgotten wherever texts hold U+0000 and halves of surrogate pairs, which no column of JSON takes', async () => {
    const { ledger, reopen } = await openForTest(open);
    const odd = 'Boss \ud83d and \0, "key":"forget-me"';
    const warning = { kind: 'warning', line: 2, code: 'forget-me', message: '', field: 'role', value: odd } as const;
    const events: readonly RunEvent[] = [
      { ...warning, key: 'keep-me' },
      { ...warning, key: 'forget-me' },
      { ...warning, key: null },
    ];
    const run = await stagingRun(ledger, 'r1', { options: { ...noOptions, acceptReason: odd } });
    await ledger.runs.stage(slice(run, { events }));
    await ledger.runs.move('r1', ['staging'], 'done', { atMs: createdAtMs });
    await ledger.plans.begin('p1', createdAtMs);
    const contact = { line: 2, name: odd, contactId: null, deed: 'none', changes: [], held: [], digest: '' } as const;
    const notes = [{ code: 'spelling', field: 'role', message: 'forget-me' }] as const;
    const planned = ['keep-me', 'forget-me'].map((key) => ({ ...contact, key, notes }));
    await ledger.plans.enter('p1', planned);
    // Each of theirs: an event, and what a plan says of them.
    expect(await ledger.forgetting.forgetPerson(person, act)).toMatchObject({ kind: 'done', rows: 2 });
    const other = await reopen();
    expect((await other.runs.events('r1', 0, 9)).map(({ key, value }) => [key, value])).toEqual([
      ['keep-me', odd],
      [null, odd],
    ]);
    expect(await Array.fromAsync(other.plans.contacts('p1'))).toEqual([planned[0]]);
    expect((await other.runs.lastAccepted('main', 1_000, { applies: 'allRows' }))?.run.id).toBe('r1');
  });

  test('keys that were forgotten are known by their hash', async () => {
    const { ledger, reopen } = await openForTest(open);
    expect(await ledger.forgetting.forgottenPeople()).toBeNull();
    await ledger.forgetting.forgetPerson(person, act);
    // Nothing was known of it, and twice is once.
    expect(await ledger.forgetting.forgetPerson(person, act)).toEqual({ kind: 'done', rows: 0, reasons: 0 });
    const people = await (await reopen()).forgetting.forgottenPeople();
    expect([people?.count, people?.has('forget-me'), people?.has('keep-me')]).toEqual([1, true, false]);
  });

  test('the person is named in no reason that was given before, of acts, approvals, imports and pauses', async () => {
    const { ledger, reopen } = await openForTest(open);
    const why = 'crm-17 asked, and Zelda@Example.com; crm-170 did not';
    const whyNow = '(forgotten) asked, and (forgotten); crm-170 did not';
    const options = { ...noOptions, accept: true, acceptReason: why };
    await stagingRun(ledger, 'r1', { options });
    const reason = { code: 'guardRows', message: '', hint: null, facts: {} };
    await ledger.runs.move('r1', ['staging'], 'stopped', { atMs: createdAtMs, reason });
    const approval = approvalOf(reason, { reason: why, atMs: createdAtMs });
    expect(await ledger.runs.approve('r1', approval, { ...act, kind: 'approve', reason: why })).toBe(true);
    await ledger.runs.move('r1', ['applying'], 'done', { atMs: createdAtMs });
    const work = 'take';
    for (const name of ['a', 'b']) await ledger.schedules.put({ name, work, rule: null, dueAtMs: null, createdAtMs });
    await ledger.schedules.setPaused('a', createdAtMs, null, why, { ...act, kind: 'schedulePause', reason: 'other' });
    await ledger.schedules.setPaused('b', createdAtMs, null, 'crm-170', {
      ...act,
      kind: 'schedulePause',
      reason: null,
    });
    const named = { key: 'crm-17', letterIds: [], texts: ['crm-17', 'zelda@example.com'] };
    expect(await ledger.forgetting.forgetPerson(named, act)).toMatchObject({ kind: 'done', reasons: 4 });
    const other = await reopen();
    const acts = await other.acts.list({ limit: 9 });
    expect(acts.map((one) => one.reason)).toEqual(['they asked', null, 'other', whyNow]);
    expect(await other.runs.get('r1')).toMatchObject({
      approvals: [{ ...approval, reason: whyNow }],
      options: { accept: true, acceptReason: whyNow },
    });
    expect((await other.schedules.list()).map(({ pauseReason }) => pauseReason)).toEqual([whyNow, 'crm-170']);
    // Its text is in no table, but for the other key that begins like it.
    expect(await other.forgetting.search(['Zelda@'])).toEqual([]);
    const short = { key: '17', letterIds: [], texts: [] };
    await ledger.schedules.setPaused('a', createdAtMs, null, '17', { ...act, reason: '17 rows' });
    expect(await ledger.forgetting.forgetPerson(short, act)).toMatchObject({ reasons: 1 });
  });

  test('a person who is allowed again is not forgotten any more; counts only grow, and hosts are searched anew the next time', async () => {
    const { ledger, reopen } = await openForTest(open);
    const allowing: NewAct = { ...act, kind: 'forgetAllow', reason: 'a customer again' };
    expect(await ledger.forgetting.allowAgain('forget-me', allowing)).toBe(false);
    await ledger.forgetting.forgetPerson(person, act);
    expect(await ledger.forgetting.searchedOn('forget-me', 'h1')).toEqual(['h1']);
    expect(await ledger.forgetting.allowAgain('forget', allowing)).toBe(false);
    expect(await ledger.forgetting.allowAgain('forget-me', allowing)).toBe(true);
    expect(await ledger.forgetting.allowAgain('forget-me', allowing)).toBe(false);
    const other = await reopen();
    const allowed = await other.forgetting.forgottenPeople();
    expect([allowed?.count, allowed?.has('forget-me')]).toEqual([1, false]);
    expect(await other.forgetting.searchedOn('forget-me', 'h1')).toEqual([]);
    expect((await other.acts.list({ limit: 9 })).map(({ kind }) => kind)).toEqual(['forgetAllow', 'forget']);
    await other.forgetting.forgetPerson(person, act);
    await other.forgetting.forgetPerson(person, act);
    const again = await other.forgetting.forgottenPeople();
    expect([again?.count, again?.has('forget-me')]).toEqual([2, true]);
    expect(await other.forgetting.searchedOn('forget-me', 'h2')).toEqual(['h2']);
  });

  test('a stopped run goes on without the rows of the key, and adds up', async () => {
    const { ledger, reopen } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['keep-me', 'forget-me']);
    await ledger.runs.move('r1', ['applying'], 'stopped', { atMs: createdAtMs });
    expect(await ledger.forgetting.isInOpenRuns('forget-me')).toBe(true);
    expect(await ledger.forgetting.isInOpenRuns('forget-m')).toBe(false);
    expect(await ledger.forgetting.forgetPerson(person, act)).toMatchObject({ kind: 'done' });
    const other = await reopen();
    expect(await other.forgetting.search(['forget-me'])).toEqual([]);
    const stopped = await other.runs.get('r1');
    expect(stopped).toMatchObject({ counts: { skipped: 1 }, notes: ['1 waiting row was skipped: forgotten'] });
    expect(await other.runs.pendingCount('r1')).toBe(1);
    await other.runs.move('r1', ['stopped'], 'applying', { atMs: createdAtMs });
    const [left, ...more] = await pendingOf(other, run);
    if (left === undefined) throw new Error('a record waits');
    expect([left.key, more]).toEqual(['keep-me', []]);
    await settleAs(other, run, 'w1', [settled(left)]);
    expect(await other.runs.pendingCount('r1')).toBe(0);
    expect(await other.runs.countEnds('r1')).toMatchObject({ created: 1, skipped: 0, dead: 0 });
  });

  test('a run that was stopped after such a row had its outcome keeps it until it has ended', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['forget-me', 'keep-me']);
    const [one] = await pendingOf(ledger, run);
    if (one === undefined) throw new Error('a record was staged');
    await settleAs(ledger, run, 'w1', [settled(one)]);
    await ledger.runs.move('r1', ['applying'], 'stopped', { atMs: createdAtMs });
    expect(await ledger.forgetting.forgetPerson(person, act)).toEqual({ kind: 'busy', runId: 'r1' });
  });

  test('no person is forgotten while a run that has not ended has the key, reads a file, or writes it', async () => {
    const { ledger } = await openForTest(open);
    await withTwo(ledger);
    const run = await applyingRun(ledger, 'r3', ['forget-me']);
    expect(await ledger.forgetting.forgetPerson(person, act)).toEqual({ kind: 'busy', runId: run.id });
    await ledger.runs.move('r3', ['applying'], 'cancelled', { atMs: createdAtMs });
    await stagingRun(ledger, 'r4');
    expect(await ledger.forgetting.forgetPerson(person, act)).toEqual({ kind: 'busy', runId: 'r4' });
    await ledger.runs.move('r4', ['staging'], 'failed', { atMs: createdAtMs });
    await lease(ledger, 'w9', ['forget-me'], { sequence: 99 });
    expect(await ledger.forgetting.forgetPerson(person, act)).toEqual({ kind: 'busy', runId: null });
    await ledger.contacts.release('w9', ['forget-me']);
    expect(await ledger.forgetting.forgetPerson(person, act)).toMatchObject({ kind: 'done' });
  });
}
