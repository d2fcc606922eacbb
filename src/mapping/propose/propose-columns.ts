/**
 * What each column of an unknown layout probably is: by its name (`contact-columns.ts`) and by what its values look like. Pure.
 *
 * A name that the values contradict counts for nothing. Values alone say what an e-mail address or a phone number is; what
 * a name is, they say only where no column has the name for it.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import type { ScalarName } from '#src/contacts/desired.ts';
import { contactColumnOf, holdsSwitchboards, isAboutContactData, labelByWords } from '#src/mapping/contact-columns.ts';
import { textsInCell } from '#src/mapping/json-cell.ts';
import {
  anySettings,
  genericMeaning,
  genericTarget,
  genericTargets,
  type Settings,
  type Target,
} from '#src/mapping/layout.ts';
import { tidyHeader } from '#src/sources/column-name.ts';
import { machineIn, wordsOf } from '#src/sources/number-words.ts';
import type { ColumnFacts, FileFacts } from './column-facts.ts';
import { withoutNames } from './column-facts.ts';
import {
  fieldInLists,
  isMeasure,
  isNumberOfOther,
  mayBeOfAnotherPerson,
  repeatedColumns,
  withoutNameRemark,
} from './column-names.ts';
import type { Confidence } from './proposal.ts';
import { kindsOf, type ValueKinds } from './value-kinds.ts';

/** What one column becomes. `unused` is left out, and says why. */
export type Meaning =
  | { readonly kind: 'scalar'; readonly name: ScalarName; readonly transform: 'givenNames' | 'familyName' | null }
  /** `isOfCompanies`: names of companies are among them, or in front of the people's (`company-name.ts`). */
  | { readonly kind: 'wholeName'; readonly isOfCompanies?: boolean }
  | {
      readonly kind: 'items';
      readonly list: 'emails' | 'phones';
      readonly label: string;
      /** JSON: the path of the label of each element of a list, which takes the place of that one. */
      readonly labelPath?: string;
    }
  | { readonly kind: 'custom'; readonly key: string }
  | { readonly kind: 'country' }
  /** The source label, of the generic layout alone. */
  | { readonly kind: 'source' }
  | { readonly kind: 'label' }
  | { readonly kind: 'unused' };

export interface JudgedColumn {
  readonly facts: ColumnFacts;
  readonly kinds: ValueKinds;
  readonly meaning: Meaning;
  readonly confidence: Confidence | null;
  readonly reason: string;
}

/** The share of values that must be of a kind for it to count as the column's. */
const mostly = 0.8;
/** Below this share a column is not what its name says. */
const hardly = 0.3;
/** Values alone prove something only if there are this many. */
const provingMin = 3;

/**
 * @param country of phone numbers without a country code; null if it is unknown.
 * @param isGeneric the file is in the generic layout: what that reads is not left out, whatever its values are.
 * @param contradicting columns with countries by which numbers are others than in the default one.
 */
export function judgeColumns(
  file: FileFacts,
  country: CountryCode | null,
  isGeneric: boolean,
  contradicting: readonly string[] = [],
): readonly JudgedColumn[] {
  const columns = file.columns.map(withoutNames);
  const settings: Settings = {
    ...{ keyPrefix: '', sourceLabel: null, country, onBlank: 'keep', customFields: null, mayLack: [] },
  };
  const names = namesOf(columns, isGeneric);
  const isContradicting = new Set(contradicting.map(tidyHeader));
  const { targets, rivals } = genericTargets(names, settings);
  const beside = companyBeside(names, targets);
  const byName = columns.map((facts, index): JudgedColumn => {
    const [target, second] = targets[index] ?? [];
    const kinds = kindsOf(target?.kind === 'items' ? facts.values.flatMap(textsInCell) : facts.values, country);
    const verdict = (meaning: Meaning, confidence: Confidence | null, reason: string): JudgedColumn => ({
      ...{ facts, kinds, meaning, confidence, reason },
    });
    if (!facts.isNamed && facts.position === null)
      return verdict({ kind: 'unused' }, null, 'it has no name of its own');
    if (isContradicting.has(tidyHeader(facts.name))) return verdict({ kind: 'country' }, 'certain', ofNumbers);
    if (second !== undefined) return judgeWholeName(verdict, kinds, beside, 'likely', 'by its name');
    if (target?.kind === 'scalar') return judgeScalar(verdict, target.name, kinds, facts);
    if (target?.kind === 'items') return judgeItems(verdict, target, names[index] ?? '', kinds);
    if (target?.kind === 'custom') return verdict({ kind: 'custom', key: target.key }, 'certain', 'by its name');
    const rival = rivals.get(index);
    if (rival !== undefined) return judgeRival(verdict, rival.generic, kinds);
    const inList = fieldInLists(names[index] ?? '');
    if (inList !== null) return judgeScalar(verdict, inList, kinds, facts);
    return judgeByValues(verdict, names[index] ?? '', kinds, facts, beside);
  });
  const repeated = repeatedColumns(columns);
  return fillNames(
    byName.map((found, index) => {
      const one = isGeneric ? asRead(found, targets[index] ?? []) : found;
      const judged = asGuessOfAnother(file.isJson ? asIdOfAnother(one) : one, names[index] ?? '');
      return repeated.has(index) ? asSecondTable(judged) : judged;
    }),
  );
}

const ofNumbers =
  'by its name, and numbers without a country code would be those of other people in the default country';

/** What each column is called, for what it means. A remark is left out where no other column has the name without it, or one like it. */
function namesOf(columns: readonly ColumnFacts[], isGeneric: boolean): readonly string[] {
  const isCustom = (path: string): boolean =>
    isGeneric && !path.includes('[') && genericTarget(path, anySettings)?.kind === 'custom';
  const names = columns.map(({ name, position }) => (position === null && !isCustom(name) ? nameOfPath(name) : name));
  const taken = new Set(names.flatMap((name) => contactColumnOf(name)?.kind ?? []));
  return names.map((name) => {
    const plain = withoutNameRemark(name);
    const kind = contactColumnOf(plain)?.kind;
    return plain === name || kind === undefined || taken.has(kind) ? name : plain;
  });
}

/** What the generic layout reads of a column, where the proposal would leave it out. */
function asRead(judged: JudgedColumn, [target, second]: readonly Target[]): JudgedColumn {
  // Another label would be written over the one that the contacts have.
  if (target?.kind === 'items' && judged.meaning.kind === 'items')
    return { ...judged, meaning: { ...judged.meaning, label: target.label } };
  if (target === undefined || target.kind === 'key' || judged.meaning.kind !== 'unused') return judged;
  const reason = `${judged.reason}; the generic layout reads it`;
  const read = (meaning: Meaning): JudgedColumn => ({ ...judged, meaning, confidence: 'guess', reason });
  if (second !== undefined) return read({ kind: 'wholeName' });
  if (target.kind === 'source') return { ...read({ kind: 'source' }), confidence: 'certain', reason: 'by its name' };
  if (target.kind === 'scalar') return read({ kind: 'scalar', name: target.name, transform: null });
  if (target.kind === 'items') return read({ kind: 'items', list: target.list, label: target.label });
  return read({ kind: 'custom', key: target.key });
}

function asGuessOfAnother(judged: JudgedColumn, name: string): JudgedColumn {
  if (judged.meaning.kind !== 'items' || !mayBeOfAnotherPerson(name)) return judged;
  return { ...judged, confidence: 'guess', reason: `${judged.reason}; by its name they may be another person's` };
}

/** As MongoDB makes them. */
const objectId = /^[\da-f]{24}$/;

/** In JSON such a member refers to another document, and is no text, which an import would reject or leave out. */
function asIdOfAnother(judged: JudgedColumn): JudgedColumn {
  const { kind } = judged.meaning;
  const { values } = judged.facts;
  const isText = kind === 'scalar' || kind === 'wholeName' || kind === 'country';
  if (!isText || values.length === 0 || !values.every((value) => objectId.test(value))) return judged;
  return { ...judged, meaning: { kind: 'unused' }, confidence: null, reason: 'its values are ids of other documents' };
}

const secondTable = 'if it belongs to a second table beside the first';

/** A name of the second table is none of the first one's people; its addresses and numbers are a guess. */
function asSecondTable(judged: JudgedColumn): JudgedColumn {
  const { meaning } = judged;
  if (meaning.kind === 'scalar' || meaning.kind === 'wholeName')
    return {
      ...judged,
      meaning: { kind: 'unused' },
      confidence: null,
      reason: `${secondTable}, it is another person's`,
    };
  if (judged.confidence === null) return judged;
  return { ...judged, confidence: 'guess', reason: `${judged.reason}; ${secondTable}, they are another person's` };
}

type Verdict = (meaning: Meaning, confidence: Confidence | null, reason: string) => JudgedColumn;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
/** Members around those of a contact, which say nothing of them. */
const containers = words(
  'properties fields attributes data profile details info record item person contact name names defaultfields',
);
/** Members that hold another person or thing. */
const others = words(
  'owner assigned created updated modified manager assistant assistants agent referrer carrier provider',
);
/** Members that hold the value of the one above. */
const innerNames = words('value text number address');

/**
 * The words of a path that say what is in it: the last step, `properties.email` → `email`; with the one above where that says whose it
 * is, `company.name` → `company name`, `owner.email` → `owner email`; or that one alone, `email.value` → `email`.
 */
function nameOfPath(path: string): string {
  const [last = path, above] = path
    .split('.')
    .map((step) => step.replace(/(?:\[\d*\])+$/, ''))
    .toReversed();
  if (above === undefined || containers.has(wordsOf(above).join(''))) return last;
  if (innerNames.has(last.toLowerCase())) return above;
  const owner = above.replace(/(?<=[a-z]{3})s$/i, '');
  const isCompany = genericMeaning(owner) === 'scalar company';
  if (isCompany && /^name$/i.test(last)) return owner;
  if (isCompany && /^title$/i.test(last)) return 'job title';
  return isCompany || /^name$/i.test(last) || has(owner, others) ? `${owner} ${last}` : last;
}

function judgeScalar(verdict: Verdict, name: ScalarName, kinds: ValueKinds, facts: ColumnFacts): JudgedColumn {
  const meaning: Meaning = { kind: 'scalar', name, transform: null };
  if (facts.isList) return verdict({ kind: 'unused' }, null, 'it holds lists');
  if (kinds.judged === 0) return verdict(meaning, 'likely', `by its name; ${nothingSaid(facts)}`);
  if (name === 'sourceUrl') {
    return kinds.url >= mostly
      ? verdict(meaning, 'certain', 'by its name, and its values are links')
      : verdict({ kind: 'unused' }, null, 'its name is that of a link, but its values are none');
  }
  if (
    kinds.email >= mostly ||
    kinds.phone >= mostly ||
    kinds.url >= mostly ||
    kinds.date >= mostly ||
    kinds.truth >= mostly
  )
    return verdict({ kind: 'unused' }, null, `its name says ${name}, but its values are ${kindInWords(kinds)}`);
  if (kinds.digits >= mostly)
    return verdict({ kind: 'unused' }, null, `its name says ${name}, but its values are numbers`);
  return verdict(meaning, 'certain', 'by its name');
}

/** A name that is about addresses or numbers, such as `E-mail 2 Type`, makes no value one of them: only the values do. */
function judgeItems(
  verdict: Verdict,
  { list, label }: { readonly list: 'emails' | 'phones'; readonly label: string },
  name: string,
  kinds: ValueKinds,
): JudgedColumn {
  const meaning: Meaning = { kind: 'items', list, label: numbered(label, name, list) };
  const isAbout = isAboutContactData(name);
  const what = list === 'emails' ? 'e-mail addresses' : 'phone numbers';
  // A column that is named after phone numbers may hold digits alone.
  const share = list === 'emails' ? kinds.email : Math.max(kinds.phone, kinds.nationalPhone);
  const blank = 'it is blank in the rows that were looked at';
  if (kinds.judged === 0 && isAbout)
    return verdict({ kind: 'unused' }, null, `by its name it holds no ${what}; ${blank}`);
  if (kinds.judged === 0) return verdict(meaning, 'likely', `by its name; ${blank}`);
  if (share >= mostly) return verdict(meaning, 'certain', `by its name, and its values are ${what}`);
  const percent = `${Math.round(share * 100)}%`;
  if (share >= hardly && !isAbout)
    return verdict(meaning, 'guess', `by its name, but only ${percent} of its values are ${what}`);
  const found = share === 0 ? `none of its values is one of ${what}` : `only ${percent} of its values are ${what}`;
  return verdict({ kind: 'unused' }, null, `its name says ${list === 'emails' ? 'e-mail' : 'phone'}, but ${found}`);
}

/** Of a column that no label tells from the others of its kind. */
export const plainLabels = { emails: 'email', phones: 'phone' } as const;

/** `E-Mail 2: Adresse`, `Adresse de messagerie 2` → `email 2`, as the presets have it. The first needs no number. */
function numbered(label: string, name: string, list: 'emails' | 'phones'): string {
  const plain = plainLabels[list];
  if (label !== plain && !numberAlone.test(label)) return label;
  const number = /(?<!\d)[1-9](?!\d)/.exec(name)?.[0] ?? '1';
  return number === '1' ? plain : `${plain} ${number}`;
}

/** What follows `E-Mail`, where it says no more than which one it is. */
const numberAlone = /^[1-9](?: (?:adresse|address|nummer|number|value))?$/;

/** What is beside a column of names: the company of each person, in a list of companies and their people; a company; or none of both. */
type CompanyBeside = 'ofList' | 'plain' | 'none';

function companyBeside(names: readonly string[], targets: ReturnType<typeof genericTargets>['targets']): CompanyBeside {
  if (names.some((name) => fieldInLists(name) === 'company')) return 'ofList';
  return targets.some(([target]) => target?.kind === 'scalar' && target.name === 'company') ? 'plain' : 'none';
}

/** Names of companies are among those of people where companies have a column of their own, too, or are in front of people. */
function holdsBoth({ company, ofCompany, commaName }: ValueKinds, beside: CompanyBeside): boolean {
  if (ofCompany > 0 && ofCompany * 2 >= commaName) return true;
  return beside === 'ofList' ? company > 0 : beside === 'plain' && company >= hardly;
}

function judgeWholeName(
  verdict: Verdict,
  kinds: ValueKinds,
  beside: CompanyBeside,
  confidence: Confidence,
  by: string,
): JudgedColumn {
  if (holdsBoth(kinds, beside)) {
    const how =
      kinds.ofCompany > 0 ? 'a company, a comma and a whole name' : 'whole names, and companies by their legal forms';
    return verdict({ kind: 'wholeName', isOfCompanies: true }, confidence, `${by}; ${how}, which are split`);
  }
  if (kinds.company >= hardly) {
    const company: Meaning = { kind: 'scalar', name: 'company', transform: null };
    return verdict(company, 'guess', 'its values look like the names of companies');
  }
  const order = kinds.commaName >= mostly ? ', written "Last, First"' : '';
  return verdict({ kind: 'wholeName' }, confidence, `${by}; a whole name${order}, which is split`);
}

/** Of columns that are taken together: the first that is filled. */
export const rivalReason = 'another column has a name of the same meaning: the first that is filled is taken';

function judgeRival(verdict: Verdict, generic: string, kinds: ValueKinds): JudgedColumn {
  const reason = rivalReason;
  if (generic === 'company' || generic === 'role' || generic === 'lastName')
    return verdict({ kind: 'scalar', name: generic, transform: null }, 'guess', reason);
  if (kinds.wholeName >= mostly) return verdict({ kind: 'wholeName' }, 'guess', reason);
  return verdict({ kind: 'scalar', name: 'firstName', transform: null }, 'guess', reason);
}

/** By what people sign in: an e-mail address there is their own. */
const signInNames = words('username userprincipalname userid loginname loginid accountname signinname');

/** Of a column without values that could be judged: `Keine Angabe` is one that stands for nothing. */
function nothingSaid({ filled }: ColumnFacts): string {
  return filled === 0
    ? 'it is blank in the rows that were looked at'
    : 'what it holds stands for "nothing" in the rows that were looked at';
}

/** Columns whose names say nothing. */
function judgeByValues(
  verdict: Verdict,
  name: string,
  kinds: ValueKinds,
  facts: ColumnFacts,
  beside: CompanyBeside,
): JudgedColumn {
  const unused = (reason: string): JudgedColumn => verdict({ kind: 'unused' }, null, reason);
  if (machineIn(name) === 'alone') return unused('a fax or pager cannot be called');
  if (isTitle(name)) return judgeTitle(verdict, kinds);
  if (kinds.judged === 0) return unused(nothingSaid(facts));
  const named = contactColumnOf(name);
  const found = itemsByValues(name, kinds);
  if (found !== null) {
    const what = found.list === 'emails' ? 'e-mail addresses' : 'phone numbers';
    if (isAboutContactData(name) && !(found.list === 'emails' && signInNames.has(wordsOf(name).join(''))))
      return unused(`its values are ${what}, but its name says that they are not the contact's own`);
    const isOfCompany = found.list === 'phones' && holdsSwitchboards(name);
    const byWords = isOfCompany
      ? 'work'
      : (named?.generic.split(' ')[1] ?? labelByWords(name, plainLabels[found.list]));
    const label = numbered(byWords ?? tidyHeader(name).toLowerCase().slice(0, 75).trim(), name, found.list);
    return verdict({ kind: 'items', list: found.list, label }, found.confidence, foundInWords(found.list, kinds));
  }
  if (isCountry(name) && kinds.country >= mostly)
    return verdict(
      { kind: 'country' },
      'likely',
      'by its name and its values; for phone numbers without a country code',
    );
  const namesShare = kinds.wholeName + kinds.ofCompany + (beside === 'ofList' ? kinds.company : 0);
  if (named?.kind === 'fullName' && namesShare >= hardly) {
    return judgeWholeName(verdict, kinds, beside, 'guess', 'by its name and its values');
  }
  if (kinds.url >= mostly) {
    return isProfileLink(name)
      ? verdict(
          { kind: 'scalar', name: 'sourceUrl', transform: null },
          'likely',
          'by its name, and its values are links',
        )
      : unused('a link, but not known to lead to the person');
  }
  if (kinds.company >= 0.5 && kinds.judged >= provingMin)
    return verdict(
      { kind: 'scalar', name: 'company', transform: null },
      'likely',
      'its values look like the names of companies',
    );
  if (kinds.judged < provingMin && (named !== null || kinds.dialled >= mostly))
    return unused('it has too few values to be sure what they are');
  if (named !== null) return unused('its name suggests contact data, but its values do not');
  return unused(`no field of a contact${kindSuffix(kinds)}`);
}

function foundInWords(list: 'emails' | 'phones', { judged }: ValueKinds): string {
  if (judged === 1) return `its only value is ${list === 'emails' ? 'an e-mail address' : 'a phone number'}`;
  return `its ${judged < provingMin ? 'few ' : ''}values are ${list === 'emails' ? 'e-mail addresses' : 'phone numbers'}`;
}

/**
 * Null where the values are neither e-mail addresses nor phone numbers. A few values prove it if they are written as nothing else is, or if
 * the name says the same. Numbers without a country code may as well be ids, amounts or places: they are a guess if they are written as
 * a country writes its own.
 */
function itemsByValues(
  name: string,
  kinds: ValueKinds,
): { readonly list: 'emails' | 'phones'; readonly confidence: Confidence } | null {
  const isFew = kinds.judged < provingMin;
  const confidence = isFew || machineIn(name) === 'inDoubt' ? 'guess' : 'likely';
  if (kinds.email >= mostly) return { list: 'emails', confidence };
  const isNamed = contactColumnOf(name)?.kind === 'phone' || holdsSwitchboards(name);
  if (Math.max(kinds.phone, kinds.nationalPhone) < mostly) return null;
  if (isNamed || kinds.international >= mostly) return { list: 'phones', confidence };
  const isOther = isNumberOfOther(name) || isMeasure(name) || kinds.measured >= hardly;
  return !isFew && kinds.dialled >= mostly && !isOther ? { list: 'phones', confidence: 'guess' } : null;
}

/** `Title` is a job or a form of address: the values tell. */
function judgeTitle(verdict: Verdict, kinds: ValueKinds): JudgedColumn {
  if (kinds.judged > 0 && kinds.address >= 0.6)
    return verdict({ kind: 'unused' }, null, 'its values are forms of address');
  if (kinds.judged > 0 && kinds.job >= hardly && kinds.address < 0.1)
    return verdict({ kind: 'scalar', name: 'role', transform: null }, 'likely', 'its values are jobs');
  return verdict({ kind: 'unused' }, null, 'it may be a job or a form of address');
}

/** Where no column is named after a person, the column whose values look most like whole names is a guess. */
function fillNames(columns: readonly JudgedColumn[]): readonly JudgedColumn[] {
  const holds = (...names: readonly ScalarName[]): boolean =>
    columns.some(({ meaning }) => meaning.kind === 'scalar' && names.includes(meaning.name));
  if (holds('firstName', 'lastName') || columns.some(({ meaning }) => meaning.kind === 'wholeName')) {
    return columns;
  }
  const [best] = columns
    .filter(({ meaning, kinds, facts }) => {
      return meaning.kind === 'unused' && kinds.judged >= provingMin && kinds.wholeName >= mostly && !facts.isList;
    })
    .sort((left, right) => personHint(right) - personHint(left) || right.kinds.wholeName - left.kinds.wholeName);
  if (best === undefined) return columns;
  const reason = 'its values look like whole names, which are split, and no other column is named after a person';
  return columns.map((one) =>
    one === best ? { ...one, meaning: { kind: 'wholeName' }, confidence: 'guess', reason } : one,
  );
}

const personWords = words(
  `person contact kontakt ansprechpartner ansprechpartnerin kunde kundin customer client cliente mitglied member membre
  miembro teilnehmer employee mitarbeiter interlocuteur contacto persona student patient guest gast`,
);

function personHint({ facts }: JudgedColumn): number {
  return wordsOf(facts.name).some((word) => personWords.has(word)) ? 1 : 0;
}

const has = (name: string, known: ReadonlySet<string>): boolean => wordsOf(name).some((word) => known.has(word));
const titleWords = words('title titel titre titulo anrede salutation civilite honorific prefix tratamiento');
const countryWords = words('country land pays pais nation countrycode landercode laendercode');
const linkWords = words('profile profil perfil link url record contact linkedin crm permalink');

const isTitle = (name: string): boolean => titleWords.has(wordsOf(name).join(''));
const isCountry = (name: string): boolean => has(name, countryWords);
const isProfileLink = (name: string): boolean => has(name, linkWords);

function kindInWords(kinds: ValueKinds): string {
  if (kinds.email >= mostly) return 'e-mail addresses';
  if (kinds.phone >= mostly) return 'phone numbers';
  if (kinds.url >= mostly) return 'links';
  return kinds.date >= mostly ? 'dates' : 'yes and no';
}

function kindSuffix(kinds: ValueKinds): string {
  if (kinds.judged === 0) return '';
  if (kinds.truth >= mostly) return '; yes or no';
  if (kinds.date >= mostly) return '; dates';
  return kinds.digits >= mostly ? '; numbers' : '';
}
