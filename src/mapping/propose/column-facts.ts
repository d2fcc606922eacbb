/**
 * What one pass over a file finds out about its columns: how full they are, whether their values are unique, and a sample of
 * their values. Bounded in memory: values are kept of the first rows, and for uniqueness hashes of a bounded number.
 *
 * In JSON the columns are paths, as a mapping writes them: `properties.email`, `Account.Name`; a list of texts, or of objects
 * that hold one value each, is one column. Of a list of other objects the members of the first are: `names[0].givenName`; what
 * they are called in each element, is known, too.
 */

import { isIgnoredHeader, normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import type { JsonValue, Row, SourceItem } from '#src/sources/row.ts';
import { isJsonObject, type JsonObject } from '../cell.ts';
import { finderOf } from '../json-path.ts';
import { isLabel, isNumberWord } from '../label-words.ts';
import { labelIn, labelMemberOf, labelMembersOf, loneValueMemberOf, valueMemberOf } from '../list-element.ts';
import { unwrapped } from '../wrapped-value.ts';

export interface ColumnFacts {
  /** The header as the file holds it, or a path; `column 4` for an empty header. */
  readonly name: string;
  /** From 1; null in JSON. */
  readonly position: number | null;
  /** Whether a mapping can name it: not empty, and not used by another column. */
  readonly isNamed: boolean;
  /** The rows with a value. */
  readonly filled: number;
  /** Whether no value occurs twice; null where there are too many to compare. */
  readonly isUnique: boolean | null;
  /** The first values that differ. */
  readonly values: readonly string[];
  /** JSON: a list. */
  readonly isList: boolean;
  /** JSON: the path of a list's first value, such as `emails[0].value`; null for any other column. */
  readonly firstPath: string | null;
  /** JSON: a member of the first element of a list. Null for any other column. */
  readonly ofElements: ElementMember | null;
  /** JSON: of a list whose elements have a `name` beside their value, which an import takes for the label. Null for any other column. */
  readonly elementNames: ElementNames | null;
  /** JSON: of a list whose elements have no label that is known, and a member with words for numbers alone. Null for any other column. */
  readonly elementWords: ElementMember | null;
}

/** What elements of a list are called. */
export interface ElementNames {
  /** Of the value beside it, in each element: `emails[].address`. */
  readonly valuePath: string;
  /** Of other members that may be the label: `emails[].type`. */
  readonly labelPaths: readonly string[];
  /** The first that differ. */
  readonly values: readonly string[];
  /** Of how many elements these are, without those of one record that are called alike. */
  readonly filled: number;
}

/** A member that each element of a list may have. */
export interface ElementMember {
  /** Of the member in each element: `phones[].nr`. */
  readonly path: string;
  /** Of members that may be the label beside it: `phones[].type`; without this member itself. */
  readonly labelPaths: readonly string[];
  /** Whether an element beside one that has the member lacks it. */
  readonly isLacked: boolean;
}

export interface FileFacts {
  /** The rows that were looked at, without those that cannot be read. */
  readonly rows: number;
  /** The rows among them that cannot be read, and would be rejected: too few cells, control characters. */
  readonly unreadable: number;
  /** Whether the file has more. */
  readonly isPartial: boolean;
  readonly columns: readonly ColumnFacts[];
  /** Some of the first rows, those that cannot be read among them, to show what becomes of them. */
  readonly sample: readonly SourceItem[];
  readonly isJson: boolean;
}

export interface FactsCollector {
  /** @returns whether further rows are wanted. */
  see(row: Row): boolean;
  /** A row that cannot be read: its cells are no values of their columns. */
  seeUnreadable(item: Extract<SourceItem, { readonly type: 'broken' }>): void;
  /** @param isPartial whether the file has rows that were not seen. */
  facts(isPartial: boolean): FileFacts;
}

/** Values are kept of this many rows. */
const sampledRowsMax = 2_000;
const rowsMax = 200_000;
const columnsMax = 500;
/** The most differing values of a column that are kept. */
export const valuesMax = 200;
const valueCharsMax = 300;
const sampleRowsKept = 200;
/** How many columns are compared to the end for values that occur twice; in the rows of the sample all are. */
const comparedMax = 4;

interface OpenColumn {
  readonly name: string;
  readonly position: number | null;
  filled: number;
  hashes: Set<number> | null;
  isUnique: boolean | null;
  readonly values: Set<string>;
  isList: boolean;
  firstPath: string | null;
  ofElements: ElementMember | null;
  elementNames: OpenNames | null;
  beside: OpenBeside | null;
}

/** What is beside the values of a list, by its path. */
interface Beside {
  readonly valuePath: string;
  readonly texts: ReadonlyMap<string, Iterable<string>>;
}

interface OpenBeside extends Beside {
  readonly texts: Map<string, Set<string>>;
}

interface OpenNames extends Omit<ElementNames, 'values' | 'filled'> {
  readonly values: Set<string>;
  filled: number;
}

/**
 * @param header of a table; null for JSON, where columns are met one by one: 500 at most.
 * @param rank of a column's name: of many columns, those of the lowest are compared for values that occur twice.
 */
export function collectFacts(
  header: readonly string[] | null,
  rank: (name: string) => number = () => 0,
): FactsCollector {
  const open = new Map<string, OpenColumn>();
  let rows = 0;
  const columnAt = (id: string, name: string, position: number | null): OpenColumn | null => {
    const known = open.get(id);
    if (known !== undefined || open.size >= columnsMax) return known ?? null;
    const isCompared = rows < sampledRowsMax;
    open.set(id, {
      ...{ name, position, filled: 0, values: new Set<string>(), isList: false, firstPath: null, ofElements: null },
      ...{ elementNames: null, beside: null },
      ...{ hashes: isCompared ? new Set<number>() : null, isUnique: isCompared ? true : null },
    });
    return open.get(id) ?? null;
  };
  const byPosition = (header ?? []).map((name, index) =>
    columnAt(`${index}`, tidyHeader(name) === '' ? `column ${index + 1}` : tidyHeader(name), index + 1),
  );
  const sample: SourceItem[] = [];
  let unreadable = 0;

  const put = (column: OpenColumn, text: string): void => {
    const value = text.trim();
    if (value === '') return;
    column.filled += 1;
    if (rows <= sampledRowsMax && column.values.size < valuesMax) column.values.add(value.slice(0, valueCharsMax));
    if (column.hashes === null) return;
    const hash = hashOf(value);
    if (column.hashes.has(hash)) {
      column.isUnique = false;
      column.hashes = null;
    } else {
      column.hashes.add(hash);
    }
  };

  const putNames = (column: OpenColumn, { names, ...found }: NamesFound): void => {
    column.elementNames ??= { ...found, values: new Set<string>(), filled: 0 };
    const { values } = column.elementNames;
    if (rows > sampledRowsMax || values.size >= valuesMax) return;
    for (const name of names) values.add(name.slice(0, valueCharsMax));
    column.elementNames.filled += names.size;
  };

  const putBeside = (column: OpenColumn, { valuePath, texts }: Beside): void => {
    column.beside ??= { valuePath, texts: new Map() };
    if (rows > sampledRowsMax) return;
    const known = column.beside.texts;
    for (const [path, words] of texts) {
      const values = known.get(path) ?? new Set();
      if (known.size < columnsMax) known.set(path, values);
      for (const word of words) if (values.size < valuesMax) values.add(word);
    }
  };

  /** Keeps the hashes of a few columns: those of all would not fit into memory. */
  const narrow = (): void => {
    const compared = [...open.values()].filter(({ hashes }) => hashes !== null);
    const ranked = compared.toSorted((left, right) => rank(left.name) - rank(right.name));
    for (const column of ranked.slice(comparedMax)) {
      column.hashes = null;
      column.isUnique = null;
    }
  };

  return {
    see: (row) => {
      rows += 1;
      if (rows === sampledRowsMax) narrow();
      if (sample.length < sampleRowsKept) sample.push({ type: 'row', row });
      if (row.kind === 'cells') {
        byPosition.forEach((column, index) => {
          if (column !== null) put(column, row.cells[index] ?? '');
        });
      } else {
        for (const { path, texts, isList, firstPath, ofElements, names, beside } of pathsOf(
          row.object,
          rows <= sampledRowsMax,
        )) {
          const column = columnAt(path, path, null);
          if (column === null) continue;
          column.isList ||= isList;
          column.firstPath ??= firstPath;
          if (column.ofElements === null || ofElements?.isLacked === true) column.ofElements = ofElements;
          if (names !== null) putNames(column, names);
          if (beside !== null) putBeside(column, beside);
          if (texts.length > 0) put(column, isList ? texts.join('\n') : (texts[0] ?? ''));
        }
      }
      return rows < rowsMax;
    },
    seeUnreadable: (item) => {
      unreadable += 1;
      if (sample.length < sampleRowsKept) sample.push(item);
    },
    facts: (isPartial) => {
      const columns = header === null ? withoutParents([...open.values()]) : [...open.values()];
      const count = Map.groupBy(columns, ({ name }) => name);
      return {
        rows,
        unreadable,
        isPartial,
        sample,
        isJson: header === null,
        columns: columns.map(({ hashes: _, values, isUnique, elementNames, beside, ...column }) => ({
          ...column,
          elementNames: elementNames && { ...elementNames, values: [...elementNames.values] },
          elementWords: wordsBeside(beside),
          isUnique: column.filled === 0 ? false : isUnique,
          values: [...values].flatMap((value) => (column.isList ? value.split('\n') : [value])),
          isNamed:
            column.position === null ||
            (!isIgnoredHeader(header?.[column.position - 1] ?? '') && count.get(column.name)?.length === 1),
        })),
      };
    },
  };
}

/** A member that is null or an empty list in some records, and in others holds members of its own, is these. */
function withoutParents(columns: readonly OpenColumn[]): readonly OpenColumn[] {
  const parents = new Set(columns.flatMap(({ name }) => prefixesOf(name)));
  return columns.filter(({ name, filled }) => filled > 0 || !parents.has(name));
}

/** `names[0].givenName` → `names`, `names[0]`. A dot may be part of a member's own name. */
function prefixesOf(path: string): readonly string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index));
}

interface PathValue {
  readonly path: string;
  readonly texts: readonly string[];
  readonly isList: boolean;
  /** See `ColumnFacts`. */
  readonly firstPath: string | null;
  readonly ofElements: ElementMember | null;
  readonly names: NamesFound | null;
  readonly beside: Beside | null;
}

interface NamesFound extends Omit<ElementNames, 'values' | 'filled'> {
  readonly names: ReadonlySet<string>;
}

const depthMax = 4;

/** The members that hold texts, with their paths. Ends at the depth of the record, at most four levels down. @param isSampled its values are kept. */
function pathsOf(object: JsonObject, isSampled: boolean, prefix = '', depth = 1): readonly PathValue[] {
  const inside = (inner: JsonObject, path: string): readonly PathValue[] =>
    depth < depthMax ? pathsOf(inner, isSampled, `${path}.`, depth + 1) : [];
  return Object.entries(object).flatMap(([name, raw]): readonly PathValue[] => {
    const path = `${prefix}${name}`;
    const value = unwrapped(raw);
    if (isJsonObject(value)) return inside(value, path);
    if (!Array.isArray(value)) return [{ path, texts: textOf(value), isList: false, ...ofNoList }];
    const [first] = value as readonly JsonValue[];
    const member = isJsonObject(first) ? loneValueMemberOf(first, name) : null;
    if (isJsonObject(first) && member === null) {
      return inside(first, `${path}[0]`).map((one) => ({
        ...one,
        ofElements: inEach(one, path, value),
      }));
    }
    const texts = value.flatMap((element) => textOf(isJsonObject(element) ? valueIn(element) : element));
    const firstPath = first === undefined ? null : `${path}[0]${member === null ? '' : `.${member}`}`;
    const names = isJsonObject(first) && member !== null ? namesIn(value, path, { first, member }) : null;
    const beside =
      isSampled && isJsonObject(first) && member !== null ? besideIn(value, path, { first, member }) : null;
    return [{ path, texts, isList: true, firstPath, ofElements: null, names, beside }];
  });
}

const ofNoList = { firstPath: null, ofElements: null, names: null, beside: null };

/** Null where the first element has a label that is known. @param member with its value. */
function besideIn(
  elements: readonly JsonValue[],
  list: string,
  { first, member }: { readonly first: JsonObject; readonly member: string },
): Beside | null {
  if (labelMemberOf(first) !== null) return null;
  const texts = new Map<string, Set<string>>();
  for (const [name, raw] of elements.filter(isJsonObject).flatMap((element) => Object.entries(element))) {
    if (name === member) continue;
    const path = `${list}[].${name}`;
    const known = texts.get(path) ?? new Set();
    if (texts.size < columnsMax) texts.set(path, known);
    for (const text of textOf(raw)) if (known.size < valuesMax) known.add(text);
  }
  return { valuePath: `${list}[].${member}`, texts };
}

function wordsBeside(beside: OpenBeside | null): ElementMember | null {
  const [found] = [...(beside?.texts ?? [])].filter(([, words]) => words.size > 0 && [...words].every(isNumberWord));
  return beside === null || found === undefined
    ? null
    : { path: beside.valuePath, labelPaths: [found[0]], isLacked: false };
}

/** Null where the first element has no `name` that an import takes for the label. @param member with its value. */
function namesIn(
  elements: readonly JsonValue[],
  list: string,
  { first, member }: { readonly first: JsonObject; readonly member: string },
): NamesFound | null {
  const label = labelMemberOf(first);
  if (label === null || normaliseHeader(label) !== 'name') return null;
  const texts = elements.filter(isJsonObject).flatMap((element) => textOf(element[label] ?? null));
  return {
    valuePath: `${list}[].${member}`,
    labelPaths: labelMembersOf(first)
      .filter((name) => name !== label)
      .map((name) => `${list}[].${labelIn(first, name).path}`),
    names: new Set(texts.map((text) => text.trim())),
  };
}

/** @param list the path of a list of these elements. */
function inEach({ path, ofElements }: PathValue, list: string, elements: readonly JsonValue[]): ElementMember {
  const each = (one: string): string => `${list}[]${one.slice(`${list}[0]`.length)}`;
  const own = each(ofElements?.path ?? path);
  const objects = elements.filter(isJsonObject);
  const labels = objects.slice(0, 1).flatMap((one) => labelMembersOf(one).map((name) => labelIn(one, name).path));
  const labelPaths = [...(ofElements?.labelPaths ?? []).map(each), ...labels.map((label) => `${list}[].${label}`)];
  const find = finderOf(own.slice(`${list}[].`.length));
  // A list of its own may be absent.
  const lacks = (element: JsonObject): boolean => ofElements === null && find(element).raw === undefined;
  return {
    path: own,
    labelPaths: labelPaths.filter((one) => one !== own),
    isLacked: ofElements?.isLacked === true || objects.some(lacks),
  };
}

/** The paths of a record's members, as a mapping writes them. */
export function memberPaths(object: JsonObject): readonly string[] {
  return pathsOf(object, false).map(({ path }) => path);
}

function valueIn(element: JsonObject): JsonValue {
  const member = valueMemberOf(element);
  return member === null ? null : (element[member] ?? null);
}

function textOf(raw: JsonValue): readonly string[] {
  const value = unwrapped(raw);
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  return typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : [];
}

/** 53 bits: FNV-1a twice, with different beginnings. A chance hit among 200,000 values is one in half a million. */
function hashOf(text: string): number {
  let [high, low] = [0x811c9dc5, 0x2f0b4c47];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ (code + index), 0x01000193);
  }
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}

/** A list is read element by element where the label has a name of its own, or where the `name` of each is none of its labels, but a person's: `{"name": "Ada Lee", "address": …}`. */
export function withoutNames(facts: ColumnFacts): ColumnFacts {
  const { elementNames, elementWords } = facts;
  if (elementWords !== null) return { ...facts, ofElements: elementWords };
  if (elementNames === null || !holdNames(elementNames)) return facts;
  const { valuePath: path, labelPaths } = elementNames;
  return { ...facts, ofElements: { path, labelPaths, isLacked: false } };
}

const namesMin = 4;
/** The share of names that differ from all others. */
const namesShareMin = 0.8;

/** No labels that are known, and hardly one that two people have. */
function holdNames({ values, filled }: ElementNames): boolean {
  if (filled < namesMin || values.filter(isLabel).length * 2 > values.length) return false;
  return values.length >= filled * namesShareMin;
}
