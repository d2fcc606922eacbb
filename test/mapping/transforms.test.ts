import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { transformKeys, transformSchema, transformsSchema } from '#src/mapping/transform-schema.ts';
import { applyTransforms, type Transform } from '#src/mapping/transforms.ts';

const apply = (text: string, ...transforms: readonly unknown[]): string => {
  const result = applyTransforms(text, transformsSchema.parse(transforms));
  if (!result.ok) throw new Error(result.flaw.code);
  return result.text;
};
const flawOf = (text: string, ...transforms: readonly unknown[]) => {
  const result = applyTransforms(text, transformsSchema.parse(transforms));
  return result.ok ? null : result.flaw;
};
/** As `parseMapping` shows it: of the branch for what was written. */
const mistakeOf = (transform: unknown): string => {
  const issue = transformSchema.safeParse(transform).error?.issues[0];
  if (issue?.code !== 'invalid_union') return issue?.message ?? '';
  return issue.errors
    .flatMap((inner) => inner.flatMap(({ code, message }) => (code === 'invalid_type' ? [] : [message])))
    .join();
};

describe('each transform', () => {
  test.each<[unknown, string, string]>([
    ['lowerCase', 'Ada@Example.COM', 'ada@example.com'],
    ['upperCase', 'straße', 'STRASSE'],
    ['titleCase', 'ada KING-LOVELACE', 'Ada King-Lovelace'],
    ['titleCase', "o'neil and bob's McDonald III", "O'Neil And Bob's McDonald III"],
    ['titleCase', 'éva ÉVA', 'Éva Éva'],
    ['trim', '\u00a0\u2009\ufeff Ada \u200b', 'Ada'],
    ['digits', 'Kd.-Nr. 00-47/１１', '004711'],
    ['givenNames', 'Ada King Lovelace', 'Ada King'],
    ['familyName', 'Ada King Lovelace', 'Lovelace'],
    ['salesforceId', '003Dn00000AbCdE', '003Dn00000AbCdEIAV'],
    ['salesforceId', '003Dn00000AbCde', '003Dn00000AbCdeIAF'],
    ['salesforceId', '003ab000001XyZa', '003ab000001XyZaAAK'],
    ['salesforceId', '003Dn00000AbCdEIAV', '003Dn00000AbCdEIAV'],
    ['salesforceId', '003Dn00000AbC-E', '003Dn00000AbC-E'],
    ['emailAddress', 'Bo <bo@example.com>', 'bo@example.com'],
    ['emailAddress', 'mailto:Bo@Example.com', 'Bo@example.com'],
    ['emailAddress', 'bo@example.com; office@example.com', 'bo@example.com'],
    ['emailAddress', 'none; bo@example.com', 'bo@example.com'],
    ['emailAddress', 'bo@example.com (Vertretung: ann@example.com)', 'bo@example.com'],
    ['emailAddress', 'bo@example.com -> ann@example.com', 'bo@example.com'],
    ['emailAddress', 'bo@example.com cc ann@example.com', 'bo@example.com'],
    ['emailAddress', 'Miller, Bob (Sales) <bob@example.com>', 'bob@example.com'],
    ['emailAddress', 'Miller, Bob (Acme, Inc.) <bob@example.com>', 'bob@example.com'],
    ['emailAddress', 'Miller, Bob, Dr. 2nd <bob@example.com>', 'bob@example.com'],
    ['emailAddress', 'Bob; bob@example.com', 'bob@example.com'],
    ['emailAddress', 'Bob Miller\nbob@example.com', 'bob@example.com'],
    ['emailAddress', 'www.example.com, bob@example.com', 'bob@example.com'],
    ['emailAddress', 'Bob Miller, B.Sc.; bob@example.com', 'bob@example.com'],
    ['emailAddress', 'https://example.com/bob; bob@example.com', 'bob@example.com'],
    ['emailAddress', 'Bob; bob＠example.com; ann@example.com', 'bob@example.com'],
    ['emailAddress', 'Bob Miller, bob@example.com', 'bob@example.com'],
    ['emailAddress', 'bob miller; bob@example.com', 'bob@example.com'],
    ['emailAddress', 'Bob (Sales) | bob@example.com', 'bob@example.com'],
    ['emailAddress', '田中; tanaka@example.com', 'tanaka@example.com'],
    ['emailAddress', 'n/a', 'n/a'],
    ['emailAddress', '/o=ExchangeLabs/ou=Exchange Administrative Group/cn=Recipients/cn=ada', ''],
    ['withoutQuotes', '"Ada"', 'Ada'],
    ['withoutQuotes', '„Ada“', 'Ada'],
    ['withoutQuotes', '"VIP","Big, blog"', 'VIP;Big, blog'],
    ['withoutQuotes', 'Ada "Countess" Lovelace', 'Ada "Countess" Lovelace'],
    ['withoutQuotes', '"', '"'],
    [{ before: '@' }, 'ada@example.com@x', 'ada'],
    [{ before: '@' }, 'ada', 'ada'],
    [{ after: ':' }, 'mailto: ada:x', 'ada:x'],
    [{ after: ':' }, 'ada', 'ada'],
    [{ withoutPrefix: '* ' }, '* Mobile', 'Mobile'],
    [{ withoutPrefix: '* ' }, 'Mobile', 'Mobile'],
    [{ withoutSuffix: '.0' }, '101.0', '101'],
    [{ withoutSuffix: '.0' }, '1.01', '1.01'],
    [{ replace: '.', with: '-' }, 'a.b.c', 'a-b-c'],
    [{ replace: 'a', with: '$&' }, 'banana', 'b$&n$&n$&'],
    [{ replace: '-', with: '' }, '1-2-3', '123'],
    [{ values: { VIP: 'vip', 'N/A': '' } }, ' vip ', 'vip'],
    [{ values: { VIP: 'vip', 'N/A': '' } }, 'n/a', ''],
    [{ values: { VIP: 'vip' } }, 'other', 'other'],
    [{ values: { VIP: 'vip' }, otherwise: 'keep' }, 'other', 'other'],
    [{ values: { VIP: 'vip' }, otherwise: 'blank' }, 'other', ''],
    [{ values: { VIP: 'vip' }, otherwise: 'guest' }, 'other', 'guest'],
    [{ values: { VIP: 'vip' }, otherwise: 'guest' }, '', ''],
    [{ values: { '': 'unknown' } }, ' ', 'unknown'],
    [{ values: { yes: true, 1: 2, none: null } }, 'YES', 'true'],
    [{ values: { yes: true, 1: 2, none: null } }, '1', '2'],
    [{ values: { yes: true, 1: 2, none: null } }, 'None', ''],
    [{ values: { VIP: 'vip' } }, '__proto__', '__proto__'],
  ])('%j of %j', (transform, text, expected) => {
    expect(apply(text, transform)).toBe(expected);
  });

  // What is read behind it may be the address of another person.
  test.each([
    'bob,smith@example.com',
    'bob, smith@example.com',
    'Bob,Smith@example.com',
    'bob; ann@example.com',
    'bob[at]example[dot]com; ann@example.com',
    'bob(at)example(dot)com, ann@example.com',
    'bob at example dot com; ann@example.com',
    'Bob AT Example DOT com\nann@example.com',
    'bob (at) example; ann@example.com',
    'bob ät example punkt de; ann@example.com',
    'Bob_example_com; ann@example.com',
    'bob example com; ann@example.com',
    'bob at example dot com, Ann <ann@example.com>',
    'www.example.com, bob,smith@example.com',
  ])('emailAddress is invalid where the first may be a misspelt address: %j', (text) => {
    expect(flawOf(text, 'emailAddress')).toMatchObject({ code: 'emailInvalid' });
  });

  test('is applied in order, and the text is trimmed in between', () => {
    expect(apply('"Lovelace, ADA"', 'withoutQuotes', { after: ',' }, 'titleCase')).toBe('Ada');
    expect(apply('E-Mail: Ada@Example.com ', { after: ':' }, { before: '@' }, 'lowerCase')).toBe('ada');
  });

  test('leaves a blank text blank, and no transform leaves a text trimmed', () => {
    for (const transform of ['titleCase', 'givenNames', 'withoutQuotes', { after: ':' }, { date: 'D.M.YYYY' }]) {
      expect(apply(' ', transform)).toBe('');
    }
    expect(apply(' Ada ')).toBe('Ada');
  });
});

describe('a date', () => {
  test.each<[string | string[], string, string]>([
    ['DD.MM.YYYY', '05.03.2026', '2026-03-05'],
    ['DD.MM.YYYY', '5.3.2026', '2026-03-05'],
    ['D/M/YYYY', '5/3/2026', '2026-03-05'],
    ['MM/DD/YYYY', '03/05/2026', '2026-03-05'],
    ['YYYYMMDD', '20260305', '2026-03-05'],
    ['YYYY-MM-DD', '2024-02-29', '2024-02-29'],
    ['DD MMM YYYY', '05 Mar 2024', '2024-03-05'],
    ['D. MMM YYYY', '5. März 2024', '2024-03-05'],
    ['D MMM YYYY', '5 févr. 2024', '2024-02-05'],
    ['D [de] MMM [de] YYYY', '5 de Diciembre de 2024', '2024-12-05'],
    ['MMM D, YYYY', 'September 5, 2024', '2024-09-05'],
    ['DD.MM.YYYY HH:mm', '05.03.2026 14:30', '2026-03-05T14:30:00'],
    ['YYYY-MM-DDTHH:mm:ss', '2026-03-05T14:30:05', '2026-03-05T14:30:05'],
    ['M/D/YYYY h:mm a', '3/5/2026 2:30 PM', '2026-03-05T14:30:00'],
    ['M/D/YYYY, h:mm a', '3/5/2026, 12:05 a.m.', '2026-03-05T00:05:00'],
    ['DD.MM.YY', '05.03.49', '2049-03-05'],
    ['DD.MM.YY', '05.03.50', '1950-03-05'],
    [['DD.MM.YYYY', 'YYYY-MM-DD'], '2026-03-05', '2026-03-05'],
    ['DD/MM/YY', '0/0/00', ''],
    ['YYYY-MM-DD', '0000-00-00', ''],
  ])('in the format %j: %j', (format, text, expected) => {
    expect(apply(text, { date: format })).toBe(expected);
  });

  test.each([
    ['DD.MM.YYYY', '31.02.2026'],
    ['DD.MM.YYYY', '29.02.2025'],
    ['DD.MM.YYYY', '01.13.2026'],
    ['DD.MM.YYYY', '00.01.2026'],
    ['DD.MM.YYYY', '5.3.26'],
    ['DD.MM.YYYY', '5/3/2026'],
    ['DD.MM.YYYY', '05.03.2026 14:30'],
    ['DD.MM.YYYY HH:mm', '05.03.2026 24:00'],
    ['M/D/YYYY h:mm a', '3/5/2026 14:30 PM'],
    ['D MMM YYYY', '5 Foo 2024'],
    ['YYYY-MM-DD', 'tomorrow'],
  ])('that does not fit %s is invalid: %s', (format, text) => {
    const flaw = flawOf(text, { date: format });
    expect(flaw?.code).toBe('dateInvalid');
    expect(flaw?.message).toContain(format);
    expect(flaw?.message).not.toContain(text);
  });

  test.each([
    ['DD.MM', 'lacks the year'],
    ['DD.MM.YYYY YY', 'names the year twice'],
    ['DD.MM.YYYY HH', 'only a part of the time'],
    ['DD.MM.YYYY hh:mm', 'needs both h and a'],
    ['QQ/YYYY', 'is not a date format'],
    ['DD. of MM YYYY', 'is not a date format'],
    [`DD.MM.YYYY${' '.repeat(40)}`, 'more than 40 characters'],
  ])('needs a format that makes sense: %s', (format, mistake) => {
    expect(mistakeOf({ date: format })).toContain(mistake);
  });
});

describe('a mistake in a transform', () => {
  test.each<[unknown, string]>([
    ['lowercase', 'did you mean "lowerCase"?'],
    ['date', 'date takes a value: write { date: … }'],
    ['something', 'not a transform: use lowerCase'],
    [{ before: '@', after: ':' }, 'as two transforms'],
    [{}, 'expected one of before, after'],
    [{ replace: 'x' }, 'replace needs "with"'],
    [{ before: 'x', otherwise: 'keep' }, '"otherwise" does not go with "before"'],
    [{ with: 'x' }, 'expected one of before, after'],
    [{ before: '' }, 'a text is needed'],
    [{ values: { VIP: 'a', ' vip ': 'b' } }, 'occurs twice'],
  ])('is named: %j', (transform, mistake) => {
    expect(mistakeOf(transform)).toContain(mistake);
  });

  test('names the keys for "did you mean"', () => {
    expect(transformKeys).toEqual([
      ...['before', 'after', 'withoutPrefix', 'withoutSuffix', 'replace', 'with', 'values', 'otherwise', 'date'],
    ]);
  });

  test('is also too many of them', () => {
    expect(transformsSchema.safeParse(Array(21).fill('trim')).success).toBe(false);
  });
});

test('a text never outgrows a cell', () => {
  const grow = { replace: 'a', with: 'a'.repeat(200) };
  expect(flawOf('a'.repeat(300), grow, grow)?.code).toBe('textTooLong');
});

test('any text through any transforms gives a trimmed text or a flaw, and the same one again', () => {
  const transform: fc.Arbitrary<Transform> = fc.oneof(
    fc.constantFrom<Transform>('lowerCase', 'upperCase', 'titleCase', 'trim', 'digits', 'withoutQuotes'),
    fc.constantFrom<Transform>('givenNames', 'familyName', { date: ['DD.MM.YYYY', 'D MMM YY'] }),
    fc.string({ minLength: 1, maxLength: 5 }).map((before): Transform => ({ before })),
    fc.string({ minLength: 1, maxLength: 5 }).map((replace): Transform => ({ replace, with: '-' })),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(transform, { maxLength: 5 }), (text, transforms) => {
      const result = applyTransforms(text, transforms);
      expect(applyTransforms(text, transforms)).toEqual(result);
      if (result.ok) expect(result.text).toBe(result.text.trim());
    }),
    { numRuns: 500 },
  );
});
