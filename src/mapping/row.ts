/**
 * A row becomes a desired contact: each bound value is made of the row's cells (`expression.ts`), left out where its condition
 * holds, given the label and the country of the row, and read by the kind of its target (`cells.ts`). The readings are folded
 * into one contact.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import type { DesiredContact, DesiredCustomField, ScalarName, WantedSlot } from '#src/contacts/desired.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import { withSkipHint } from '#src/sources/remark.ts';
import { type CellsRow, type JsonValue, listNames } from '#src/sources/row.ts';
import { bad, type Flaw, isJsonObject, keyMissing, readCell, readText, type WarningCode } from './cell.ts';
import {
  type CellReading,
  type Finding,
  type ItemsReading,
  itemsMax,
  placeholderWarning,
  readValue,
  refused,
  tooManyElements,
  wholeList,
} from './cells.ts';
import { meets } from './conditions.ts';
import { countryMissingCode, countryOf, severalCountries, unknownCountry } from './country.ts';
import { type CellRef, type Expression, evaluate, type Found, piecesOf, type RowCells } from './expression.ts';
import type { BoundColumn, ItemsTarget, Made, Settings, Target } from './layout.ts';
import { areLabelled } from './list-element.ts';
import { type ElementRow, elementRows, inPlaceOfList, pathOf } from './list-rows.ts';
import { withMadeOf } from './made-value.ts';
import { phoneLeftOutByLabel } from './phone-cell.ts';
import { isPlaceholder } from './placeholder.ts';
import { mayHoldValue } from './stray-value.ts';
import { applyTransforms } from './transforms.ts';
import { withOpenId } from './wrapped-value.ts';

/** What a row says, or why it is rejected: with all its problems, not the first alone. */
export type MappedRow =
  | { readonly kind: 'desired'; readonly desired: DesiredContact; readonly warnings: readonly Problem[] }
  | {
      readonly kind: 'dead';
      /** Null where the key itself could not be read. */
      readonly key: string | null;
      readonly problems: readonly Problem[];
      readonly warnings: readonly Problem[];
    };

/** Null where it could not be read. */
export function keyOfMapped(mapped: MappedRow): string | null {
  return mapped.kind === 'desired' ? mapped.desired.key : mapped.key;
}

/** A CSV record. A cell that the record lacks is read as blank; ragged rows are rejected by the source before. */
export function mapCells(row: CellsRow, bound: readonly BoundColumn[], settings: Settings): MappedRow {
  const at = (index: number | null): string => (index === null ? '' : (row.cells[index] ?? ''));
  const cells: RowCells = { from: 'csv', read: ({ index, field }) => ({ field, raw: at(index) }) };
  const readings = bound.map((column) =>
    column.made === undefined && column.dropsInvalid !== true
      ? readValue({ field: column.field, raw: at(column.index), from: 'csv' }, column.target)
      : readBound(column, cells),
  );
  const mapped = foldRow(row.line, settings.sourceLabel, readings);
  if (mapped.kind !== 'dead' || mapped.key !== null) return mapped;
  const problems = mapped.problems.map((one) => (one.code === keyMissing.code ? withSkipHint(one, row) : one));
  return { ...mapped, problems };
}

/**
 * Rejected with any problem or without a key, else the desired contact. Two slots may hold the same value: the contact
 * has it as long as one of them names it.
 *
 * @param sourceLabel the source where the row names none of its own.
 */
export function foldRow(line: number, sourceLabel: string | null, readings: readonly CellReading[]): MappedRow {
  let key: string | null = null;
  let source = sourceLabel;
  let findings = 0;
  const scalars: { -readonly [Name in ScalarName]?: string | null } = {};
  const emails: WantedSlot[] = [];
  const phones: WantedSlot[] = [];
  const customFields: DesiredCustomField[] = [];
  for (const { adds, problems, warnings } of readings) {
    findings += problems.length + warnings.length;
    if (adds.key !== undefined) key = adds.key;
    if (adds.source !== undefined) source = adds.source ?? sourceLabel;
    if (adds.scalars !== undefined) Object.assign(scalars, adds.scalars);
    if (adds.emails !== undefined) emails.push(...adds.emails);
    if (adds.phones !== undefined) phones.push(...adds.phones);
    if (adds.customFields !== undefined) customFields.push(...adds.customFields);
  }
  const problems = findings === 0 ? [] : readings.flatMap((one) => one.problems.map((each) => problemOf(line, each)));
  const warned = findings === 0 ? [] : withoutRepeats(readings.flatMap((one) => one.warnings));
  const warnings = warned.map((each) => problemOf(line, each));
  if (key === null || problems.length > 0) return { kind: 'dead', key, problems, warnings };
  return { kind: 'desired', desired: { key, scalars, source, emails, phones, customFields }, warnings };
}

/** One cell, such as that of a country, may be read for several values, with the same warning. */
function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(
    ({ field, raw, flaw }, index) =>
      findings.findIndex((one) => one.field === field && one.raw === raw && one.flaw === flaw) === index,
  );
}

function problemOf(line: number, { field, raw, flaw }: Finding): Problem {
  const { code, message, hint, isLoss } = flaw;
  const value = raw === undefined ? null : showValue(raw);
  return { code, line, field, value, message, hint, ...(isLoss === true ? { isLoss } : {}) };
}

const valueLengthMax = 200;

/** The cell as the file holds it; other JSON values as JSON. Cut after 200 characters. */
function showValue(raw: JsonValue): string {
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  return [...text.slice(0, 2 * valueLengthMax)].slice(0, valueLengthMax).join('');
}

const nothing: CellReading = { adds: {}, problems: [], warnings: [] };

/**
 * What one bound value of a row says. A member that the record lacks says nothing; without a key the row is rejected.
 *
 * @param all values of the mapping: one of them may read an element of a list that lacks what another one reads.
 */
export function readBound(column: BoundColumn, row: RowCells, all: readonly BoundColumn[] = []): CellReading {
  const reading = readElements(column, row, all) ?? readOne(column, row);
  return column.dropsInvalid === true && reading.problems.length > 0 ? withoutInvalid(reading, column.target) : reading;
}

function readOne(column: BoundColumn, row: RowCells): CellReading {
  return column.made === undefined ? readPlain(column, row) : readMade(column, column.made, row);
}

/**
 * Items that are read from each element of a list, each with its own label, country and condition. Elements without the member are left
 * out; where all are, nothing is said. Null for any other value.
 */
function readElements(column: BoundColumn, row: RowCells, all: readonly BoundColumn[]): CellReading | null {
  const { target, field } = column;
  if (target.kind !== 'items') return null;
  const stray = column.optional === true ? null : inPlaceOfList(expressionOf(column), row);
  if (stray !== null) return refused(stray, noList);
  const readings: ItemsReading[] = [];
  let hasElements = false;
  let valueCount = 0;
  for (const element of elementRows(expressionOf(column), row)) {
    const reading = readElement(column, target, element, all);
    // One that has no list, and nothing like a value, says nothing: the lists of the others count.
    if (reading !== null || !element.isWithoutList) hasElements = true;
    if (reading === null) continue;
    readings.push(reading);
    if (reading.items.length > 0 || reading.problems.length > 0) valueCount += 1;
    if (valueCount > itemsMax) return tooManyElements(field);
  }
  if (!hasElements) return null;
  return readings.length === 0 ? nothing : wholeList(target, readings);
}

/** A program that writes XML as JSON writes a list of one element without its brackets. */
const noList = bad(
  'shapeWrong',
  'the value is no list, and the path in the mapping leads into one',
  'Write a list where the export is made, even around one element, or leave out [] in the path of the mapping. To leave out such values, write optional: true in its entry.',
).flaw;

/** Null where the element is left out. */
function readElement(
  column: BoundColumn,
  target: ItemsTarget,
  element: ElementRow,
  all: readonly BoundColumn[],
): ItemsReading | null {
  const { cells } = element;
  const skip = column.made?.skip;
  const found = evaluate(expressionOf(column), cells);
  const isAbsent = found.raw === undefined && found.flaw === undefined;
  if (isAbsent && skip !== undefined && isSkipped(skip, found, cells)) return { ...nothing, items: [] };
  if (isAbsent && mayLack(column, target, element, all)) return null;
  if (isAbsent) return { ...memberAbsent(element, found.field), items: [] };
  const { adds, ...findings } = readOne(column, cells);
  return { ...findings, items: (adds[target.list] ?? []).flatMap(({ items }) => items) };
}

function expressionOf({ made, index, field }: BoundColumn): Expression {
  return made?.value ?? { kind: 'cell', cell: { index, field } };
}

/** Whether an element without the member of the mapping holds no value that would be lost, as far as that can be seen, or may be without one. */
function mayLack(
  column: BoundColumn,
  { list }: ItemsTarget,
  { element, holds }: ElementRow,
  all: readonly BoundColumn[],
): boolean {
  if (!isJsonObject(element)) return false;
  const paths = all.flatMap((one) => (one.target.kind === 'items' ? (pathOf(expressionOf(one)) ?? []) : []));
  return column.optional === true || paths.some(holds) || !mayHoldValue(element, list);
}

/** An element without the member of the mapping may hold its value under another name: nothing is taken away for it. */
function memberAbsent({ field, element, cells }: ElementRow, path: string): CellReading {
  const member = listNames([path.slice(field.length + 1)]);
  const isThere = cells.read({ index: null, field: path }).raw !== undefined;
  const ofObject = isThere
    ? `its member ${member} has another form than the path in the mapping`
    : `the element has no member ${member}; it has ${listNames(Object.keys(element ?? {}))}`;
  const message = isJsonObject(element)
    ? ofObject
    : 'the element is no object, and the path in the mapping names a member of it';
  const hint =
    'Correct the element, or the path in the mapping. If the element holds its value under another name, add an entry with that name to the mapping; if elements may lack the member, write optional: true in its entry.';
  return refused({ field, raw: element }, bad('shapeWrong', message, hint).flaw);
}

function readPlain({ index, field, target }: BoundColumn, row: RowCells): CellReading {
  return readFound(row.read({ index, field }), target, row);
}

function readFound(found: Found, target: Target, { from }: RowCells): CellReading {
  const { field, raw, flaw, shown } = found;
  if (flaw !== undefined) return refused({ field, raw: shown ?? raw }, flaw);
  if (raw === undefined) return target.kind === 'key' ? refused({ field, raw: undefined }, keyMissing) : nothing;
  const reading = readValue(shown === undefined ? { field, raw, from } : { field, raw, from, whole: shown }, target);
  return shown === undefined ? reading : showing(reading, raw, shown);
}

/** A finding about a value that was made of one cell shows the cell as the file holds it. */
function showing(reading: CellReading, made: unknown, shown: JsonValue): CellReading {
  if (reading.problems.length === 0 && reading.warnings.length === 0) return reading;
  const asInFile = (finding: Finding): Finding => (finding.raw === made ? { ...finding, raw: shown } : finding);
  return { ...reading, problems: reading.problems.map(asInFile), warnings: reading.warnings.map(asInFile) };
}

/** A link may hold the id of its record. */
function mayHoldId(target: Target): boolean {
  return target.kind === 'key' || target.kind === 'custom' || (target.kind === 'scalar' && target.name === 'sourceUrl');
}

function withOpenIds(row: RowCells): RowCells {
  if (row.from === 'csv') return row;
  const opened = ({ raw, ...found }: Found): Found => ({ ...found, raw: raw === undefined ? raw : withOpenId(raw) });
  return { ...row, read: (cell) => opened(row.read(cell)) };
}

function readMade({ target }: BoundColumn, made: Made, cells: RowCells): CellReading {
  const row = mayHoldId(target) ? withOpenIds(cells) : cells;
  const value = evaluate(made.value, row);
  if (value.raw === undefined && value.flaw === undefined) return readFound(value, target, row);
  // What is left out is read like a blank cell.
  if (made.skip !== undefined && isSkipped(made.skip, value, row))
    return readFound({ field: value.field, raw: '' }, target, row);
  const found = made.split === undefined ? value : splitUp(value, made.split, target, row);
  if (target.kind !== 'items') return withMadeOf(readFound(found, target, row), found, target, made.value);
  const label = made.label === undefined ? null : labelOf(made.label, target, row);
  const leftOut = label === null || target.list === 'emails' ? null : leftOutBy(label.text, found, target, row);
  if (leftOut !== null) return leftOut;
  const country =
    made.country === undefined ? null : countryAt([made.country, ...(made.otherCountries ?? [])], target.country, row);
  const own: ItemsTarget = {
    ...target,
    label: label?.text ?? target.label,
    country: country === null ? target.country : country.code,
  };
  const reading = readFound(found, own, row);
  const flaw = country?.flaw ?? null;
  const problems = flaw === null ? reading.problems : reading.problems.map(countryNotKnown(flaw));
  const isSaid = reading.adds[target.list]?.some(({ items }) => items.length > 0) === true;
  const takesLabel = isSaid && !(Array.isArray(found.raw) && areLabelled(found.raw));
  const ofBoth = [...(takesLabel ? (label?.warnings ?? []) : []), ...(isSaid ? (country?.warnings ?? []) : [])];
  const elsewhere =
    isSaid && isOtherAbroad(reading, own, target, () => readFound(found, { ...own, country: target.country }, row));
  const ofCountry = elsewhere
    ? [{ field: found.field, raw: found.shown ?? found.raw, flaw: countryOfRow(own, target) }]
    : [];
  return { ...reading, problems, warnings: [...ofBoth, ...ofCountry, ...reading.warnings] };
}

/** Whether the row's own country, in place of the default one, made other numbers of those that have no country code. */
function isOtherAbroad(
  reading: CellReading,
  own: ItemsTarget,
  { list, country }: ItemsTarget,
  readAtHome: () => CellReading,
): boolean {
  if (country === null || own.country === null || own.country === country) return false;
  const valuesOf = ({ adds }: CellReading) =>
    (adds[list] ?? []).flatMap(({ items }) => items.map(({ value }) => value));
  const atHome = new Set(valuesOf(readAtHome()));
  return valuesOf(reading).some((value) => !atHome.has(value));
}

function countryOfRow({ country: own }: ItemsTarget, { country: usual }: ItemsTarget): Flaw<WarningCode> {
  return {
    code: 'phoneCountryOfRow',
    message: `the number has no country code, and was read in the country that the row names (${own}), not in the default one (${usual})`,
    hint: 'If it is a number of the default country, write it with + and its country code.',
  };
}

/** Pieces of an item's cell become lines, which separate items anyway; those of a custom field a list. */
function splitUp(
  found: Found,
  { separator, transform }: NonNullable<Made['split']>,
  target: Target,
  row: RowCells,
): Found {
  const split = piecesOf(found, separator, transform, row);
  if (!('pieces' in split)) return split;
  const { pieces } = split;
  const shown = found.shown ?? found.raw;
  const raw = target.kind === 'items' || pieces.length === 0 ? pieces.join('\n') : pieces;
  return { field: found.field, raw, ...(shown === undefined ? {} : { shown }) };
}

function isSkipped({ cell, condition }: NonNullable<Made['skip']>, value: Found, row: RowCells): boolean {
  const asked = cell === null ? value : row.read(cell);
  return meets(condition, [textIn(asked, row)]);
}

/** The text of a cell; blank for whatever is none. */
function textIn({ raw }: Found, { from }: RowCells): string {
  if (raw === undefined) return '';
  if (typeof raw === 'boolean') return String(raw);
  const cell = readCell(raw, from);
  return cell.kind === 'text' ? cell.text : '';
}

/** A number under the label of a fax is read like a blank cell, with a warning. Null for any other. */
function leftOutBy(label: string, found: Found, target: ItemsTarget, row: RowCells): CellReading | null {
  const flaw = label === target.label || textIn(found, row) === '' ? null : phoneLeftOutByLabel(label);
  if (flaw === null) return null;
  const { field, raw } = found;
  const reading = readFound({ field, raw: '' }, target, row);
  return { ...reading, warnings: [...reading.warnings, { field, raw: found.shown ?? raw, flaw }] };
}

const labelCharactersMax = 75;

const labelTooLong: Flaw<WarningCode> = {
  code: 'labelTooLong',
  message: `the label has more than ${labelCharactersMax} characters; the default label was used`,
  hint: 'Shorten it, or map it in the mapping (values).',
};

const labelIsList: Flaw<WarningCode> = {
  code: 'labelIsList',
  message: 'the label is a list; the default label was used',
  hint: 'Read value and label from the same elements, such as column: "phones[].number" with label: { column: "phones[].kind" }.',
};

function labelOf({ cell, transform }: NonNullable<Made['label']>, target: ItemsTarget, row: RowCells) {
  const found = row.read(cell);
  if (Array.isArray(found.raw) && found.raw.length > 0)
    return { text: target.label, warnings: [{ field: found.field, raw: found.raw, flaw: labelIsList }] };
  const warned = (flaw: Flaw) => ({
    text: target.label,
    warnings: [{ field: found.field, raw: found.raw, flaw }],
  });
  const result = applyTransforms(textIn(found, row), transform);
  if (!result.ok) return warned(result.flaw);
  if (result.text === '') return { text: target.label, warnings: [] };
  const reading = readText(result.text);
  if (!reading.ok) return warned(reading.flaw);
  if ([...reading.value].length > labelCharactersMax) return warned(labelTooLong);
  return {
    text: reading.value,
    warnings: reading.warnings.map((flaw) => ({ field: found.field, raw: found.raw, flaw })),
  };
}

interface RowCountry {
  readonly code: CountryCode | null;
  /** Of numbers without a country code, where the row names a country, and none can be taken. */
  readonly flaw: { readonly message: string; readonly hint: string } | null;
  readonly warnings: readonly Finding[];
}

/** Blank, or a word for "nothing": the default. A name that no country has is none, and so are two names, rather than the default: nothing is guessed. */
function countryAt(cells: readonly CellRef[], otherwise: CountryCode | null, row: RowCells): RowCountry {
  const filled = cells.flatMap((cell) => countriesIn(row.read(cell), row));
  const named = filled.filter(({ isNothing }) => !isNothing);
  const warnings = filled.flatMap(({ field, text, isNothing }) =>
    isNothing ? [{ field, raw: text, flaw: placeholderWarning }] : [],
  );
  const [first] = named;
  if (first === undefined) return { code: otherwise, flaw: null, warnings };
  const other = named.find(({ code }) => code !== first.code);
  if (other !== undefined) return { code: null, flaw: severalCountries([first.text, other.text]), warnings };
  const flaw = first.code === null ? unknownCountry(first.field, first.text) : null;
  return { code: first.code, flaw, warnings };
}

/** What a cell, or each element of a list in JSON, names as a country. */
function countriesIn({ field, raw }: Found, row: RowCells) {
  const texts = (Array.isArray(raw) ? raw : [raw]).map((one) => textIn({ field, raw: one }, row));
  return texts
    .filter((text) => text !== '')
    .map((text) => {
      const code = countryOf(text);
      return { field, text, code, isNothing: code === null && isPlaceholder(text, 'company') };
    });
}

function countryNotKnown(flaw: NonNullable<RowCountry['flaw']>): (finding: Finding) => Finding {
  return (finding) =>
    finding.flaw.code === countryMissingCode ? { ...finding, flaw: { ...finding.flaw, ...flaw } } : finding;
}

/**
 * The value is left out with a warning, and says nothing about the field, rather than that it is empty. Of a list it says what else
 * could be read.
 */
function withoutInvalid({ adds, problems, warnings }: CellReading, target: Target): CellReading {
  const dropped = problems.map(({ flaw, ...place }) => ({
    ...place,
    flaw: { ...flaw, message: `${flaw.message}; the value was left out`, isLoss: true as const },
  }));
  return { adds: partialSlot(adds, target), problems: [], warnings: [...warnings, ...dropped] };
}

function partialSlot(adds: Partial<DesiredContact>, target: Target): Partial<DesiredContact> {
  if (target.kind !== 'items') return {};
  const { list, slot } = target;
  const items = (adds[list] ?? []).flatMap((one) => one.items);
  return { [list]: [{ slot, items, partial: true }] satisfies readonly WantedSlot[] };
}
