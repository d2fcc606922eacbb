/**
 * What the names of columns say beside what contacts hold: a number of something else, another person's values, or the
 * columns of a second table. Pure.
 */

import { contactColumnOf } from '#src/mapping/contact-columns.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import { wordsOf } from '#src/sources/number-words.ts';
import type { ColumnFacts } from './column-facts.ts';

/** Numbers of other things than the person, which may be unique in a short file. Parts of words without accents. */
const otherThings =
  /plz|post|zip|^cp$|^cep$|^cap$|haus|house|street|strasse|stras|door|apartment|zimmer|room|tax|vat|steuer|ust|nif|siret|siren|iban|bic|swift|konto|bank|card|karte|invoice|rechnung|factur|order|bestell|auftrag|pedido|commande|product|produkt|artikel|item|country|land|pays|pais|currency|language|sprach|area|dial|region|state|city|discount|promo|coupon|gutschein|version|count|total|anzahl|time|lfd|laufend|row|line|zeile|ssn|social|sozial|passport|ausweis|hr$|handelsregister|register|tracking|sendung/;
/** What is counted, measured or paid: amounts, dates, ages. Whole words. */
const measures =
  /^(?:amount|balance|price|cost|costs|fee|sum|revenue|turnover|budget|salary|income|credit|debit|payment|paid|due|spent|value|volume|quantity|qty|size|weight|height|score|points|rating|rank|age|year|month|day|date|birthday|born|since|hours|percent|rate|deals|visits|betrag|saldo|preis|kosten|gebuhr|summe|umsatz|gehalt|menge|punkte|alter|jahr|monat|tag|datum|geburtstag|geburtsdatum|geboren|seit|stunden|wert|montant|solde|prix|cout|frais|somme|chiffre|salaire|quantite|annee|mois|jour|naissance|depuis|heures|valeur|importe|monto|precio|coste|costo|suma|ingresos|salario|cantidad|puntos|edad|ano|mes|dia|fecha|nacimiento|desde|horas|valor|bedrag)$/;

/** Of other kinds that have ids of their own. Whole words. */
const otherIds =
  /^(?:e?mails?|phones?|telefon|telephone|tel|handy|mobile|mobil|photos?|fotos?|images?|bild|bilder|tickets?|events?|stores?|shops?|branch|filiale|category|kategorie|categorie|categoria|files?|documents?|dokument)$/;

/** `Phone ID`, `Photo ID`, `Order ID`: the id of a thing. @param own words that say that the person is meant all the same. */
export function isIdOfOther(name: string, own: RegExp): boolean {
  const parts = wordsOf(name);
  return parts.some((part) => otherIds.test(part)) || (parts.length > 1 && isNumberOfOther(name, own));
}

/** Who else may be meant beside an address or a number: beginnings of words without accents, and below whole words. */
const otherPeople =
  /^(?:owner|assigned|manager|assistant|agent|referrer|supervisor|boss|spouse|husband|wife|parent|mother|father|guardian|emergency|vorgesetzt|sachbearbeit|assisten|betreu|ehepartner|ehefrau|ehemann|notfall|notruf|eltern|mutter|vater|erziehungsberechtigt|responsable|urgence|conjoint|mere$|pere$|jefe|jefa|urgencia|emergencia|propietari|conyuge|padre|madre|asistente|encargad|teacher|physician|carer|caregiver|sibling|relative|nextofkin|lehrer|hausarzt|angehorig|ehegatt|geschwister|lebensgefahrt|medecin|professeur|enseignant|medico|medica$|profesor|familiar)/;
const otherPersons =
  /^(?:partners?|partner(?:in|innen)|kin|child|children|son|daughter|brother|sister|doctors?|gp|coach|trainer|tutor|kind|kinder|kindes|sohn|tochter|bruder|schwester|arzt|arztin|partenaires?|enfants?|fils|fille|frere|soeur|pareja|hij[oa]s?|herman[oa]s?)$/;

/** `E-Mail Vorgesetzter`, `Emergency Phone`: the values may be another person's. */
export function mayBeOfAnotherPerson(name: string): boolean {
  return wordsOf(name).some((part) => otherPeople.test(part) || otherPersons.test(part));
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
/** In brackets behind the name of a column: these say how the name of the person is written, and not whose it is. */
const wholeWords = words('full complete whole entire vollstandig komplett complet completo entero');
const spellingWords = words(
  `official legal exact as in on per the id passport document card amtlich offiziell laut gemass im ausweis pass reisepass personalausweis
  officiel officielle legale sur passeport oficial pasaporte en segun documento`,
);
const bracketed = /^([^()[\]]*\p{L}[^()[\]]*)[([]([^()[\]]+)[)\]]\s*$/u;
/** What may be part of a name or all of it: the word in brackets says all. */
const openNames = words('name nom nombre');

/** `Full name (official)` → `Full name`, `Name (full)` → `Full name`; any other header as it is. */
export function withoutNameRemark(header: string): string {
  const [, stem = '', remark = ''] = bracketed.exec(header) ?? [];
  const said = wordsOf(remark);
  if (said.length === 0 || !said.every((word) => wholeWords.has(word) || spellingWords.has(word))) return header;
  if (!isNameColumn(stem)) return header;
  const isWhole = openNames.has(wordsOf(stem).join('')) && said.some((word) => wholeWords.has(word));
  return isWhole ? 'Full name' : stem.trim();
}

function isNameColumn(header: string): boolean {
  const kind = contactColumnOf(header)?.kind;
  return kind === 'firstName' || kind === 'lastName' || kind === 'fullName';
}

/** `PLZ-Nr`, `Order Number`: the number of a thing. @param own words that say that the person is meant all the same. */
export function isNumberOfOther(name: string, own: RegExp | null = null): boolean {
  return wordsOf(name).some((part) => otherThings.test(part) && own?.test(part) !== true);
}

/** `Balance`, `Geburtsdatum`: no number that identifies anything. */
export function isMeasure(name: string): boolean {
  return wordsOf(name).some((part) => measures.test(part));
}

/**
 * What columns of address books are called whose lists hold companies and their people (Odoo): the company of a person, and the job. They are
 * proposed, but no names of the generic layout.
 */
const listNames: readonly (readonly ['company' | 'role', RegExp])[] = [
  ['company', /^(?:parentidname|parentname|relatedcompany|zugehorigesunternehmen|societeliee|empresarelacionada)$/],
  ['role', /^(?:function|arbeitsposition)$/],
];

/** Null for any other name. */
export function fieldInLists(name: string): 'company' | 'role' | null {
  const joined = wordsOf(name).join('');
  return listNames.find(([, known]) => known.test(joined))?.[0] ?? null;
}

/**
 * Tables that stand side by side in one sheet: a sequence of headers is there again, and each row holds two people.
 * @returns the positions, from 0, of the columns of a table whose headers, two in a row at least, are those of columns before them.
 */
export function repeatedColumns(columns: readonly ColumnFacts[]): ReadonlySet<number> {
  const forms = columns.map(({ name, position }) => (position === null ? '' : normaliseHeader(name)));
  const firstAt = new Map<string, number>();
  const repeated = new Set<number>();
  for (const [index, form] of forms.entries()) {
    const next = forms[index + 1] ?? '';
    if (form === '' || next === '' || form === next) continue;
    const pair = JSON.stringify([form, next]);
    const earlier = firstAt.get(pair);
    if (earlier === undefined) firstAt.set(pair, index);
    else repeated.add(index).add(index + 1);
  }
  return repeated;
}

/** Null where no headers are there again. */
export function secondTableNote(columns: readonly ColumnFacts[]): string | null {
  const repeated = [...repeatedColumns(columns)];
  if (repeated.length === 0) return null;
  const names = repeated.slice(0, shownMax).map((index) => `"${columns[index]?.name ?? ''}"`);
  const places = repeated.slice(0, shownMax).map((index) => index + 1);
  return `the headers ${names.join(', ')} (columns ${places.join(', ')}) are there before, in the same order: if two tables stand side by side, put the rows of the second below those of the first; otherwise its addresses and numbers go to the people of the first`;
}

const shownMax = 10;
