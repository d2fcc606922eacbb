/**
 * What a column's name says of its values, in English, German, French and Spanish: that it holds a phone number, an e-mail
 * address or a person's name, and which column of the generic layout it means. If nothing maps such a column, contact data is
 * lost.
 *
 * Closed tables of words, without accents, digits or punctuation. They prefer missing a column to stopping a file for
 * `Email Type` or `Account Name`.
 */
import type { ScalarName } from '#src/contacts/desired.ts';
import { isIgnoredHeader, tidyHeader } from '#src/sources/column-name.ts';
import { machineIn, phoneWords, qualifiers, weakPhoneWords, words, wordsOf } from '#src/sources/number-words.ts';

/** `country`: of phone numbers (`contradicted-country.ts`). */
type ContactColumnKind = 'phone' | 'email' | 'firstName' | 'lastName' | 'fullName' | 'company' | 'role' | 'country';

export interface ContactColumn {
  /** As the file names it. */
  readonly column: string;
  readonly kind: ContactColumnKind;
  /** The line of a mapping that maps it. */
  readonly line: string;
  /** Its name in the generic layout. */
  readonly generic: string;
  /** Of a country: what is to be known before it is read. */
  readonly strays?: CountryStrays;
}

/** What a mapping that reads a column for the country of numbers would do otherwise than the generic layout. */
export interface CountryStrays {
  /** Numbers without a country code in rows that name no country there: they would be rejected. Counted up to 1,000. */
  readonly numbers: number;
  /** Members with lists that no mapping reads. */
  readonly unread: readonly string[];
}

const emailWords = words('email emails emailadresse emailaddress mailadresse courriel courriels');
/** These count only beside known words: `Mail privat`, not `Mail Merge`. */
const weakEmailWords = words('mail mails correo');
/** The column says something about a number or an address, or whose it is: no value for the contact. */
const about = words(
  `type typ label status country code prefix extension ext verified verification valid invalid consent opt optin optout
  marketing accepts subscribed unsubscribed newsletter permission bounce bounced domain date datum time last sent send
  sends open opened opens click clicks clicked count calls call is has not do owner assigned created updated modified
  by manager assistant assistants agent referrer carrier provider format display name template quarantined id app
  device os version system plan language reason hash timezone`,
);

const labels: readonly (readonly [string, ReadonlySet<string>])[] = [
  [
    'mobile',
    words(
      `mobile mobil cell cellphone smartphone handy handynummer handynr mobilnummer mobilnr mobiltel mobiltelefon
      mobilfunk mobilfunknummer mobilfunknr mobiltelefonnummer mobiltelefonnr mobilrufnummer handyrufnummer portable
      cellulaire movil celular gsm diensthandy firmenhandy geschaftshandy privathandy diensthandynummer
      firmenhandynummer privathandynummer mobiel mobiele mobielnummer`,
    ),
  ],
  [
    'work',
    words(
      `work business office company geschaftlich geschaeftlich dienstlich dienst beruflich arbeit buro buero firma firmen
      travail bureau professionnel professionnelle pro entreprise societe trabajo oficina profesional empresa diensttelefon
      diensttelefonnummer geschaftstelefon geschaeftstelefon geschaftstelefonnummer burotelefon buerotelefon firmentelefon
      firmentelefonnummer werk zakelijk zakelijke kantoor`,
    ),
  ],
  [
    'home',
    words(
      `home private personal privat privattelefon privattelefonnummer domicile maison personnel personnelle perso casa
      particular thuis prive`,
    ),
  ],
  ['other', words('other weitere sonstige autre otro')],
];

/** Whole headers, without spaces. */
const names: readonly (readonly [ContactColumnKind, ReadonlySet<string>])[] = [
  ['firstName', words('firstname forename givenname first vorname vornamen rufname prenom prenoms nombre nombres')],
  [
    'lastName',
    words('lastname surname familyname last nachname familienname zuname nom nomdefamille apellido apellidos'),
  ],
  [
    'fullName',
    words(
      `name fullname completename contactname customername clientname membername personname kundenname kontaktname vorundnachname
      vornamenachname nachnamevorname vollername vollstandigername nomcomplet nomprenom prenomnom
      nometprenom prenometnom nombrecompleto nombreapellidos nombreyapellidos`,
    ),
  ],
];

/**
 * The number of a company, at which all of its people are reached: contact data, but the generic layout does not read it, since whether each
 * of them is to have it is for a person to say.
 */
const switchboards = words(
  `hauptrufnummer haupttelefonnummer haupttelefonnr haupttelefon telefonzentrale zentralrufnummer switchboard centralita centralino`,
);
const switchboardNames = words('standardtelephonique centraltelefonica');
/** These may as well be a place, or what is usual: the values tell. */
const perhapsSwitchboards = words('zentrale firmenzentrale standard centrale');

function isSwitchboard(parts: readonly string[]): boolean {
  if (switchboardNames.has(parts.join(''))) return true;
  const others = parts.filter((part) => !switchboards.has(part));
  return others.length < parts.length && others.every((part) => qualifiers.has(part));
}

/** Whether phone numbers in a column of that name are those of companies: `Telefonzentrale`, `Standard`. */
export function holdsSwitchboards(column: string): boolean {
  const parts = wordsOf(column);
  return isSwitchboard(parts) || perhapsSwitchboards.has(parts.join(''));
}

const displayNames = words(
  'displayname anzeigename angezeigtername nomaffiche nomdaffichage nombremostrado nombreparamostrar',
);

/** What a program shows of a person: a whole name, a nickname or a company. */
export function isDisplayName(column: string): boolean {
  return displayNames.has(wordsOf(column).join(''));
}

/** Beside words for an address, in the languages of Outlook: `E-Mail 2: Angezeigter Name`, `Weergavenaam e-mail`. */
const shownWords = words(
  `display displayname angezeigter anzeigename affiche affichage mostrar mostrado pantalla visualizzato weergavenaam
  wyswietlana`,
);
const addressWords = words('messagerie posta emailadres');
/** `Nom complet de l'adresse de messagerie 2`. */
const shownInFrench = /^nomcomplet(?:de)?l?(?:adresse)?(?:de)?(?:messagerie|email|courriel)/;

/**
 * What a program shows in place of an e-mail address: a name, often with an address behind it, which stays when the contact gets another
 * one.
 */
export function isShownForAddress(header: string): boolean {
  const parts = wordsOf(header);
  if (shownInFrench.test(parts.join(''))) return true;
  const ofAddress = [emailWords, weakEmailWords, addressWords];
  return parts.some((part) => shownWords.has(part)) && parts.some((part) => ofAddress.some((table) => table.has(part)));
}

/** Null for any other header. */
export function contactColumnOf(column: string): ContactColumn | null {
  if (isIgnoredHeader(column)) return null;
  const parts = wordsOf(column);
  const joined = parts.join('');
  const [named] = names.find(([, known]) => known.has(joined)) ?? [];
  const isOfCompany = isSwitchboard(parts);
  const kind = named ?? (displayNames.has(joined) ? 'fullName' : (listOf(column) ?? (isOfCompany ? 'phone' : null)));
  if (kind === null) return null;
  const shown = JSON.stringify(tidyHeader(column));
  if (kind === 'phone' || kind === 'email') {
    const label = isOfCompany ? 'work' : (labelIn(parts) ?? kind);
    const line = `${kind}s: [{ column: ${shown}, label: ${label} }]`;
    return { column, kind, line, generic: label === kind ? kind : `${kind} ${label}` };
  }
  // There is no field for a whole name; in the first name nothing of it is lost.
  const generic = kind === 'lastName' ? 'lastName' : 'firstName';
  return { column, kind, line: `fields: { ${generic}: ${shown} }`, generic };
}

/** What a header says of an e-mail address or a phone number, each of its words being known. */
interface PlainItemsHeader {
  readonly kind: 'phone' | 'email';
  /** `mobile`, `work`, `home` or `other`; null where it names none. */
  readonly label: string | null;
}

/**
 * Null where one word is unknown: `Telefon Empfang` suggests a phone number (`contactColumnOf`), but only a person knows whose
 * it is.
 */
function plainItemsHeader(header: string): PlainItemsHeader | null {
  const parts = wordsOf(header);
  const kind = listOf(header);
  const isPlain = areAllKnown(parts) || isMessagingAddress(parts);
  return kind === null || !isPlain ? null : { kind, label: labelIn(parts) };
}

/** Whether a word says that the values are not the contact's own, or are about a number or an address: `Assistant's Phone`. */
export function isAboutContactData(header: string): boolean {
  if (machineIn(header) === 'alone' || isDisplayName(header) || isShownForAddress(header)) return true;
  return wordsOf(header).some((part) => about.has(part));
}

function labelIn(parts: readonly string[]): string | null {
  return labels.find(([, marks]) => parts.some((part) => marks.has(part)))?.[0] ?? null;
}

const namingTables = [phoneWords, emailWords, weakPhoneWords, weakEmailWords];
const plainTables = [qualifiers, ...namingTables];
/** With these, Dutch headers are plain, too. They give a label to what the values show to be a number or an address. */
const dutchNames = words('telefoon telefoonnummer telefoonnr emailadres mailadres');
const dutchQualifiers = words('adres vast vaste');
const labelTables = [...plainTables, dutchNames, dutchQualifiers, ...labels.map(([, marks]) => marks)];

function areAllKnown(parts: readonly string[], tables: readonly ReadonlySet<string>[] = plainTables): boolean {
  return parts.every((part) => tables.some((table) => table.has(part)));
}

/** `Mobiele telefoon` → mobile, `E-mailadres` → email; null for a header with an unknown word. @param kind by the values. */
export function labelByWords(header: string, kind: 'phone' | 'email'): string | null {
  const parts = wordsOf(header);
  if (!areAllKnown(parts, labelTables)) return null;
  const isNamed = parts.some((part) => [...namingTables, dutchNames].some((table) => table.has(part)));
  return labelIn(parts) ?? (isNamed ? kind : null);
}

/** `Adresse de messagerie 2`; not `Messagerie instantanée`. */
function isMessagingAddress(parts: readonly string[]): boolean {
  const others = parts.filter((part) => part !== 'messagerie');
  return others.length < parts.length && others.includes('adresse') && areAllKnown(others);
}

/** As programs call numbers of their own in vCards: `X-MS-TEL`. A second one is `X-MS-TEL 2`. */
const numbersOfProgram = /^X-(?:[A-Z]+-)*TEL(?: \d+)?$/i;

function listOf(header: string): 'phone' | 'email' | null {
  const parts = wordsOf(header);
  const machine = machineIn(header);
  if (machine === 'alone' || parts.some((part) => about.has(part)) || isShownForAddress(header)) return null;
  if (parts.some((part) => emailWords.has(part))) return 'email';
  if (machine === 'besidePhone' || parts.some((part) => phoneWords.has(part))) return 'phone';
  if (isMessagingAddress(parts)) return 'email';
  if (numbersOfProgram.test(header)) return 'phone';
  if (!areAllKnown(parts)) return null;
  if (parts.some((part) => weakEmailWords.has(part))) return 'email';
  return parts.some((part) => weakPhoneWords.has(part)) ? 'phone' : null;
}

// What else the columns of the generic layout are called, in English, German, French and Spanish: `Mobile`, `Courriel`,
// `Vorname`, `Organisation`, `Cargo`. A closed table, and rules instead of guesses:
//
// - The layout's own names win: beside `company`, a column `Organisation` is not mapped.
// - Two synonyms of one field (`Firma` and `Organisation`) are *rivals*: neither is mapped.
// - `Name` and `Nom` are the last name beside a first name, and a whole name alone. A whole name is split, unless its header is
//   Spanish (two surnames) or puts the family name first.
// - `Title` is a job or a form of address. Only its values tell, which this code does not see: it is not mapped.

/** What a column means by a synonym. A whole name means two. */
export type SynonymMeaning =
  | { readonly kind: 'scalar'; readonly name: ScalarName; readonly part?: NamePart }
  | { readonly kind: 'items'; readonly list: 'emails' | 'phones'; readonly label: string };

/** Which part of a whole name (`person-name.ts`). */
export type NamePart = 'givenNames' | 'familyName';

interface SynonymsRead {
  /** For each name, in order; empty where it means nothing, or where it is one of several that mean the same. */
  readonly meanings: readonly (readonly SynonymMeaning[])[];
  /** Synonyms of one field, by their positions. */
  readonly rivals: ReadonlyMap<number, ContactColumn>;
}

/**
 * By a header alone. `nameOrLast`: the other columns decide. `first` and `last` count only beside the other part of a name, and names of a
 * directory (LDAP) only beside its other ones, where no column has a plainer name for the same.
 */
type Synonym =
  | { readonly kind: 'items'; readonly list: 'emails' | 'phones'; readonly label: string }
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'ofDirectory'; readonly name: ScalarName }
  | { readonly kind: 'wholeName' | 'nameOrLast' | 'first' | 'last' };

const scalar = (name: ScalarName, headers: string): readonly (readonly [string, Synonym])[] =>
  headers.split(/\s+/).map((header) => [header, { kind: 'scalar', name }]);
const people = (kind: 'wholeName' | 'nameOrLast' | 'first' | 'last', headers: string) =>
  headers.split(/\s+/).map((header): readonly [string, Synonym] => [header, { kind }]);

/** Whole headers, without spaces, accents and punctuation. */
const synonyms: ReadonlyMap<string, Synonym> = new Map([
  ...scalar(
    'firstName',
    'firstname forename givenname givennames vorname vornamen rufname prenom prenoms nombre nombres nombredepila',
  ),
  ...scalar(
    'lastName',
    'lastname surname familyname nachname familienname zuname nomdefamille apellido apellidos primerapellido',
  ),
  ...scalar(
    'company',
    `company companyname organisation organization organisationname organizationname nameoforganisation organisationsname
    business businessname employer firma firmenname firmaname unternehmen unternehmensname arbeitgeber societe
    nomdelasociete nomsociete entreprise nomdelentreprise nomentreprise raisonsociale employeur empresa nombredelaempresa
    nombreempresa razonsocial compania organizacion`,
  ),
  ...scalar(
    'role',
    `role jobtitle jobposition jobrole jobfunction position positiontitle rolle funktion stellenbezeichnung
    berufsbezeichnung jobbezeichnung positionsbezeichnung fonction poste intituledeposte intituleduposte titredeposte
    titreduposte cargo puesto puestodetrabajo rol funcion`,
  ),
  ...people(
    'wholeName',
    'fullname contactname personname vorundnachname vornamenachname vornameundnachname kontaktname nomcomplet prenomnom prenometnom',
  ),
  ...people('nameOrLast', 'name nom'),
  ...people('first', 'first given'),
  ...people('last', 'last family'),
  ['sn', { kind: 'ofDirectory', name: 'lastName' }],
  ['o', { kind: 'ofDirectory', name: 'company' }],
]);

/** What a directory calls the first name: `sn` beside it is the surname, and no serial number. */
const firstNameOfDirectory = 'givenname';

/** Names that directories alone have. */
const marksOfDirectory: ReadonlySet<string> = new Set('cn dn displayname uid samaccountname objectclass'.split(' '));

/** Null for any other header, and for one with a digit: `Company 2` is not the company. */
function synonymOf(header: string): Synonym | null {
  if (isIgnoredHeader(header)) return null;
  const items = plainItemsHeader(header);
  if (items !== null) return { kind: 'items', list: `${items.kind}s`, label: items.label ?? items.kind };
  return /\p{Nd}/u.test(header) ? null : (synonyms.get(wordsOf(header).join('')) ?? null);
}

/** Whether a header of that name may have a meaning, by itself or beside others. */
export function isSynonym(header: string): boolean {
  return synonymOf(header) !== null;
}

/** Whether it means e-mail addresses or phone numbers. */
export function isItemsName(header: string): boolean {
  return synonymOf(header)?.kind === 'items';
}

/**
 * @param names the headers of a file, or the members of a record; null at each position that has its meaning already.
 * @param taken the fields that have a column of the layout's own name.
 */
export function readSynonyms(names: readonly (string | null)[], taken: ReadonlySet<ScalarName>): SynonymsRead {
  const forms = new Set(names.map((name) => wordsOf(name ?? '').join('')));
  const found = inDirectory(
    names.map((name) => (name === null ? null : synonymOf(name))),
    forms,
    taken,
  );
  const holds = (kind: 'first' | 'last', name: ScalarName): boolean =>
    taken.has(name) || found.some((one) => one?.kind === kind || (one?.kind === 'scalar' && one.name === name));
  const [anyFirst, anyLast] = [holds('first', 'firstName'), holds('last', 'lastName')];
  const fieldOf = (one: Synonym | null): ScalarName | null => {
    if (one?.kind === 'scalar') return one.name;
    if (one?.kind === 'first' && anyLast) return 'firstName';
    return one?.kind === 'last' && anyFirst ? 'lastName' : null;
  };
  const hasFirst = taken.has('firstName') || found.some((one) => fieldOf(one) === 'firstName');
  const hasLast = taken.has('lastName') || found.some((one) => fieldOf(one) === 'lastName');
  const whole = found.map((one) =>
    one?.kind === 'wholeName' ? !hasFirst && !hasLast : one?.kind === 'nameOrLast' && !hasFirst && !hasLast,
  );
  const resolved = found.map((one, index): ScalarName | 'wholeName' | null => {
    if (whole[index] === true) return 'wholeName';
    if (one?.kind === 'nameOrLast') return hasFirst && !hasLast ? 'lastName' : null;
    const field = fieldOf(one);
    return field === null || taken.has(field) ? null : field;
  });
  const isRival = resolved.map((one) => one !== null && resolved.filter((other) => other === one).length > 1);
  return {
    meanings: found.map((one, index): readonly SynonymMeaning[] => {
      const field = resolved[index] ?? null;
      if (one?.kind === 'items') return [one];
      if (field === null || isRival[index] === true) return [];
      if (field !== 'wholeName') return [{ kind: 'scalar', name: field }];
      return [
        { kind: 'scalar', name: 'firstName', part: 'givenNames' },
        { kind: 'scalar', name: 'lastName', part: 'familyName' },
      ];
    }),
    rivals: new Map(
      names.flatMap((name, index) => {
        const field = resolved[index] ?? null;
        if (isRival[index] !== true || name === null || field === null) return [];
        return [[index, rivalColumn(name, field)] as const];
      }),
    ),
  };
}

/**
 * With what names of a directory mean; null for each where they mean nothing.
 *
 * @param forms the names of all columns, without spaces and signs.
 */
function inDirectory(
  found: readonly (Synonym | null)[],
  forms: ReadonlySet<string>,
  taken: ReadonlySet<ScalarName>,
): readonly (Synonym | null)[] {
  // Beside a `name` that may be the last one, `sn` may be a serial number.
  const isSure =
    !found.some((one) => one?.kind === 'nameOrLast') || [...forms].some((form) => marksOfDirectory.has(form));
  const hasLastName = found.some((one) => one?.kind === 'ofDirectory' && one.name === 'lastName');
  const isDirectory = isSure && hasLastName && forms.has(firstNameOfDirectory);
  const isPlain = (one: Synonym | null, field: ScalarName): boolean =>
    (one?.kind === 'scalar' && one.name === field) || (one?.kind === 'last' && field === 'lastName');
  return found.map((one) => {
    if (one?.kind !== 'ofDirectory') return one;
    const { name } = one;
    const isFree = isDirectory && !taken.has(name) && !found.some((other) => isPlain(other, name));
    return isFree ? { kind: 'scalar', name } : null;
  });
}

function rivalColumn(column: string, field: ScalarName | 'wholeName'): ContactColumn {
  const generic = field === 'wholeName' ? 'firstName' : field;
  const kind = field === 'wholeName' || field === 'sourceUrl' ? 'fullName' : field;
  return { column, kind, line: `fields: { ${generic}: ${JSON.stringify(tidyHeader(column))} }`, generic };
}

/** `Mobile → phone (mobile)`, for the notes of a run. */
export function describeReading(column: string, meanings: readonly SynonymMeaning[]): string {
  const targets = meanings.map((one) => {
    if (one.kind === 'scalar') return one.name;
    const plain = one.list === 'emails' ? 'email' : 'phone';
    return one.label === plain ? plain : `${plain} (${one.label})`;
  });
  return `${tidyHeader(column)} → ${targets.join(' and ')}`;
}
