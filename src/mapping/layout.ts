/**
 * Layouts: which column of a file goes to which *target*, that is, where in a contact its values go, with all that reading
 * them needs; and the settings that targets are made with, from the mapping, the command line and the workspace.
 *
 * - The *generic layout* (`docs/contract.md`, "Input") goes by the columns' own names: `externalId, firstName, lastName,
 *   company, role, source, sourceUrl, email, email <label>, phone, phone <label>, custom.<key>`; other columns by what else
 *   these are called (`synonyms.ts`). The same names serve flat JSON objects.
 * - A *mapping* names its columns, or picks them by position. A column that the file lacks stops the file, since silence
 *   would look like blank cells; one that a guard watches, or that is optional, is left out.
 *
 * Names are compared without regard to case, spaces, `_` and dashes.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import { type ScalarName, scalarNames } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import { listNames } from '#src/sources/row.ts';
import type { CustomFieldDefinition } from '#src/wire/contact.ts';
import { checkSourceLabel } from './cell.ts';
import type { ContactColumn } from './contact-columns.ts';
import { type CustomFieldKind, customFieldKind } from './custom-cell.ts';
import { closestName, isIgnoredHeader, normaliseHeader, tidyHeader } from './header.ts';
import { type BlankRule, type ColumnRef, type Mapping, slotOf } from './mapping-schema.ts';
import { checkCountry, readCountry } from './phone-cell.ts';
import { describeReading, isSynonym, type NamePart, readSynonyms, type SynonymMeaning } from './synonyms.ts';

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
    const type = customFieldKind(custom, settings.customFields);
    return { kind: 'custom', key: custom, type, onBlank: settings.onBlank };
  }
  return itemsTarget(tidy, normalised, settings);
}

function itemsTarget(tidy: string, normalised: string, settings: Settings): Target | null {
  const match = /^(e[\s_\p{Pd}]*mail|phone)(.*)$/isu.exec(tidy);
  if (match === null) return null;
  const list: ItemList = normalised.startsWith('e') ? 'emails' : 'phones';
  const label = labelOf(match[2] ?? '', match[1] ?? '', list === 'emails' ? 'email' : 'phone');
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

/** The label in a header, in lower case, so that a header in another case changes no labels. */
function labelOf(ending: string, word: string, plain: string): string | null {
  const normalised = normaliseHeader(ending);
  if (plainEndings.has(normalised)) return plain;
  const capital = /^\p{Lu}/u.test(ending) && word !== word.toUpperCase();
  if (!/^[\s_\p{Pd}\p{Nd}]/u.test(ending) && !capital && !commonLabels.has(normalised)) return null;
  const label = ending
    .split(/[\s_\p{Pd}]+/u)
    .filter((part) => part !== '')
    .join(' ')
    .toLowerCase();
  return [...label].length <= labelLengthMax ? label : null;
}

/** The targets of the names of one file or one record: a synonym's meaning depends on the others. */
export interface GenericNames {
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

/** The columns of a file and their targets. */
export interface ColumnBinding {
  readonly bound: readonly BoundColumn[];
  /** Columns that nothing maps, by their positions from 0. */
  readonly unmapped: readonly number[];
}

export interface GenericBinding extends ColumnBinding, Pick<GenericNames, 'readings' | 'rivals'> {}

/** @throws PatchbayError `file`: `keyColumnMissing`, `columnTwice`. */
export function genericMapping(columns: readonly string[], settings: Settings): GenericBinding {
  const { targets, ...names } = genericTargets(columns, settings);
  const bound = columns.flatMap((field, index) => (targets[index] ?? []).map((target) => ({ index, field, target })));
  const unmapped = columns.flatMap((field, index) =>
    isIgnoredHeader(field) || (targets[index] ?? []).length > 0 ? [] : [index],
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

/** The columns of a mapping with their targets, before they are looked up in a file. The key comes first. */
export function configuredTargets(mapping: Mapping, settings: Settings): readonly BoundColumn[] {
  const bound: BoundColumn[] = [];
  const bind = (column: ColumnRef, target: Target, optional = false) =>
    bound.push(
      typeof column === 'number'
        ? { index: column - 1, field: `column ${column}`, target, optional }
        : { index: null, field: column, target, optional },
    );
  bind(mapping.key, { kind: 'key', prefix: settings.keyPrefix });
  for (const name of scalarNames) {
    const field = mapping.fields[name];
    if (field === undefined) continue;
    bind(field.column, { kind: 'scalar', name, onBlank: field.onBlank ?? settings.onBlank }, field.optional);
  }
  const { source } = mapping.fields;
  if (source !== undefined) bind(source.column, { kind: 'source' }, source.optional);
  for (const { column, label, onBlank: ownRule, optional } of mapping.emails) {
    const onBlank = ownRule ?? settings.onBlank;
    const items = { kind: 'items', list: 'emails', slot: slotOf(column), label, country: null, onBlank } as const;
    bind(column, items, optional);
  }
  for (const { column, label, country: own, onBlank: ownRule, optional } of mapping.phones) {
    const country = own === undefined ? settings.country : readCountry(own);
    const onBlank = ownRule ?? settings.onBlank;
    bind(column, { kind: 'items', list: 'phones', slot: slotOf(column), label, country, onBlank }, optional);
  }
  for (const { column, key, onBlank, optional } of mapping.customFields) {
    const type = customFieldKind(key, settings.customFields);
    bind(column, { kind: 'custom', key, type, onBlank: onBlank ?? settings.onBlank }, optional);
  }
  return bound;
}

/** The slots (`contacts/desired.ts`) of the mapping's columns; any other slot of the feed is no longer in use. */
export function slotNamesOf({ emails, phones }: Mapping): { readonly emails: string[]; readonly phones: string[] } {
  return { emails: emails.map(({ column }) => slotOf(column)), phones: phones.map(({ column }) => slotOf(column)) };
}

/** @throws PatchbayError `file`: `columnMissing` (all of them at once), `columnAmbiguous`. */
export function configuredMapping(mapping: Mapping, columns: readonly string[], settings: Settings): ColumnBinding {
  const missing: string[] = [];
  const mayLack = new Set(settings.mayLack.map(normaliseHeader));
  const bound = configuredTargets(mapping, settings).flatMap((wanted): readonly BoundColumn[] => {
    const { field, target, optional = false } = wanted;
    const isAllowed = target.kind !== 'key' && (optional || mayLack.has(normaliseHeader(field)));
    if (wanted.index !== null) {
      if (wanted.index >= columns.length && isAllowed) return [];
      return [{ ...wanted, field: nameAt(columns, wanted.index, mapping) }];
    }
    const index = findColumn(columns, field);
    if (index === null && !isAllowed) missing.push(field);
    return index === null ? [] : [{ ...wanted, index, field: columns[index] ?? field }];
  });
  if (missing.length > 0) throw columnMissing(mapping, [...new Set(missing)], columns);
  return { bound, unmapped: unmappedOf(columns, bound, mapping.ignore) };
}

/** Positions of columns that have a name and no target, and are not ignored by choice. */
function unmappedOf(columns: readonly string[], bound: readonly BoundColumn[], ignore: readonly string[] = []) {
  const used = new Set(bound.map(({ index }) => index));
  const ignored = new Set(ignore.map(normaliseHeader));
  const isLeft = (column: string): boolean => !isIgnoredHeader(column) && !ignored.has(normaliseHeader(column));
  return columns.flatMap((column, index) => (!used.has(index) && isLeft(column) ? [index] : []));
}

/** The header at a position; `column 4` where it is empty. @throws PatchbayError `file` `columnMissing`. */
function nameAt(columns: readonly string[], index: number, mapping: Mapping): string {
  const name = columns[index];
  if (name !== undefined) return tidyHeader(name) === '' ? `column ${index + 1}` : name;
  const message = `mapping "${mapping.name}": the file lacks column ${index + 1}, which is picked by its position; it has ${columns.length}: ${listNames(columns)}`;
  const facts = { mapping: mapping.name, position: index + 1, columnCount: columns.length };
  throw new PatchbayError('file', 'columnMissing', message, { facts, hint: 'Correct the file or the mapping.' });
}

/**
 * By its exact name, else by its normalised one.
 *
 * @throws PatchbayError `file`: `duplicateHeader` for a name that occurs twice, `columnAmbiguous` for two similar names.
 */
function findColumn(columns: readonly string[], wanted: string): number | null {
  for (const form of [tidyHeader, normaliseHeader]) {
    const found = columns.flatMap((column, index) => (form(column) === form(wanted) ? [index] : []));
    const [first, second] = found;
    if (first !== undefined && second !== undefined) {
      const isSame = tidyHeader(columns[first] ?? '') === tidyHeader(columns[second] ?? '');
      const places = `columns ${found.map((index) => index + 1).join(' and ')}`;
      throw new PatchbayError(
        'file',
        isSame ? 'duplicateHeader' : 'columnAmbiguous',
        isSame ? `the header "${wanted}" is used by ${places}` : `"${wanted}" of the mapping matches ${places}`,
        {
          facts: { column: wanted, first: first + 1, second: second + 1 },
          hint: `Rename one of them, or pick one by its position: in the mapping, write ${first + 1} instead of "${wanted}".`,
        },
      );
    }
    if (first !== undefined) return first;
  }
  return null;
}

function columnMissing(mapping: Mapping, missing: readonly string[], columns: readonly string[]): PatchbayError {
  const named = columns.filter((column) => !isIgnoredHeader(column));
  const [first = ''] = missing;
  const close = closestName(first, named);
  const what = missing.length === 1 ? 'the column' : 'the columns';
  return new PatchbayError(
    'file',
    'columnMissing',
    `mapping "${mapping.name}": the file lacks ${what} ${listNames(missing)}; found: ${listNames(named)}`,
    {
      facts: { mapping: mapping.name, missingCount: missing.length, first },
      hint: missingHint(first, close),
    },
  );
}

/** The hint for a missing column or JSON member. @param close the most similar name in the file. */
export function missingHint(first: string, close: string | null): string {
  const lacks = `if files may lack it, write { column: "${first}", optional: true }.`;
  if (close === null) return `Correct the file or the mapping; ${lacks}`;
  return `Correct the mapping: did you mean "${tidyHeader(close)}"? Otherwise, ${lacks}`;
}

/** The target of a column depends on its name alone; these matter only for reading its cells. */
const anySettings: Settings = {
  keyPrefix: '',
  sourceLabel: null,
  country: null,
  onBlank: 'keep',
  customFields: null,
  mayLack: [],
};

/**
 * Whether the mapping gives the column a meaning, by its name; null is the generic layout, where a synonym may need other
 * columns for that, too.
 */
export function namesColumn(mapping: Mapping | null, column: string): boolean {
  if (mapping === null) return genericTarget(column, anySettings) !== null || isSynonym(column);
  return namedColumns(mapping).some(
    (named) => typeof named === 'string' && normaliseHeader(named) === normaliseHeader(column),
  );
}

/** What a column of that name means by itself in the generic layout, in words that can be compared; null for nothing. */
export function genericMeaning(name: string): string | null {
  const targets = genericTargets([name], anySettings).targets[0] ?? [];
  const meanings = targets.map((target) =>
    target.kind === 'items' ? `${target.list} ${target.label}` : targetIdentity(target),
  );
  return meanings.length === 0 ? null : meanings.join(', ');
}

function namedColumns({ key, fields, emails, phones, customFields }: Mapping): readonly ColumnRef[] {
  const columns = [...Object.values(fields), ...emails, ...phones, ...customFields];
  return [key, ...columns.flatMap((each) => each?.column ?? [])];
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
}

interface KeyTarget {
  readonly kind: 'key';
  readonly prefix: string;
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
      context.defaultCountry === null
        ? readCountry(mapping?.defaultCountry ?? '')
        : checkCountry(context.defaultCountry),
    onBlank: context.onBlank ?? mapping?.onBlank ?? 'keep',
    customFields: context.customFields,
    mayLack: context.mayLack ?? [],
  };
}
