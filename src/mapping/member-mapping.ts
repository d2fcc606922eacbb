/**
 * A mapping for JSON: each column is the path of a member (`json-path.ts`). What the records lack, and which of their members
 * nothing maps, is known after the last of them.
 */
import { PatchbayError } from '#src/errors.ts';
import { ignoredBy, normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { listNames, type ObjectRow } from '#src/sources/row.ts';
import { columnsOf, configuredMembers, missingHint } from './bind-mapping.ts';
import { bad, isJsonObject, type JsonObject } from './cell.ts';
import { columnMatcher, isPattern } from './column-pattern.ts';
import type { Found, RowCells } from './expression.ts';
import { type Lacking, refuseWithoutContent } from './file-findings.ts';
import { nameInstead } from './header-changes.ts';
import { finderOf, nameOfStep, pathNames } from './json-path.ts';
import type { BoundColumn, Settings } from './layout.ts';
import { listStepsOf } from './list-rows.ts';
import type { Mapping } from './mapping-schema.ts';
import { foldRow, type MappedRow, readBound } from './row.ts';
import { referencesIn, type Value } from './value-schema.ts';

export interface MemberMapping {
  /** Without what patterns find in the records. */
  readonly bound: readonly BoundColumn[];
  mapRow(row: ObjectRow): MappedRow;
  readonly lacking: Lacking;
  /** Whether some value reads the member of this record, or something inside of it. */
  reads(object: JsonObject, name: string): boolean;
  /** Members that nothing reads, as paths, in order of appearance: at most 500. */
  unmapped(): readonly string[];
}

const namesMax = 500;
const depthMax = 4;
/** Records with other members than any before are bound anew; that many are remembered. */
const shapesMax = 200;

/** @throws PatchbayError `file` `positionInJson`. */
export function mapMembers(mapping: Mapping, settings: Settings): MemberMapping {
  const bound = configuredMembers(mapping, settings, []);
  const columns = columnsOf(mapping).filter((column) => typeof column === 'string');
  const patterns = columns.filter(isPattern).map(columnMatcher);
  const used = usedNames(columns.filter((column) => !isPattern(column)));
  const shapes = new Map<string, readonly BoundColumn[]>();
  const isOffered = offeredBy(mapping);
  const boundFor = (object: JsonObject): readonly BoundColumn[] => {
    if (patterns.length === 0) return bound;
    const names = pathsIn(object, 0);
    const shape = JSON.stringify(names);
    const known = shapes.get(shape);
    if (known !== undefined) return known;
    const found = configuredMembers(mapping, settings, names.filter(isOffered));
    if (shapes.size < shapesMax) shapes.set(shape, found);
    return found;
  };
  const isRead = (path: string) => used.whole.has(path) || used.entered.has(path);
  /** A member of the same object has exactly the name in the mapping: that one is read. */
  const isNamesake = (object: JsonObject, form: string, name: string): boolean => {
    const exact = used.exact.get(form);
    return exact !== undefined && !exact.has(name) && [...exact].some((one) => Object.hasOwn(object, one));
  };
  const unmapped = new Set<string>();
  const noteUnmapped = (object: JsonObject, above: string, compared: string, depth: number): void => {
    for (const name of Object.keys(object)) {
      if (unmapped.size >= namesMax || tidyHeader(name) === '') continue;
      const [path, form] = [`${above}${name}`, `${compared}${formOf(name)}`];
      if (isNamesake(object, form, name)) {
        unmapped.add(path);
        continue;
      }
      if (used.whole.has(form) || patterns.some((match) => match(path) !== null)) continue;
      const value = object[name];
      if (used.entered.has(form) && isJsonObject(value) && depth < depthMax) {
        noteUnmapped(value, `${path}.`, `${form}.`, depth + 1);
      } else if (!used.entered.has(form)) unmapped.add(path);
    }
  };
  return {
    bound,
    mapRow: (row) => {
      noteUnmapped(row.object, '', '', 0);
      const cells = cellsOf(row.object);
      const all = boundFor(row.object);
      const readings = all.map((column) => readBound(column, cells, all));
      return foldRow(row.line, settings.sourceLabel, readings);
    },
    lacking: watchMembers(mapping, bound),
    reads: (object, name) => {
      const form = formOf(name);
      if (isNamesake(object, form, name)) return false;
      return isRead(form) || patterns.some((match) => match(name) !== null);
    },
    unmapped: () => [...unmapped],
  };
}

/** Names are compared often and are few. */
const forms = new Map<string, string>();
const formsMax = 10_000;

function formOf(name: string): string {
  const known = forms.get(name);
  if (known !== undefined) return known;
  const form = normaliseHeader(name);
  if (forms.size < formsMax) forms.set(name, form);
  return form;
}

/** The paths that are read, and those that lead to them; in the form in which names are compared. Of each, the last name as the mapping writes it. */
function usedNames(columns: readonly string[]) {
  const whole = new Set<string>();
  const entered = new Set<string>();
  const exact = new Map<string, Set<string>>();
  const write = (form: string, name: string) => exact.set(form, (exact.get(form) ?? new Set()).add(name));
  for (const column of columns) {
    whole.add(normaliseHeader(column));
    write(normaliseHeader(column), column);
    const names = pathNames(column);
    column.split('.').forEach((text, index) => {
      write(names.slice(0, index + 1).join('.'), nameOfStep(text));
    });
    whole.add(names.join('.'));
    names.slice(1).forEach((_, index) => {
      entered.add(names.slice(0, index + 1).join('.'));
    });
  }
  return { whole, entered, exact };
}

/** The paths of members in nested objects, lists excluded, for patterns to choose from. */
function pathsIn(object: JsonObject, depth: number): readonly string[] {
  return Object.keys(object)
    .slice(0, namesMax)
    .flatMap((name) => {
      const value = object[name];
      if (!isJsonObject(value) || depth >= depthMax) return [name];
      return pathsIn(value, depth + 1).map((inner) => `${name}.${inner}`);
    })
    .slice(0, namesMax);
}

/** Tells of a path whether patterns may choose it: the mapping ignores neither it nor what it is in. */
function offeredBy(mapping: Mapping): (path: string) => boolean {
  const isIgnored = ignoredBy(mapping);
  return (path) => {
    const steps = path.split('.');
    return !steps.some((_, index) => isIgnored(steps.slice(0, index + 1).join('.')));
  };
}

function cellsOf(object: JsonObject): RowCells {
  return {
    from: 'json',
    read: ({ field }): Found => {
      const { name, raw, rival } = finderOf(field)(object);
      if (rival === undefined) return { field: name, raw };
      const hint = 'Keep one of them, or give one exactly the name in the mapping.';
      return { field: name, raw, flaw: bad('memberTwice', `"${name}" and "${rival}" both match`, hint).flaw };
    },
  };
}

/** Each member that the mapping names must be in some record, unless it is optional. */
function watchMembers(mapping: Mapping, bound: readonly BoundColumn[]): Lacking {
  let open = groupsOf(mapping);
  const found = new Set<string>();
  let isEmpty = true;
  return {
    see: ({ object }) => {
      isEmpty = false;
      if (open.length === 0) return;
      for (const name of pathsIn(object, 0)) if (found.size < namesMax) found.add(name);
      const isThere = ({ find }: Wanted) => find.some((one) => one(object));
      open = open.filter((group) => !isThere(group));
    },
    refuse: () => {
      if (isEmpty) return;
      if (open.length > 0) throw memberMissing(mapping, [...new Set(open.flatMap(({ names }) => names))], [...found]);
      const isPicked = [...mapping.emails, ...mapping.phones].some(({ column }) => isPattern(column ?? ''));
      if (!isPicked) refuseWithoutContent(bound, `mapping "${mapping.name}"`, [...found]);
    },
  };
}

/** Members of which one at least must be in some record. */
interface Wanted {
  readonly names: readonly string[];
  readonly find: readonly ((object: JsonObject) => boolean)[];
}

function groupsOf(mapping: Mapping): readonly Wanted[] {
  const { key, fields, emails, phones, customFields } = mapping;
  const isOffered = offeredBy(mapping);
  const isRequired = ({ optional }: { readonly optional?: boolean | undefined }): boolean =>
    (optional ?? mapping.optional) !== true;
  const groups = (values: readonly Value[], find: (name: string) => Wanted['find'][number]): readonly Wanted[] =>
    values.flatMap(alternatives).map((names) => ({ names, find: names.map(find) }));
  const values = [...Object.values(fields).filter((one) => one !== undefined), ...customFields].filter(isRequired);
  return [
    ...groups([key, ...values], (name) => presence(name, isOffered)),
    ...groups([...emails, ...phones].filter(isRequired), (name) => presenceOfItem(name, isOffered)),
  ];
}

/** The columns of a value: each needed, but for those of `firstOf`, of which one is. */
function alternatives(value: Value): readonly (readonly string[])[] {
  if (typeof value !== 'object') return typeof value === 'string' ? [[value]] : [];
  const { column, firstOf, join, template } = value;
  if (typeof column === 'string') return [[column]];
  if (firstOf !== undefined) return [firstOf.flatMap((one) => alternatives(one).flat())];
  if (join !== undefined) return join.flatMap(alternatives);
  return template === undefined ? [] : referencesIn({ template }).map(({ reference }) => [String(reference)]);
}

function presence(name: string, isOffered: (path: string) => boolean): (object: JsonObject) => boolean {
  if (isPattern(name)) {
    const match = columnMatcher(name);
    return (object) => pathsIn(object, 0).some((path) => match(path) !== null && isOffered(path));
  }
  const find = finderOf(name);
  return (object) => find(object).raw !== undefined;
}

/** What the elements of a list of items lack is said row by row (`list-element.ts`): the list alone must be there. */
function presenceOfItem(name: string, isOffered: (path: string) => boolean): (object: JsonObject) => boolean {
  const isThere = presence(name, isOffered);
  const steps = listStepsOf(name);
  if (steps === null) return isThere;
  const findList = finderOf(steps.list);
  return (object) => isThere(object) || Array.isArray(findList(object).raw);
}

function memberMissing(mapping: Mapping, missing: readonly string[], found: readonly string[]): PatchbayError {
  const [first = ''] = missing;
  const what = missing.length === 1 ? 'the member' : 'the members';
  const message = `mapping "${mapping.name}": no record has ${what} ${listNames(missing)}; found: ${listNames(found)}`;
  return new PatchbayError('file', 'columnMissing', message, {
    facts: { mapping: mapping.name, missingCount: missing.length, first },
    hint: missingHint(first, nameInstead(first, found)),
  });
}
