/** Intents to create, and the horizon before which no look-up proves anything (`docs/rules.md`, steps 3 and 5). */
import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import {
  applyingRun,
  claimBy,
  horizonAt,
  lease,
  newRun,
  nobodyOwns,
  owned,
  pendingOf,
  saidOfKey,
  settleAs,
  settled,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const horizonAtMs = 4_000;

function intend(ledger: Ledger, owner: string, keys: readonly string[], runId = 'r1'): Promise<readonly string[]> {
  return ledger.contacts.intend({
    contacts: keys.map((key) => ({ key, owned: owned('+14155550101'), claim: null })),
    owner,
    runId,
    horizon: horizonAt(horizonAtMs),
  });
}

const claiming = { owner: 'w1', runId: 'r1', atMs: 1_000 };
const doubt = { runId: 'r1', atMs: 1_000, why: 'no reply in time', burn: true };

const stateOf = async (ledger: Ledger, key: string) => (await ledger.contacts.get([key])).get(key)?.state;

export function intentContract(open: OpenLedger): void {
  test('an intent is entered for the keys whose lease the owner holds, with what it will own', async () => {
    const { ledger, reopen } = await openForTest(open);
    await lease(ledger, 'w1', ['k1', 'k2']);
    await lease(ledger, 'w2', ['k3']);
    expect(await intend(ledger, 'w1', ['k1', 'k2', 'k3', 'k4'])).toEqual(['k1', 'k2']);
    const contacts = await (await reopen()).contacts.get(['k1', 'k3', 'k4']);
    expect(contacts.get('k1')).toMatchObject({ state: 'intent', owned: owned('+14155550101') });
    expect(contacts.get('k3')).toMatchObject({ state: 'lookup', owned: nobodyOwns });
    expect(contacts.has('k4')).toBe(false);
  });

  test('a key that is bound takes no intent', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    await settleAs(
      ledger,
      run,
      'w1',
      (await pendingOf(ledger, run)).map((record) => settled(record)),
    );
    await lease(ledger, 'w1', ['k1'], { sequence: run.sequence });
    expect(await intend(ledger, 'w1', ['k1'])).toEqual([]);
    expect(await stateOf(ledger, 'k1')).toBe('bound');
  });

  test('an intent in place of a contact that is gone leaves the key bound to that one, until the answer or a look-up binds it', async () => {
    const { ledger, reopen } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    await settleAs(
      ledger,
      run,
      'w1',
      (await pendingOf(ledger, run)).map((record) => settled(record)),
    );
    const known = async () => (await (await reopen()).contacts.get(['k1'])).get('k1');
    const contactId = (await known())?.contactId;
    expect(contactId).toBeTypeOf('string');
    await lease(ledger, 'w1', ['k1'], { sequence: run.sequence });
    const claim = { ...claimBy('crm', 7), kind: 'create', isOfUndo: true } as const;
    const inPlaceOf = (replaces: string) => {
      const contacts = [{ key: 'k1', owned: nobodyOwns, claim, replaces }];
      return ledger.contacts.intend({ contacts, owner: 'w1', runId: 'r1', horizon: horizonAt(horizonAtMs) });
    };
    // Another contact than the key has: that one is not gone, and the create would double it.
    expect(await inPlaceOf('id-of-another')).toEqual([]);
    expect(await known()).toMatchObject({ state: 'bound', contactId });
    expect(await inPlaceOf(contactId ?? '')).toEqual(['k1']);
    expect(await known()).toMatchObject({ state: 'intent', contactId, claim });
  });

  test('an older row of the feed is superseded from the intent on, though nobody knows yet whether the create lands', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1'], { feed: 'crm', sequence: 7 });
    const contacts = [{ key: 'k1', owned: nobodyOwns, claim: claimBy('crm', 7) }];
    const request = { contacts, owner: 'w1', runId: 'r7', horizon: horizonAt(horizonAtMs) };
    await ledger.contacts.intend(request);
    await ledger.contacts.release('w1', ['k1']);
    const ask = async (feed: string, sequence: number) => {
      const answer = await lease(ledger, 'w2', ['k1'], { feed, sequence, nowMs: horizonAtMs });
      await ledger.contacts.release('w2', ['k1']);
      return answer.get('k1')?.kind;
    };
    expect(await ask('crm', 6)).toBe('superseded');
    expect(await ask('crm', 7)).toBe('leased');
    expect(await ask('shop', 6)).toBe('leased');
  });

  test('an intent keeps what it sends until it is taken back', async () => {
    const { ledger, reopen } = await openForTest(open);
    await lease(ledger, 'w1', ['k1']);
    const contacts = [{ key: 'k1', owned: owned('+14155550101'), claim: claimBy('crm', 7) }];
    await ledger.contacts.intend({
      contacts,
      owner: 'w1',
      runId: 'r7',
      horizon: horizonAt(horizonAtMs),
    });
    const claimNow = async () => (await (await reopen()).contacts.get(['k1'])).get('k1')?.claim;
    expect(await claimNow()).toEqual(claimBy('crm', 7));
    await ledger.contacts.withdrawIntents('w1', [{ key: 'k1', owned: nobodyOwns }]);
    expect(await claimNow()).toBeNull();
  });

  test('what a resolved claim brought to light is entered with the claim that takes its place', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.runs.create(newRun('r1', { feed: 'crm' }));
    await lease(ledger, 'w1', ['k1'], { feed: 'crm' });
    const agreed = [{ feed: null, values: [{ field: 'role', value: 'Seller' }] }] as const;
    const stamps = [{ feed: 'crm', sequence: 7, fields: ['role'] }] as const;
    const saids = [{ feed: 'crm', said: saidOfKey('k1'), looksAgain: true, sequence: 7 }];
    const claimed = { key: 'k1', owned: nobodyOwns, position: 1, claim: claimBy('crm', 8) };
    const resolved = { agreed, stamps, saids, journal: null };
    await ledger.contacts.claimItems({
      ...claiming,
      contacts: [{ ...claimed, resolved }],
      horizon: horizonAt(horizonAtMs),
    });
    const known = (await (await reopen()).contacts.get(['k1'])).get('k1');
    expect(known).toMatchObject({ agreed, stamps, claim: { sequence: 8 } });
    expect(known?.saids).toEqual([{ feed: 'crm', said: saidOfKey('k1') }]);
    // What landed unseen must be planned again, whatever the file says next.
    const said = (await ledger.runs.saidOf('crm', ['k1'])).get('k1');
    expect(said).toMatchObject({ rowHash: null, fingerprint: null });
  });

  test('rows that a cancelled run leaves out are counted as in doubt while a write by it has not ended', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2', 'k3']);
    await applyingRun(ledger, 'r2', ['k3', 'k4']);
    await lease(ledger, 'w1', ['k1', 'k3', 'k4'], { sequence: run.sequence + 1 });
    await intend(ledger, 'w1', ['k1']);
    await intend(ledger, 'w1', ['k3', 'k4'], 'r2');
    expect(await ledger.runs.skippedInDoubt('r1')).toBe(1);
    const isWriting = (nowMs: number, runId = 'r1') =>
      ledger.runs.isWriting(runId, { nowMs, isOwnerDead: (owner) => owner === 'dead' });
    expect([await isWriting(1_000), await isWriting(1_000, 'r3'), await isWriting(10_000_000)]).toEqual([
      ...[true, false, false],
    ]);
    await ledger.runs.move('r1', ['applying'], 'cancelling', { atMs: 1_000 });
    // Nothing more is made for it.
    await lease(ledger, 'w1', ['k2'], { sequence: run.sequence + 1 });
    expect(await intend(ledger, 'w1', ['k2'])).toEqual([]);
    expect(await ledger.runs.skipPending('r1', 'cancelled', 1_000)).toBe(3);
    expect(await ledger.runs.skippedInDoubt('r1')).toBe(1);
    const events = await ledger.runs.events('r1', 0, 9);
    expect(events.map(({ code, key }) => [code, key])).toEqual([
      ['cancelled', 'k1'],
      ['cancelled', null],
    ]);
    await ledger.contacts.withdrawIntents('w1', [{ key: 'k1', owned: nobodyOwns }]);
    expect(await ledger.runs.skippedInDoubt('r1')).toBe(0);
  });

  test('a horizon stays when the lease is given back: nobody gets the key before it has passed', async () => {
    const { ledger, reopen } = await openForTest(open);
    await lease(ledger, 'w1', ['k1']);
    await intend(ledger, 'w1', ['k1']);
    await ledger.contacts.release('w1', ['k1']);
    const other = await reopen();
    const ask = async (nowMs: number) => (await lease(other, 'w2', ['k1'], { nowMs })).get('k1');
    expect(await ask(horizonAtMs - 1_000)).toEqual({ kind: 'horizon', waitMs: 1_000 });
    expect(await ask(horizonAtMs - 1)).toEqual({ kind: 'horizon', waitMs: 1 });
    expect(await ask(horizonAtMs)).toMatchObject({ kind: 'leased', contact: { state: 'intent' } });
  });

  test('the lease of a dead process is void, its horizon is not', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'dead#1', ['k1']);
    await intend(ledger, 'dead#1', ['k1']);
    const answer = await lease(ledger, 'w2', ['k1'], { nowMs: 1_100, isOwnerDead: () => true });
    expect(answer.get('k1')).toEqual({ kind: 'horizon', waitMs: horizonAtMs - 1_100 });
  });

  test('an intent that is taken back leaves no horizon; only the holder can take it back', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1', 'k2']);
    await intend(ledger, 'w1', ['k1', 'k2']);
    await ledger.contacts.withdrawIntents('w2', [
      { key: 'k1', owned: nobodyOwns },
      { key: 'k2', owned: nobodyOwns },
    ]);
    expect(await stateOf(ledger, 'k1')).toBe('intent');
    await ledger.contacts.withdrawIntents('w1', [{ key: 'k1', owned: nobodyOwns }]);
    await ledger.contacts.release('w1', ['k1', 'k2']);
    const answers = await lease(ledger, 'w2', ['k1', 'k2'], { nowMs: 1_100 });
    expect(answers.get('k1')).toMatchObject({ kind: 'leased', contact: { state: 'none', owned: nobodyOwns } });
    expect(answers.get('k2')).toMatchObject({ kind: 'horizon' });
  });

  test('a second intent moves the horizon on', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1']);
    await intend(ledger, 'w1', ['k1']);
    await lease(ledger, 'w2', ['k1'], { nowMs: horizonAtMs });
    const request = {
      contacts: [{ key: 'k1', owned: nobodyOwns, claim: null }],
      owner: 'w2',
      runId: 'r1',
    };
    expect(await ledger.contacts.intend({ ...request, horizon: horizonAt(9_000) })).toEqual(['k1']);
    await ledger.contacts.release('w2', ['k1']);
    const answer = await lease(ledger, 'w3', ['k1'], { nowMs: 8_000 });
    expect(answer.get('k1')).toEqual({ kind: 'horizon', waitMs: 1_000 });
  });

  test('what a PATCH is about to write is entered for its holder only', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1']);
    await lease(ledger, 'w2', ['k2']);
    const contacts = ['k1', 'k2'].map((key, index) => ({
      key,
      owned: owned('+14155550109'),
      position: index + 1,
      claim: null,
      resolved: null,
    }));
    await ledger.contacts.claimItems({ ...claiming, contacts, horizon: horizonAt(9_000) });
    const known = await ledger.contacts.get(['k1', 'k2']);
    expect(known.get('k1')?.owned).toEqual(owned('+14155550109'));
    expect(known.get('k2')?.owned).toEqual(nobodyOwns);
  });

  test('what a PATCH may still change is written by nobody before its horizon, unless its holder takes the claim back', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1', 'k2']);
    const contacts = ['k1', 'k2'].map((key, index) => ({
      key,
      owned: owned('+14155550109'),
      position: index + 1,
      claim: null,
      resolved: null,
    }));
    await ledger.contacts.claimItems({ ...claiming, contacts, horizon: horizonAt(horizonAtMs) });
    await ledger.contacts.unclaimItems('w2', [{ key: 'k1', owned: nobodyOwns, claim: null }]);
    await ledger.contacts.unclaimItems('w1', [{ key: 'k2', owned: nobodyOwns, claim: null }]);
    await ledger.contacts.release('w1', ['k1', 'k2']);
    const ask = (nowMs: number) => lease(ledger, 'w2', ['k1', 'k2'], { nowMs, isOwnerDead: () => true });
    const early = await ask(horizonAtMs - 1);
    expect(early.get('k1')).toEqual({ kind: 'horizon', waitMs: 1 });
    expect(early.get('k2')).toMatchObject({ kind: 'leased', contact: { owned: nobodyOwns } });
    expect((await ask(horizonAtMs)).get('k1')).toMatchObject({ kind: 'leased', contact: { state: 'lookup' } });
  });

  test('burned attempts add up, and a binding sets them back', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2']);
    await lease(ledger, 'w1', ['k1', 'k2'], { sequence: run.sequence });
    for (const key of ['k1', 'k2', 'k1']) await ledger.contacts.noteDoubt('w1', { ...doubt, key });
    // Neither a doubt in an outage counts, nor one of somebody who does not hold the key.
    await ledger.contacts.noteDoubt('w1', { ...doubt, key: 'k1', burn: false });
    await ledger.contacts.noteDoubt('w2', { ...doubt, key: 'k1' });
    expect((await ledger.contacts.get(['k1'])).get('k1')?.attempts).toBe(2);
    await settleAs(
      ledger,
      run,
      'w1',
      (await pendingOf(ledger, run)).slice(0, 1).map((record) => settled(record)),
    );
    expect((await ledger.contacts.get(['k1'])).get('k1')?.attempts).toBe(0);
    expect((await ledger.contacts.get(['k2'])).get('k2')?.attempts).toBe(1);
  });

  test('a few bound keys tell which workspace this is; leases and intents do not', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2', 'k3'], { rowsPerBatch: 5 });
    await lease(ledger, 'w1', ['k8', 'k9']);
    await intend(ledger, 'w1', ['k9']);
    expect(await ledger.contacts.sampleBound(5)).toEqual([]);
    await settleAs(
      ledger,
      run,
      'w1',
      (await pendingOf(ledger, run)).map((record) => settled(record)),
    );
    const sample = await ledger.contacts.sampleBound(5);
    expect(sample.map(({ key, contactId }) => `${key} ${contactId}`).toSorted()).toEqual([
      'k1 id-of-k1',
      'k2 id-of-k2',
      'k3 id-of-k3',
    ]);
    expect(await ledger.contacts.sampleBound(2)).toHaveLength(2);
  });
}
