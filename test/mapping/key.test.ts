import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import {
  cellsRow,
  codesOf,
  desiredOf,
  mapJson,
  mapping,
  mapRecord,
  noContext,
  problemsOf,
  warningsOf,
} from './support.ts';

const keyOf = (cell: string) => desiredOf(mapRecord({ externalId: cell })).key;
const codes = (cell: string) => codesOf(mapRecord({ externalId: cell }));

describe('the key', () => {
  test('is trimmed, brought to NFC, and keeps its case', () => {
    expect(keyOf('  Ju\u0308rgen-A1\u00a0')).toBe('Jürgen-A1');
  });

  test.each(['007', '1e5', 'true', '12E5', '-1', '0'])('that reads %s stays this very text', (text) => {
    expect(keyOf(text)).toBe(text);
  });

  test('has 1 to 75 code points, not UTF-16 units', () => {
    expect(keyOf('😀'.repeat(75))).toBe('😀'.repeat(75));
    expect(codes('😀'.repeat(76))).toEqual(['keyTooLong']);
  });

  test.each(['', '   ', '#CLEAR', 'NULL', 'n/a'])('that is "%s" is missing: the row is dead', (cell) => {
    expect(codes(cell)).toEqual(['keyMissing']);
  });

  test.each(['1.2E+11', '1,2E+11', '1E+11', '1.23457E11', '#REF!', '#NAME?', '#######'])(
    'that a spreadsheet damaged to %s kills the row',
    (cell) => {
      expect(codes(cell)).toEqual(['keyDamaged']);
    },
  );

  test.each([
    '#REF!',
    '#NAME?',
    '#WERT!',
    '#BEZUG!',
    '#ÜBERLAUF!',
    '#¡DIV/0!',
    '#¿NOMBRE?',
    '#ССЫЛКА!',
    '#GEEN WAARDE!',
    '#GETTING_DATA',
  ])('that is an error of a formula names the formula, not only the format: %s', (cell) => {
    const [problem] = problemsOf(mapRecord({ externalId: cell }));
    expect(problem?.hint).toContain('Correct the formula');
  });

  test.each(['a\u0000b', 'a\u0007b', 'a\u0085b', 'a\nb', 'a\tb'])('with a control character kills the row', (cell) => {
    expect(codes(cell)).toEqual(['controlCharacter']);
  });

  test('with half a character kills the row', () => {
    expect(codes('a\ud800')).toEqual(['brokenCharacter']);
  });

  test('counts its prefix in the length', () => {
    const prefixed = mapping({ keyPrefix: 'crm-' });
    expect(desiredOf(mapRecord({ id: 'x'.repeat(71) }, {}, prefixed)).key).toBe(`crm-${'x'.repeat(71)}`);
    const long = mapRecord({ id: 'x'.repeat(72) }, {}, prefixed);
    expect(codesOf(long)).toEqual(['keyTooLong']);
    expect(problemsOf(long)[0]?.hint).toContain('key: { column: externalId, hashLong: true }');
  });

  test('in JSON may be a whole number, as long as it kept all its digits', () => {
    expect(desiredOf(mapJson({ externalId: 101 })).key).toBe('101');
    expect(codesOf(mapJson('{"externalId": 12345678901234567890}'))).toEqual(['precisionLost']);
    expect(codesOf(mapJson({ externalId: true }))).toEqual(['notText']);
    expect(codesOf(mapJson({ externalId: ['a'] }))).toEqual(['notText']);
    expect(codesOf(mapJson({ externalId: null }))).toEqual(['keyMissing']);
    expect(codesOf(mapJson({ firstName: 'Ada' }))).toEqual(['keyMissing']);
  });

  test('in JSON that a program wrote as a number with a point or an exponent is damaged, which no spreadsheet mends', () => {
    for (const externalId of ['12345678901234567890.0', '1.2345678901234568e+21']) {
      const [problem] = problemsOf(mapJson({ externalId, firstName: 'Ada' }));
      expect(problem).toMatchObject({
        code: 'keyDamaged',
        value: externalId,
        hint: expect.stringContaining('in quotes'),
      });
    }
  });

  test.each([
    ["'7309457916160", '7309457916160'],
    ["'-17", '-17'],
    ["'A-17", 'A-17'],
    ['="0017"', '0017'],
    ['="a ""b"" c"', 'a "b" c'],
    ['=+14155550105', '+14155550105'],
    ['=17', '17'],
  ])('that an export guards against formulas, as %s, is read as %s, and the run says so once', (cell, key) => {
    const compiled = compileMapping(null, { columns: ['externalId', 'firstName'] }, noContext);
    const rows = [2, 3, 4].map((line) => compiled.mapRow(cellsRow(['externalId', 'firstName'], [cell, 'Ada'], line)));
    expect(rows.map((row) => [desiredOf(row).key, warningsOf(row)])).toEqual(Array(3).fill([key, []]));
    expect(compiled.notes.map(({ line, message }) => [line, message])).toEqual([
      [2, `the key was read without the guard against formulas (' or ="…") around it (first of 3 rows)`],
    ]);
  });

  test('that ends in .0 is read without it, and the run says so; beyond 15 digits it is damaged', () => {
    const compiled = compileMapping(null, { columns: ['externalId', 'firstName'] }, noContext);
    const row = compiled.mapRow(cellsRow(['externalId', 'firstName'], ['123.0', 'Ada'], 7));
    expect(desiredOf(row).key).toBe('123');
    expect(compiled.notes.map(({ line, message }) => [line, message])).toEqual([
      [7, 'the key was read without the .0 at its end, which some programs add to whole numbers'],
    ]);
    expect(codes(`${'9'.repeat(16)}.0`)).toEqual(['keyDamaged']);
    expect(['123.00', '1.10', 'v1.0', '.0'].map(keyOf)).toEqual(['123.00', '1.10', 'v1.0', '.0']);
  });

  test.each(['="', '=', '="a"&"b"', 'a=1', '=A1', "O'Neill"])(
    'that only looks guarded, as %s, stays as it is',
    (cell) => {
      expect(keyOf(cell)).toBe(cell);
    },
  );

  test.each(["'", '=""'])('that is a guard and nothing else, as %s, is missing', (cell) => {
    expect(codes(cell)).toEqual(['keyMissing']);
  });

  test('of JSON needs no guard and keeps its apostrophe', () => {
    expect(desiredOf(mapJson({ externalId: "'17", firstName: 'Ada' })).key).toBe("'17");
  });
});

describe('a dead row', () => {
  test('names all its problems, with line, column, value and hint', () => {
    const row = mapRecord({ externalId: 'a', 'E-Mail': 'nobody', phone: 'call me', sourceUrl: 'x' });
    expect(row).toMatchObject({ kind: 'dead', key: 'a' });
    expect(problemsOf(row).map(({ line, field, value }) => [line, field, value])).toEqual([
      [2, 'E-Mail', 'nobody'],
      [2, 'phone', 'call me'],
      [2, 'sourceUrl', 'x'],
    ]);
    for (const { message, hint } of problemsOf(row)) {
      expect(message).not.toMatch(/nobody|call me/);
      expect(hint).toMatch(/\.$/);
    }
  });

  test('shows at most 200 characters of a cell', () => {
    const [problem] = problemsOf(mapRecord({ externalId: 'a', email: '😀'.repeat(500) }));
    expect([...(problem?.value ?? '')]).toHaveLength(200);
  });

  test('has no key where the key itself could not be read', () => {
    expect(mapRecord({ externalId: '' })).toMatchObject({ kind: 'dead', key: null });
  });
});
