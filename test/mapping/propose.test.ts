/** The mapping that Patchbay proposes for files of an unknown layout, by the names and the values of their columns. */
import { describe, expect, test } from 'vitest';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { collectFacts, type FileFacts } from '#src/mapping/propose/column-facts.ts';
import { draftText } from '#src/mapping/propose/proposal.ts';
import { keyRank, proposeMapping, slugOf } from '#src/mapping/propose/propose.ts';
import { cellsRow, objectRow } from './support.ts';

type Cells = readonly string[];

function tableFacts(header: Cells, rows: readonly Cells[]): FileFacts {
  const collector = collectFacts(header);
  for (const [index, cells] of rows.entries()) collector.see(cellsRow(header, cells, index + 2));
  return collector.facts(false);
}

function jsonFacts(objects: readonly object[]): FileFacts {
  const collector = collectFacts(null);
  for (const [index, object] of objects.entries()) collector.see(objectRow(object, index + 1));
  return collector.facts(false);
}

const options = { fileName: 'contacts', feed: null, country: null, sheet: null } as const;

/** Each proposal is a valid mapping, whatever the file. */
function propose(facts: FileFacts, given: Partial<Parameters<typeof proposeMapping>[1]> = {}) {
  const draft = proposeMapping(facts, { ...options, ...given });
  const text = draftText(draft, { file: 'contacts.csv', rows: facts.rows });
  return { draft, text, mapping: parseMapping(text, 'draft.yaml') };
}

/** `ID → key (certain)`; left out: `Notes → –`. */
const lines = (facts: FileFacts, given = {}) =>
  propose(facts, given).draft.columns.map(
    ({ column, target, confidence }) => `${column} → ${target === null ? '–' : `${target} (${confidence})`}`,
  );

const people: readonly Cells[] = [
  ['Ada', 'Lovelace'],
  ['Bob', 'Byron'],
  ['Cleo', 'Carter'],
  ['Dora', 'Dyer'],
  ['Emil', 'Eck'],
  ['Fay', 'Fox'],
];
const six = (make: (index: number) => Cells): readonly Cells[] => [0, 1, 2, 3, 4, 5].map(make);
const first = (index: number) => people[index]?.[0] ?? '';
const last = (index: number) => people[index]?.[1] ?? '';

describe('headers of many systems', () => {
  test('German', () => {
    const header = [
      'Kunden-Nr.',
      'Anrede',
      'Vorname',
      'Name',
      'Firma',
      'Funktion',
      'E-Mail-Adresse',
      'Telefon',
      'Handy',
      'Fax',
      'Geburtstag',
    ];
    const facts = tableFacts(
      header,
      six((n) => [
        ...[`K-10${n}`, 'Frau', first(n), last(n), 'Muster GmbH', 'Leiterin Einkauf', `${first(n)}@example.com`],
        ...[`+49 30 90182${n}0`, `+49 170 123456${n}`, '+49 30 901829', '03.07.1980'],
      ]),
    );
    expect(lines(facts)).toEqual([
      'Kunden-Nr. → key (certain)',
      'Anrede → –',
      'Vorname → firstName (certain)',
      'Name → lastName (certain)',
      'Firma → company (certain)',
      'Funktion → role (certain)',
      'E-Mail-Adresse → email (certain)',
      'Telefon → phone (certain)',
      'Handy → phone (mobile) (certain)',
      'Fax → –',
      'Geburtstag → –',
    ]);
  });

  test('French', () => {
    const header = [
      'Identifiant',
      'Nom',
      'Prénom',
      'Société',
      'Poste',
      'Courriel',
      'Téléphone fixe',
      'Portable',
      'Code postal',
    ];
    const facts = tableFacts(
      header,
      six((n) => [
        ...[`c${n}f7`, last(n), first(n), 'Exemple SARL', 'Directrice', `${n}@example.com`, `+33 1 42 68 53 0${n}`],
        ...[`+33 6 12 34 56 7${n}`, '75001'],
      ]),
    );
    expect(lines(facts)).toEqual([
      'Identifiant → key (likely)',
      'Nom → lastName (certain)',
      'Prénom → firstName (certain)',
      'Société → company (certain)',
      'Poste → role (certain)',
      'Courriel → email (certain)',
      'Téléphone fixe → phone (certain)',
      'Portable → phone (mobile) (certain)',
      'Code postal → –',
    ]);
  });

  test('Spanish', () => {
    const header = [
      'Código de cliente',
      'Nombre',
      'Apellidos',
      'Empresa',
      'Cargo',
      'Correo electrónico',
      'Teléfono móvil',
      'Teléfono fijo',
    ];
    const facts = tableFacts(
      header,
      six((n) => [
        ...[
          `${700 + 3 * n}`,
          first(n),
          'García Márquez',
          'Ejemplo SL',
          'Gerente',
          `${n}@example.com`,
          `+34 612 34 56 7${n}`,
        ],
        `+34 91 123 45 6${n}`,
      ]),
    );
    expect(lines(facts)).toEqual([
      'Código de cliente → key (certain)',
      'Nombre → firstName (certain)',
      'Apellidos → lastName (certain)',
      'Empresa → company (certain)',
      'Cargo → role (certain)',
      'Correo electrónico → email (certain)',
      'Teléfono móvil → phone (mobile) (certain)',
      'Teléfono fijo → phone (certain)',
    ]);
  });

  test('a table that somebody made by hand: whole names, contents that tell, two names for one field', () => {
    const header = ['Record', 'Ansprechpartner', 'Organisation', 'Firma', 'Kontakt 1', 'Kontakt 2', 'Since', 'VIP'];
    const facts = tableFacts(
      header,
      six((n) => [
        ...[`R${n}x9`, `${last(n)}, ${first(n)}`, n < 4 ? 'Muster AG' : '', n < 3 ? '' : 'Probe KG'],
        ...[`+1 415 555 01${n}0`, `${n}@example.com`, '2024-01-02', 'yes'],
      ]),
    );
    const { draft, mapping } = propose(facts);
    expect(lines(facts)).toEqual([
      'Record → key (likely)',
      'Ansprechpartner → firstName and lastName (guess)',
      'Organisation → company (guess)',
      'Firma → company (guess)',
      'Kontakt 1 → phone (kontakt 1) (likely)',
      'Kontakt 2 → email (kontakt 2) (likely)',
      'Since → –',
      'VIP → –',
    ]);
    expect(draft.columns[1]?.reason).toContain('whole names');
    expect(mapping.fields.company).toMatchObject({ firstOf: expect.arrayContaining([expect.anything()]) });
    expect(mapping.fields.firstName).toMatchObject({ column: 'Ansprechpartner', transform: ['givenNames'] });
    expect(mapping.fields.lastName).toMatchObject({ column: 'Ansprechpartner', transform: ['familyName'] });
  });
});

describe('a name that the values contradict', () => {
  const facts = (name: string, value: (n: number) => string) =>
    tableFacts(
      ['ID', name],
      six((n) => [`a${n}`, value(n)]),
    );
  test.each([
    ['Email Type', () => 'work', '–'],
    ['Phone', () => 'yes', '–'],
    ['Mobile', (n: number) => (n < 2 ? `+1 415 555 010${n}` : 'unknown to us'), 'phone (mobile) (guess)'],
    ['Position', (n: number) => `${n + 7}`, '–'],
    ['Position', () => 'Sales Manager', 'role (certain)'],
    ['Title', () => 'Dr.', '–'],
    ['Title', (n: number) => (n % 2 === 0 ? 'Sales Manager' : 'Head of Sales'), 'role (likely)'],
    ['Title', () => 'Foo', '–'],
    ['Name', (n: number) => `${first(n)} ${last(n)}`, 'firstName and lastName (likely)'],
    ['Name', (n: number) => `Muster ${n} GmbH`, 'company (guess)'],
    ['Order number', (n: number) => `730945791616${n}`, '–'],
    ['Assistant', (n: number) => `+1 415 555 01${n}0`, '–'],
    ['Website', () => 'https://example.com', '–'],
    ['Profile URL', (n: number) => `https://example.com/p/${n}`, 'sourceUrl (likely)'],
    ['Telephone', () => '', 'phone (likely)'],
    ['custom.tier', () => 'gold', 'custom.tier (certain)'],
  ])('%s', (name, value, expected) => {
    expect(lines(facts(name, value as (n: number) => string))[1]).toBe(`${name} → ${expected}`);
  });
});

describe('the key', () => {
  const key = (header: Cells, rows: readonly Cells[], given = {}) => propose(tableFacts(header, rows), given);

  test('is an id that is unique and filled; the id of another thing is none', () => {
    const { mapping } = key(
      ['Account ID', 'Owner ID', 'Record ID', 'Email'],
      six((n) => ['7', `o${n}`, `${n + 40}`, `${n}@example.com`]),
    );
    expect(mapping.key).toBe('Record ID');
  });

  test('that some rows lack is likely, and the draft says how many', () => {
    const rows = Array.from({ length: 40 }, (_, n) => [n === 3 ? '' : `x${n}`, `+1415555${1000 + n}`]);
    const { draft } = key(['ID', 'Phone'], rows);
    expect(draft.columns[0]).toMatchObject({ target: 'key', confidence: 'likely' });
    expect(draft.remarks).toEqual(['1 of 40 rows have no "ID", the key: they will be rejected']);
  });

  test('that occurs twice is none: the e-mail address takes its place, in lower case', () => {
    const { draft, mapping } = key(
      ['ID', 'Email'],
      six((n) => [n < 2 ? 'a' : `b${n}`, `${n}@Example.com`]),
    );
    expect(mapping.key).toMatchObject({ column: 'Email', transform: ['emailAddress', 'lowerCase'] });
    expect(mapping.emails).toHaveLength(1);
    expect(draft.remarks.join()).toContain('"ID" is not the key, since a value of it occurs twice');
    expect(draft.columns[1]).toMatchObject({ target: 'key and email', confidence: 'guess' });
  });

  test('is derived where no column is unique and filled', () => {
    const { mapping, draft } = key(
      ['First Name', 'Last Name', 'Email', 'Phone'],
      six((n) => [first(n), last(n), n < 3 ? '' : `${n}@example.com`, `+1 415 555 010${n % 2}`]),
    );
    expect(mapping.key).toMatchObject({
      firstOf: [
        { column: 'Email', transform: ['emailAddress', 'lowerCase'] },
        { template: '{First Name}|{Last Name}|{Phone}', transform: ['lowerCase'] },
      ],
      hashLong: true,
    });
    expect(draft.remarks.join()).toContain('the key is derived');
  });

  test('is no running number', () => {
    const { mapping } = key(
      ['Nr', 'Email'],
      six((n) => [`${n + 1}`, `${n}@example.com`]),
    );
    expect(mapping.key).toMatchObject({ column: 'Email' });
  });

  test('has the feed as prefix, so that the ids of two systems stay apart', () => {
    const { mapping } = key(
      ['ID', 'Email'],
      six((n) => [`${n + 4}`, '']),
      { feed: 'crm' },
    );
    expect(mapping).toMatchObject({ name: 'crm', keyPrefix: 'crm-' });
  });
});

describe('the country of phone numbers', () => {
  const rows = six((n) => [`a${n}`, `030 90182${n}0`, n % 2 === 0 ? 'Germany' : 'Österreich']);
  test('is asked for where numbers need one', () => {
    const { draft, text, mapping } = propose(
      tableFacts(
        ['ID', 'Telefon'],
        rows.map((row) => row.slice(0, 2)),
      ),
    );
    expect(draft.columns[1]).toMatchObject({ target: 'phone', confidence: 'certain' });
    expect(draft.remarks).toEqual([expect.stringContaining('numbers in "Telefon" have no country code')]);
    expect(text).toContain('# defaultCountry: DE');
    expect(mapping.defaultCountry).toBeUndefined();
  });

  test('is the one that was given, or that of a column', () => {
    const given = propose(
      tableFacts(
        ['ID', 'Telefon'],
        rows.map((row) => row.slice(0, 2)),
      ),
      { country: 'DE' },
    );
    expect([given.mapping.defaultCountry, given.draft.remarks]).toEqual(['DE', []]);
    const column = propose(tableFacts(['ID', 'Telefon', 'Land'], rows), { country: 'AT' });
    expect(column.mapping.defaultCountry).toMatchObject({ column: 'Land', default: 'AT' });
    expect(column.draft.columns[2]).toMatchObject({ target: 'country of phone numbers', confidence: 'likely' });
  });
});

describe('files of unusual form', () => {
  test('one column', () => {
    expect(
      lines(
        tableFacts(
          ['E-Mail'],
          six((n) => [`${n}@example.com`]),
        ),
      ),
    ).toEqual(['E-Mail → key and email (guess)']);
    expect(
      lines(
        tableFacts(
          ['Phone'],
          six(() => ['+14155550101']),
        ),
      ),
    ).toEqual(['Phone → phone (certain)']);
    expect(
      propose(
        tableFacts(
          ['x'],
          six(() => ['y']),
        ),
      ).draft.remarks.join(),
    ).toContain('no column was recognised');
  });

  test('500 columns', () => {
    const header = Array.from({ length: 500 }, (_, n) => (n === 250 ? 'Contact ID' : `Spalte ${n}`));
    const facts = tableFacts(
      header,
      Array.from({ length: 200 }, (_, n) => header.map((_name, c) => `v${n}-${c}`)),
    );
    expect(propose(facts).mapping.key).toBe('Contact ID');
  });

  test('many rows of many columns: the likely keys alone are compared to the end', () => {
    const header = [...Array.from({ length: 20 }, (_, n) => `c${n}`), 'uid'];
    const collector = collectFacts(header, keyRank);
    for (let n = 0; n < 3_000; n += 1)
      collector.see(
        cellsRow(
          header,
          header.map((_, c) => `v${n}x${c}`),
          n + 2,
        ),
      );
    const facts = collector.facts(false);
    expect(facts.columns.filter(({ isUnique }) => isUnique === true)).toHaveLength(4);
    expect(propose(facts).mapping.key).toBe('uid');
  });

  test.each([
    ...[
      'Kunde-Nr',
      'Kd-Nr.',
      'Kundennummer',
      'Mitgliedsnr',
      'Nr',
      'No',
      'Number',
      '#',
      'Customer #',
      'Code',
      'Client Code',
    ],
    ...['Réf', 'Código', 'Nº', 'N°', 'Account Number', 'Record No', 'Membership Number', 'Vertragsnummer', 'Socio Nº'],
  ])('%s is the key before an e-mail address, however few rows there are', (name) => {
    const header = [name, 'Ansprechpartner', 'Firma', 'Festnetz', 'Handy', 'E-Mail', 'Status'];
    const facts = tableFacts(
      header,
      six((n) => [
        ...[`${1001 + n}`, `${first(n)} ${last(n)}`, 'Muster GmbH', `030 90182${n}0`, `0170 123456${n}`],
        ...[`${first(n)}@example.com`, 'aktiv'],
      ]).slice(0, 3),
    );
    expect(propose(facts).mapping.key).toBe(name);
  });

  test.each([
    ...['PLZ-Nr', 'Postal Code', 'Zip Code', 'Hausnummer', 'Fax Number', 'Faxnr', 'Tax No', 'Steuernummer', 'Lfd. Nr.'],
    ...['Area Code', 'Country Code', 'Order Number', 'Rechnungsnummer', 'Company Number', 'Owner No', 'IBAN-Nr'],
  ])('%s is a number of something else', (name) => {
    const facts = tableFacts(
      [name, 'Email'],
      six((n) => [`${n + 1}`, `${first(n)}@example.com`]),
    );
    expect(propose(facts).mapping.key).toMatchObject({ column: 'Email', transform: ['emailAddress', 'lowerCase'] });
  });

  test('a number that counts the rows is no key', () => {
    const facts = tableFacts(
      ['Nr', 'Email'],
      six((n) => [`${n + 1}`, `${first(n)}@example.com`]),
    );
    expect(propose(facts).mapping.key).toMatchObject({ column: 'Email' });
  });

  test('a value that occurs twice beyond the sample is found', () => {
    const collector = collectFacts(['ID', 'Email'], keyRank);
    for (let n = 0; n < 3_000; n += 1)
      collector.see(cellsRow(['ID', 'Email'], [`${n % 2_500}`, `${n}@example.com`], n + 2));
    expect(propose(collector.facts(false)).mapping.key).toMatchObject({ column: 'Email' });
  });

  test('a header alone', () => {
    expect(lines(tableFacts(['ID', 'Vorname', 'Mobile'], []))).toEqual([
      'ID → key (likely)',
      'Vorname → firstName (likely)',
      'Mobile → phone (mobile) (likely)',
    ]);
  });

  test('no columns', () => {
    expect(propose(tableFacts([], [])).draft.columns).toEqual([]);
  });

  test('headers that occur twice, or are empty, are named by their positions', () => {
    const facts = tableFacts(
      ['ID', 'Phone', 'Phone', ''],
      six((n) => [`a${n}`, `+1 415 555 01${n}0`, `+1 415 555 01${n}1`, 'x']),
    );
    expect(propose(facts).mapping.phones).toMatchObject([{ column: 2 }, { column: 3 }]);
  });

  test.each([
    'a: b',
    '- x',
    '# y',
    '"',
    "'",
    '{n}',
    'Phone {n}',
    'Phone {label}',
    '*',
    '&a',
    '!b',
    '%',
    '@',
    '`',
    'true',
    'null',
    '12',
    '1.5',
    'a # b',
    'a, b',
    '[x]',
    '\\',
    'ünï',
    '電話',
    'x\ny',
    '\u2028',
    'constructor',
    '__proto__',
    '~',
    '?',
    '| |',
    '> ',
    'a\tb',
    '🙂',
    'No',
  ])('whatever a header is called, the draft is a mapping that names it: %j', (name) => {
    const facts = tableFacts(
      ['ID', name],
      six((n) => [`a${n}`, `+1 415 555 01${n}0`]),
    );
    const { mapping } = propose(facts);
    expect(mapping.phones).toHaveLength(1);
    const tidy = name.normalize('NFC').trim();
    const isPattern = /\{(?:n|label)\}/.test(name);
    expect(mapping.phones[0]?.column).toBe(isPattern || tidy === '' ? 2 : tidy);
  });

  test('holds no value of the file', () => {
    const facts = tableFacts(
      ['ID', 'Name', 'Phone', 'Secret'],
      six((n) => [`a${n}`, `${first(n)} ${last(n)}`, `+1 415 555 01${n}0`, `s3cret${n}`]),
    );
    expect(propose(facts).text).not.toMatch(/Ada|Lovelace|415|s3cret/);
  });
});

describe('JSON', () => {
  test('members of members are paths, lists are columns', () => {
    const facts = jsonFacts(
      [0, 1, 2, 3, 4, 5].map((n) => ({
        id: `${n + 60}`,
        properties: { firstname: first(n), lastname: last(n), email: `${n}@example.com`, company: 'Muster AG' },
        phones: [{ label: 'work', value: `+1415555010${n}` }, { value: `+1415555011${n}` }],
        owner: { id: 'o1' },
        archived: false,
      })),
    );
    expect(lines(facts)).toEqual([
      'id → key (certain)',
      'properties.firstname → firstName (certain)',
      'properties.lastname → lastName (certain)',
      'properties.email → email (certain)',
      'properties.company → company (certain)',
      'phones → phone (certain)',
      'owner.id → –',
      'archived → –',
    ]);
    expect(propose(facts).mapping.emails).toMatchObject([{ column: 'properties.email', label: 'email' }]);
  });

  test('records with different members, and deep ones', () => {
    const facts = jsonFacts([{ a: 1 }, { b: { c: { d: { e: { f: 1 } } } } }, {}, { a: 2, 'x.y': 'z' }]);
    expect(facts.columns.map(({ name }) => name)).toEqual(['a', 'x.y']);
    expect(facts.columns[0]).toMatchObject({ filled: 2, isUnique: true });
  });
});

test('the name of a mapping is made from that of the file', () => {
  expect(['Kontakte 2026 (neu)', 'générales', '電話', 'generic', 'x'.repeat(80)].map(slugOf)).toEqual([
    ...['kontakte-2026-neu', 'generales', 'contacts', 'contacts'],
    'x'.repeat(60),
  ]);
});
