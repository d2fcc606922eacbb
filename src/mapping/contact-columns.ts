/**
 * Columns that by their names hold a phone number, an e-mail address or a person's name: in English, German, French and
 * Spanish. If nothing maps such a column, contact data is lost.
 *
 * A closed table of words, without accents, digits or punctuation. It prefers missing a column to stopping a file for
 * `Email Type` or `Account Name`.
 */
import { isIgnoredHeader, tidyHeader } from './header.ts';

export type ContactColumnKind = 'phone' | 'email' | 'firstName' | 'lastName' | 'fullName' | 'company' | 'role';

export interface ContactColumn {
  /** As the file names it. */
  readonly column: string;
  readonly kind: ContactColumnKind;
  /** The line of a mapping that maps it. */
  readonly line: string;
  /** Its name in the generic layout. */
  readonly generic: string;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Any of these words makes the column one of phone numbers, unless a word of `about` is there, too. */
const phoneWords = words(
  `phone phones telephone smartphone cellphone telefon telefonnummer rufnummer handy handynummer mobilnummer mobiltelefon
  mobilfunk mobilfunknummer festnetz festnetznummer telefono telefonos telefonnr telnr telnummer rufnr handynr mobilnr
  mobiltel diensthandy firmenhandy geschaftshandy privathandy privattelefon festnetztelefon`,
);
const emailWords = words('email emails emailadresse emailaddress mailadresse courriel courriels');
/** These count only beside known words: `Mobile` and `Tel. privat`, not `Mobile App` and `Mail Merge`. */
const weakPhoneWords = words('mobile mobil cell tel gsm portable fixe fijo movil celular durchwahl direktwahl');
const weakEmailWords = words('mail mails correo');
const qualifiers = words(
  `number numbers n no nr num numero nummer address adresse direccion value default primary secondary main other direct
  contact kontakt customer kunde kunden client cliente company firma firmen
  empresa entreprise societe work business office home private personal
  privat geschaftlich geschaeftlich dienstlich dienst beruflich arbeit buro buero zentrale weitere sonstige travail bureau domicile maison personnel
  professionnel profesional principal autre otro trabajo casa oficina particular electronico electronique de du d la le el del the`,
);
/** The column says something about a number or an address, or whose it is: no value for the contact. */
const about = words(
  `type typ label status country code prefix extension ext verified verification valid invalid consent opt optin optout
  marketing accepts subscribed unsubscribed newsletter permission bounce bounced domain date datum time last sent send
  sends open opened opens click clicks clicked count calls call is has not do owner assigned created updated modified
  by manager assistant assistants agent referrer carrier provider format display name template quarantined fax pager id
  app device os version system plan language reason hash timezone`,
);

const labels: readonly (readonly [string, ReadonlySet<string>])[] = [
  [
    'mobile',
    words(
      `mobile mobil cell cellphone smartphone handy handynummer handynr mobilnummer mobilnr mobiltel mobiltelefon
      mobilfunk mobilfunknummer portable movil celular gsm diensthandy firmenhandy geschaftshandy privathandy`,
    ),
  ],
  [
    'work',
    words(
      `work business office company geschaftlich geschaeftlich dienstlich dienst beruflich arbeit buro buero firma firmen
      travail bureau professionnel entreprise societe trabajo oficina profesional empresa`,
    ),
  ],
  ['home', words('home private personal privat privattelefon domicile maison personnel casa particular')],
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
      `name fullname contactname customername clientname membername personname kundenname kontaktname vorundnachname
      vornamenachname nachnamevorname nomcomplet nomprenom prenomnom nometprenom prenometnom nombrecompleto
      nombreapellidos nombreyapellidos`,
    ),
  ],
];

/** Only this many characters of a header are looked at. */
const headerCharsMax = 100;

/** Null for any other header. */
export function contactColumnOf(column: string): ContactColumn | null {
  if (isIgnoredHeader(column)) return null;
  const parts = wordsOf(column);
  const joined = parts.join('');
  const [kind] = names.find(([, known]) => known.has(joined)) ?? [listOf(parts)];
  if (kind === null) return null;
  const shown = JSON.stringify(tidyHeader(column));
  if (kind === 'phone' || kind === 'email') {
    const label = labelIn(parts) ?? kind;
    const line = `${kind}s: [{ column: ${shown}, label: ${label} }]`;
    return { column, kind, line, generic: label === kind ? kind : `${kind} ${label}` };
  }
  // There is no field for a whole name; in the first name nothing of it is lost.
  const generic = kind === 'lastName' ? 'lastName' : 'firstName';
  return { column, kind, line: `fields: { ${generic}: ${shown} }`, generic };
}

/** What a header says of an e-mail address or a phone number, each of its words being known. */
export interface PlainItemsHeader {
  readonly kind: 'phone' | 'email';
  /** `mobile`, `work`, `home` or `other`; null where it names none. */
  readonly label: string | null;
}

/**
 * Null where one word is unknown: `Telefon Empfang` suggests a phone number (`contactColumnOf`), but only a person knows whose
 * it is.
 */
export function plainItemsHeader(header: string): PlainItemsHeader | null {
  const parts = wordsOf(header);
  const kind = listOf(parts);
  return kind === null || !areAllKnown(parts) ? null : { kind, label: labelIn(parts) };
}

/** Whether a word says that the values are not the contact's own, or are about a number or an address: `Assistant's Phone`. */
export function isAboutContactData(header: string): boolean {
  return wordsOf(header).some((part) => about.has(part));
}

function labelIn(parts: readonly string[]): string | null {
  return labels.find(([, marks]) => parts.some((part) => marks.has(part)))?.[0] ?? null;
}

function areAllKnown(parts: readonly string[]): boolean {
  const known = [qualifiers, phoneWords, emailWords, weakPhoneWords, weakEmailWords];
  return parts.every((part) => known.some((table) => table.has(part)));
}

function listOf(parts: readonly string[]): 'phone' | 'email' | null {
  if (parts.some((part) => about.has(part))) return null;
  if (parts.some((part) => emailWords.has(part))) return 'email';
  if (parts.some((part) => phoneWords.has(part))) return 'phone';
  if (!areAllKnown(parts)) return null;
  if (parts.some((part) => weakEmailWords.has(part))) return 'email';
  return parts.some((part) => weakPhoneWords.has(part)) ? 'phone' : null;
}

/** Words that are written as one: `workphone`, `mobilenumber`. */
const compound =
  /^(mobile|cell|home|work|business|office|private|personal|other|company|contact|primary|secondary)(phone|telephone|tel|email|mail|number|no)$/;

/** `E-Mail privat` → email, privat; `homePhone 2` → home, phone; `workphone` → work, phone; `Téléphone` → telephone. */
export function wordsOf(header: string): readonly string[] {
  return header
    .slice(0, headerCharsMax)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/\be[\s_\p{Pd}]?mail/gu, 'email')
    .split(/[^a-z]+/)
    .flatMap((part) => compound.exec(part)?.slice(1) ?? [part])
    .filter((part) => part !== '');
}
