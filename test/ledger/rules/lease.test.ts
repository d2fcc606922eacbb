/** Who may work on a key, and what writes change in its record, without a database. */
import { describe, expect, it } from 'vitest';
import { nobodyOwns } from '#src/contacts/base.ts';
import type { LeaseRequest } from '#src/ledger/contacts.ts';
import { type ContactFacts, claimed, doubted, intended, unclaimed, withdrawn } from '#src/ledger/rules/contact.ts';
import { decideLease, isAtWork, type LeaseFacts } from '#src/ledger/rules/lease.ts';
import { contact as contactAs } from '#test/contacts/support/build.ts';

const request: LeaseRequest = {
  ...{ feed: 'crm', keys: [], owner: 'w1', leaseMs: 500, nowMs: 10_000 },
  isOwnerDead: (owner) => owner === 'dead',
};
const free: LeaseFacts = {
  ...{ owner: null, leaseUntilMs: null, horizonAtMs: null, settledSequence: 3, claim: null },
};
const decide = (facts: Partial<LeaseFacts>, sequence = 3) => decideLease(request, sequence, { ...free, ...facts });
const lease = { owner: 'w1', untilMs: 10_500 };

describe('a lease', () => {
  it('is given for a free key', () => {
    expect(decide({})).toEqual({ kind: 'leased', change: { lease } });
  });

  it('is refused to a row that is older than what its feed settled, or is about to write', () => {
    expect(decide({}, 2).kind).toBe('superseded');
    expect(decide({ claim: { feed: 'crm', sequence: 4 } }).kind).toBe('superseded');
    expect(decide({ claim: { feed: 'other', sequence: 4 } }).kind).toBe('leased');
  });

  it('waits for another owner, unless that one is dead or late', () => {
    const held = { owner: 'w2', leaseUntilMs: 10_200 };
    expect(decide(held)).toEqual({ kind: 'held', waitMs: 200, change: null });
    for (const other of [{ owner: 'w1' }, { owner: 'dead' }, { leaseUntilMs: 10_000 }]) {
      expect(decide({ ...held, ...other }).kind).toBe('leased');
    }
    expect(isAtWork(request, { ...free, ...held, owner: 'w1' })).toBe(true);
  });

  it('waits for the horizon of a write', () => {
    expect(decide({ horizonAtMs: 10_300 })).toEqual({ kind: 'horizon', waitMs: 300, change: null });
    expect(decide({ horizonAtMs: 10_000 }).kind).toBe('leased');
  });
});

describe('a write', () => {
  const at = { owner: 'w1', runId: 'r1', horizon: { atMs: 12_000, spanMs: 2_000 }, contacts: [] };
  const contact = { key: 'k1', owned: nobodyOwns, claim: null };
  const facts = (parts: Partial<ContactFacts>): ContactFacts => ({
    state: 'lookup',
    contactId: null,
    linkedTo: null,
    owner: 'w1',
    attempts: 1,
    ...parts,
  });

  it('is refused to an owner that lost the lease', () => {
    const lost = facts({ owner: 'w2', state: 'intent' });
    const update = { ...contact, position: 1, resolved: null };
    expect([
      intended(at, contact, lost),
      claimed({ ...at, atMs: 1 }, update, lost, null),
      unclaimed('w1', contact, lost),
      withdrawn('w1', contact, lost),
      doubted('w1', true, lost),
      doubted('w1', true, null),
    ]).toEqual([null, null, null, null, null, null]);
  });

  it('that creates is intended for a key that is not bound, and withdrawn only while it is intended', () => {
    expect(intended(at, contact, facts({}))).toMatchObject({
      state: 'intent',
      intentRun: 'r1',
      horizon: { atMs: 12_000 },
    });
    expect(intended(at, contact, facts({ state: 'bound' }))).toBeNull();
    expect(withdrawn('w1', contact, facts({ state: 'intent' }))).toMatchObject({ state: 'lookup', claim: null });
    expect(withdrawn('w1', contact, facts({ state: 'bound' }))).toBeNull();
  });

  it('that goes to the contact that has the key by now binds the key to it', () => {
    const theirs = contactAs({ id: 'c2' });
    const update = {
      ...contact,
      position: 1,
      movedTo: theirs,
      resolved: { agreed: [], stamps: [], saids: [], journal: null },
    };
    const bound = { runSequence: 7, atMs: 1 };
    const before = facts({ state: 'intent', contactId: 'c1' });
    const after = { state: 'bound', contactId: 'c2', seen: theirs, intentRun: null, agreed: [], bound };
    expect(claimed({ ...at, atMs: 1 }, update, before, bound)).toMatchObject(after);
  });

  it('that was certainly not carried out leaves the key linked only to the contact that it is bound to', () => {
    const one = facts({ state: 'bound', contactId: 'c-1', linkedTo: 'c-1' });
    expect(unclaimed('w1', contact, one)).not.toHaveProperty('linkedTo');
    expect(unclaimed('w1', contact, { ...one, linkedTo: 'c-2' })).toMatchObject({ linkedTo: null });
    expect(unclaimed('w1', contact, facts({ linkedTo: 'c-2' }))).toMatchObject({ linkedTo: null });
  });

  it('in doubt counts as an attempt only where others succeeded', () => {
    expect(doubted('w1', true, facts({}))).toEqual({ attempts: 2 });
    expect(doubted('w1', false, facts({}))).toEqual({ attempts: 1 });
  });
});
