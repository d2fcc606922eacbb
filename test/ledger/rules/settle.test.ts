/** What the end of a record changes, without a database. */
import { describe, expect, it } from 'vitest';
import { cancelledEvent, eventsThatFit } from '#src/ledger/rules/events.ts';
import { type SettleFacts, settleRecord } from '#src/ledger/rules/settle.ts';
import type { RecordEnd, SettledRecord, SettleRequest } from '#src/ledger/staging.ts';
import { changesPerRunMax, eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { boundTo, deadRow } from '#test/contracts/support/build.ts';

const request: SettleRequest = { runId: 'r2', feed: 'crm', owner: 'w1', records: [], atMs: 1_000 };
const updated: RecordEnd = { outcome: 'updated', adopted: false, heldFields: [], removedValues: 0, warnings: [] };

const settled = (end: RecordEnd, parts: Partial<SettledRecord> = {}): SettledRecord => ({
  ...{ position: 1, line: 2, key: 'k1', sequence: 7, end, bound: null, said: null, others: [] },
  ...parts,
});

const pending = { line: 5, fingerprint: 'print', letterId: null, sent: true } as const;
const facts: SettleFacts = {
  ...{ holdsLease: true, runSequence: 2, pending, boundTo: null, intentRun: null, doubtRuns: [] },
  sendersAtWork: new Set(),
};

describe('the end of a record', () => {
  it('changes nothing where another owner holds the lease', () => {
    const lost = settleRecord(request, settled(updated, { bound: boundTo('k1', { contactId: 'c1' }) }), {
      ...facts,
      holdsLease: false,
    });
    expect(lost).toEqual({ contact: null, history: [], moved: [], said: null, journal: [], end: null });
  });

  it('needs no lease where a newer row superseded it, and leaves the key alone', () => {
    const end: RecordEnd = { outcome: 'skipped', reason: 'superseded' };
    const settlement = settleRecord(request, settled(end), { ...facts, holdsLease: false });
    expect(settlement).toMatchObject({
      contact: null,
      end: { outcome: 'skipped', forgetsRow: true, counts: { skipped: 1 } },
    });
    expect(settlement.end?.events).toMatchObject([{ kind: 'skipped', line: 5, code: 'superseded' }]);
  });

  it('keeps the fingerprint of a superseded row of which nothing was sent', () => {
    const end: RecordEnd = { outcome: 'skipped', reason: 'superseded' };
    const unsent = { ...facts, pending: { ...pending, sent: false } };
    expect(settleRecord(request, settled(end), unsent).end?.forgetsRow).toBe(false);
  });

  it('closes the letter of a superseded row where a newer row of its feed answered it, and leaves it where another feed did', () => {
    const end: RecordEnd = { outcome: 'skipped', reason: 'superseded' };
    const ofLetter = { ...facts, pending: { ...pending, letterId: 'd1' } };
    const closed = (holdsLease: boolean, parts: Partial<SettledRecord> = {}) =>
      settleRecord(request, settled(end, parts), { ...ofLetter, holdsLease }).end?.closesLetter;
    expect([closed(false), closed(true), closed(false, { part: 'held "role"' })]).toEqual(['d1', null, null]);
  });

  it('that deletes a contact leaves nothing of the deletion on its way', () => {
    expect(settleRecord(request, settled({ ...updated, deleted: true }), facts).contact).toMatchObject({
      ...{ lease: null, claim: null, horizon: null },
    });
    expect(settleRecord(request, settled(updated), facts).contact).toEqual({ lease: null });
  });

  it('remembers what reached the service although the run has given the record an outcome already', () => {
    const settlement = settleRecord(request, settled(updated, { bound: boundTo('k1', { contactId: 'c1' }) }), {
      ...facts,
      pending: null,
    });
    expect(settlement).toMatchObject({ contact: { state: 'bound', contactId: 'c1', lease: null }, end: null });
  });

  it('as a success closes the letters of its key and the one that it fixes, and starts the doubts anew', () => {
    const settlement = settleRecord(request, settled(updated, { bound: boundTo('k1', { contactId: 'c1' }) }), {
      ...facts,
      pending: { ...pending, letterId: 'd1' },
    });
    expect(settlement.contact).toMatchObject({ attempts: 0, claim: null, horizon: null, intentRun: null });
    expect(settlement.end).toMatchObject({
      closesLettersOfKey: true,
      closesLetter: 'd1',
      forgetsRow: false,
      dead: null,
    });
  });

  it('of a part of the contact records no fingerprint as tried', () => {
    const held = { ...settled({ outcome: 'dead', dead: deadRow('k1') }), part: 'held "role"' };
    expect(settleRecord(request, held, facts).end).toMatchObject({ dead: { code: 'phoneInvalid' }, tried: null });
  });

  it('as a rejected row resets the attempts, forgets what was sent, and records what was tried', () => {
    const settlement = settleRecord(request, settled({ outcome: 'dead', dead: deadRow('k1') }), facts);
    expect(settlement.contact).toEqual({ lease: null, attempts: 0 });
    expect(settlement.end).toMatchObject({
      counts: { dead: 1 },
      forgetsRow: true,
      tried: 'print',
      dead: { code: 'phoneInvalid' },
    });
  });

  it('as a conflict leaves no create on its way, and is in the history of the key', () => {
    const dead = deadRow('k1', { class: 'conflict', code: 'duplicate' });
    const settlement = settleRecord(request, settled({ outcome: 'dead', dead }), facts);
    expect(settlement.contact).toMatchObject({ state: 'conflict', horizon: null, intentRun: null, attempts: 0 });
    expect(settlement.history).toMatchObject([{ kind: 'conflict', detail: 'wrong: duplicate', runId: 'r2' }]);
  });
});

describe('the history of a key', () => {
  const kinds = (afterDoubt: 'adopted' | undefined, parts: Partial<SettleFacts>) =>
    settleRecord(
      request,
      settled(updated, { bound: boundTo('k1', { contactId: 'c1' }), ...(afterDoubt && { afterDoubt }) }),
      {
        ...facts,
        ...parts,
      },
    ).history.map(({ kind, runId, detail }) => [kind, runId, detail]);

  it('is empty for a plain write, and names a key that is bound to another contact', () => {
    expect(kinds(undefined, {})).toEqual([]);
    expect(kinds(undefined, { boundTo: 'c1' })).toEqual([]);
    expect(kinds(undefined, { boundTo: 'c0' })).toEqual([['bound', 'r2', null]]);
  });

  it('explains a doubt that no process recorded by a crash, in the run that intended it', () => {
    expect(kinds('adopted', { intentRun: 'r1' })).toEqual([
      ['doubt', 'r1', 'crash'],
      ['adopted', 'r2', null],
    ]);
    expect(kinds('adopted', { intentRun: 'r1', doubtRuns: ['r1'] })).toEqual([['adopted', 'r2', null]]);
  });
});

describe('the events of a run', () => {
  const event = (kind: RunEvent['kind']): RunEvent => ({
    kind,
    line: 2,
    key: 'k',
    code: 'x',
    field: null,
    message: '',
  });

  it('are kept up to their bound, and changes take at most half of it', () => {
    const both = [event('changed'), event('warning')];
    expect(eventsThatFit(both, 0).map(({ ordinal }) => ordinal)).toEqual([1, 2]);
    expect(eventsThatFit(both, changesPerRunMax)).toEqual([{ ordinal: changesPerRunMax + 1, event: both[1] }]);
    expect(eventsThatFit([...both, ...both], eventsPerRunMax - 1)).toMatchObject([{ ordinal: eventsPerRunMax }]);
    expect(eventsThatFit(both, eventsPerRunMax)).toEqual([]);
  });

  it('name the rows that a cancelled run left, all in one', () => {
    expect(cancelledEvent(1).message).toMatch(/^1 row was left out: the run was cancelled/);
    expect(cancelledEvent(2).message).toMatch(/^2 rows were left/);
  });
});
