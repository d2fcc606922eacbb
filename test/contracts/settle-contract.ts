/** Settling: outcome, both halves of the base, counts and leases in one transaction, fenced by the lease. */
import { expect, test } from 'vitest';
import type { FieldName } from '#src/contacts/desired.ts';
import type { HeldField } from '#src/contacts/outcome.ts';
import type { SettledSaid } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { DeadRow, SettledRecord, StagedRecord } from '#src/ledger/staging.ts';
import {
  applyingRun,
  boundTo,
  createdAtMs,
  deadRow,
  desired,
  ended,
  hash,
  horizonAt,
  lease,
  leaseMs,
  newRecord,
  newRun,
  owned,
  pendingOf,
  saidOfKey,
  seenContact,
  settleAs,
  settled,
  settling,
  slice,
  stagingRun,
  wellEnd,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const heldField = (field: FieldName): HeldField => ({ field, said: 'Buyer', theirs: 'Boss', ours: 'Seller' });
const replyWarning = { field: 'company', code: 'replyDiffers', message: 'it came back in another form' } as const;
const skipped = (reason: 'gone' | 'superseded') => ({ outcome: 'skipped', reason }) as const;

function saidHolding(...fields: readonly FieldName[]): SettledSaid {
  const said = { ...saidOfKey('k1'), held: fields };
  const seen = { rowHash: hash('row'), fingerprint: hash('print'), mappingVersion: 'mapping-1' };
  return { ...seen, said, held: fields.map(heldField) };
}

/** A run at work, with as many records as there are keys. */
async function atWork(ledger: Ledger, ...keys: readonly string[]): Promise<[RunRecord, ...StagedRecord[]]> {
  const run = await applyingRun(ledger, 'r1', keys, { rowsPerBatch: 50 });
  return [run, ...(await pendingOf(ledger, run))];
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a record was staged');
  return value;
}

export function settleContract(open: OpenLedger): void {
  test('every outcome is counted, in the run and in its records alike', async () => {
    const { ledger } = await openForTest(open);
    const [run, ...records] = await atWork(ledger, 'k1', 'k2', 'k3', 'k4', 'k5');
    const [first, second, third, fourth, fifth] = records.map(present);
    const adopted = wellEnd('updated', {
      adopted: true,
      heldFields: [heldField('role'), heldField('company')],
      removedValues: 3,
      warnings: [replyWarning],
    });
    const written = await settleAs(ledger, run, 'w1', [
      settled(present(first)),
      settled(present(second), { end: adopted }),
      settled(present(third), { end: wellEnd('unchanged') }),
      ended(present(fourth), skipped('gone')),
      ended(present(fifth), { outcome: 'dead', dead: deadRow('k5', { class: 'refused', code: 'refused400' }) }),
    ]);
    expect(written).toBe(5);
    expect((await ledger.runs.get('r1'))?.counts).toEqual({
      rows: 5,
      created: 1,
      updated: 1,
      unchanged: 1,
      skipped: 1,
      moved: 0,
      dead: 1,
      adopted: 1,
      linked: 0,
      deleted: 0,
      heldFields: 2,
      removedValues: 3,
      deadNew: 1,
      warnings: 1,
      lookedUp: 0,
      foundUnknown: 0,
    });
    expect(await ledger.runs.countEnds('r1')).toEqual({ created: 1, updated: 1, unchanged: 1, skipped: 1, dead: 1 });
    expect((await ledger.runs.deadByCode('r1')).map(({ count }) => count)).toEqual([1]);
    expect(await ledger.runs.pendingCount('r1')).toBe(0);
  });

  test('changes, held fields, warnings and skips are told in the order they happened', async () => {
    const { ledger } = await openForTest(open);
    const [run, first, second] = await atWork(ledger, 'k1', 'k2');
    const changedFields = ['company', 'phone.+14155550101'];
    const warnings = [replyWarning, { field: 'role', code: 'overtaken', message: 'kept that value' } as const];
    const end = wellEnd('updated', { changedFields, heldFields: [heldField('role')], warnings });
    await settleAs(ledger, run, 'w1', [settled(present(first), { end }), ended(present(second), skipped('gone'))]);
    expect(await ledger.runs.events('r1', 0, 10)).toMatchObject([
      { ordinal: 1, kind: 'changed', line: 2, key: 'k1', code: 'updated', field: null, fields: changedFields },
      { ordinal: 2, kind: 'held', line: 2, key: 'k1', code: 'held', field: 'role' },
      { ordinal: 3, kind: 'warning', line: 2, key: 'k1', ...replyWarning },
      { ordinal: 4, kind: 'warning', line: 2, key: 'k1', code: 'overtaken', field: 'role', message: 'kept that value' },
      { ordinal: 5, kind: 'skipped', line: 3, key: 'k2', code: 'gone' },
    ]);
  });

  test('both halves of the base move with a success', async () => {
    const { ledger, reopen } = await openForTest(open);
    const [run, record] = await atWork(ledger, 'k1');
    const agreed = [{ feed: null, values: [{ field: 'role', value: 'Seller' }] }] as const;
    const stamps = [{ feed: 'main', sequence: run.sequence, fields: ['role'] }] as const;
    const bound = boundTo('k1', { contactId: 'c1', owned: owned('+14155550101'), agreed, stamps, writtenAtMs: 700 });
    await settleAs(ledger, run, 'w1', [settled(present(record), { bound })]);
    const other = await reopen();
    expect((await other.contacts.get(['k1'])).get('k1')).toEqual({
      key: 'k1',
      state: 'bound',
      contactId: 'c1',
      seen: seenContact('k1', 'c1'),
      owned: owned('+14155550101'),
      agreed,
      stamps,
      saids: [{ feed: 'main', said: saidOfKey('k1') }],
      writtenAtMs: 700,
      attempts: 0,
      intentRun: null,
      claim: null,
      linkedTo: null,
    });
    expect((await other.runs.saidOf('main', ['k1'])).get('k1')?.said).toEqual(saidOfKey('k1'));
  });

  test('a half that is not given does not move', async () => {
    const { ledger } = await openForTest(open);
    const [run, first, second] = await atWork(ledger, 'k1', 'k2');
    const dead = { outcome: 'dead', dead: deadRow('k1', { class: 'notApplied', code: 'notApplied' }) } as const;
    await settleAs(ledger, run, 'w1', [
      settled(present(first), { end: dead, said: null }),
      ended(present(second), { ...dead, dead: deadRow('k2') }),
    ]);
    const contacts = await ledger.contacts.get(['k1', 'k2']);
    expect(contacts.get('k1')).toMatchObject({ state: 'bound', contactId: 'id-of-k1' });
    expect(contacts.has('k2')).toBe(false);
    expect((await ledger.runs.saidOf('main', ['k1', 'k2'])).size).toBe(0);
  });

  test('a later settling of the same key replaces both halves', async () => {
    const { ledger } = await openForTest(open);
    const [run, record] = await atWork(ledger, 'k1');
    await settleAs(ledger, run, 'w1', [settled(present(record))]);
    const later = await applyingRun(ledger, 'r2', ['k1']);
    const [again] = await pendingOf(ledger, later);
    const bound = boundTo('k1', { contactId: 'c2' });
    const said = {
      said: saidOfKey('x'),
      rowHash: hash('row-2'),
      fingerprint: hash('print-2'),
      mappingVersion: 'mapping-2',
      held: [],
    };
    await settleAs(ledger, later, 'w1', [settled(present(again), { bound, said })]);
    expect((await ledger.contacts.get(['k1'])).get('k1')).toMatchObject({ contactId: 'c2' });
    const known = { rowHash: hash('row-2'), fingerprint: hash('print-2'), heldCount: 0 };
    expect((await ledger.runs.saidOf('main', ['k1'])).get('k1')).toMatchObject(known);
    expect(await ledger.runs.knownKeyCount('main')).toBe(1);
  });

  test('fields that wait for a person are kept with both values, since when they wait, until they are settled', async () => {
    const { ledger, reopen } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2'], { feed: 'crm' });
    const [first, second] = await pendingOf(ledger, run);
    await settleAs(ledger, run, 'w1', [
      settled(present(first), { said: saidHolding('role', 'company') }),
      settled(present(second), { said: saidHolding('role') }),
    ]);
    const other = await reopen();
    const place = { feed: 'crm', runId: 'r1', sinceMs: createdAtMs + 50 };
    expect(await other.contacts.held({ limit: 10 })).toEqual([
      { ...heldField('company'), ...place, key: 'k1', line: 2 },
      { ...heldField('role'), ...place, key: 'k1', line: 2 },
      { ...heldField('role'), ...place, key: 'k2', line: 3 },
    ]);
    expect(await other.contacts.heldCount({ feed: 'crm', field: 'role' })).toBe(2);
    expect(await other.contacts.heldCount({ feed: 'shop' })).toBe(0);
    const [page] = await other.contacts.held({ limit: 1, after: { feed: 'crm', key: 'k1', field: 'company' } });
    expect(page).toMatchObject({ key: 'k1', field: 'role' });

    const later = await applyingRun(ledger, 'r2', ['k1'], { feed: 'crm' });
    const [again] = await pendingOf(ledger, later);
    await settleAs(ledger, later, 'w1', [settled(present(again), { said: saidHolding('role') })]);
    expect(await ledger.contacts.held({ keys: ['k1'], limit: 10 })).toMatchObject([
      { field: 'role', runId: 'r2', sinceMs: createdAtMs + 50 },
    ]);
    expect((await ledger.runs.saidOf('crm', ['k1'])).get('k1')).toMatchObject({ heldCount: 1 });
  });

  test('what another feed said moves with a settling, and its next row is planned where that is asked for', async () => {
    const { ledger } = await openForTest(open);
    const shop = await applyingRun(ledger, 'r1', ['k1', 'k2'], { feed: 'shop' });
    const [one, two] = await pendingOf(ledger, shop);
    await settleAs(ledger, shop, 'w1', [settled(present(one)), settled(present(two))]);
    const crm = await applyingRun(ledger, 'r2', ['k1', 'k2'], { feed: 'crm' });
    const [first, second] = await pendingOf(ledger, crm);
    const moved = { feed: 'shop', said: saidOfKey('moved'), sequence: null };
    await settleAs(ledger, crm, 'w1', [
      settled(present(first), { others: [{ ...moved, looksAgain: false }] }),
      settled(present(second), { others: [{ ...moved, looksAgain: true }] }),
    ]);
    const said = await ledger.runs.saidOf('shop', ['k1', 'k2']);
    expect(said.get('k1')).toMatchObject({
      said: saidOfKey('moved'),
      fingerprint: hash('print-k1'),
      rowHash: hash('row-k1'),
    });
    expect(said.get('k2')).toMatchObject({ said: saidOfKey('moved'), fingerprint: null, rowHash: null });
    // Its order is its own: the newer run of the other feed says nothing about it.
    const ask = await lease(ledger, 'w9', ['k1'], { feed: 'shop', sequence: shop.sequence });
    expect(ask.get('k1')?.kind).toBe('leased');
  });

  test('a record whose lease went to another owner is left to that owner', async () => {
    const { ledger, reopen } = await openForTest(open);
    const [run, first, second] = await atWork(ledger, 'k1', 'k2');
    const { sequence } = run;
    const other = await reopen();
    await lease(ledger, 'w1', ['k1', 'k2'], { sequence, nowMs: 1_000 });
    await lease(other, 'w2', ['k1'], { sequence, nowMs: 1_000 + leaseMs });
    const request = settling(run, 'w1');
    const late = [settled(present(first)), settled(present(second))];
    expect(await ledger.runs.settle({ ...request, records: late })).toBe(1);
    expect((await ledger.runs.get('r1'))?.counts.created).toBe(1);
    expect((await ledger.contacts.get(['k1'])).get('k1')).toMatchObject({ state: 'lookup', contactId: null });
    expect((await ledger.runs.saidOf('main', ['k1'])).size).toBe(0);
    const mine = [settled(present(first), { end: wellEnd('updated') })];
    expect(await other.runs.settle({ ...request, owner: 'w2', records: mine })).toBe(1);
    expect(await ledger.runs.countEnds('r1')).toMatchObject({ created: 1, updated: 1 });
  });

  test('without any lease nothing is settled but a skip', async () => {
    const { ledger } = await openForTest(open);
    const [run, first, second] = await atWork(ledger, 'k1', 'k2');
    const records = [settled(present(first)), ended(present(second), skipped('superseded'))];
    const request = { ...settling(run, 'w1'), records };
    expect(await ledger.runs.settle(request)).toBe(1);
    expect((await pendingOf(ledger, run)).map((record) => record.key)).toEqual(['k1']);
    expect((await ledger.runs.get('r1'))?.counts).toMatchObject({ created: 0, skipped: 1 });
  });

  test('a skip does not take the key from the one who holds it', async () => {
    const { ledger } = await openForTest(open);
    const [run, record] = await atWork(ledger, 'k1');
    await lease(ledger, 'w2', ['k1'], { sequence: run.sequence });
    const records = [ended(present(record), skipped('superseded'))];
    await ledger.runs.settle({ ...settling(run, 'w1'), records });
    expect((await lease(ledger, 'w1', ['k1'], { sequence: run.sequence })).get('k1')?.kind).toBe('held');
  });

  test('settling twice writes and counts once', async () => {
    const { ledger } = await openForTest(open);
    const [run, record] = await atWork(ledger, 'k1');
    expect(await settleAs(ledger, run, 'w1', [settled(present(record))])).toBe(1);
    const counts = (await ledger.runs.get('r1'))?.counts;
    expect(await settleAs(ledger, run, 'w1', [settled(present(record), { end: wellEnd('updated') })])).toBe(0);
    expect((await ledger.runs.get('r1'))?.counts).toEqual(counts);
    expect(await ledger.runs.countEnds('r1')).toMatchObject({ created: 1, updated: 0 });
  });

  test('settled keys are free at once', async () => {
    const { ledger } = await openForTest(open);
    const [run, first, second] = await atWork(ledger, 'k1', 'k2');
    await settleAs(ledger, run, 'w1', [settled(present(first)), ended(present(second), skipped('gone'))]);
    const answers = await lease(ledger, 'w2', ['k1', 'k2'], { sequence: run.sequence });
    expect([...answers.values()].map((answer) => answer.kind)).toEqual(['leased', 'leased']);
  });

  test('a binding ends the intent and its horizon', async () => {
    const { ledger } = await openForTest(open);
    const [run, record] = await atWork(ledger, 'k1');
    await lease(ledger, 'w1', ['k1'], { sequence: run.sequence });
    const contacts = [{ key: 'k1', owned: owned('+14155550101'), claim: null }];
    await ledger.contacts.intend({
      contacts,
      owner: 'w1',
      runId: 'r1',
      horizon: horizonAt(1_000_000),
    });
    const request = settling(run, 'w1');
    await ledger.runs.settle({ ...request, records: [settled(present(record))] });
    const answer = await lease(ledger, 'w2', ['k1'], { sequence: run.sequence });
    expect(answer.get('k1')).toMatchObject({ kind: 'leased', contact: { state: 'bound' } });
  });

  test('a death without a binding keeps the intent: the create may still land', async () => {
    const { ledger } = await openForTest(open);
    const [run, record] = await atWork(ledger, 'k1');
    await lease(ledger, 'w1', ['k1'], { sequence: run.sequence });
    const contacts = [{ key: 'k1', owned: owned(), claim: null }];
    const intent = { contacts, owner: 'w1', runId: 'r1', horizon: horizonAt(9_000) };
    await ledger.contacts.intend(intent);
    const dead = deadRow('k1', { class: 'doubt', code: 'doubt' });
    const records = [ended(present(record), { outcome: 'dead', dead })];
    await ledger.runs.settle({ ...settling(run, 'w1'), records });
    const answer = await lease(ledger, 'w2', ['k1'], { sequence: run.sequence, nowMs: 8_000 });
    expect(answer.get('k1')).toEqual({ kind: 'horizon', waitMs: 1_000 });
  });

  test('a conflict is a state of the key: it keeps no horizon, and may be created again once nothing is found', async () => {
    const { ledger } = await openForTest(open);
    const [run, record] = await atWork(ledger, 'k1');
    await lease(ledger, 'w1', ['k1'], { sequence: run.sequence });
    const intent = {
      contacts: [{ key: 'k1', owned: owned('+14155550101'), claim: null }],
      runId: run.id,
    };
    await ledger.contacts.intend({ ...intent, owner: 'w1', horizon: horizonAt(60_000) });
    const dead = deadRow('k1', { class: 'conflict', code: 'keyTaken' });
    await settleAs(ledger, run, 'w1', [ended(present(record), { outcome: 'dead', dead })]);
    expect((await ledger.contacts.get(['k1'])).get('k1')).toMatchObject({ state: 'conflict', contactId: null });
    expect((await lease(ledger, 'w2', ['k1'], { sequence: run.sequence })).get('k1')).toMatchObject({ kind: 'leased' });
    expect(await ledger.contacts.intend({ ...intent, owner: 'w2', horizon: horizonAt(90_000) })).toEqual(['k1']);
    expect((await ledger.contacts.get(['k1'])).get('k1')).toMatchObject({ state: 'intent', intentRun: run.id });
  });

  test('a death sets the attempts back: whoever tries the row again counts anew', async () => {
    const { ledger } = await openForTest(open);
    const [run, record] = await atWork(ledger, 'k1');
    await lease(ledger, 'w1', ['k1'], { sequence: run.sequence });
    await ledger.contacts.noteDoubt('w1', { key: 'k1', runId: run.id, atMs: 1_000, why: 'reset', burn: true });
    const dead = deadRow('k1', { class: 'doubt', code: 'doubt' });
    await settleAs(ledger, run, 'w1', [ended(present(record), { outcome: 'dead', dead })]);
    expect((await ledger.contacts.get(['k1'])).get('k1')?.attempts ?? 0).toBe(0);
  });

  test('a part of a contact has letters of its own, which no row closes and which close none of a row', async () => {
    const { ledger } = await openForTest(open);
    const ofPart = { desired: { ...desired('k1'), repairs: true } } as const;
    const reject = async (id: string, ...dead: readonly DeadRow[]) =>
      ledger.runs.stage(slice(await stagingRun(ledger, id), { dead }));
    const succeed = async (id: string, given = {}) => {
      const run = await applyingRun(ledger, id, ['k1']);
      const ends = (await pendingOf(ledger, run)).map((record) => settled(record, given));
      await settleAs(ledger, run, 'w1', ends);
    };
    const states = async () =>
      (await ledger.deadLetters.list({ limit: 10 }))
        .map(({ desired: of, state }) => `${of === null ? 'row' : 'part'} ${state}`)
        .toSorted();
    await succeed('r1');
    await reject('r2', deadRow('k1'), deadRow('k1', ofPart));
    expect(await states()).toEqual(['part open', 'row open']);
    await succeed('r3', { part: 'repair' });
    expect(await states()).toEqual(['part closed', 'row open']);
    await reject('r4', deadRow('k1', ofPart));
    await stagingRun(ledger, 'r5');
    await ledger.runs.confirm('r5', { unchanged: Uint8Array.of(2), met: Uint8Array.of(2) });
    await ledger.deadLetters.closeUnchanged('r5');
    expect(await states()).toEqual(['part open', 'row closed']);
    await succeed('r6');
    expect(await states()).toEqual(['part open', 'row closed']);
  });

  test('a letter that a newer row has met since is neither closed nor changed by the retry of the older one', async () => {
    const { ledger } = await openForTest(open);
    const older = await stagingRun(ledger, 'r1');
    await ledger.runs.stage(slice(older, { dead: [deadRow('k1')] }));
    const [letter] = await ledger.deadLetters.list({ limit: 10 });
    const letterId = letter?.id ?? '';
    const retry = await ledger.deadLetters.enterRedrive(newRun('r2'), { ids: [letterId], metBy: ['r1'] });
    if (retry === null) throw new Error('no redrive was entered');
    await ledger.runs.beginStaging('r2', createdAtMs);
    const records = [1, 2, 3].map((line) => newRecord('k1', { line, sequence: older.sequence, letterId }));
    await ledger.runs.stage(slice(retry, { records, counts: { rows: 3 } }));
    await ledger.runs.move('r2', ['staging'], 'applying', { atMs: createdAtMs + 20 });
    const [first, second, third] = await pendingOf(ledger, retry);
    await ledger.runs.stage(slice(await stagingRun(ledger, 'r3'), { dead: [deadRow('k1', { line: 9 })] }));
    const newer = await ledger.deadLetters.get(letterId);
    expect(newer).toMatchObject({ state: 'open', line: 9 });
    const same = { outcome: 'dead', dead: deadRow('k1', { letterId }) } as const;
    await settleAs(ledger, retry, 'w1', [ended(present(first), same)]);
    expect(await ledger.deadLetters.get(letterId)).toEqual(newer);
    expect(await ledger.runs.deadRows('r2', 0, 10)).toMatchObject([{ letterId }]);
    const other = { outcome: 'dead', dead: deadRow('k1', { letterId, code: 'emailInvalid' }) } as const;
    await settleAs(ledger, retry, 'w1', [ended(present(second), other)]);
    expect(await ledger.deadLetters.get(letterId)).toEqual(newer);
    await settleAs(ledger, retry, 'w1', [settled(present(third))]);
    expect(await ledger.deadLetters.get(letterId)).toEqual(newer);
  });

  test('a letter of many held fields with long names is one, in whichever order they come', async () => {
    const { ledger } = await openForTest(open);
    const fields = Array.from(
      { length: 100 },
      (_, index): FieldName => `custom.${hash(`a${index}`)}${hash(`b${index}`)}`,
    );
    const taken = fields.map((field) => ({ field, runId: 'r1', line: 2 }));
    const dead = [taken, taken.toReversed()].map((one) => deadRow('k1', { desired: { ...desired('k1'), taken: one } }));
    await ledger.runs.stage(slice(await stagingRun(ledger, 'r1'), { dead }));
    expect(await ledger.deadLetters.list({ limit: 10 })).toMatchObject([{ state: 'open', key: 'k1' }]);
  });

  test('a letter of held fields is closed by a row that says them, and by no other', async () => {
    const { ledger } = await openForTest(open);
    const taken = [{ field: 'role', runId: 'r1', line: 2 }] as const;
    const says = { scalars: { role: 'Buyer' }, customFields: [] };
    const succeed = async (id: string, given: Partial<SettledRecord>) => {
      const run = await applyingRun(ledger, id, ['k1']);
      const ends = (await pendingOf(ledger, run)).map((record) => settled(record, given));
      await settleAs(ledger, run, 'w1', ends);
    };
    const states = async () => (await ledger.deadLetters.list({ limit: 10 })).map(({ state }) => state);
    const dead = [deadRow('k1', { desired: { ...desired('k1'), taken } })];
    await ledger.runs.stage(slice(await stagingRun(ledger, 'r1'), { dead }));
    await succeed('r2', { says: { scalars: { firstName: 'Ann' }, customFields: [] } });
    await stagingRun(ledger, 'r3');
    await ledger.runs.confirm('r3', { unchanged: Uint8Array.of(2), met: Uint8Array.of(2) });
    await ledger.deadLetters.closeUnchanged('r3');
    expect(await states()).toEqual(['open']);
    await succeed('r4', { says });
    expect(await states()).toEqual(['closed']);
  });
}
