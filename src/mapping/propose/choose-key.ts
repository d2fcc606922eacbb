/**
 * The key of an unknown layout: the first column that is unique and filled of these: one whose name is that of an id; one whose
 * values are codes, of letters and digits; the e-mail address; one whose values are numbers that may be ids. Where there is none, a
 * key is derived from the e-mail address, or from name and number. Pure.
 */
import { contactColumnOf } from '#src/mapping/contact-columns.ts';
import { tidyHeader } from '#src/sources/column-name.ts';
import { wordsOf } from '#src/sources/number-words.ts';
import { type ColumnFacts, type FileFacts, valuesMax } from './column-facts.ts';
import { isIdOfOther, isMeasure, isNumberOfOther } from './column-names.ts';
import type { Confidence } from './proposal.ts';
import type { JudgedColumn } from './propose-columns.ts';

export interface KeyChoice {
  /** Null: no column is fit to be the key. */
  readonly column: ColumnFacts | null;
  readonly lowerCase: boolean;
  readonly confidence: Confidence;
  readonly reason: string;
  /** Why a column that is called a key is none, and what an unsure key means. */
  readonly remarks: readonly string[];
  /** What would give a better key than the e-mail address or a derived one. */
  readonly advice: string;
}

/** Below this share of filled rows a column is no key. */
const filledMin = 0.95;
/** The share of values from which a column holds ids. */
const nearlyAll = 0.95;
/** The share of values of another kind from which it does not. */
const rarely = 0.1;
/** The share of differing values from which a repeated one is a mistake. */
const mostly = 2 / 3;
/** In fewer rows any column may look unique. */
const rowsMin = 5;

export function chooseKey(file: FileFacts, columns: readonly JudgedColumn[]): KeyChoice {
  const { rows } = file;
  const usable = columns.filter(({ facts }) => !facts.isList && (facts.isNamed || facts.position !== null));
  const isFilled = ({ filled }: ColumnFacts): boolean => rows > 0 && filled >= rows * filledMin;
  const named = usable
    .filter(({ facts }) => idRank(facts.name) !== null)
    .sort((left, right) => rankOf(left) - rankOf(right));
  const spoilt = named.filter((one) => {
    if (rows === 0) return false;
    if (rankOf(one) < bareNumberRank) return one.facts.isUnique === false || !isFilled(one.facts);
    return isRepeatedNowAndThen(one.facts) && isFilled(one.facts) && isLikelyKey(one);
  });
  const remarks = spoilt.map(({ facts }) => whyNoKey(facts, rows));
  const [best] = spoilt;
  const advice =
    best === undefined
      ? 'Export a column with an id if you can'
      : `If you can, give each row a value of its own in ${quoted(best.facts)}, and map the file again`;
  const choice = (
    column: JudgedColumn | null,
    confidence: Confidence,
    reason: string,
    more: readonly string[] = [],
    lowerCase = false,
  ): KeyChoice => ({
    column: column?.facts ?? null,
    lowerCase,
    confidence,
    reason,
    advice,
    remarks: [...remarks, ...more],
  });

  const byName = named.find(
    (one) => rows === 0 || (one.facts.isUnique !== false && isFilled(one.facts) && isLikelyKey(one)),
  );
  if (byName !== undefined) {
    if (rows === 0) return choice(byName, 'likely', 'by its name; the file has no rows');
    const { facts } = byName;
    const blank = rows - facts.filled;
    const rejected =
      blank === 0
        ? []
        : [
            `${blank} of ${rowsText(rows)} ${blank === 1 ? 'has' : 'have'} no ${quoted(facts)}, the key: ${blank === 1 ? 'it' : 'they'} will be rejected`,
          ];
    const sure = facts.isUnique === true && blank === 0 && rankOf(byName) < bareNumberRank;
    return choice(byName, sure ? 'certain' : 'likely', `by its name, and ${uniqueInWords(file, facts)}`, rejected);
  }
  const byValues = usable.filter((one) => rows > 0 && isKeyByValues(one, rows));
  const chosenByValues = (column: JudgedColumn): KeyChoice =>
    choice(
      column,
      rows < rowsMin ? 'guess' : 'likely',
      `its values are like ids, ${uniqueInWords(file, column.facts)}`,
    );
  const code = byValues.find(({ kinds }) => kinds.code >= nearlyAll);
  if (code !== undefined) return chosenByValues(code);
  const email = usable.find(
    ({ facts, meaning }) =>
      meaning.kind === 'items' && meaning.list === 'emails' && facts.isUnique === true && facts.filled === rows,
  );
  if (email !== undefined && rows > 0) {
    return choice(
      email,
      'guess',
      `an e-mail address, ${uniqueInWords(file, email.facts)}${best === undefined ? '; no column is an id' : ''}`,
      [`the key is the e-mail address: a person whose address changes becomes a new contact. ${advice}`],
      true,
    );
  }
  // Numbers alone may be anything: an address that identifies is surer.
  const [number] = byValues;
  if (number !== undefined) return chosenByValues(number);
  return choice(null, 'guess', 'no column is fit to be the key');
}

function quoted({ name }: ColumnFacts): string {
  return `"${tidyHeader(name)}"`;
}

/** Of a name that says number or code alone: the values are ids with a mistake among them, and no groups of rows. */
function isRepeatedNowAndThen({ isUnique, filled, values }: ColumnFacts): boolean {
  return isUnique === false && values.length >= Math.min(filled, valuesMax) * mostly;
}

function whyNoKey(facts: ColumnFacts, rows: number): string {
  const blank = rows - facts.filled;
  return facts.isUnique === false && facts.filled > 0
    ? `${quoted(facts)} is not the key, since a value of it occurs twice`
    : `${quoted(facts)} is not the key, since it is blank in ${blank} of ${rowsText(rows)}`;
}

function rowsText(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}

function uniqueInWords({ rows, isPartial }: FileFacts, { isUnique, filled }: ColumnFacts): string {
  const where = isPartial ? `the first ${rowsText(rows)}` : rows === 1 ? 'the only row' : `all ${rows} rows`;
  const full = filled === rows ? `filled in ${where}` : `filled in ${filled} of ${rowsText(rows)}`;
  return isUnique === true ? `unique and ${full}` : `${full} (too many values to compare them all)`;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
const idWords = words(
  'id uid uuid guid identifier identifiant identificador identificativo kennung externalid extid recordid contactid customerid personid userid clientid memberid',
);
/** Whole names that say key, number or reference of a person. */
const keyNames = words(
  `key reference ref kundennummer kundennr kontaktnummer kontaktnr mitgliedsnummer mitgliedsnr personalnummer personalnr
  personennummer adressnummer adressnr debitorennummer customernumber customerno contactnumber membernumber memberno
  clientnumber clientno employeenumber employeeno numeroclient numeroadherent numerodecliente numerocliente numerodesocio
  codigo codigocliente codigodecliente codeclient matricule resourcename`,
);
/** The id of another thing than the person. */
const foreignWords = words(
  `account company organisation organization org firm firma owner parent campaign user manager createdby updatedby created
  updated lead source list group team department deal order invoice session device google facebook external tax vat`,
);
/** Of these, the person may be meant where no better id is there: a `User ID`. */
const perhapsOwn = words('user external lead');

/** `Kunde-Nr.`, `Membership No`, `Nº`, `Réf`. */
const numberWords = words('nr nro no n num number numero nummer ref reference referenz referencia code codigo');
/** One word: `Kundennr`, `Vertragsnummer`. */
const numberEnding = /(?:nummer|number|nr)$/;
const personIdWords =
  /^(?:kd|kund|kontakt|mitglied|person|teilnehmer|adress|datensatz|debitor|stamm|customer|contact|member|client|record|account|socio|adherent|membre|persona|registro)/;
/** Numbers by which people are called. */
const phoneWords = /tel|phone|fon|mobil|movil|handy|ruf|fax|pager/;

/** From here on a name says number or code and nothing of the person: such a column is unique and filled, or not thought of. */
const bareNumberRank = 22;
/** The id of a number, an address or a picture: it is another one where the person gets a new one. */
const otherIdRank = 26;

/** 0 is best; null for a name that says nothing of a key. */
function idRank(name: string): number | null {
  const parts = wordsOf(name);
  const joined = parts.join('');
  const isId = idWords.has(parts.at(-1) ?? '') || idWords.has(joined) || isIdOfPerson(parts);
  if (!isId && !keyNames.has(joined)) return numberRank(name, parts);
  const foreign = parts.filter((part) => foreignWords.has(part));
  if (foreign.length === 0 && isId) return isIdOfOther(name, personIdWords) ? otherIdRank : parts.length - 1;
  if (foreign.length === 0) return 10;
  return foreign.every((part) => perhapsOwn.has(part)) ? 20 : null;
}

/** French and Spanish put the word in front: `ID de registro`, `ID client`. */
function isIdOfPerson([first = '', ...others]: readonly string[]): boolean {
  return idWords.has(first) && saysOnePerson(others);
}

/** `du contact`, `cliente`; of several (`de contactos`) a number counts them. */
function saysOnePerson([first = '', ...others]: readonly string[]): boolean {
  const named = /^d(?:e|u|el|es)?$/.test(first) ? others : [first, ...others];
  return named.length > 0 && personIdWords.test(named[0] ?? '') && !named.some((part) => part.endsWith('s'));
}

/** The rank of a column that is called a number or a code; null for one of phones, addresses, taxes and the like. */
function numberRank(name: string, parts: readonly string[]): number | null {
  const last = parts.at(-1) ?? '';
  const isInFront = numberWords.has(parts[0] ?? '') && saysOnePerson(parts.slice(1));
  const isNumber = /#\s*$/.test(name) || numberWords.has(last) || numberEnding.test(last) || isInFront;
  if (!isNumber || contactColumnOf(name) !== null) return null;
  const isOwn = parts.some((part) => personIdWords.test(part));
  const isCalled = parts.some((part) => phoneWords.test(part) && !personIdWords.test(part));
  if (isCalled || isNumberOfOther(name, personIdWords)) return null;
  const foreign = parts.filter((part) => foreignWords.has(part) && part !== 'account');
  if (foreign.some((part) => !perhapsOwn.has(part))) return null;
  return isOwn ? 12 : bareNumberRank;
}

/** Whether the values of a column are like ids, and its name does not say that they are something else. */
function isKeyByValues({ facts, kinds, meaning }: JudgedColumn, rows: number): boolean {
  const parts = wordsOf(facts.name);
  const isOfOther =
    isNumberOfOther(facts.name, personIdWords) ||
    isMeasure(facts.name) ||
    parts.some((part) => foreignWords.has(part) && !perhapsOwn.has(part));
  if (meaning.kind !== 'unused' || isOfOther || kinds.measured >= rarely) return false;
  return holdsIds(kinds) && facts.isUnique === true && facts.filled === rows && !isRunning(facts);
}

/** What a column must hold if its name is that of any number: values like ids that count no rows. */
function isLikelyKey({ facts, kinds, meaning }: JudgedColumn): boolean {
  if (rankOf({ facts }) < bareNumberRank) return true;
  return meaning.kind === 'unused' && holdsIds(kinds) && !countsRows(facts);
}

function holdsIds(kinds: JudgedColumn['kinds']): boolean {
  return (
    kinds.id >= nearlyAll && kinds.date < rarely && kinds.dialled < rarely && kinds.truth < 0.5 && kinds.email === 0
  );
}

/** 0, 1, 2… or 1, 2, 3…: as `isRunning`, but 1001, 1002, 1003 are ids that were given one after the other. */
function countsRows(facts: ColumnFacts): boolean {
  return isRunning(facts) && Number(facts.values[0]) <= 1;
}

function rankOf({ facts }: Pick<JudgedColumn, 'facts'>): number {
  return idRank(facts.name) ?? Number.POSITIVE_INFINITY;
}

/** How much a name suggests a key: 0 is best. Among others, an e-mail address may become one. */
export function keyRank(name: string): number {
  return idRank(name) ?? (contactColumnOf(name)?.kind === 'email' ? 30 : 100);
}

/** 1, 2, 3… under `Nr` is the number of the row: it changes with the order. */
function isRunning({ values }: ColumnFacts): boolean {
  return values.length > 0 && values.every((value, index) => Number(value) === index + Number(values[0]));
}
