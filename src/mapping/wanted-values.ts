/**
 * What a mapping wants of a file: its values with their targets, before any column is looked up. A pattern becomes one value
 * for each column that matches it.
 */

import type { SlotNames } from '#src/contacts/base.ts';
import { scalarNames } from '#src/contacts/desired.ts';
import { ignoredBy, isIgnoredHeader, normaliseHeader } from '#src/sources/column-name.ts';
import {
  beyondNumbers,
  columnMatcher,
  fillPattern,
  isPattern,
  type Placeholders,
  slotMatcher,
} from './column-pattern.ts';
import type { Condition, CountryChoice, EmailEntry, InvalidRule, PhoneEntry } from './entry-schema.ts';
import type { ItemList, ItemsTarget, Settings, Target } from './layout.ts';
import { customFieldKey, customFieldKind } from './layout.ts';
import type { Mapping } from './mapping-schema.ts';
import { readCountry } from './phone-cell.ts';
import type { Transform } from './transforms.ts';
import { type ColumnRef, referencesIn, type Value, type ValueObject } from './value-schema.ts';

export interface Wanted {
  readonly target: Target;
  readonly value: Value;
  /** The file may lack its columns. */
  readonly optional: boolean;
  readonly dropsInvalid: boolean;
  readonly split?: { readonly separator: string; readonly transform: readonly Transform[] };
  readonly label?: { readonly column: ColumnRef; readonly optional: boolean; readonly transform: readonly Transform[] };
  readonly country?: { readonly column: ColumnRef; readonly optional: boolean };
  /** More columns with countries, which the file may lack. */
  readonly otherCountries?: readonly ColumnRef[];
  readonly skip?: { readonly column: ColumnRef | null; readonly optional: boolean; readonly condition: Condition };
}

/** The columns of a file, or the members of a record, for patterns to choose from. `reference` is how one is picked for certain. */
export type ColumnNames = readonly { readonly name: string; readonly reference: ColumnRef }[];

/** The key comes first. */
export function wantedValues(mapping: Mapping, settings: Settings, columns: ColumnNames): readonly Wanted[] {
  const ruleOf = (entry: { readonly onBlank?: Settings['onBlank'] | undefined }) => entry.onBlank ?? settings.onBlank;
  const options = optionsOf(mapping);
  const { key, fields } = mapping;
  const hashLong = typeof key === 'object' && key.hashLong === true ? { hashLong: true } : {};
  return [
    {
      target: { kind: 'key', prefix: settings.keyPrefix, ...hashLong },
      value: key,
      optional: false,
      dropsInvalid: false,
    },
    ...scalarNames.flatMap((name): readonly Wanted[] => {
      const field = fields[name];
      if (field === undefined) return [];
      return [{ target: { kind: 'scalar', name, onBlank: ruleOf(field) }, value: field, ...options(field) }];
    }),
    ...(fields.source === undefined
      ? []
      : [{ target: { kind: 'source' } as const, value: fields.source, ...options(fields.source) }]),
    ...wantedItems('emails', mapping, settings, columns),
    ...wantedItems('phones', mapping, settings, columns),
    ...mapping.customFields.map((entry): Wanted => {
      const tidy = customFieldKey(entry.key, settings.customFields);
      // Another entry writes the field without the space: this one means none that is there.
      const isOfOther = tidy !== entry.key && mapping.customFields.some(({ key }) => key === tidy);
      const key = isOfOther ? entry.key : tidy;
      const type = customFieldKind(key, settings.customFields);
      const target: Target = { kind: 'custom', key, type, onBlank: ruleOf(entry) };
      return { target, ...pieces(entry), ...options(entry) };
    }),
  ];
}

interface Options {
  readonly optional?: boolean | undefined;
  readonly onInvalid?: InvalidRule | undefined;
}

function optionsOf(mapping: Mapping) {
  return ({ optional, onInvalid }: Options) => ({
    optional: optional ?? mapping.optional ?? false,
    dropsInvalid: (onInvalid ?? mapping.onInvalid) === 'drop',
  });
}

/** Several values in a cell are taken apart first, and each goes through the transforms. */
function pieces(value: ValueObject): Pick<Wanted, 'value' | 'split'> {
  const { separator, part, transform } = value;
  if (separator === undefined || part !== undefined) return { value };
  return {
    value: { ...value, separator: undefined, transform: undefined },
    split: { separator, transform: transform ?? [] },
  };
}

function wantedItems(list: ItemList, mapping: Mapping, settings: Settings, columns: ColumnNames): readonly Wanted[] {
  const slotName = createSlotNamer();
  const entries: readonly (EmailEntry | PhoneEntry)[] = mapping[list];
  const named = new Set(
    entries.flatMap(({ column }) =>
      typeof column === 'string' && !isPattern(column) ? [normaliseHeader(column)] : [],
    ),
  );
  const isIgnored = ignoredBy(mapping);
  const free = columns.filter(
    ({ name }) => !isIgnoredHeader(name) && !isIgnored(name) && !named.has(normaliseHeader(name)),
  );
  const columnNames = columns.map(({ name }) => name);
  const claimed = new Set<string>();
  return entries.flatMap((entry): readonly Wanted[] => {
    const { column } = entry;
    if (column === undefined || !isPattern(column))
      return [wantedItem(list, entry, mapping, settings, slotName(entry), null)];
    const match = columnMatcher(column);
    const found = free.flatMap(({ name, reference }) => {
      const by = match(name);
      // The first of two patterns has the column, unless a condition divides its values between them.
      const claim = `${reference} ${entry.part ?? ''}`;
      if (by === null || (entry.skip === undefined && claimed.has(claim))) return [];
      claimed.add(claim);
      const slot = slotName({ ...entry, column: name });
      return [wantedItem(list, { ...entry, column: reference }, mapping, settings, slot, by)];
    });
    const isBeyond = beyondNumbers(column, columnNames);
    const gone = settings.mayLack
      .filter((name) => isBeyond(name) && !isIgnored(name) && !named.has(normaliseHeader(name)))
      .flatMap((name) => wantedGone(list, entry, mapping, settings, slotName({ ...entry, column: name }), match(name)));
    // Without any column, the pattern itself is what is missing.
    return found.length > 0 ? [...found, ...gone] : [wantedItem(list, entry, mapping, settings, slotName(entry), null)];
  });
}

/** A column of an earlier file whose number is beyond those of this one: blank in every row, which says something only if blanks clear. */
function wantedGone(
  list: ItemList,
  entry: EmailEntry | PhoneEntry,
  mapping: Mapping,
  settings: Settings,
  slot: string,
  by: Placeholders | null,
): readonly Wanted[] {
  if ((entry.onBlank ?? settings.onBlank) !== 'clear') return [];
  const blank = { ...entry, column: undefined, constant: '', skip: undefined };
  return [wantedItem(list, blank, mapping, settings, slot, by)];
}

/** @param by what the placeholders of the entry's pattern stand for. */
function wantedItem(
  list: ItemList,
  entry: EmailEntry | PhoneEntry,
  mapping: Mapping,
  settings: Settings,
  slot: string,
  by: Placeholders | null,
): Wanted {
  const options = optionsOf(mapping)(entry);
  const filled = (column: ColumnRef) => (by !== null && isPattern(column) ? fillPattern(column, by) : column);
  // In a pattern, the file may lack the column of one number.
  const reference = (column: ColumnRef) => ({
    column: filled(column),
    optional: options.optional || isPattern(column),
  });
  const own = 'country' in entry ? entry.country : undefined;
  const country = list === 'phones' ? countryOf(own ?? mapping.defaultCountry, own === undefined, settings) : noCountry;
  const choice = entry.label;
  const plain = list === 'emails' ? 'email' : 'phone';
  const target: ItemsTarget = {
    kind: 'items',
    list,
    slot,
    label: by?.label ?? (typeof choice === 'string' ? choice : (choice.default ?? plain)),
    country: country.code,
    onBlank: entry.onBlank ?? settings.onBlank,
  };
  const { skip } = entry;
  return {
    target,
    ...pieces(entry),
    ...options,
    ...(typeof choice === 'string'
      ? {}
      : { label: { ...reference(choice.column), transform: labelTransform(choice) } }),
    ...(country.column === null
      ? {}
      : { country: reference(country.column), otherCountries: country.others.map(filled) }),
    ...(skip === undefined
      ? {}
      : {
          skip: {
            ...(skip.column === undefined ? { column: null, optional: true } : reference(skip.column)),
            condition: skip,
          },
        }),
  };
}

function labelTransform({ transform = [], values }: Exclude<PhoneEntry['label'], string>): readonly Transform[] {
  return values === undefined ? transform : [...transform, { values }];
}

const noCountry = { code: null, column: null, others: [] } as const;

/** @param isDefault the choice is the mapping's default, over which the command line's wins. */
function countryOf(choice: CountryChoice | undefined, isDefault: boolean, settings: Settings) {
  if (choice === undefined || typeof choice === 'string') {
    return {
      code: isDefault || choice === undefined ? settings.country : readCountry(choice),
      column: null,
      others: [],
    };
  }
  const own = choice.default === undefined ? null : readCountry(choice.default);
  return {
    code: isDefault ? settings.country : (own ?? settings.country),
    column: choice.column,
    others: choice.others ?? [],
  };
}

// The names of slots (`contacts/desired.ts`): under them it is remembered what a feed said of e-mail addresses and phone
// numbers. A column's slot is its normalised header, which has no spaces; every other one has a space.

const nameCharactersMax = 200;

/** A function that names the slots of a list's entries in order: the second of one name gets a number. */
function createSlotNamer(): (value: ValueObject) => string {
  const counts = new Map<string, number>();
  return (value) => {
    const name = slotOf(value);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} #${count}`;
  };
}

/** Transforms make no difference: a correction there must not part the feed from what it wrote before. */
function slotOf(value: ValueObject): string {
  const part = value.part === undefined ? '' : ` part ${value.part}`;
  if (value.column !== undefined) return `${nameOf(value.column)}${part}`;
  const references = referencesIn(value).map(({ reference }) => nameOf(reference));
  const kind =
    (['firstOf', 'join', 'template', 'constant'] as const).find((one) => value[one] !== undefined) ?? 'value';
  const name = `${kind} ${[...references, ...(value.constant === undefined ? [] : [value.constant])].join(' ')}${part}`;
  return name.slice(0, nameCharactersMax);
}

function nameOf(reference: ColumnRef): string {
  return typeof reference === 'number' ? `column ${reference}` : normaliseHeader(reference);
}

/** The slots that the mapping may fill; any other slot of the feed is no longer in use. */
export function slotNamesOf(mapping: Mapping): { readonly emails: SlotNames; readonly phones: SlotNames } {
  const isIgnored = ignoredBy(mapping);
  return { emails: slotsOf(mapping.emails, isIgnored), phones: slotsOf(mapping.phones, isIgnored) };
}

function slotsOf(entries: readonly EmailEntry[], isIgnored: (column: string) => boolean): SlotNames {
  const names = new Set<string>();
  const patterns: ((slot: string) => boolean)[] = [];
  for (const entry of entries) {
    if (entry.column !== undefined && isPattern(entry.column)) patterns.push(slotMatcher(entry.column));
    else names.add(slotOf(entry));
  }
  return {
    has: (slot) => {
      const name = slot.replace(/ #\d+$/, '');
      const column = name.replace(/ part -?\d+$/, '');
      return names.has(name) || (!isIgnored(column) && patterns.some((matches) => matches(column)));
    },
  };
}
