import { describe, expect, test } from 'vitest';
import { familyName, givenNames } from '#src/mapping/person-name.ts';
import { desiredOf, mapRecord, warningsOf } from './support.ts';

describe('a whole name is split', () => {
  test.each([
    ['Ada Lovelace', 'Ada', 'Lovelace'],
    ['Ada King Lovelace', 'Ada King', 'Lovelace'],
    ['Lovelace, Ada', 'Ada', 'Lovelace'],
    ['van Dyke,  Ada  Maria', 'Ada Maria', 'van Dyke'],
    ['Ludwig van Beethoven', 'Ludwig', 'van Beethoven'],
    ['Ursula von der Leyen', 'Ursula', 'von der Leyen'],
    ['Oscar de la Renta', 'Oscar', 'de la Renta'],
    ['Van Morrison', 'Van', 'Morrison'],
    ['Sammy Davis Jr.', 'Sammy', 'Davis Jr.'],
    ['Sammy Davis, Jr.', 'Sammy', 'Davis Jr.'],
    ['Davis, Sammy, Jr.', 'Sammy', 'Davis Jr.'],
    ['Cher', 'Cher', ''],
    ['Lovelace,', 'Lovelace', ''],
    ['Jr', 'Jr', ''],
    ['de la', 'de', 'la'],
    ['', '', ''],
    [' , ', '', ''],
  ])('%j', (text, given, family) => {
    expect([givenNames(text), familyName(text)]).toEqual([given, family]);
  });

  test('and a name of one word leaves the last name alone', () => {
    expect(desiredOf(mapRecord({ externalId: 'a', Name: 'Cher' })).scalars).toEqual({ firstName: 'Cher' });
    expect(desiredOf(mapRecord({ externalId: 'a', Name: 'Cher' }, { onBlank: 'clear' })).scalars).toEqual({
      firstName: 'Cher',
      lastName: null,
    });
  });

  test('a cell that says nothing, or clears, is read once', () => {
    const row = mapRecord({ externalId: 'a', Name: 'N/A' });
    expect([desiredOf(row).scalars, warningsOf(row)]).toEqual([{}, ['placeholderText']]);
    expect(desiredOf(mapRecord({ externalId: 'a', Name: '#CLEAR' })).scalars).toEqual({
      firstName: null,
      lastName: null,
    });
  });
});
