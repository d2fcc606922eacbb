/**
 * What else the columns of the generic layout are called, in English, German, French and Spanish: `Mobile`, `Courriel`,
 * `Vorname`, `Organisation`, `Cargo`. A closed table, and rules instead of guesses:
 *
 * - The layout's own names win: beside `company`, a column `Organisation` is not mapped.
 * - Two synonyms of one field (`Firma` and `Organisation`) are *rivals*: neither is mapped.
 * - `Name` and `Nom` are the last name beside a first name, and a whole name alone. A whole name is split, unless its header is
 *   Spanish (two surnames) or puts the family name first.
 * - `Title` is a job or a form of address. Only its values tell, which this code does not see: it is not mapped.
 */
import type { ScalarName } from '#src/contacts/desired.ts';
import { type ContactColumn, plainItemsHeader, wordsOf } from './contact-columns.ts';
import { isIgnoredHeader, tidyHeader } from './header.ts';

/** What a column means by a synonym. A whole name means two. */
export type SynonymMeaning =
  | { readonly kind: 'scalar'; readonly name: ScalarName; readonly part?: NamePart }
  | { readonly kind: 'items'; readonly list: 'emails' | 'phones'; readonly label: string };

/** Which part of a whole name (`person-name.ts`). */
export type NamePart = 'givenNames' | 'familyName';

export interface SynonymsRead {
  /** For each name, in order; empty where it means nothing, or where it is one of several that mean the same. */
  readonly meanings: readonly (readonly SynonymMeaning[])[];
  /** Synonyms of one field, by their positions. */
  readonly rivals: ReadonlyMap<number, ContactColumn>;
}

/** By a header alone. `nameOrLast`: the other columns decide. `first` and `last` count only beside the other part of a name. */
type Synonym =
  | { readonly kind: 'items'; readonly list: 'emails' | 'phones'; readonly label: string }
  | { readonly kind: 'scalar'; readonly name: ScalarName }
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
]);

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
  const found = names.map((name) => (name === null ? null : synonymOf(name)));
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
