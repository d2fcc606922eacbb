import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { cellsRow, codesOf, desiredOf, mapping, mapRecord, noContext, warningsOf } from './support.ts';

const mapped = (text: string) => mapRecord({ externalId: 'a', email: text });
const addresses = (text: string) =>
  desiredOf(mapped(text)).emails.flatMap(({ items }) => items.map(({ value }) => value));

/** What the run reports once for the file. */
function notesOn(text: string): readonly string[] {
  const columns = ['externalId', 'email'];
  const compiled = compileMapping(null, { columns }, noContext);
  compiled.mapRow(cellsRow(columns, ['a', text]));
  return compiled.notes.map(({ code }) => code);
}

describe('an e-mail address', () => {
  test('is lower-cased in the domain only', () => {
    expect(addresses('Anna.B@Example.COM')).toEqual(['Anna.B@example.com']);
    expect(addresses('Anna Bell <Anna.B@Example.COM>')).toEqual(['Anna.B@example.com']);
    expect(addresses('D\u00f6rte@B\u00dcCHER.example.org')).toEqual(['D\u00f6rte@b\u00fccher.example.org']);
  });

  test('keeps a dot at its beginning: it may be a slip, but it is not ours to correct', () => {
    expect(addresses('.bob@example.com')).toEqual(['.bob@example.com']);
  });

  test('may have a plus, an apostrophe, and letters of any alphabet', () => {
    expect(addresses("o'neil+x@example.com")).toEqual(["o'neil+x@example.com"]);
    expect(addresses('d\u00f6rte@b\u00fccher.example.org')).toEqual(['d\u00f6rte@b\u00fccher.example.org']);
  });

  test.each([
    'bob@example.com',
    ' bob@example.com\u00a0',
    '\u200bbob@example.com\u200b',
    'bob\u00ad@example.com',
    'bob\uff20example.com',
    'mailto:bob@example.com',
    'MAILTO:bob@example.com?subject=Hello%20you&cc=x@example.com',
    'mailto:%62ob@example.com',
    'bob@example.com.',
    'bob@example.com,',
    'bob@example.com;',
    '<bob@example.com>',
    '"bob@example.com"',
    "'bob@example.com'",
    '(bob@example.com)',
    '(|bob@example.com|)',
    'bob@example.com <bob@example.com>',
    '"bob@example.com" <bob@example.com>',
    'E-Mail: bob@example.com',
    'SMTP:bob@example.com',
    'bob@example.com#mailto:bob@example.com#',
  ])('is plain: %j', (text) => {
    expect(addresses(text)).toEqual(['bob@example.com']);
    expect([...warningsOf(mapped(text)), ...notesOn(text)]).toEqual([]);
  });

  test.each([
    'Bob <bob@example.com>',
    'Bob Smith <bob@example.com>',
    '"Smith, Bob" <bob@example.com>',
    'Smith, Bob <bob@example.com>',
    'Point, Bob <bob@example.com>',
    'Bob (bob@example.com)',
    'Smith, Bob (bob@example.com)',
    'Smith, Bob (Sales) <bob@example.com>',
    'Smith, Bob (Acme, Inc.) <bob@example.com>',
    'bob@example.com (work)',
    'bob@example.com (work, new)',
    'Bob <mailto:bob@example.com>',
    'Bob <bob@example.com>;',
    'E-Mail (privat): bob@example.com',
    'Work (until May) : bob@example.com',
  ])('is without the name or remark beside it, which the run reports once: %j', (text) => {
    expect(addresses(text)).toEqual(['bob@example.com']);
    expect(warningsOf(mapped(text))).toEqual([]);
    expect(notesOn(text)).toEqual(['emailRemarkDropped']);
  });

  test.each([
    'nobody',
    'a@',
    '@example.com',
    'a b@example.com',
    'a@example',
    'a@@example.com',
    'a@-x.com',
    'a@example..com',
    'a@1.2.3.4',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b.'.repeat(130)}com`,
    `${'Bob '.repeat(300)}<bob@example.com>`,
    'Bob <bob@example>',
    'Bob <>',
    'bob at example.com',
    'bob@example.com work',
  ])('that cannot be one kills the row: %s', (text) => {
    expect(codesOf(mapped(text))).toEqual(['emailInvalid']);
  });

  test.each([
    '/o=EXCHANGELABS/ou=Exchange Administrative Group (FYDIBOHF23SPDLT)/cn=Recipients/cn=0a1b-bob',
    '/O=ORG/OU=Site/CN=Recipients/CN=bob',
    'EX:/o=Org/cn=bob',
    'X400:C=US;A= ;P=Org;O=Site;S=Smith;G=Bob;',
    'sip:bob@example.com',
  ])('of a server alone is left out with a warning: %s', (text) => {
    expect(desiredOf(mapped(text)).emails).toEqual([]);
    expect(warningsOf(mapped(text))).toEqual(['emailLeftOut']);
  });
});

describe('several e-mail addresses in one cell', () => {
  test('one that is spelt out is no name of the next', () => {
    expect(codesOf(mapped('bob at example dot com, Ann <ann@example.com>'))).toEqual(['emailInvalid']);
  });

  test.each([
    'a@example.com; b@example.com',
    'a@example.com,b@example.com',
    'a@example.com ::: b@example.com',
    'a@example.com\nb@example.com',
    'a@example.com|b@example.com',
    'a@example.com b@example.com',
    'a@example.com   b@example.com',
    'a@example.com/b@example.com',
    'a@example.com / b@example.com',
    'a@example.com or b@example.com',
    'a@example.com und b@example.com',
    'a@example.com & b@example.com',
    'Ann <a@example.com>, Bob <b@example.com>',
    '"Smith, Ann" <a@example.com>; "Smith, Bob" <b@example.com>',
    'Smith, Ann <a@example.com>, Smith, Bob <b@example.com>',
    'a@example.com (home) b@example.com (work)',
    '<a@example.com><b@example.com>',
    'mailto:a@example.com;mailto:b@example.com',
    'SMTP:a@example.com;smtp:b@example.com',
    'a@example.com,,;b@example.com,',
  ])('are taken apart: %j', (text) => {
    expect(addresses(text)).toEqual(['a@example.com', 'b@example.com']);
  });

  test.each([
    'bob@example.com (Vertretung: ann@example.com)',
    'bob@example.com (or ann@example.com until May)',
    'Bob <bob@example.com> (Vertretung: ann@example.com)',
    'bob@example.com (Vertretung: Ann <ann@example.com>)',
    'bob@example.com(Vertretung: ann@example.com)',
    'bob@example.com (cc: ann@example.com; cleo@example.com)',
  ])('are those of others in a remark, which is left out: %s', (text) => {
    expect(addresses(text)).toEqual(['bob@example.com']);
    expect(notesOn(text)).toEqual(['emailRemarkDropped']);
  });

  test.each([
    'bob@example.com -> ann@example.com',
    'bob@example.com cc ann@example.com',
    'bob@example.com Vertretung: ann@example.com',
    'bob@example.com, Vertretung ann@example.com',
  ])('with unknown words before the second: the first one alone can be read: %s', (text) => {
    expect(codesOf(mapped(text))).toEqual(['emailInvalid']);
    const row = mapRecord({ id: 'a', Mail: text }, {}, mapping({ emails: [{ column: 'Mail', onInvalid: 'drop' }] }));
    expect(desiredOf(row).emails[0]?.items.map(({ value }) => value)).toEqual(['bob@example.com']);
    expect(warningsOf(row)).toEqual(['emailInvalid']);
  });

  test('with names between them belong to these', () => {
    expect(addresses('Bob <bob@example.com> Ann Meier <ann@example.com>')).toEqual([
      'bob@example.com',
      'ann@example.com',
    ]);
    expect(addresses('bob@example.com (ann@example.com)')).toEqual(['bob@example.com', 'ann@example.com']);
    expect(addresses('Bob (bob@example.com) Ann (ann@example.com)')).toEqual(['bob@example.com', 'ann@example.com']);
  });

  test('of which one is bad kill the row', () => {
    expect(codesOf(mapped('a@example.com; nobody'))).toEqual(['emailInvalid']);
    expect(codesOf(mapped('ann.example.com, Bob <b@example.com>'))).toEqual(['emailInvalid']);
    expect(codesOf(mapped('nobody; Bob <b@example.com>'))).toEqual(['emailInvalid']);
  });

  test('beside a name of a server: the address alone is read', () => {
    expect(addresses('/o=Org/cn=bob;bob@example.com')).toEqual(['bob@example.com']);
    expect(warningsOf(mapped('/o=Org/cn=bob;bob@example.com'))).toEqual(['emailLeftOut']);
  });
});
