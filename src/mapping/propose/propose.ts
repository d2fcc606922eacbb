/** From the facts of a file to the draft of a mapping, its key first. Pure: an equal file gives an equal draft. */
import type { CountryCode } from 'libphonenumber-js/max';
import { type ScalarName, scalarNames } from '#src/contacts/desired.ts';
import { keyLengthMax } from '#src/mapping/cell.ts';
import { anySettings, genericTarget } from '#src/mapping/layout.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { chooseKey, type KeyChoice } from './choose-key.ts';
import type { ColumnFacts, FileFacts } from './column-facts.ts';
import { secondTableNote } from './column-names.ts';
import { withLabels } from './element-labels.ts';
import { changedKeyRemark, keptChoice, keyColumnsLacked } from './kept-key.ts';
import { withKept } from './kept-settings.ts';
import { type PlacedColumn, placeInLists } from './list-places.ts';
import type {
  ColumnName,
  Confidence,
  Draft,
  DraftField,
  DraftItems,
  DraftKey,
  DraftReading,
  ProposedColumn,
} from './proposal.ts';
import { type JudgedColumn, judgeColumns, type Meaning, plainLabels, rivalReason } from './propose-columns.ts';

interface ProposeOptions {
  /** Of the file, without its ending: the name of the mapping is made from it. */
  readonly fileName: string;
  /** Null for `main`: its keys have no prefix. */
  readonly feed: string | null;
  /** `--default-country`. */
  readonly country: CountryCode | null;
  /** Of numbers in rows whose country is blank, where no other is named: the one of the configuration. */
  readonly usualCountry?: CountryCode | null;
  /**
   * The file is in the generic layout, of which columns are left over. Its contacts keep their keys, which have no prefix: others would be
   * other contacts.
   */
  readonly isGeneric?: boolean;
  /** Columns that the generic layout does not read, with countries by which numbers are others than in the default one. */
  readonly contradicting?: readonly string[];
  /** What a person said about the file, and its mapping is to keep. */
  readonly reading: DraftReading;
  /** The mapping that this one is to take the place of; null where there is none. */
  readonly before: Mapping | null;
}

export function proposeMapping(file: FileFacts, options: ProposeOptions): Draft {
  const { isGeneric = false, contradicting, before } = options;
  const judged = withLabels(judgeColumns(file, options.country, isGeneric, contradicting));
  const lacked = before === null ? [] : keyColumnsLacked(before, file);
  const kept = before !== null && lacked.length === 0 ? before : null;
  const ofFile = (): KeyChoice => (isGeneric ? genericKey(file) : chooseKey(file, judged));
  const key = kept === null ? ofFile() : keptChoice(kept, judged);
  const withKey = judged.map((one) => (one.facts === key.column && !isEmailKey(key) ? asKey(one, key) : one));
  const columns = placeInLists(settle(withKey), withKey, key.column);
  const { defaultCountry, remarks } = chooseCountry(columns, options);
  const ownPrefix = isGeneric ? null : prefixOf(options.feed);
  const keyPrefix = before === null ? ownPrefix : (before.keyPrefix ?? null);
  const ownKey: ReturnType<typeof draftKey> =
    kept === null
      ? draftKey(key, columns, { isJson: file.isJson, keyPrefix })
      : { key: { kind: 'kept', value: kept.key }, remarks: [] };
  const secondTable = secondTableNote(file.columns);
  const draft: Draft = {
    name: slugOf(options.feed ?? options.fileName),
    key: ownKey.key,
    keyPrefix,
    defaultCountry,
    reading: options.reading,
    settings: [],
    fields: fieldsOf(columns),
    emails: itemsOf(columns, 'emails'),
    phones: itemsOf(columns, 'phones'),
    customFields: columns.flatMap(({ facts, meaning }) =>
      meaning.kind === 'custom' ? [{ column: nameOf(facts), key: meaning.key }] : [],
    ),
    columns: columns.map((one) => proposedColumn(one, key)),
    remarks: [
      ...(lacked.length === 0 ? [] : [changedKeyRemark(lacked)]),
      ...key.remarks,
      ...ownKey.remarks,
      ...remarks,
      ...(secondTable === null ? [] : [secondTable]),
    ],
  };
  // What a person says now comes before what the mapping says; its own code is said here, too.
  const isSaid = options.country !== null && typeof before?.defaultCountry === 'object';
  const settled = before === null || !isSaid ? before : { ...before, defaultCountry: undefined };
  const whole = settled === null ? draft : withKept(draft, settled, file);
  // Where there is no draft, there is nothing to add the columns to.
  const isToBeFilled = !(ownKey.key.kind === 'none' && file.isJson);
  return isToBeFilled ? { ...whole, remarks: [...whole.remarks, ...nothingToWrite(whole)] } : whole;
}

function genericKey({ columns }: FileFacts): KeyChoice {
  const column = columns.find(({ name }) => genericTarget(name, anySettings)?.kind === 'key') ?? null;
  return { column, lowerCase: false, confidence: 'certain', reason: 'by its name', remarks: [], advice: '' };
}

/** An address that is the key stays an address of the contact. */
function isEmailKey({ lowerCase }: KeyChoice): boolean {
  return lowerCase;
}

function asKey(column: JudgedColumn, { confidence, reason }: KeyChoice): JudgedColumn {
  return { ...column, meaning: { kind: 'unused' }, confidence, reason };
}

const ranks: Readonly<Record<Confidence, number>> = { certain: 0, likely: 1, guess: 2 };

/** A field has one source: of several columns the surest, unless they are alternatives. A whole name yields to first and last. */
function settle(columns: readonly JudgedColumn[]): readonly JudgedColumn[] {
  const best = new Map<string, JudgedColumn>();
  for (const column of columns) {
    const field = fieldOf(column.meaning);
    const earlier = field === null ? undefined : best.get(field);
    if (field !== null && (earlier === undefined || isSurer(column, earlier))) best.set(field, column);
  }
  const first = best.get('firstName');
  if (first !== undefined && best.has('lastName')) best.set('wholeName', first);
  return columns.map((column) => {
    const field = fieldOf(column.meaning);
    const chosen = field === null ? column : best.get(field);
    if (chosen === column || chosen === undefined) return column;
    const areAlternatives = chosen.reason === rivalReason && column.reason === rivalReason && field !== 'wholeName';
    if (areAlternatives) return column;
    const reason = `"${chosen.facts.name}" is taken for the same field`;
    return { ...column, meaning: { kind: 'unused' }, confidence: null, reason };
  });
}

function isSurer(one: JudgedColumn, other: JudgedColumn): boolean {
  const [left, right] = [ranks[one.confidence ?? 'guess'], ranks[other.confidence ?? 'guess']];
  return left < right || (left === right && one.facts.filled > other.facts.filled);
}

function fieldOf(meaning: Meaning): string | null {
  if (meaning.kind === 'scalar') return meaning.name;
  return meaning.kind === 'wholeName' || meaning.kind === 'country' ? meaning.kind : null;
}

/** Headers with the signs of a pattern are named by their position. */
function nameOf({ name, position, isNamed }: ColumnFacts): ColumnName {
  return position !== null && (!isNamed || /\{(?:n|label)\}/i.test(name)) ? position : name;
}

function fieldsOf(columns: readonly JudgedColumn[]): readonly DraftField[] {
  const labels = columns.flatMap(({ facts, meaning }) =>
    meaning.kind === 'source' ? [{ column: nameOf(facts), transform: [] }] : [],
  );
  const fields = scalarNames.flatMap((name): readonly DraftField[] => {
    const named = columns
      .filter(({ meaning }) => meaning.kind === 'scalar' && meaning.name === name)
      .sort((left, right) => right.facts.filled - left.facts.filled)
      .map(({ facts }) => ({ column: nameOf(facts), transform: [] }));
    const ofWhole = columns.flatMap((one) => partOfWhole(one, name) ?? []);
    // A company in the name is that of rows which have none beside it.
    const sources = named.length === 0 || name === 'company' ? [...named, ...ofWhole] : named;
    return sources.length === 0 ? [] : [{ name, sources }];
  });
  return labels.length === 0 ? fields : [...fields, { name: 'source', sources: labels }];
}

/** What of a column with whole names the field is. */
function partOfWhole({ facts, meaning }: JudgedColumn, name: ScalarName): DraftField['sources'][number] | null {
  if (meaning.kind !== 'wholeName') return null;
  const column = nameOf(facts);
  if (name === 'company') return meaning.isOfCompanies === true ? { column, transform: ['companyOfName'] } : null;
  if (name !== 'firstName' && name !== 'lastName') return null;
  const part = name === 'firstName' ? 'givenNames' : 'familyName';
  return { column, transform: meaning.isOfCompanies === true ? ['withoutCompany', part] : [part] };
}

function itemsOf(columns: readonly PlacedColumn[], list: 'emails' | 'phones'): readonly DraftItems[] {
  return columns.flatMap(({ facts, meaning, path }) => {
    if (meaning.kind !== 'items' || meaning.list !== list) return [];
    const { labelPath } = meaning;
    const label = labelPath === undefined ? meaning.label : { column: labelPath, default: plainLabels[list] };
    const optional = path?.includes('[]') === true && facts.ofElements?.isLacked === true;
    return [{ column: path ?? nameOf(facts), label, optional }];
  });
}

function draftKey(
  { column, lowerCase, advice }: KeyChoice,
  columns: readonly JudgedColumn[],
  { isJson, keyPrefix }: Pick<FileFacts, 'isJson'> & Pick<Draft, 'keyPrefix'>,
): { readonly key: DraftKey; readonly remarks: readonly string[] } {
  if (column !== null) {
    const hashLong = column.values.some((value) => [...`${keyPrefix ?? ''}${value}`].length > keyLengthMax);
    return { key: { kind: 'column', column: nameOf(column), lowerCase, hashLong }, remarks: [] };
  }
  const first = (test: (meaning: Meaning) => boolean): ColumnFacts | undefined =>
    columns
      .filter(({ meaning }) => test(meaning))
      .map(({ facts }) => facts)
      .filter((facts) => pathOf(facts) !== null)
      .sort(
        (left, right) =>
          Number(left.isUnique === false) - Number(right.isUnique === false) || right.filled - left.filled,
      )[0];
  const scalar = (name: ScalarName) => first((meaning) => meaning.kind === 'scalar' && meaning.name === name);
  const items = (list: 'emails' | 'phones') => first((meaning) => meaning.kind === 'items' && meaning.list === list);
  const email = items('emails') ?? null;
  const person = [first(({ kind }) => kind === 'wholeName') ?? scalar('firstName'), scalar('lastName')];
  const [company, phone] = [scalar('company'), items('phones')];
  const template = [...person, company, phone].flatMap((facts) => (facts === undefined ? [] : [`{${pathOf(facts)}}`]));
  const named = [
    ...(person.some((facts) => facts !== undefined) ? ['name'] : []),
    ...(company === undefined ? [] : ['company']),
    ...(phone === undefined ? [] : ['phone number']),
  ];
  const sources = [
    ...(email === null ? [] : ['e-mail address']),
    ...(named.length === 0
      ? []
      : [`${named.slice(0, -1).join(', ')}${named.length > 1 ? ' and ' : ''}${named.at(-1)}`]),
  ];
  if (sources.length === 0) {
    return {
      key: { kind: 'none', column: isJson ? null : 1 },
      remarks: [`${noKey}; ${isJson ? noDraft : `${toBeNamed}. ${advice}`}`],
    };
  }
  return {
    key: {
      kind: 'derived',
      email: email === null ? null : pathOf(email),
      template: template.length === 0 ? null : template.join('|'),
    },
    remarks: [
      `no column is fit to be the key, so it is derived from ${sources.join(', or ')}: a person for whom these change becomes a new contact. ${advice}`,
    ],
  };
}

const noKey =
  'no column is fit to be the key, and none holds a name, an e-mail address or a phone number that one could be made of';
const toBeNamed = 'the draft names the first column, for you to replace';
const noDraft = 'so no mapping can be proposed. Export the file again with a member that holds an id of each person';

/** How a text with columns in braces, or a key, names one value of the column; null where it cannot. */
function pathOf({ name, isNamed, isList, firstPath }: ColumnFacts): string | null {
  const path = isList ? firstPath : isNamed ? name : null;
  return path === null || /[{}]/.test(path) ? null : path;
}

/** What a column with the country of each row becomes, in words. */
export const countryTarget = 'country of phone numbers';

/** The share of numbers without a country code from which a country is asked for. */
const nationalMin = 0.02;

function chooseCountry(
  columns: readonly JudgedColumn[],
  { country, usualCountry = null }: Pick<ProposeOptions, 'country' | 'usualCountry'>,
): Pick<Draft, 'defaultCountry' | 'remarks'> {
  const column = columns.find(({ meaning }) => meaning.kind === 'country');
  const national = columns.filter(
    ({ meaning, kinds }) =>
      meaning.kind === 'items' && meaning.list === 'phones' && kinds.nationalPhone - kinds.phone > nationalMin,
  );
  if (column !== undefined) {
    return { defaultCountry: { column: nameOf(column.facts), default: country ?? usualCountry }, remarks: [] };
  }
  if (country !== null || national.length === 0) return { defaultCountry: country, remarks: [] };
  const names = national.map(({ facts }) => `"${facts.name}"`).join(', ');
  const message = `numbers in ${names} have no country code: rows with them are rejected until a country is named, with --default-country here or defaultCountry in the mapping`;
  return { defaultCountry: null, remarks: [message] };
}

function nothingToWrite({ fields, emails, phones, customFields }: Draft): readonly string[] {
  const isContent = fields.some(({ name }) => name !== 'source');
  return isContent || emails.length + phones.length + customFields.length > 0
    ? []
    : [
        'no column was recognised as a name, a phone number or an e-mail address: add the columns under fields, emails and phones',
      ];
}

function proposedColumn(column: PlacedColumn, key: KeyChoice): ProposedColumn {
  const { facts, path, confidence, reason } = column;
  const isKey = facts === key.column;
  const target = targetInWords(column);
  const both = isKey && target !== null ? `key and ${target}` : target;
  return {
    column: path ?? facts.name,
    target: isKey ? (both ?? 'key') : target,
    example: facts.values[0] ?? null,
    confidence: isKey ? key.confidence : confidence,
    reason: isKey ? key.reason : reason,
  };
}

function targetInWords({ meaning }: JudgedColumn): string | null {
  switch (meaning.kind) {
    case 'scalar':
      return meaning.name;
    case 'wholeName':
      return meaning.isOfCompanies === true ? 'firstName, lastName and company' : 'firstName and lastName';
    case 'items': {
      const one = meaning.list === 'emails' ? 'email' : 'phone';
      return meaning.label === one || meaning.labelPath !== undefined ? one : `${one} (${meaning.label})`;
    }
    case 'custom':
      return `custom.${meaning.key}`;
    case 'label':
      return 'label';
    case 'country':
      return countryTarget;
    case 'source':
      return 'source';
    default:
      return null;
  }
}

const slugCharsMax = 60;

/** 1 to 60 letters, digits, dashes: `Kontakte 2026 (neu)` → `kontakte-2026-neu`. */
export function slugOf(text: string): string {
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, slugCharsMax)
    .replace(/-+$/, '');
  return slug === '' || slug === 'generic' ? 'contacts' : slug;
}

const prefixCharsMax = 20;

/** A prefix keeps the ids of two systems apart. A key has 75 characters in all. */
function prefixOf(feed: string | null): string | null {
  if (feed === null) return null;
  return `${slugOf(feed).slice(0, prefixCharsMax)}-`;
}
