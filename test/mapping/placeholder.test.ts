import { describe, expect, test } from 'vitest';
import { codesOf, desiredOf, mapJson, mapRecord, warningsOf } from './support.ts';

const row = (cells: Record<string, string>, context = {}) => mapRecord({ externalId: 'a', ...cells }, context);

const placeholdersIn = (mapped: Parameters<typeof warningsOf>[0]) =>
  warningsOf(mapped).filter((code) => code === 'placeholderText');

describe('a word for "nothing"', () => {
  test.each(['NaN', 'nan', 'NaT', '<NA>', '<nil>'])('%j is what a program writes, and nobody is called so', (word) => {
    const mapped = row({ firstName: word, lastName: word, company: word, role: word });
    expect(desiredOf(mapped).scalars).toEqual({ role: word });
    expect(warningsOf(mapped)).toEqual(Array(3).fill('placeholderText'));
    expect(codesOf(mapRecord({ externalId: word, firstName: 'Ada' }))).toEqual(word === 'nan' ? [] : ['keyMissing']);
  });

  test.each(['NA', 'None', 'nil', 'N', 'false', '0'])('%j in a name is a value in doubt', (word) => {
    const mapped = row({ firstName: word, lastName: word, role: word });
    expect(desiredOf(mapped).scalars).toEqual({ firstName: word, lastName: word, role: word });
    expect(warningsOf(mapped)).toEqual(Array(2).fill('placeholderInDoubt'));
  });

  test.each(['Nan', 'Nat', 'Na', 'Nil', 'No'])('%j is a name without any doubt', (name) => {
    expect(warningsOf(row({ firstName: name }))).toEqual([]);
  });

  test.each([
    ...['null', 'NULL', 'N/A', 'n/a', 'Undefined', '#N/A', '#NV', '#N/B', '#I/T', '#Н/Д', '#YOK', '#HIÁNYZIK'],
    ...['-', '--', '---', '\u2013', '\u2014', '.', '?', '/', '(   ) -', '\\N'],
    ...['unknown', 'Unknown', '(unknown)', 'not available', 'unbekannt', 'keine Angabe', 'inconnu', 'desconocido'],
  ])('%j in a name, phone or e-mail: a warning and no value', (word) => {
    const mapped = row({ firstName: word, lastName: word, company: word, email: word, phone: word });
    expect(desiredOf(mapped)).toMatchObject({ scalars: {}, emails: [], phones: [] });
    expect(warningsOf(mapped)).toEqual(Array(5).fill('placeholderText'));
  });

  test.each([
    ...['none', 'None', '(none)', '<none>', 'nil', 'k.A.', 'k. A.', 'blank', 'empty'],
    ...[
      'keine',
      'kein',
      'leer',
      'ohne',
      'entf\u00e4llt',
      'aucun',
      'aucune',
      'n\u00e9ant',
      'ninguno',
      'ninguna',
      'vac\u00edo',
    ],
  ])('%j in a company, phone or e-mail is no value, but a person may have that name', (word) => {
    const mapped = row({ firstName: word, company: word, email: word, phone: word });
    expect(desiredOf(mapped)).toMatchObject({ scalars: { firstName: word }, emails: [], phones: [] });
    expect(placeholdersIn(mapped)).toHaveLength(3);
  });

  test.each([
    ...['na', 'n.a.', 'no', 'tbd', 'xxx', 'no phone', 'no email', 'keine E-Mail', 'kein Telefon', 'nc', 's/d', 'nada'],
    ...['sin correo', 'pas de mail', 'nichts', 'rien', 'sans'],
    ...['0', '000-000-0000', '0000000000', '+1', '+49', '+1 (___) ___-____', 'xxx-xxx-xxxx', 'private', 'withheld'],
  ])('%j in a phone or e-mail is no value; in a name and a company it is a text', (word) => {
    const mapped = row({ lastName: word, company: word, email: word, phone: word });
    expect(desiredOf(mapped)).toMatchObject({ scalars: { lastName: word, company: word }, emails: [], phones: [] });
    expect(placeholdersIn(mapped)).toHaveLength(2);
  });

  test.each(['-', '\u2014', 'none', 'unknown', 'N/A', '#N/A', 'null'])('%j is no key', (word) => {
    expect(codesOf(mapRecord({ externalId: word, firstName: 'Ada' }))).toEqual(['keyMissing']);
  });

  test.each(['Null', 'Na', 'No', 'Nil', 'None', 'Nada', 'Al', 'K. A.', 'X', '\u674e'])('%j may be a name', (name) => {
    const expected = name === 'Null' ? {} : { firstName: name };
    expect(desiredOf(row({ firstName: name })).scalars).toEqual(expected);
  });

  test.each(['+', '+1', '+49', '+420 (___)', '+800'])('%j is what a form holds before anything is typed', (text) => {
    expect(desiredOf(row({ phone: text }, { onBlank: 'clear' })).phones).toEqual([{ slot: 'phone', items: [] }]);
  });

  test.each(['+123', '+999', '+12', '+911', '+4', '+12 (___)'])(
    '%j has no country code: it is a damaged number',
    (text) => {
      expect(codesOf(row({ phone: text }, { onBlank: 'clear' }))).toEqual(['phoneImpossible']);
    },
  );

  test('beside a value, the value alone is read', () => {
    const mapped = row({ phone: '-; +14155550101', email: 'none, ada@example.com' });
    expect(desiredOf(mapped)).toMatchObject({
      phones: [{ items: [{ value: '+14155550101' }] }],
      emails: [{ items: [{ value: 'ada@example.com' }] }],
    });
    expect(warningsOf(mapped).toSorted()).toEqual(['placeholderText', 'placeholderText']);
  });

  test('is a text like any other in a role', () => {
    expect(desiredOf(row({ role: 'null' })).scalars).toEqual({ role: 'null' });
  });

  test('is as blank as a blank cell where blank clears', () => {
    expect(desiredOf(row({ firstName: 'N/A' }, { onBlank: 'clear' })).scalars).toEqual({ firstName: null });
    expect(desiredOf(row({ phone: '-' }, { onBlank: 'clear' })).phones).toEqual([{ slot: 'phone', items: [] }]);
  });

  test('is not what a spreadsheet shows where a value is hidden: that is a lost value', () => {
    expect(codesOf(row({ phone: '#####' }))).toEqual(['phoneDamaged']);
    expect(codesOf(row({ email: '#####' }))).toEqual(['emailInvalid']);
    expect(codesOf(mapRecord({ externalId: '#####', firstName: 'Ada' }))).toEqual(['keyDamaged']);
  });

  test('nor is it what a program writes where it has lost a value: it is named, and takes no value away', () => {
    const lost = '[object Object]';
    const clearing = { onBlank: 'clear' } as const;
    for (const context of [{}, clearing]) {
      expect(codesOf(row({ phone: lost, email: lost }, context))).toEqual(['phoneLetters', 'emailInvalid']);
      const json = { externalId: 'a', phones: [lost], emails: [lost] };
      expect(codesOf(mapJson(json, context))).toEqual(['phoneLetters', 'emailInvalid']);
      const named = row({ firstName: lost, lastName: 'Lee', company: lost }, context);
      expect([desiredOf(named).scalars, warningsOf(named)]).toEqual([
        { lastName: 'Lee' },
        ['placeholderText', 'placeholderText'],
      ]);
    }
    const whole = row({ Name: lost }, clearing);
    expect([desiredOf(whole).scalars, warningsOf(whole)]).toEqual([{}, ['placeholderText']]);
    expect(codesOf(mapRecord({ externalId: lost, firstName: 'Ada' }))).toEqual(['keyMissing']);
  });
});
