/** What each column of an unknown layout is, by its name and its values. */
import { describe, expect, test } from 'vitest';
import { first, last, lines, proposal, propose, six, tableFacts } from './support/proposals.ts';

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
      'Identifiant → key (certain)',
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

  test.each(['Display Name', 'Full Name'])(
    'a whole name (%s) yields to first and last, and is taken alone',
    (header) => {
      const rows = six((n) => [`${n}7`, first(n), last(n), `${first(n)} ${last(n)}`, `+1415555010${n}`]);
      const facts = tableFacts(['Id', 'First Name', 'Last Name', header, 'Phone'], rows);
      expect(lines(facts).slice(1, 4)).toEqual([
        'First Name → firstName (certain)',
        'Last Name → lastName (certain)',
        `${header} → –`,
      ]);
      const alone = tableFacts(
        ['Id', header, 'Phone'],
        rows.map((row) => row.toSpliced(1, 2)),
      );
      expect(lines(alone)[1]).toMatch(`${header} → firstName and lastName`);
    },
  );

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

  test.each([
    ...['E-mail manager', 'E-Mail Vorgesetzter', 'E-Mail (Betreuer)', 'Courriel du responsable', 'Correo del jefe'],
  ])('an address that may be another person’s is a guess: %s', (name) => {
    const given = facts(name, (n) => `${n}@example.com`);
    expect(lines(given)[1]).toMatch(/→ email .*\(guess\)$/);
    expect(propose(given).draft.columns[1]?.reason).toContain("another person's");
  });

  test.each([
    ...[
      'E-Mail Partner',
      "Partner's E-mail",
      'Teacher Email',
      'Next of Kin E-mail',
      'Hausarzt E-Mail',
      'Email Ehegatte',
    ],
    ...['Courriel du partenaire', 'Correo de la pareja', 'Correo del profesor', 'Family Doctor Email', 'Carer Email'],
  ])('and so is one of a relative, a doctor or a teacher: %s', (name) => {
    expect(lines(facts(name, (n) => `${n}@example.com`))[1]).toMatch(/→ (?:email .*\(guess\)|–)$/);
  });

  test.each([
    ...['Telefon Partner', 'Next of Kin Phone', 'Hausarzt Telefon', 'Telefon Kind', 'Sibling Phone', 'Telefon Lehrer'],
    ...['Téléphone du médecin', 'Teléfono del médico', 'Angehörige Telefon', 'Coach Mobile', 'Phone of Child'],
  ])('and a number of theirs: %s', (name) => {
    expect(lines(facts(name, (n) => `+1 415 555 010${n}`))[1]).toMatch(/→ (?:phone .*\(guess\)|–)$/);
  });

  test.each([...['Kindle Email', 'Partnership E-Mail', 'Sonstige E-Mail']])(
    'words that only begin so are no people: %s',
    (name) => {
      expect(lines(facts(name, (n) => `${n}@example.com`))[1]).not.toMatch(/\(guess\)$/);
    },
  );

  test.each(['User principal name', 'User name', 'Login ID'])('people sign in by their own address: %s', (name) => {
    expect(lines(facts(name, (n) => `${n}@example.com`))[1]).toMatch(/→ email .*\(likely\)$/);
  });

  test.each([
    ...['Télécopie (bureau)', 'Récepteur de radiomessagerie', 'Téléphone ATS/TTY', 'Télex', 'Faxnummer', 'workFax'],
    ...['Fax del trabajo', 'Localizador', 'Fax bedrijf', 'Cercapersone', '会社ファックス', '传真', 'Факс'],
  ])('a number that cannot be called is left out: %s', (name) => {
    expect(lines(facts(name, (n) => `+33 4 72 00 01 0${n}`))[1]).toBe(`${name} → –`);
  });

  test.each(['Büro/Fax', 'Home & Fax'])('a number that may take calls beside a fax is a guess: %s', (name) => {
    expect(lines(facts(name, (n) => `+33 4 72 00 01 0${n}`))[1]).toMatch(/→ phone .*\(guess\)$/);
  });
});

test.each([
  ["Nom complet de l'adresse de messagerie", 'Nom complet de l’adresse de messagerie 2'],
  ['E-Mail: Angezeigter Name', 'E-Mail 2: Angezeigter Name', 'E-Mail 3: Angezeigter Name', 'Anzeigename'],
  ['E-mail Display Name', 'E-mail 2 Display Name', 'Nombre de pantalla de correo electrónico 2'],
  ['Nome visualizzato posta elettronica', 'Weergavenaam e-mail 3', 'Nazwa wyświetlana e-mail'],
])('an address behind a name that is shown for it may be an old one, and is left out: %s', (...names) => {
  const shown = tableFacts(
    ['Nr', ...names],
    six((n) => [`k${n}`, ...names.map(() => `${first(n)} ${last(n)} (${n}@example.com)`)]),
  );
  expect(lines(shown).slice(1)).toEqual(names.map((name) => `${name} → –`));
});

test.each([
  ['E-Mail-Adresse', 'email'],
  ['E-Mail 2: Adresse', 'email 2'],
  ['E-mail 3 Address', 'email 3'],
  ['Adresse de messagerie', 'email'],
  ['Adresse de messagerie 2', 'email 2'],
  ['E-mailadres', 'email'],
  ['Mobiltelefonnummer', 'mobile'],
  ['Mobiele telefoon', 'mobile'],
  ['Telefoon zakelijk', 'work'],
  ['Kontakt 1', 'kontakt 1'],
])('the label of %s is %s', (name, label) => {
  const isEmail = label.startsWith('email');
  const facts = tableFacts(
    ['Nr', name],
    six((n) => [`k${n}`, isEmail ? `${n}@example.com` : `+1 415 555 01${n}0`]),
  );
  const { emails, phones } = propose(facts).draft;
  expect([...emails, ...phones]).toMatchObject([{ label }]);
});

test('a column that holds what stands for nothing is not said to be blank', () => {
  const facts = tableFacts(
    ['Nr', 'Geschlecht', 'Notiz'],
    six((n) => [`k${n}`, 'Keine Angabe', '']),
  );
  expect(propose(facts).draft.columns.slice(1)).toMatchObject([
    { target: null, reason: 'what it holds stands for "nothing" in the rows that were looked at' },
    { target: null, reason: 'it is blank in the rows that were looked at' },
  ]);
});

test('a column about addresses or numbers is none of them, where its values do not say so', () => {
  const header = [
    'Nr',
    'E-Mail 2: Adresse',
    'E-Mail 2: Typ',
    'E-Mail 2: Angezeigter Name',
    'email_verified',
    'Phone System',
  ];
  const blank = tableFacts(
    header,
    six((n) => [`k${n}`, '', '', '', '', '']),
  );
  expect(lines(blank)).toEqual([
    ...['Nr → key (likely)', 'E-Mail 2: Adresse → email (email 2) (likely)', 'E-Mail 2: Typ → –'],
    ...['E-Mail 2: Angezeigter Name → –', 'email_verified → –', 'Phone System → –'],
  ]);
  const filled = tableFacts(
    header,
    six((n) => [
      `k${n}`,
      `${n}@example.com`,
      'SMTP',
      n % 2 === 0 ? `${n}@example.com` : 'Ada',
      'true',
      `+1415555010${n}`,
    ]),
  );
  expect(lines(filled)).toEqual([
    ...['Nr → key (likely)', 'E-Mail 2: Adresse → email (email 2) (certain)', 'E-Mail 2: Typ → –'],
    ...['E-Mail 2: Angezeigter Name → –', 'email_verified → –', 'Phone System → phone (system) (certain)'],
  ]);
});

describe('numbers of other things, which a country could read as phone numbers', () => {
  const judge = (country: 'DE' | 'US', name: string, value: (n: number) => string) =>
    proposal(
      tableFacts(
        ['Mail', name],
        six((n) => [`${n}@example.com`, value(n)]),
      ),
      { country },
    ).draft;

  test.each([
    ['DE', 'Umsatz', (n: number) => `12${n}.456,7${n}`],
    ['DE', 'Latitude', (n: number) => `52.52000${n}`],
    ['DE', 'Längengrad', (n: number) => `13.40500${n}`],
    ['DE', 'Anmelde-IP', (n: number) => `192.168.100.10${n}`],
    ['DE', 'x', (n: number) => `192.168.100.10${n}`],
    ['DE', 'Steuernummer', (n: number) => `12/345/6789${n}`],
    ['DE', 'Vertragsnummer', (n: number) => `2024-00123${n}`],
    ['DE', 'Aktenzeichen', (n: number) => `2024/00123${n}`],
    ['US', 'Order No', (n: number) => `2024-00123${n}`],
    ['US', 'Tracking', (n: number) => `940-011-189${n}`],
    ['US', 'Invoice', (n: number) => `415-555-010${n}`],
  ] as const)('%s, %s: is no phone number', (country, name, value) => {
    expect(judge(country, name, value).columns[1]?.target ?? '').not.toContain('phone');
  });

  test('the number of a contract may be the key', () => {
    const rows = six((n) => [first(n), `2024-00123${n}`]);
    const { key } = proposal(tableFacts(['Vorname', 'Vertragsnummer'], rows), { country: 'DE' }).draft;
    expect(key).toMatchObject({ column: 'Vertragsnummer' });
  });

  test('a name that says nothing makes numbers without a country code a guess, others not', () => {
    const own = (n: number) => `(415) 555-010${n}`;
    expect(judge('US', 'x', own).columns[1]).toMatchObject({ target: 'phone (x)', confidence: 'guess' });
    const abroad = (n: number) => `+1 415 555 010${n}`;
    expect(judge('US', 'x', abroad).columns[1]).toMatchObject({ target: 'phone (x)', confidence: 'likely' });
  });
});

describe('two tables side by side', () => {
  const full = (n: number) => `${first(n)} ${last(n)}`;
  const number = (n: number) => `+1 415 555 010${n}`;

  test('the second one gives the people of the first no names, and its numbers are a guess', () => {
    const header = ['Name', 'Telefon', '', 'NAME', 'Telefon'];
    const facts = tableFacts(
      header,
      six((n) => [n < 3 ? full(n) : '', number(n), '', full(5 - n), number(9 - n)]),
    );
    const { draft } = proposal(facts);
    expect(lines(facts)).toEqual([
      'Name → firstName and lastName (guess)',
      'Telefon → phone (certain)',
      'column 3 → –',
      'NAME → –',
      'Telefon → phone (guess)',
    ]);
    expect(draft.remarks).toContainEqual(expect.stringMatching(/^the headers "NAME", "Telefon" \(columns 4, 5\)/));
  });

  test('first and last names of the second one do not stand in for those of the first', () => {
    const header = ['ID', 'Vorname', 'Nachname', 'ID', 'Vorname', 'Nachname'];
    const facts = tableFacts(
      header,
      six((n) => [`a${n}`, first(n), last(n), `b${n}`, first(5 - n), last(5 - n)]),
    );
    expect(proposal(facts).draft.fields).toMatchObject([{ sources: [{ column: 2 }] }, { sources: [{ column: 3 }] }]);
  });

  test('one header twice is none, and neither is one that follows itself', () => {
    const note = (header: string[]) => proposal(tableFacts(header, [header])).draft.remarks.join();
    expect(note(['ID', 'Telefon', 'Mail', 'Telefon'])).not.toContain('the headers');
    expect(note(['ID', 'Telefon', 'Telefon', 'Telefon'])).not.toContain('the headers');
  });
});

describe('a few values', () => {
  const one = (name: string, value: string, given = {}) => {
    const column = proposal(tableFacts(['ID', name], [['a1', value]]), given).draft.columns[1];
    return `${column?.target ?? '–'}: ${column?.reason}`;
  };
  test.each([
    ['Primäre E-Mail-Adresse', 'i@example.com', 'email (primäre e-mail-adresse): its only value is an e-mail address'],
    ['iPhone', '+351 912 345 679', 'phone (iphone): its only value is a phone number'],
    ['Persona - Teléfono - Móvil', '+31 6 12345678', 'phone (mobile): its only value is a phone number'],
    ['Persona - Teléfono', '020 1234510', 'phone (persona - teléfono): its only value is a phone number'],
    ['Work', '+46 8 1234567', 'phone (work): its only value is a phone number'],
  ])('tell an e-mail address, an international number, and what the name says, too: %s', (name, value, expected) => {
    expect(one(name, value)).toBe(expected);
  });

  test('are said to be few', () => {
    const facts = tableFacts(
      ['ID', 'Work'],
      six((n) => [`a${n}`, `+46 8 123456${n % 2}`]),
    );
    expect(proposal(facts).draft.columns[1]?.reason).toBe('its few values are phone numbers');
  });

  test('are else said to be too few: nothing is known of them', () => {
    expect(one('Telefon Empfang', 'Anna')).toBe('–: it has too few values to be sure what they are');
    expect(one('Work', '0301234567')).toBe('–: it has too few values to be sure what they are');
    expect(one('Assistant', '+46 8 1234567')).toContain('not the contact');
  });

  test('of a company at its main number are those of work, whatever such a column is called', () => {
    for (const name of ['Hauptrufnummer', 'Telefonzentrale', 'Zentrale', 'Switchboard', 'Standard']) {
      const facts = tableFacts(
        ['ID', 'Name', name],
        six((n) => [`a${n}`, `Ann Eins${n}`, n < 3 ? '030 901820' : '']),
      );
      const { target } = proposal(facts, { country: 'DE' }).draft.columns[2] ?? {};
      expect(target).toBe('phone (work)');
    }
    expect(one('Zentrale', 'Berlin')).toContain('–');
    expect(one('Standard', 'ja')).toContain('–');
  });
});

describe('a remark in brackets behind a name', () => {
  // Names that do not look like two words: the header alone tells.
  const name = (n: number) => `${first(n)} van der ${last(n)} de la Cruz`;
  const meant = (header: string, ...more: readonly string[]) =>
    lines(
      tableFacts(
        ['Nr', header, ...more],
        six((n) => [`${n * 7 + 1001}`, name(n), ...more.map(() => first(n))]),
      ),
    )[1];

  test.each([
    ['Full name (official)', 'firstName and lastName (likely)'],
    ['Name (full)', 'firstName and lastName (likely)'],
    ['Full Name [as in passport]', 'firstName and lastName (likely)'],
    ['Nom (complet)', 'firstName and lastName (likely)'],
    ['Nachname (amtlich)', 'lastName (certain)'],
    ['First name (legal)', 'firstName (certain)'],
  ])('that says how it is written leaves its meaning: %s', (header, target) => {
    expect(meant(header)).toBe(`${header} → ${target}`);
  });

  test.each(['Name (company)', 'Name (mother)', 'Full name (of owner)', 'Company (official)'])(
    'that says anything else changes it: %s',
    (header) => {
      expect(meant(header)).not.toMatch(/firstName|lastName/);
    },
  );

  test('counts where another column has the plain name', () => {
    expect(meant('First name (legal)', 'First name')).toBe('First name (legal) → –');
  });
});
