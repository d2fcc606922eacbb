/** What changed between two snapshots, and how it is told. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SnapshotRecord } from '#src/ledger/snapshots.ts';
import { deliveriesOf, eventsOf, postedEvent } from '#src/snapshots/change-events.ts';
import { changeCounts, compareSnapshots } from '#src/snapshots/compare-snapshots.ts';
import { describeChange } from '#src/snapshots/describe-change.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { number, numbers, restricted, user } from './support/numbers.ts';

/** The one number before and after, as changes by field. */
function changesOf(before: Record<string, unknown>, after: Record<string, unknown>): unknown {
  const [change] = compareSnapshots([number(1, before)], [number(1, after)]).changes;
  return change?.kind === 'changed' ? change.changes : null;
}

/** The same in words. */
function words(before: Record<string, unknown>, after: Record<string, unknown>, values = true): string {
  const [change] = compareSnapshots([number(1, before)], [number(1, after)]).changes;
  return change === undefined ? '' : describeChange(change, { values });
}

describe('two snapshots compare to added, removed, changed', () => {
  test('numbers are told apart by their id, and what was removed stands last', () => {
    const { changes } = compareSnapshots([number(1), number(2)], [number(3), number(2, { name: 'New' }), number(4)]);
    expect(changes.map((one) => `${one.kind} ${one.kind === 'changed' ? one.after.id : one.number.id}`)).toEqual([
      'added PN3',
      'changed PN2',
      'added PN4',
      'removed PN1',
    ]);
    expect(changeCounts(changes)).toEqual({ added: 2, removed: 1, changedNumbers: 1 });
  });

  test('a change of updatedAt alone is none, and the number stays as it was', () => {
    const before = [number(1)];
    const { changes, numbers: kept } = compareSnapshots(before, [number(1, { updatedAt: '2026-11-20T10:00:00.000Z' })]);
    expect(changes).toEqual([]);
    expect(kept).toEqual(before);
  });

  test('null and absent are the same, and neither the order of members nor that of users is a change', () => {
    const { forward: _, ...withoutForward } = number(1, { users: [user('Ann'), user('Dee')] });
    const reversed = Object.fromEntries(Object.entries(withoutForward).reverse()) as PhoneNumber;
    const after = { ...reversed, users: [user('Dee'), user('Ann', { updatedAt: 'later' })] };
    expect(compareSnapshots([number(1, { users: [user('Ann'), user('Dee')] })], [after]).changes).toEqual([]);
  });

  test('users are compared by id: who joined, who left, whose role or name changed', () => {
    expect(
      changesOf(
        { users: [user('Ann'), user('Bob'), user('Cyd')] },
        { users: [user('Bob', { role: 'admin' }), user('Cyd', { firstName: 'Cy' }), user('Dee')] },
      ),
    ).toEqual({
      'users.USbob.role': { from: 'member', to: 'admin' },
      'users.UScyd.firstName': { from: 'Cyd', to: 'Cy' },
      'users.USdee': { from: null, to: user('Dee') },
      'users.USann': { from: user('Ann'), to: null },
    });
  });

  test('restrictions are compared by path, the other members by name, unknown ones too', () => {
    expect(
      changesOf(
        { extra: { list: [1] } },
        {
          restrictions: restricted({ calling: { Intl: 'restricted' }, messaging: { MX: 'restricted' } }),
          portingStatus: 'submitted',
          forward: '+14155550199',
          extra: { list: [1, 2] },
        },
      ),
    ).toEqual({
      'restrictions.calling.Intl': { from: 'unrestricted', to: 'restricted' },
      'restrictions.messaging.MX': { from: null, to: 'restricted' },
      portingStatus: { from: null, to: 'submitted' },
      forward: { from: null, to: '+14155550199' },
      extra: { from: { list: [1] }, to: { list: [1, 2] } },
    });
  });

  test('what does not have the form of the interface is compared as a whole', () => {
    const twice = [user('Ann'), user('Ann', { role: 'admin' })];
    for (const odd of ['nobody', 7, [null], [{ name: 'without an id' }], twice]) {
      expect(changesOf({ users: [user('Ann')] }, { users: odd })).toEqual({ users: { from: [user('Ann')], to: odd } });
    }
    expect(changesOf({ restrictions: null }, { restrictions: 'all' })).toEqual({
      restrictions: { from: null, to: 'all' },
    });
  });

  test('the same compared with itself is nothing; compared backwards, added and removed change places', () => {
    const value = fc.option(fc.oneof(fc.constantFrom('a', 'b', ''), fc.integer({ max: 2, min: 0 })));
    const anyUser = fc.record({ id: fc.constantFrom('US1', 'US2'), role: value }, { requiredKeys: ['id'] });
    const any = fc.record(
      {
        id: fc.constantFrom('PN1', 'PN2', 'PN3'),
        name: value,
        portingStatus: value,
        users: fc.oneof(value, fc.array(anyUser, { maxLength: 3 })),
        restrictions: fc.oneof(value, fc.dictionary(fc.constantFrom('calling', '__proto__'), value)),
      },
      { requiredKeys: ['id'] },
    );
    const list = fc.uniqueArray(any, { selector: ({ id }) => id, maxLength: 3 }) as fc.Arbitrary<PhoneNumber[]>;
    void fc.assert(
      fc.property(list, list, (one, other) => {
        expect(compareSnapshots(one, one).changes).toEqual([]);
        const [there, back] = [compareSnapshots(one, other), compareSnapshots(other, one)];
        const [counts, counted] = [changeCounts(there.changes), changeCounts(back.changes)];
        expect(counted).toEqual({
          added: counts.removed,
          removed: counts.added,
          changedNumbers: counts.changedNumbers,
        });
        // What is kept of it says the same as what came.
        expect(compareSnapshots(there.numbers, other).changes).toEqual([]);
        for (const change of there.changes) expect(describeChange(change, { values: true })).not.toBe('');
        expect(there.changes.flatMap(eventsOf).length).toBeGreaterThanOrEqual(there.changes.length);
      }),
      { numRuns: 200 },
    );
  });
});

describe('changes are told in words', () => {
  test('as a person says it', () => {
    expect(
      words({}, { users: [user('Ann'), user('Dee')], restrictions: restricted({ calling: { Intl: 'restricted' } }) }),
    ).toBe('+1 415 555 0101: Dee joined; international calls now restricted');
  });

  test.each([
    [{ users: [user('Ann'), user('Bob', { lastName: 'Ames' })] }, { users: [user('Ann')] }, 'Bob Ames left'],
    [{}, { users: [user('Ann', { role: 'admin' })] }, 'Ann is now admin, was member'],
    [{}, { users: [user('Ann', { email: 'a@example.org' })] }, 'e-mail of Ann now a@example.org, was ann@example.com'],
    [{}, { users: [user('Ann', { firstName: null })] }, 'first name of ann@example.com removed, was Ann'],
    [{}, { restrictions: restricted({ messaging: { US: 'restricted' } }) }, 'messages to the US now restricted'],
    [{}, { restrictions: restricted({ calling: { CA: null } }) }, 'calls to Canada no longer listed'],
    [{}, { restrictions: restricted({ calling: { MX: 'restricted' } }) }, 'restriction calling.MX now restricted'],
    [{ portingStatus: 'submitted' }, { portingStatus: 'completed' }, 'porting status now completed, was submitted'],
    [{}, { name: 'Sales' }, 'renamed from Main to Sales'],
    [{}, { forward: '+14155550199' }, 'now forwarded to +1 415 555 0199'],
    [{ forward: '+14155550199' }, {}, 'no longer forwarded'],
    [{}, { symbol: '☎️' }, 'symbol now ☎️'],
    [{}, { extra: { a: 1 } }, 'extra now {"a":1}'],
  ])('%j, then %j', (before, after, text) => {
    expect(words(before, after)).toBe(`+1 415 555 0101: ${text}`);
  });

  test('a number that has another number is told once', () => {
    expect(words({}, { number: '+14155550102', formattedNumber: '(415) 555-0102' })).toBe(
      '+1 415 555 0102: number now +1 415 555 0102, was +1 415 555 0101',
    );
  });

  test('numbers that came and went', () => {
    const [added, removed] = compareSnapshots([number(2)], [number(1, { users: [user('Ann'), user('Dee')] })]).changes;
    expect(added && describeChange(added, { values: true })).toBe('+1 415 555 0101: new, Main, with Ann and Dee');
    expect(removed && describeChange(removed, { values: true })).toBe('+1 415 555 0102: gone');
  });

  test('without values no name, number or e-mail stands in it', () => {
    const after = {
      name: 'Sales',
      forward: '+14155550199',
      portingStatus: 'completed',
      users: [user('Ann', { email: 'a@example.org', role: 'admin' }), user('Dee')],
    };
    expect(words({}, after, false)).toBe(
      'PN1: e-mail of USann changed; USann is now admin, was member; USdee joined; porting status now completed; ' +
        'name changed; forwarding changed',
    );
  });
});

describe('changes are told to the webhook', () => {
  test('with ids, names of fields, and the values of restrictions and porting status alone', () => {
    const before = number(1, { users: [user('Ann'), user('Bob')], portingStatus: 'someone@example.com' });
    const after = number(1, {
      name: 'Sales',
      portingStatus: 'completed',
      users: [user('Ann', { role: 'admin', email: 'a@example.org' }), user('Dee')],
      restrictions: restricted({ calling: { Intl: 'restricted' } }),
    });
    const events = compareSnapshots([before], [after]).changes.flatMap(eventsOf).map(postedEvent);
    const phoneNumber = 'PN1';
    expect(events).toEqual([
      { type: 'user.joined', phoneNumber, user: 'USdee' },
      { type: 'user.left', phoneNumber, user: 'USbob' },
      { type: 'restriction.changed', phoneNumber, restriction: 'calling.Intl', from: 'unrestricted', to: 'restricted' },
      { type: 'porting.changed', phoneNumber, from: null, to: 'completed' },
      { type: 'user.changed', phoneNumber, user: 'USann', fields: ['email', 'role'] },
      { type: 'phoneNumber.changed', phoneNumber, fields: ['name'] },
    ]);
  });

  test('ten thousand changed numbers are one delivery with a count of the rest', () => {
    const after = numbers(10_000).map((one) => ({ ...one, portingStatus: 'completed' }));
    const { changes } = compareSnapshots(numbers(10_000), after);
    const record: SnapshotRecord = {
      series: 'workspace',
      takenAtMs: 1_800_000_000_000,
      count: 10_000,
      pages: 1,
      changed: true,
      ...changeCounts(changes),
      contentOfMs: 1_800_000_000_000,
    };
    const [delivery, ...others] = deliveriesOf(record, record.takenAtMs - 1_000, changes, 'd1');
    expect(others).toEqual([]);
    expect(delivery?.data).toMatchObject({ changedNumbers: 10_000, moreEvents: 9_900 });
    expect(delivery?.data.events).toHaveLength(100);
    expect(JSON.stringify(delivery).length).toBeLessThan(20_000);
  });
});
