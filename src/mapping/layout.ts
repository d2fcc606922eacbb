/**
 * *Targets*: where in a contact the values of a column go. And the generic layout (`docs/contract.md`, "Input"), which finds them
 * by the columns' own names: `externalId, firstName, lastName, company, role, source, sourceUrl, email, email <label>, phone,
 * phone <label>, custom.<key>`; other columns by what else these are called (`contact-columns.ts`). The same names serve flat
 * JSON objects. They are compared without regard to case, spaces, `_` and dashes.
 *
 * A mapping names its columns itself (`bind-mapping.ts`).
 */
import type { CountryCode } from 'libphonenumber-js/max';
import type { ScalarName } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import {
  closestName,
  isIgnoredHeader,
  normaliseHeader,
  tidyHeader,
  withoutRequirement,
} from '#src/sources/column-name.ts';
import { listNames } from '#src/sources/row.ts';
import { type CustomFieldDefinition, customFieldTypes } from '#src/wire/contact.ts';
import {
  type ContactColumn,
  describeReading,
  isShownForAddress,
  type NamePart,
  readSynonyms,
  type SynonymMeaning,
} from './contact-columns.ts';
import type { CustomFieldKind } from './custom-cell.ts';
import type { BlankRule, Condition, CountryChoice } from './entry-schema.ts';
import type { CellRef, Expression } from './expression.ts';
import type { Mapping } from './mapping-schema.ts';
import { checkCountry, readCountry } from './phone-cell.ts';
import { checkSourceLabel } from './source-label.ts';
import type { Transform } from './transforms.ts';

// Where in a contact a value goes, with all that reading it needs.

/** The columns of a file and their targets. */
export interface ColumnBinding {
  readonly bound: readonly BoundColumn[];
  /** Columns that nothing maps, by their positions from 0. */
  readonly unmapped: readonly number[];
}

export type ItemList = 'emails' | 'phones';

export interface ItemsTarget {
  readonly kind: 'items';
  readonly list: ItemList;
  /** See `Slot` of `contacts/desired.ts`: the normalised header, or the list's name for a JSON array. */
  readonly slot: string;
  /** A JSON array under this name is the whole list (`Slot.whole`). */
  readonly whole?: boolean;
  readonly label: string;
  /** Phones only: the country of numbers without a country code. */
  readonly country: CountryCode | null;
  readonly onBlank: BlankRule;
}

interface ScalarTarget {
  readonly kind: 'scalar';
  readonly name: ScalarName;
  /** The value is a whole name, of which this part is taken. */
  readonly part?: NamePart;
  readonly onBlank: BlankRule;
}

interface CustomTarget {
  readonly kind: 'custom';
  readonly key: string;
  readonly type: CustomFieldKind;
  readonly onBlank: BlankRule;
}

interface SourceTarget {
  readonly kind: 'source';
  /** The service wrote the label: one that it reserves is its own, and is left out rather than refused. */
  readonly isOfService?: boolean;
}

interface KeyTarget {
  readonly kind: 'key';
  readonly prefix: string;
  /** A key that is too long becomes a hash. */
  readonly hashLong?: boolean;
}

export type Target = KeyTarget | ScalarTarget | SourceTarget | ItemsTarget | CustomTarget;

/** A column with its target. */
export interface BoundColumn {
  /** Position in the file, from 0; null in JSON, where members have none. */
  readonly index: number | null;
  /** The column as the file names it (JSON with a mapping: as the mapping does). */
  readonly field: string;
  readonly target: Target;
  /** The file may lack it. */
  readonly optional?: boolean;
  /** A value that cannot be read is left out, instead of rejecting its row. */
  readonly dropsInvalid?: boolean;
  /** How the value is made, where it is not just the cell. */
  readonly made?: Made;
}

/** A value that is made of cells. Plain data, as all of a bound column: it is part of the version of the mapping. */
export interface Made {
  readonly value: Expression;
  /** All columns that it reads, the label's and the country's among them. */
  readonly reads: readonly CellRef[];
  /** The value is several texts: what stands between them, and what is done with each. */
  readonly split?: { readonly separator: string; readonly transform: readonly Transform[] };
  readonly label?: {
    readonly cell: CellRef;
    readonly transform: readonly Transform[];
  };
  /** The country of phone numbers where its cell is blank is the target's. */
  readonly country?: CellRef;
  /** Those of other addresses: where they differ, the numbers have none. */
  readonly otherCountries?: readonly CellRef[];
  readonly skip?: { readonly cell: CellRef | null; readonly condition: Condition };
}

/** The columns that a bound value reads. */
export function readsOf({ index, field, made }: BoundColumn): readonly CellRef[] {
  return made === undefined ? [{ index, field }] : made.reads;
}

/** Whether the column puts something into a contact, other than its key and the label of its source. */
export function holdsContent({ kind }: Target): boolean {
  return kind !== 'key' && kind !== 'source';
}

/** Two columns with the same identity would write the same field. */
export function targetIdentity(target: Target): string {
  if (target.kind === 'key' || target.kind === 'source') return target.kind;
  if (target.kind === 'scalar') return `scalar ${target.name}`;
  return target.kind === 'items' ? `${target.list} ${target.slot}` : `custom ${target.key}`;
}

// The settings that values are read with: from the mapping, the command line and the workspace.

/** What is known outside the mapping. */
export interface MappingContext {
  /** The feed's source label. A `source` column wins over the mapping's, the mapping's over this one. */
  readonly sourceLabel: string | null;
  /** Null: unknown; values are then sent as text, and `;` does not separate choices. */
  readonly customFields: readonly CustomFieldDefinition[] | null;
  /** `--default-country`: wins over the mapping's; a column's own country wins over both. */
  readonly defaultCountry: string | null;
  /** `--on-blank`: wins over the mapping's; a column's own rule wins over both. */
  readonly onBlank: BlankRule | null;
  /** Columns that the file may lack although the mapping names them, since a guard watches them. None by default. */
  readonly mayLack?: readonly string[];
}

export interface Settings {
  readonly keyPrefix: string;
  readonly sourceLabel: string | null;
  readonly country: CountryCode | null;
  readonly onBlank: BlankRule;
  readonly customFields: readonly CustomFieldDefinition[] | null;
  readonly mayLack: readonly string[];
}

/** @throws PatchbayError `usage`: `countryUnknown`, `sourceRefused`. */
export function resolveSettings(mapping: Mapping | null, context: MappingContext): Settings {
  const label = mapping?.source ?? context.sourceLabel;
  return {
    keyPrefix: mapping?.keyPrefix ?? '',
    sourceLabel: label === null ? null : checkSourceLabel(label),
    country:
      context.defaultCountry === null ? fixedCountry(mapping?.defaultCountry) : checkCountry(context.defaultCountry),
    onBlank: context.onBlank ?? mapping?.onBlank ?? 'keep',
    customFields: context.customFields,
    mayLack: context.mayLack ?? [],
  };
}

/** The country of a choice: its code, or the one of rows whose country is blank. */
function fixedCountry(choice: CountryChoice | undefined): CountryCode | null {
  const code = typeof choice === 'object' ? choice.default : choice;
  return code === undefined ? null : readCountry(code);
}

/** The target of a column depends on its name alone; these matter only for reading its cells. */
export const anySettings: Settings = {
  keyPrefix: '',
  sourceLabel: null,
  country: null,
  onBlank: 'keep',
  customFields: null,
  mayLack: [],
};

/** The columns that the header row of a file in the generic layout must have. */
export const genericKeyColumns: readonly string[] = ['externalId'];

const scalarColumns: ReadonlyMap<string, ScalarName> = new Map([
  ['firstname', 'firstName'],
  ['lastname', 'lastName'],
  ['company', 'company'],
  ['role', 'role'],
  ['sourceurl', 'sourceUrl'],
]);

/** What may follow `email` or `phone` without being a label. */
const plainEndings: ReadonlySet<string> = new Set([
  ...['', 's', 'address', 'addresses', 'number', 'numbers'],
  ...['adresse', 'adressen', 'nr', 'nummer'],
]);
/**
 * Labels that are understood without a separator (`phonemobile`). Others need a space, `_`, a dash or a capital letter
 * before them: otherwise `emailed` would be an address with the label `ed`.
 */
const commonLabels: ReadonlySet<string> = new Set([
  'work',
  'home',
  'mobile',
  'cell',
  'other',
  'main',
  'office',
  'private',
  'business',
  'personal',
  'direct',
]);
const labelLengthMax = 75;

/** Where a column of this name goes; null for a name that the layout does not know. */
export function genericTarget(name: string, settings: Settings): Target | null {
  const tidy = tidyHeader(name);
  const normalised = normaliseHeader(tidy);
  if (normalised === 'externalid') return { kind: 'key', prefix: settings.keyPrefix };
  if (normalised === 'source') return { kind: 'source' };
  const scalar = scalarColumns.get(normalised);
  if (scalar !== undefined) return { kind: 'scalar', name: scalar, onBlank: settings.onBlank };
  const custom = /^custom\s*\.\s*(.+)$/isu.exec(tidy)?.[1];
  if (custom !== undefined) {
    // As the file writes it, a key may end with a space.
    const key = customFieldKey(/^\s*custom\s*\.\s*(.+)$/isu.exec(name)?.[1] ?? custom, settings.customFields, custom);
    return { kind: 'custom', key, type: customFieldKind(key, settings.customFields), onBlank: settings.onBlank };
  }
  return itemsTarget(tidy, normalised, settings);
}

function itemsTarget(tidy: string, normalised: string, settings: Settings): Target | null {
  const match = /^(e[\s_\p{Pd}]*mail|phone)(.*)$/isu.exec(tidy);
  if (match === null || isShownForAddress(tidy)) return null;
  const list: ItemList = normalised.startsWith('e') ? 'emails' : 'phones';
  const label = labelOf(withoutRequirement(match[2] ?? ''), match[1] ?? '', list === 'emails' ? 'email' : 'phone');
  if (label === null) return null;
  const slot = normalised === 'phonenumbers' ? 'phones' : normalised;
  return {
    kind: 'items',
    list,
    slot,
    whole: slot === list,
    label,
    country: list === 'phones' ? settings.country : null,
    onBlank: settings.onBlank,
  };
}

/** Stands around the words of a label: `Email (home)`, `Phone : work`. */
const aroundWords: ReadonlySet<string | undefined> = new Set('()[]{}:;,.');

/** Takes as long as the word is: headers may hold anything. */
function bareWord(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && aroundWords.has(word[start])) start += 1;
  while (end > start && aroundWords.has(word[end - 1])) end -= 1;
  return word.slice(start, end);
}

/** The label in a header, in lower case, so that a header in another case changes no labels. */
function labelOf(ending: string, word: string, plain: string): string | null {
  const normalised = normaliseHeader(ending);
  if (plainEndings.has(normalised)) return plain;
  const capital = /^\p{Lu}/u.test(ending) && word !== word.toUpperCase();
  if (!/^[\s_\p{Pd}\p{Nd}]/u.test(ending) && !capital && !commonLabels.has(normalised)) return null;
  const label = ending
    .split(/[\s_\p{Pd}]+/u)
    .map(bareWord)
    .filter((part) => part !== '')
    .join(' ')
    .toLowerCase();
  if (plainEndings.has(label)) return plain;
  return [...label].length <= labelLengthMax ? label : null;
}

/** The targets of the names of one file or one record: a synonym's meaning depends on the others. */
interface GenericNames {
  /** For each name, in order. A whole name has two targets, a name without a meaning none. */
  readonly targets: readonly (readonly Target[])[];
  /** Names that are read by a synonym, as `Mobile → phone (mobile)`, by their positions. */
  readonly readings: ReadonlyMap<number, string>;
  /** Synonyms of one field, by their positions: nothing maps them. */
  readonly rivals: ReadonlyMap<number, ContactColumn>;
}

export function genericTargets(names: readonly string[], settings: Settings): GenericNames {
  const exact = names.map((name) => (isIgnoredHeader(name) ? null : genericTarget(name, settings)));
  const taken = new Set(exact.flatMap((target) => (target?.kind === 'scalar' ? [target.name] : [])));
  const open = names.map((name, index) => (exact[index] === null ? name : null));
  const { meanings, rivals } = readSynonyms(open, taken);
  const readings = names.flatMap((name, index) => {
    const meaning = meanings[index] ?? [];
    return meaning.length === 0 ? [] : [[index, describeReading(name, meaning)] as const];
  });
  const targets = names.map((name, index): readonly Target[] => {
    const own = exact[index] ?? null;
    return own === null ? (meanings[index] ?? []).map((one) => synonymTarget(name, one, settings)) : [own];
  });
  return { targets, readings: new Map(readings), rivals };
}

function synonymTarget(name: string, meaning: SynonymMeaning, { onBlank, country }: Settings): Target {
  if (meaning.kind === 'scalar') return { ...meaning, onBlank };
  const { list, label } = meaning;
  const ofList = list === 'phones' ? country : null;
  return { kind: 'items', list, slot: normaliseHeader(name), whole: false, label, country: ofList, onBlank };
}

export interface GenericBinding extends ColumnBinding, Pick<GenericNames, 'readings' | 'rivals'> {}

/** @throws PatchbayError `file`: `keyColumnMissing`, `columnTwice`. */
export function genericMapping(columns: readonly string[], settings: Settings): GenericBinding {
  const { targets, ...names } = genericTargets(columns, settings);
  const bound = columns.flatMap((field, index) => (targets[index] ?? []).map((target) => ({ index, field, target })));
  const unmapped = columns.flatMap((field, index) =>
    tidyHeader(field) === '' || (targets[index] ?? []).length > 0 ? [] : [index],
  );
  if (!bound.some(({ target }) => target.kind === 'key')) throw keyColumnMissing(columns);
  refuseTwice(bound);
  return { bound, unmapped, ...names };
}

/** Headers under which other systems keep their key. */
const likelyKeys = [
  'externalid',
  'extid',
  'id',
  'contactid',
  'recordid',
  'customerid',
  'personid',
  'userid',
  'key',
  'kundennummer',
];

function keyColumnMissing(columns: readonly string[]): PatchbayError {
  const named = columns.filter((column) => !isIgnoredHeader(column));
  const similar = named.find((column) => {
    const normalised = normaliseHeader(column);
    return likelyKeys.includes(normalised) || closestName(normalised, ['externalid']) !== null;
  });
  const mapping = 'or name the key column in a mapping (--mapping)';
  return new PatchbayError('file', 'keyColumnMissing', `no column is called externalId; found: ${listNames(named)}`, {
    facts: { columnCount: named.length, similar: similar ?? null },
    hint:
      similar === undefined
        ? `Add a column externalId with an id for each person, ${mapping}.`
        : `"${tidyHeader(similar)}" looks like the key: rename it to externalId, ${mapping}.`,
  });
}

/** @throws PatchbayError `file`: `duplicateHeader` for a name that occurs twice, `columnTwice` for two names with one meaning. */
function refuseTwice(bound: readonly BoundColumn[]): void {
  const met = new Map<string, BoundColumn>();
  for (const column of bound) {
    const identity = targetIdentity(column.target);
    const earlier = met.get(identity);
    if (earlier !== undefined) throw columnTwice(earlier, column);
    met.set(identity, column);
  }
}

function columnTwice(earlier: BoundColumn, later: BoundColumn): PatchbayError {
  const [first, second] = [(earlier.index ?? 0) + 1, (later.index ?? 0) + 1];
  if (tidyHeader(earlier.field).toLowerCase() !== tidyHeader(later.field).toLowerCase()) {
    return new PatchbayError(
      'file',
      'columnTwice',
      `the columns "${earlier.field}" and "${later.field}" mean the same`,
      {
        facts: { first: earlier.field, second: later.field },
        hint: 'Rename or remove one of them.',
      },
    );
  }
  const message = `the header "${tidyHeader(later.field)}" is used by columns ${first} and ${second}`;
  return new PatchbayError('file', 'duplicateHeader', message, {
    facts: { column: tidyHeader(later.field), first, second },
    hint: `Rename one of them, or use a mapping (--mapping) that picks one by its position: { column: ${first} }.`,
  });
}

/** What a column of that name means by itself in the generic layout, in words that can be compared; null for nothing. */
export function genericMeaning(name: string): string | null {
  const targets = genericTargets([name], anySettings).targets[0] ?? [];
  const meanings = targets.map((target) =>
    target.kind === 'items' ? `${target.list} ${target.label}` : targetIdentity(target),
  );
  return meanings.length === 0 ? null : meanings.join(', ');
}

/** The key that a file or a mapping means: the one that is defined exactly so, otherwise `tidy`, without spaces around it. */
export function customFieldKey(
  name: string,
  definitions: readonly CustomFieldDefinition[] | null,
  tidy = name.trim(),
): string {
  return definitions?.some(({ key }) => key === name) === true ? name : tidy;
}

/** The kind of a key by the definitions. An unknown type is read as text. */
export function customFieldKind(key: string, definitions: readonly CustomFieldDefinition[] | null): CustomFieldKind {
  if (definitions === null) return 'asIs';
  const definition = definitions.find((one) => one.key === key);
  if (definition === undefined) return 'undefined';
  return customFieldTypes.find((type) => type === definition.type) ?? 'string';
}
