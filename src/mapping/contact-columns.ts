/**
 * Columns that by their names hold a phone number, an e-mail address or a person's name: in English, German, French and
 * Spanish. Where nothing maps such a column, something is lost that the file was brought for.
 *
 * A closed table, to be read with a form of the header that has no accents, digits or punctuation. It would rather miss a
 * column than stop a file for `Email Type` or `Account Name`.
 */
import { isIgnoredHeader, tidyHeader } from './header.ts';

export type ContactColumnKind = 'phone' | 'email' | 'firstName' | 'lastName' | 'fullName';

export interface ContactColumn {
  /** As the file names it. */
  readonly column: string;
  readonly kind: ContactColumnKind;
  /** The line of a mapping that takes it in. */
  readonly line: string;
  /** What it is called in the generic layout. */
  readonly generic: string;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Any of these makes a phone number of a header, unless it is about one. */
const phoneWords = words(
  `phone phones telephone smartphone cellphone telefon telefonnummer rufnummer handy handynummer mobilnummer mobiltelefon
  mobilfunk mobilfunknummer festnetz festnetznummer telefono telefonos`,
);
const emailWords = words('email emails emailadresse emailaddress mailadresse courriel');
/** These only beside words that are known: `Mobile` and `Tel. privat`, not `Mobile App` and `Mail Merge`. */
const weakPhoneWords = words('mobile mobil cell tel gsm portable fixe movil celular durchwahl direktwahl');
const weakEmailWords = words('mail mails correo');
const qualifiers = words(
  `number numbers no nr num numero nummer address adresse direccion value default primary secondary main other direct
  contact kontakt customer kunde kunden client cliente company firma work business office home private personal
  privat geschaftlich dienstlich beruflich arbeit buro zentrale travail bureau domicile maison personnel
  professionnel principal trabajo casa oficina particular electronico electronique de du d la le el del the`,
);
/** What is said about a number or an address, or whose it is: no value that a contact could take. */
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
    words('mobile mobil cell cellphone handy handynummer mobilnummer mobiltelefon mobilfunk portable movil celular'),
  ],
  ['work', words('work business office geschaftlich dienstlich beruflich arbeit buro travail bureau trabajo oficina')],
  ['home', words('home private personal privat domicile maison casa particular')],
];

/** Whole headers, without their spaces. */
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

/** A header is a name, not a text. */
const headerCharsMax = 100;

/** Null for a header that names nothing of the kind. */
export function contactColumnOf(column: string): ContactColumn | null {
  if (isIgnoredHeader(column)) return null;
  const parts = wordsOf(column);
  const joined = parts.join('');
  const [kind] = names.find(([, known]) => known.has(joined)) ?? [listOf(parts)];
  if (kind === null) return null;
  const shown = JSON.stringify(tidyHeader(column));
  if (kind === 'phone' || kind === 'email') {
    const [label] = labels.find(([, marks]) => parts.some((part) => marks.has(part))) ?? [kind];
    const line = `${kind}s: [{ column: ${shown}, label: ${label} }]`;
    return { column, kind, line, generic: label === kind ? kind : `${kind} ${label}` };
  }
  // A whole name has no field of its own; in the first name nothing of it is lost.
  const generic = kind === 'lastName' ? 'lastName' : 'firstName';
  return { column, kind, line: `fields: { ${generic}: ${shown} }`, generic };
}

function listOf(parts: readonly string[]): 'phone' | 'email' | null {
  if (parts.some((part) => about.has(part))) return null;
  if (parts.some((part) => emailWords.has(part))) return 'email';
  if (parts.some((part) => phoneWords.has(part))) return 'phone';
  const isKnown = parts.every((part) => qualifiers.has(part) || weakPhoneWords.has(part) || weakEmailWords.has(part));
  if (!isKnown) return null;
  if (parts.some((part) => weakEmailWords.has(part))) return 'email';
  return parts.some((part) => weakPhoneWords.has(part)) ? 'phone' : null;
}

/** `E-Mail privat` → email, privat; `homePhone 2` → home, phone; `Téléphone` → telephone. */
function wordsOf(header: string): readonly string[] {
  return header
    .slice(0, headerCharsMax)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/\be[\s_\p{Pd}]?mail/gu, 'email')
    .split(/[^a-z]+/)
    .filter((part) => part !== '');
}
