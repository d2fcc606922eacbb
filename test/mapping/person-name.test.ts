import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitPersonName } from '#src/mapping/person-name.ts';
import { desiredOf, mapping, mapRecord, warningsOf } from './support.ts';

describe('a whole name is a given and a family name', () => {
  test.each([
    ['Ada Lovelace', 'Ada', 'Lovelace'],
    ['Ada King Lovelace', 'Ada King', 'Lovelace'],
    ['  Ada \u00a0  Lovelace ', 'Ada', 'Lovelace'],
    ['Lovelace, Ada', 'Ada', 'Lovelace'],
    ['Lovelace,Ada King', 'Ada King', 'Lovelace'],
    ['van der Berg, Anna', 'Anna', 'van der Berg'],
    ['Smith Jr., Bob', 'Bob', 'Smith Jr.'],
    ['Lovelace, Ada, PhD', 'Ada', 'Lovelace PhD'],
    ['Lovelace,', '', 'Lovelace'],
    [', Ada', 'Ada', ''],
    ['Ludwig van Beethoven', 'Ludwig', 'van Beethoven'],
    ['Anna von der Leyen', 'Anna', 'von der Leyen'],
    ['Oscar de la Renta', 'Oscar', 'de la Renta'],
    ['Juan de los Santos', 'Juan', 'de los Santos'],
    ['Leonardo di Caprio', 'Leonardo', 'di Caprio'],
    ['Dick Van Dyke', 'Dick', 'Van Dyke'],
    ['Khalid bin Walid', 'Khalid', 'bin Walid'],
    ["Maarten van 't Hoff", 'Maarten', "van 't Hoff"],
    ['Eva St. John', 'Eva', 'St. John'],
    ['van Gogh', '', 'van Gogh'],
    ['Van Morrison', 'Van', 'Morrison'],
    ['Al Green', 'Al', 'Green'],
    ['Ada Ben Smith', 'Ada Ben', 'Smith'],
    ['José Ortega y Gasset', 'José', 'Ortega y Gasset'],
    ['Ana Costa e Silva', 'Ana', 'Costa e Silva'],
    ['Martin Luther King Jr.', 'Martin Luther', 'King Jr.'],
    ['Martin Luther King, Jr.', 'Martin Luther', 'King Jr.'],
    ['Henry Ford III', 'Henry', 'Ford III'],
    ['Ada Lovelace PhD', 'Ada', 'Lovelace PhD'],
    ['Ada Lovelace, M.D., Ph.D.', 'Ada', 'Lovelace M.D. Ph.D.'],
    ['Ada Lovelace (Analytical Engines Ltd)', 'Ada', 'Lovelace (Analytical Engines Ltd)'],
    ['Yo-Yo Ma', 'Yo-Yo', 'Ma'],
    ['Dr. Ada Lovelace', 'Dr. Ada', 'Lovelace'],
    ['Sammy Davis, Jr.', 'Sammy', 'Davis Jr.'],
    ['Davis, Sammy, Jr.', 'Sammy', 'Davis Jr.'],
    ['Jr', 'Jr', ''],
    ['de la', '', 'de la'],
    ['Madonna', 'Madonna', ''],
    ['Bob Jr.', 'Bob Jr.', ''],
    ['Cher, PhD', 'Cher PhD', ''],
    ['山田太郎', '山田太郎', ''],
    ['山田　太郎', '太郎', '山田'],
    ['김 철수', '철수', '김'],
    ['ジョン スミス', 'ジョン', 'スミス'],
    ['', '', ''],
    [' ', '', ''],
    [',', '', ''],
  ])('%j', (text, given, family) => {
    expect(splitPersonName(text)).toEqual({ given, family });
  });

  test('of one word leaves the last name alone', () => {
    expect(desiredOf(mapRecord({ externalId: 'a', Name: 'Cher' })).scalars).toEqual({ firstName: 'Cher' });
    expect(desiredOf(mapRecord({ externalId: 'a', Name: 'Cher' }, { onBlank: 'clear' })).scalars).toEqual({
      firstName: 'Cher',
      lastName: null,
    });
  });

  test('that says nothing, or clears, is read once', () => {
    const row = mapRecord({ externalId: 'a', Name: 'N/A' });
    expect([desiredOf(row).scalars, warningsOf(row)]).toEqual([{}, ['placeholderText']]);
    expect(desiredOf(mapRecord({ externalId: 'a', Name: '#CLEAR' })).scalars).toEqual({
      firstName: null,
      lastName: null,
    });
  });

  test('in small letters keeps a word that stands for nothing beside names as others write them', () => {
    const by = mapping({
      fields: {
        firstName: { column: 'Name', transform: ['givenNames'] },
        lastName: { column: 'Name', transform: ['familyName'] },
      },
    });
    const both = (Name: string) => [
      mapRecord({ externalId: 'a', 'Full Name': Name }),
      mapRecord({ id: 'a', Name }, {}, by),
    ];
    for (const row of both('nan goldin'))
      expect([desiredOf(row).scalars, warningsOf(row)]).toEqual([{ firstName: 'nan', lastName: 'goldin' }, []]);
    for (const row of both('Omar nan')) expect(desiredOf(row).scalars).toEqual({ firstName: 'Omar' });
    for (const row of both('nan')) expect(desiredOf(row).scalars).toEqual({});
  });

  test('together they hold every word, whatever the text', () => {
    const word = fc.oneof(
      fc.constantFrom('Ada', 'King', 'van', 'Van', 'der', 'y', 'Jr.', 'III', 'PhD', ',', '(x', 'y)', '山田', ' '),
      fc.string({ maxLength: 4 }),
    );
    const wordsOf = (text: string) =>
      text
        .split(/[\s,，]+/)
        .filter((one) => one !== '')
        .sort();
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (parts) => {
        const text = parts.join(' ');
        const { given, family } = splitPersonName(text);
        expect(wordsOf(`${given} ${family}`)).toEqual(wordsOf(text));
        expect([given, family]).toEqual([given.trim(), family.trim()]);
      }),
      { numRuns: 1_000 },
    );
  });
});
