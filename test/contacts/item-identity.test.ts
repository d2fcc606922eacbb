import fc from 'fast-check';
import { expect, test } from 'vitest';
import { itemIdentity, sameText } from '#src/contacts/desired.ts';

const character = fc.constantFrom(...'+0123456789 ()-.abzABZ@_[]~!', 'é', 'e\u0301', 'ß', '\u00a0', '٣');
const text = fc.oneof(fc.string({ unit: character, maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 8 }));
const numeric = fc.string({ unit: fc.constantFrom(...'+0123456789'), maxLength: 8 });

/** The rule as its words say it, without a way round for plain values. */
function identityByTheRule(kind: 'email' | 'phone', value: string): string {
  const folded = value.normalize('NFC').trim().toLowerCase();
  if (kind === 'email') return folded;
  const dialled = folded.replace(/[^+\d]/g, '');
  return /\d/.test(dialled) ? dialled : folded;
}

test('the identity of an item is the same whether its value is plain or needs folding', () => {
  fc.assert(
    fc.property(fc.constantFrom('email' as const, 'phone' as const), fc.oneof(text, numeric), (kind, value) => {
      expect(itemIdentity(kind, value)).toBe(identityByTheRule(kind, value));
    }),
    { numRuns: 2_000 },
  );
});

test('texts are the same by their composed form, and an empty one is none', () => {
  expect(sameText('e\u0301', 'é')).toBe(true);
  expect(sameText('', null)).toBe(true);
  expect(sameText(null, null)).toBe(true);
  expect(sameText('a', 'A')).toBe(false);
});
