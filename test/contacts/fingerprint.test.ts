import { expect, test } from 'vitest';
import { fingerprint } from '#src/contacts/desired.ts';
import { desired, slot } from './support/build.ts';

const whole = desired({
  scalars: { firstName: 'Jos\u00e9', role: null },
  phones: [slot('mobile', ['mobile', '+14155550100'], ['work', '+14155550101']), slot('work')],
  customFields: [
    { key: 'tags', value: ['a', 'b'] },
    { key: 'tier', value: 'gold' },
  ],
});

test('a fingerprint does not depend on the order of columns, items, members and choices, nor on the Unicode form', () => {
  const other = desired({
    customFields: [
      { key: 'tier', value: 'gold' },
      { key: 'tags', value: ['b', 'a'] },
    ],
    phones: [slot('work'), slot('mobile', ['work', '+14155550101'], ['mobile', '+14155550100'])],
    scalars: { role: null, firstName: 'Jose\u0301' },
  });
  expect(fingerprint(other)).toBe(fingerprint(whole));
  expect(fingerprint(whole)).toMatch(/^[\w-]{21}[AQgw]$/);
});

test.each([
  ['another value', desired({ ...whole, scalars: { firstName: 'Ann', role: null } })],
  ['null that became absent', desired({ ...whole, scalars: { firstName: 'Jos\u00e9' } })],
  ['a column that fell silent', desired({ ...whole, phones: whole.phones.slice(0, 1) })],
  ['another label', desired({ ...whole, phones: [slot('mobile', ['cell', '+14155550100']), slot('work')] })],
  ['another key', desired({ ...whole, key: 'k-1' })],
  ['another source', desired({ ...whole, source: 'fair' })],
  ['a number for a text', desired({ ...whole, customFields: [{ key: 'tier', value: 5 }] })],
])('a fingerprint changes with %s', (_case, other) => {
  expect(fingerprint(other)).not.toBe(fingerprint(whole));
});

// Ledgers hold fingerprints: another form of one would make each row look changed.
test.each([
  ['mex9U-hK_PNnShVtSIJfmA', whole],
  [
    'd6Z7ure1SD3jpludAH2uFQ',
    desired({ key: 'k "1"\n', source: 'Café', scalars: { company: '\u2028 & Söhne', role: null } }),
  ],
  [
    '4J0d09aJ2rsRbyWxtFvYmw',
    desired({ emails: [slot('email work', ['work', 'a@example.com']), slot('Email', ['b', 'c@example.com'])] }),
  ],
])('the fingerprint %s stays what it is', (text, contact) => {
  expect(fingerprint(contact)).toBe(text);
});
