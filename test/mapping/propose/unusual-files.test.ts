/** Proposals for files of unusual form, and for JSON. */
import { describe, expect, test } from 'vitest';
import { keyRank } from '#src/mapping/propose/choose-key.ts';
import { collectFacts } from '#src/mapping/propose/column-facts.ts';
import { columnUses } from '#src/mapping/show/explain-row.ts';
import { cellsRow, mapJson } from '../support.ts';
import { first, jsonFacts, last, lines, proposal, propose, six, tableFacts } from './support/proposals.ts';

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
    ...['ID de registro', 'ID du contact', 'Identifiant', 'ID client', 'ID cliente', 'ID contact'],
    ...['N° client', 'No client', 'N° de client', 'Numéro de client', 'Nº cliente', 'Code adhérent'],
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
    ...['Numéro de contacts', 'Número de clientes', 'N° de commande', 'N° SIRET', 'ID du groupe'],
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
    expect(proposal(tableFacts([], [])).draft.columns).toEqual([]);
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

  test('of a list of objects addresses and numbers are read from each element, with the label beside them', () => {
    const facts = jsonFacts(
      [0, 1, 2, 3].map((n) => ({
        id: `a${n}`,
        contact: { phones: ['fax', 'mobile'].map((type, index) => ({ type, nr: `+141555501${index}${n}` })) },
        mails: [{ mail: `${n}@example.com` }],
      })),
    );
    expect(lines(facts)).toEqual([
      'id → key (certain)',
      'contact.phones[].type → label (likely)',
      'contact.phones[].nr → phone (likely)',
      'mails[].mail → email (certain)',
    ]);
    const { mapping } = propose(facts);
    expect(mapping.phones).toMatchObject([
      { column: 'contact.phones[].nr', label: { column: 'contact.phones[].type', default: 'phone' } },
    ]);
    expect(mapping.emails).toMatchObject([{ column: 'mails[].mail', label: 'email' }]);
    const uses = columnUses(
      mapping,
      facts.columns.map(({ name }) => name),
    );
    expect(uses).toEqual([...[['key'], ['label'], ['phone (label in contact.phones[].type)']], ['email']]);
  });

  test('a file may be called a number', () => {
    const facts = tableFacts(
      ['id', 'email'],
      six((n) => [`a${n}`, `${n}@example.com`]),
    );
    expect(propose(facts, { fileName: '2026' }).mapping.name).toBe('2026');
  });

  test('the label may have any name beside numbers, where its values are words for them', () => {
    const labelOf = (element: (n: number) => object) =>
      propose(jsonFacts([0, 1, 2, 3].map((n) => ({ id: `a${n}`, phones: [element(n)] })))).mapping.phones[0]?.label;
    const nr = (n: number) => `+1415555010${n}`;
    const from = (column: string) => ({ column, default: 'phone' });
    expect(labelOf((n) => ({ device: n % 2 ? 'Mobile' : 'fax', nr: nr(n) }))).toEqual(from('phones[].device'));
    expect(labelOf((n) => ({ phoneType: { name: 'work' }, nr: nr(n) }))).toEqual(from('phones[].phoneType.name'));
    expect(labelOf((n) => ({ device: n % 2 ? 'Mobile' : 'blue', nr: nr(n) }))).toBe('nr');
    expect(labelOf((n) => ({ device: n % 2 ? 'Mobile' : 'fax', number: nr(n) }))).toEqual(from('phones[].device'));
    expect(labelOf((n) => ({ device: n % 2 ? 'Mobile' : 'blue', number: nr(n) }))).toBe('phone');
    expect(labelOf((n) => ({ device: 'x', kind: 'work', number: nr(n) }))).toBe('phone');
  });

  test('of a list of people or addresses with a number each member is a column', () => {
    const facts = jsonFacts(
      [0, 1, 2, 3].map((n) => ({
        id: `a${n}`,
        people: [{ firstName: first(n), lastName: last(n), phone: `+1415555010${n}`, mobile: `+1415555011${n}` }],
        addresses: [{ company: 'Holm AB', phone: `+1415555012${n}`, country_code: 'SE' }],
        mails: [{ emailAddress: `${n}@example.com`, type: 'work' }],
      })),
    );
    expect(lines(facts)).toEqual([
      'id → key (certain)',
      'people[0].firstName → firstName (certain)',
      'people[0].lastName → lastName (certain)',
      'people[0].phone → phone (certain)',
      'people[0].mobile → phone (mobile) (certain)',
      'addresses[0].company → company (certain)',
      'addresses[].phone → phone (certain)',
      'addresses[0].country_code → country of phone numbers (likely)',
      'mails[].emailAddress → email (certain)',
      'mails[].type → label (likely)',
    ]);
  });

  test('a draft reads lists whose elements have different members', () => {
    const nr = (n: number) => `+1415555010${n}`;
    const records = [0, 1, 2, 3].map((n) => ({
      id: `a${n}`,
      people: [{ mobile: nr(n), mails: [{ mail: `${n}@example.com` }] }, { landline: nr(n + 4) }, { fax: nr(n + 5) }],
      desks: [{ nr: nr(n) }, { nr: nr(n + 6), mails: null }],
    }));
    const { mapping } = propose(jsonFacts(records));
    expect(mapping.phones).toMatchObject([{ column: 'people[].mobile', optional: true }, { column: 'desks[].nr' }]);
    expect(mapping.phones[1]).not.toHaveProperty('optional');
    expect(mapping.emails).toMatchObject([{ column: 'people[].mails[].mail' }]);
    for (const record of records) expect(mapJson(record, {}, mapping).kind).toBe('desired');
  });

  test('a label of each element is none that is the name of a person, and none beside several numbers', () => {
    const labels = (element: (n: number) => object) =>
      propose(jsonFacts([0, 1, 2, 3].map((n) => ({ id: `a${n}`, list: [element(n)] })))).mapping.phones.map(
        ({ label }) => label,
      );
    const nr = (n: number) => `+1415555010${n}`;
    const other = (n: number) => `+1415555011${n}`;
    const name = (n: number) => `${first(n)} ${last(n)}`;
    const from = (column: string) => ({ column, default: 'phone' });
    expect(labels((n) => ({ name: name(n), mobile: nr(n), workPhone: other(n) }))).toEqual(['mobile', 'work']);
    expect(labels((n) => ({ name: name(n), mobile: nr(n) }))).toEqual(['mobile']);
    expect(labels((n) => ({ name: name(n), nr: nr(n) }))).toEqual(['nr']);
    expect(labels((n) => ({ name: 'Ada Lovelace', nr: nr(n) }))).toEqual(['nr']);
    expect(labels((n) => ({ type: 'work', phone: nr(n), mobile: other(n) }))).toEqual(['phone', 'mobile']);
    expect(labels((n) => ({ name: name(n), type: 'direct', nr: nr(n) }))).toMatchObject([from('list[0].type')]);
    expect(labels((n) => ({ name: name(n), phones: [{ nr: nr(n) }] }))).toEqual(['nr']);
    expect(labels((n) => ({ name: 'Work', nr: nr(n) }))).toMatchObject([from('list[].name')]);
    expect(labels((n) => ({ name: n % 2 ? 'Desk' : 'Lab', nr: nr(n) }))).toMatchObject([from('list[].name')]);
    expect(labels((n) => ({ type: 'x', phone: nr(n), email: `${n}@example.com` }))).toMatchObject([
      from('list[].type'),
    ]);
  });

  test('the name of each element is its label where it says which value it is, and not where it is a display name', () => {
    const proposed = (element: (n: number) => object) =>
      propose(jsonFacts(six((n) => [`a${n}`]).map(([id], n) => ({ id, emails: [element(n), element(n)] })))).mapping
        .emails;
    const address = (n: number) => `${n}@example.com`;
    const each = { column: 'emails[].address' };
    const whole = [{ column: 'emails', label: 'email' }];
    expect(proposed((n) => ({ name: first(n), address: address(n) }))).toEqual([{ ...each, label: 'email' }]);
    expect(proposed((n) => ({ name: address(n), address: address(n) }))).toEqual([{ ...each, label: 'email' }]);
    expect(proposed((n) => ({ name: first(n), type: 'work', address: address(n) }))).toEqual([
      { ...each, label: { column: 'emails[].type', default: 'email' } },
    ]);
    expect(proposed((n) => ({ name: n % 2 ? 'Desk' : 'Lab', address: address(n) }))).toEqual(whole);
    expect(
      proposed((n) => ({ name: ['work', 'home', 'mobile', 'office'][n] ?? 'other', address: address(n) })),
    ).toEqual(whole);
    expect(proposed((n) => ({ address: address(n) }))).toEqual(whole);
  });

  test('records with different members, and deep ones', () => {
    const facts = jsonFacts([{ a: 1 }, { b: { c: { d: { e: { f: 1 } } } } }, {}, { a: 2, 'x.y': 'z' }]);
    expect(facts.columns.map(({ name }) => name)).toEqual(['a', 'x.y']);
    expect(facts.columns[0]).toMatchObject({ filled: 2, isUnique: true });
  });

  test('of a list of objects the members of the first one are columns; the address of a list makes a key', () => {
    const people = (more: (n: number) => object) =>
      jsonFacts(
        [0, 1, 2, 3, 4, 5].map((n) => ({
          names: [{ displayName: `${first(n)} ${last(n)}`, familyName: last(n), givenName: first(n) }],
          emailAddresses: n === 0 ? [] : [{ value: `${n}@example.com`, type: 'work' }],
          phoneNumbers: [{ value: `+4670123456${n}`, type: 'mobile' }],
          organizations: n === 1 ? [] : [{ name: 'Holm AB', title: 'CEO' }],
          ...more(n),
        })),
      );
    expect(lines(people((n) => ({ resourceName: `people/c${n}` })))).toEqual([
      'names[0].displayName → –',
      'names[0].familyName → lastName (certain)',
      'names[0].givenName → firstName (certain)',
      'emailAddresses → email (certain)',
      'phoneNumbers → phone (certain)',
      'organizations[0].name → company (certain)',
      'organizations[0].title → role (certain)',
      'resourceName → key (certain)',
    ]);
    const { mapping, draft } = propose(people(() => ({})));
    expect(mapping.key).toMatchObject({
      firstOf: [
        { column: 'emailAddresses[0].value' },
        {
          template: '{names[0].givenName}|{names[0].familyName}|{organizations[0].name}|{phoneNumbers[0].value}',
        },
      ],
    });
    expect(draft.remarks.join()).toContain('derived from e-mail address, or name, company and phone number');
  });

  test('a value by itself, without a name that tells, is a key too: people/c0', () => {
    const facts = jsonFacts([0, 1, 2, 3, 4, 5].map((n) => ({ path: `people/c${n}`, mails: [`${n}@example.com`] })));
    expect(lines(facts)[0]).toBe('path → key (likely)');
  });

  test('a member that is null in some records and an object in others is its members', () => {
    const facts = jsonFacts(
      [0, 1, 2, 3, 4, 5].map((n) => ({
        id: n + 60,
        name: { first: first(n), last: last(n) },
        company: n % 2 === 0 ? null : { name: 'Holm AB', email: 'info@example.com', id: `c${n}` },
        owner: { name: 'Bob Boss', email: 'bob@example.com' },
        note: null,
      })),
    );
    expect(lines(facts)).toEqual([
      'id → key (certain)',
      'name.first → firstName (certain)',
      'name.last → lastName (certain)',
      'owner.name → –',
      'owner.email → –',
      'note → –',
      'company.name → company (certain)',
      'company.email → email (work) (certain)',
      'company.id → –',
    ]);
  });

  test('without anything to make a key of has no draft: a member has no position', () => {
    const { draft, text } = proposal(jsonFacts([{ a: 1 }, { a: 1 }]));
    expect([draft.key, text]).toEqual([{ kind: 'none', column: null }, null]);
    expect(draft.remarks).toEqual([expect.stringContaining('so no mapping can be proposed')]);
  });
});
