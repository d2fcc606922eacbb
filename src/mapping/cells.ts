/**
 * What a value adds to a contact, by the kind of its target: one table, one reader for each kind.
 *
 * A reader is pure. It returns a part of the desired contact with its warnings, or the problems that reject the row;
 * `row.ts` folds the readings of a row's values into one contact.
 */
import type { DesiredContact, DesiredItem, ScalarName } from '#src/contacts/desired.ts';
import type { JsonValue } from '#src/sources/row.ts';
import {
  bad,
  type Cell,
  type Flaw,
  good,
  isJsonObject,
  type JsonObject,
  memberOf,
  type Place,
  type Reading,
  readCell,
  readKey,
  readSourceUrl,
  readText,
  type WarningCode,
} from './cell.ts';
import type { NamePart } from './contact-columns.ts';
import { customFieldUnknown, readCustomCell } from './custom-cell.ts';
import { emailLeftOut, readEmail, splitEmails } from './email-cell.ts';
import { elementsInCell, namedFlaw, valueUnknownInCell } from './json-cell.ts';
import type { ItemList, ItemsTarget, Target } from './layout.ts';
import {
  labelIn,
  labelMemberOf,
  labelMembersOf,
  plainLabelMemberOf,
  valueMemberOf,
  valueUnknown,
} from './list-element.ts';
import { familyName, givenNames } from './person-name.ts';
import { phoneLeftOut, phoneLeftOutByLabel, readPhones, splitPhones } from './phone-cell.ts';
import { isInSmallName, isLost, isPlaceholder, mayBePlaceholder } from './placeholder.ts';
import { isReservedSource, readSource } from './source-label.ts';
import { unwrappedValue } from './wrapped-value.ts';

/** What is wrong with one value, and where it was found. `raw` is undefined where there is no value to show. */
export interface Finding {
  readonly field: string;
  readonly raw: JsonValue | undefined;
  readonly flaw: Flaw;
}

/** What one value says. `adds` is empty where it says nothing; any problem rejects the row. */
export interface CellReading {
  readonly adds: Partial<DesiredContact>;
  readonly problems: readonly Finding[];
  readonly warnings: readonly Finding[];
}

type Readers = {
  readonly [Kind in Target['kind']]: (place: Place, target: Extract<Target, { kind: Kind }>) => CellReading;
};

const readers: Readers = {
  key: (place, { prefix, hashLong = false }) =>
    found(place, readKey(place.raw, prefix, place.from, hashLong), (key) => ({ key })),

  scalar: (place, { name, part, onBlank }) => {
    const single = readSingle(place);
    if (!single.ok) return refused(place, single.flaw);
    const cell = part === undefined ? single.value : partOf(single.value, part);
    const isNothing = cell.kind === 'text' && isNoName(name, cell.text, place.whole ?? place.raw);
    if (cell.kind === 'text' && !isNothing) {
      const reading = name === 'sourceUrl' ? readSourceUrl(cell.text) : readText(cell.text);
      const said = found(place, reading, (value) => ({ scalars: { [name]: value } }));
      const isInDoubt = part !== 'familyName' && isNameOrCompany(name) && mayBePlaceholder(cell.text);
      return isInDoubt ? { ...said, warnings: [...said.warnings, { ...place, flaw: placeholderInDoubt }] } : said;
    }
    const wasLost = cell.kind === 'text' && isLost(cell.text);
    const isCleared = cell.kind === 'clear' || (onBlank === 'clear' && !wasLost);
    const flaw = wasLost ? placeholderLost : placeholderWarning;
    // Both parts of a whole name come from one cell, which is worth one warning.
    const warnings = isNothing && part !== 'familyName' ? [{ ...place, flaw }] : [];
    return { adds: isCleared ? { scalars: { [name]: null } } : {}, problems: [], warnings };
  },

  // A blank source leaves the label to the mapping or the feed; so does null, which exports write for "no source".
  source: (place, { isOfService = false }) => {
    const single = readSingle(place);
    if (!single.ok) return refused(place, single.flaw);
    const cell = single.value;
    if (cell.kind === 'text' && isOfService && isReservedSource(cell.text))
      return { ...nothing, warnings: [{ ...place, flaw: sourceLeftOut }] };
    if (cell.kind === 'text') return found(place, readSource(cell.text), (source) => ({ source }));
    const isIgnored = cell.kind === 'clear' && place.raw !== null;
    return { ...nothing, warnings: isIgnored ? [{ ...place, flaw: clearIgnored }] : [] };
  },

  items: (place, target) => {
    if (Array.isArray(place.raw)) return readArray(place, target, place.raw);
    const single = readSingle(place);
    if (!single.ok) return refused(place, single.flaw);
    const cell = single.value;
    const elements = cell.kind === 'text' && place.from === 'csv' ? elementsInCell(cell.text) : null;
    if (elements !== null) return readListCell(place, target, elements);
    const { items, ...findings } = cell.kind === 'text' ? readItems(place, target, cell.text, target.label) : noItems;
    // A blank cell with keep leaves no slot; one that clears leaves a slot without items.
    const isSaid = items.length > 0 || cell.kind === 'clear' || target.onBlank === 'clear';
    return { adds: isSaid ? slot(target, items, false) : {}, ...findings };
  },

  custom: (place, { key, type, onBlank }) => {
    const cell = readCell(place.raw, place.from);
    if (cell.kind === 'blank' && onBlank === 'keep') return nothing;
    if (type === 'undefined') return refused(place, customFieldUnknown);
    const isListInCell = type === 'multi-select' && place.from === 'csv' && cell.kind === 'text';
    // As of any other cell, one without a value says nothing.
    const isEmptyList = isListInCell && /^\[\s*\]$/.test(cell.text);
    if (isEmptyList && onBlank === 'keep') return nothing;
    if (cell.kind === 'blank' || cell.kind === 'clear' || isEmptyList)
      return { ...nothing, adds: customField(key, null) };
    const raw = cell.kind === 'text' && typeof place.raw === 'string' ? cell.text : place.raw;
    const elements = isListInCell ? (elementsInCell(cell.text)?.filter((one) => one !== null) ?? null) : null;
    return found(place, readCustomCell(elements ?? raw, type), (value) => customField(key, value));
  },
};

export function readValue(place: Place, target: Target): CellReading {
  // The table's type pairs each reader with its target, which an index cannot express.
  const reader = readers[target.kind] as (place: Place, target: Target) => CellReading;
  return reader(place, target);
}

/** A problem, alone: no value was read. */
export function refused({ field, raw }: Pick<Finding, 'field' | 'raw'>, flaw: Flaw): CellReading {
  return { adds: {}, problems: [{ field, raw, flaw }], warnings: [] };
}

const nothing: CellReading = { adds: {}, problems: [], warnings: [] };

/** A word such as `N/A` means "no value" in names alone (`docs/rules.md`, "What a cell means"). */
function isNoName(name: ScalarName, text: string, whole: JsonValue): boolean {
  if (!isNameOrCompany(name) || !isPlaceholder(text, name === 'company' ? 'company' : 'name')) return false;
  return name === 'company' || typeof whole !== 'string' || !isInSmallName(text, whole);
}

function isNameOrCompany(name: ScalarName): boolean {
  return name === 'firstName' || name === 'lastName' || name === 'company';
}

export const placeholderWarning: Flaw<WarningCode> = {
  code: 'placeholderText',
  message: 'what the cell holds stands for "nothing"; it was read as blank',
  hint: 'Leave the cell blank, or write #CLEAR to remove the value.',
};

const placeholderLost: Flaw<WarningCode> = {
  code: 'placeholderText',
  message: 'the export has lost the value of the cell and wrote [object Object]; the field is left as it is',
  hint: 'Have the export write the text itself, and import the file again.',
};

/** Reported where the rows of the file speak for it (`column-warnings.ts`). */
const placeholderInDoubt: Flaw<WarningCode> = {
  code: 'placeholderInDoubt',
  message: 'what the cell holds may stand for "nothing", as NA or None do; it was read as a value',
  hint: 'Where it does, leave the cell blank, or say so in a mapping: lastName: { column: lastName, transform: [{ values: { NA: "" } }] }',
};

const sourceLeftOut: Flaw<WarningCode> = {
  code: 'sourceLeftOut',
  message: 'the service reserves this source label; it is left out, and a contact that has it keeps it',
  hint: 'Nothing is to be done. A new contact gets the source label of its feed.',
};

const clearIgnored: Flaw<WarningCode> = {
  code: 'clearIgnored',
  message: 'a source label is written on create only and cannot be cleared',
  hint: 'Leave the cell blank.',
};

function found<Value>(
  place: Place,
  reading: Reading<Value>,
  adds: (value: Value) => Partial<DesiredContact>,
): CellReading {
  if (!reading.ok) return refused(place, reading.flaw);
  return { adds: adds(reading.value), problems: none, warnings: warningsOf(place, reading.warnings) };
}

const none: readonly Finding[] = [];

function warningsOf(place: Place, flaws: readonly Flaw[]): readonly Finding[] {
  return flaws.length === 0 ? none : flaws.map((flaw) => ({ ...place, flaw }));
}

type SingleCell = Exclude<Cell, { kind: 'list' | 'wrong' }>;

/** A cell that may hold one text; a list, or what cannot be text, is refused. */
function readSingle(place: Place): Reading<SingleCell> {
  const cell = readCell(place.raw, place.from);
  if (cell.kind === 'wrong') return { ok: false, flaw: cell.flaw };
  if (cell.kind !== 'list') return good(cell);
  return bad('notText', 'expected one text, found a list', 'Write one value as a string.');
}

/** One part of a whole name; blank where the name has none. */
function partOf(cell: SingleCell, part: NamePart): SingleCell {
  if (cell.kind !== 'text' || isPlaceholder(cell.text, 'name')) return cell;
  const text = part === 'givenNames' ? givenNames(cell.text) : familyName(cell.text);
  return text === '' ? { kind: 'blank' } : { kind: 'text', text };
}

function customField(key: string, value: DesiredContact['customFields'][number]['value']): Partial<DesiredContact> {
  return { customFields: [{ key, value }] };
}

// E-mail addresses and phone numbers: one column, or one JSON array, becomes one slot.

export const itemsMax = 100;

interface ItemReader {
  readonly split: (text: string, country: ItemsTarget['country']) => readonly string[];
  /** The readings of the parts of one cell, in order. */
  readonly read: (parts: readonly string[], country: ItemsTarget['country']) => readonly Reading<string>[];
  /** Why a part is left out with a warning, although it is a value; null for any other. */
  readonly leftOut: (text: string) => Flaw<WarningCode> | null;
}

const itemReaders: Readonly<Record<ItemList, ItemReader>> = {
  emails: { split: splitEmails, read: (parts) => parts.map(readEmail), leftOut: emailLeftOut },
  phones: { split: splitPhones, read: readPhones, leftOut: phoneLeftOut },
};

/** What one text or element says, before it is put into its slot. */
export type ItemsReading = Omit<CellReading, 'adds'> & { readonly items: readonly DesiredItem[] };

const noItems: ItemsReading = { items: [], problems: [], warnings: [] };

/** The items of one text: several where it holds several, none for a placeholder. */
function readItems(place: Place, { list, country }: ItemsTarget, text: string, label: string): ItemsReading {
  const { split, read, leftOut } = itemReaders[list];
  const parts = split(text, country);
  if (parts.length > itemsMax) return { ...noItems, problems: [{ ...place, flaw: tooMany('cell') }] };
  const isRead = (piece: string): boolean => read(split(piece, country), country).every(({ ok }) => ok);
  const items: DesiredItem[] = [];
  const problems: Finding[] = [];
  const warnings: Finding[] = [];
  for (const [index, reading] of read(parts, country).entries()) {
    const part = parts[index] ?? '';
    const nothingFlaw = isPlaceholder(part, 'item') ? placeholderWarning : leftOut(part);
    if (nothingFlaw !== null) {
      warnings.push({ ...place, flaw: nothingFlaw });
    } else if (reading.ok) {
      items.push({ label, value: reading.value });
      warnings.push(...warningsOf(place, reading.warnings));
    } else {
      problems.push({ ...place, flaw: namedFlaw(text, reading.flaw, isRead) });
    }
  }
  return { items, problems, warnings };
}

/**
 * A JSON array names all items of its slot: an empty one clears it. Its elements are strings or `{name, value}`, or
 * objects with members that other programs call so; an element whose value is null or blank is left out, and one whose value has
 * no name that is known cannot be read.
 */
function readArray(place: Place, target: ItemsTarget, elements: readonly JsonValue[]): CellReading {
  if (elements.length > itemsMax) return tooManyElements(place.field);
  return wholeList(
    target,
    Array.from(elements, (_, index) => readElement(place, target, elements, index)),
  );
}

/** JSON in the cell of a table. As of any other cell, one without a value says nothing. */
function readListCell(place: Place, target: ItemsTarget, elements: readonly JsonValue[]): CellReading {
  const read = readArray(place, { ...target, whole: false }, elements);
  const ofCell = ({ flaw }: Finding): Finding => ({ ...place, flaw });
  const list = { ...read, problems: read.problems.map(ofCell), warnings: read.warnings.map(ofCell) };
  const isBlank = list.problems.length === 0 && itemsIn(list.adds, target) === 0 && target.onBlank === 'keep';
  return isBlank ? { ...list, adds: {} } : list;
}

function itemsIn(adds: Partial<DesiredContact>, { list }: ItemsTarget): number {
  return adds[list]?.[0]?.items.length ?? 0;
}

/** More elements than a list of e-mail addresses or phone numbers may have. */
export function tooManyElements(field: string): CellReading {
  return refused({ field, raw: undefined }, tooMany('list'));
}

/** The readings of all elements of a list: it names all items of its slot. */
export function wholeList(target: ItemsTarget, readings: readonly ItemsReading[]): CellReading {
  const items = readings.flatMap((reading) => reading.items);
  return {
    adds: slot(target, items, target.whole === true),
    problems: readings.flatMap((reading) => reading.problems),
    warnings: readings.flatMap((reading) => reading.warnings),
  };
}

/** Of a column that says no more of it. */
const plainLabels: Readonly<Record<ItemList, string>> = { emails: 'email', phones: 'phone' };

function readElement(place: Place, target: ItemsTarget, all: readonly JsonValue[], index: number): ItemsReading {
  const element = unwrappedValue(all[index] ?? null);
  const field = `${place.field}[${index}]`;
  const object = isJsonObject(element) ? element : null;
  const valueName = object === null ? null : valueMemberOf(object);
  if (object !== null && valueName === null) {
    const flaw = valueUnknown(object, target.list, place.field, all);
    const named = place.from === 'csv' ? valueUnknownInCell(flaw) : flaw;
    return { ...noItems, problems: [{ field, raw: element, flaw: named }] };
  }
  const isLabelled = target.label !== plainLabels[target.list];
  const labelName = (isLabelled ? plainLabelMemberOf : labelMemberOf)(object ?? {}) ?? 'name';
  const at: Place =
    object === null || valueName === null
      ? { ...place, field, raw: element }
      : { ...place, field: `${field}.${valueName}`, raw: memberOf(object, valueName) ?? null };
  const single = readSingle(at);
  const own = labelIn(object ?? {}, labelName);
  const label = readLabel({ ...place, field: `${field}.${own.path}`, raw: own.raw ?? null }, target);
  const isText = single.ok && single.value.kind === 'text';
  // Under `name` the workspace itself holds the number.
  const leftOut = isText && target.list === 'phones' ? leftOutByLabels(object ?? {}) : null;
  if (leftOut !== null) return { ...noItems, warnings: [{ ...at, flaw: leftOut }] };
  const { items, problems, warnings } = isText ? readItems(at, target, single.value.text, label.text) : noItems;
  return {
    items,
    problems: [...(single.ok ? [] : [{ ...at, flaw: single.flaw }]), ...label.problems, ...problems],
    warnings: [...label.warnings, ...warnings],
  };
}

/** A fax, by any of its labels but a `name`. */
function leftOutByLabels(element: JsonObject): Flaw<WarningCode> | null {
  for (const name of labelMembersOf(element)) {
    const { raw } = labelIn(element, name);
    const flaw = name !== 'name' && typeof raw === 'string' ? phoneLeftOutByLabel(raw) : null;
    if (flaw !== null) return flaw;
  }
  return null;
}

/** The element's own label, or the target's if the element has none that is text. */
function readLabel(place: Place, target: ItemsTarget): Omit<CellReading, 'adds'> & { readonly text: string } {
  const cell = readCell(place.raw, place.from);
  if (cell.kind !== 'text') return { text: target.label, problems: [], warnings: [] };
  const reading = readText(cell.text);
  const { problems, warnings } = found(place, reading, () => ({}));
  return { text: reading.ok ? reading.value : target.label, problems, warnings };
}

/** The slot holds each value once, under its first label. */
function slot(target: ItemsTarget, items: readonly DesiredItem[], isWhole: boolean): Partial<DesiredContact> {
  const once = items.length < 2 ? items : withoutRepeats(items);
  const slots = [
    isWhole ? ({ slot: target.slot, items: once, whole: true } as const) : { slot: target.slot, items: once },
  ];
  return target.list === 'emails' ? { emails: slots } : { phones: slots };
}

function withoutRepeats(items: readonly DesiredItem[]): readonly DesiredItem[] {
  const seen = new Set<string>();
  return items.filter(({ value }) => !seen.has(value) && seen.add(value));
}

function tooMany(holder: 'list' | 'cell'): Flaw {
  return bad('tooManyItems', `the ${holder} has more than ${itemsMax} values`, 'Shorten it.').flaw;
}
