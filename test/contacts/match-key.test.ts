import { expect, test } from 'vitest';
import { matchByKey } from '#src/contacts/reply.ts';
import { contact } from './support/build.ts';

const own = contact({ id: 'c1', externalId: 'K-1' });

test('a key is compared exactly: case, spaces and null make a stranger', () => {
  const strangers = ['k-1', 'K-1 ', 'K-10', null].map((externalId, index) => contact({ id: `s${index}`, externalId }));
  expect(matchByKey('K-1', strangers)).toEqual({ kind: 'none' });
});

test('a contact is never taken because it came first', () => {
  const stranger = contact({ id: 's1', externalId: 'K-2' });
  expect(matchByKey('K-1', [stranger, own])).toEqual({ kind: 'one', contact: own });
});

test('two contacts of one key are a conflict that names both', () => {
  expect(matchByKey('K-1', [own, contact({ id: 'c2', externalId: 'K-1' })])).toEqual({
    kind: 'conflict',
    ids: ['c1', 'c2'],
  });
});

test('one contact that stands on two pages is one contact', () => {
  expect(matchByKey('K-1', [own, own]).kind).toBe('one');
});

test('no contact at all is no match', () => {
  expect(matchByKey('K-1', [])).toEqual({ kind: 'none' });
});
