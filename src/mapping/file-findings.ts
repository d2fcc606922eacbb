/**
 * What a whole file lacks, known after its last row: members that the mapping names and no record has, and anything to write
 * but keys. Each row alone would be right, so nobody would hear of it.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import type { ObjectRow, Row } from '#src/sources/row.ts';
import { isJsonObject, isPlaceholder, type JsonObject, type WarningCode } from './cell.ts';
import { type ContactColumn, contactColumnOf } from './contact-columns.ts';
import { closestName, isIgnoredHeader, listNames, normaliseHeader } from './header.ts';
import { isContactShape } from './json-rows.ts';
import { genericTarget, missingHint } from './layout.ts';
import type { Mapping } from './mapping-schema.ts';
import type { MappedRow } from './row.ts';
import { type BoundColumn, holdsContent, type Settings } from './target.ts';

/** Looks at every row, those too that are known and need no mapping. */
interface Lacking {
  see(row: ObjectRow): void;
  /** @throws PatchbayError `file`: `columnMissing`, `nothingMapped`. Never for a file without rows. */
  refuse(): void;
}

/** Names of members that are remembered, to be suggested. */
const namesMax = 500;

/** By a mapping: each of its members stands in some record, unless it is optional. */
export function watchMembers(mapping: Mapping, bound: readonly BoundColumn[]): Lacking {
  const wanted = bound.filter(({ target, optional }) => target.kind === 'key' || optional !== true);
  const missing = new Map(wanted.map(({ field }) => [normaliseHeader(field), field]));
  const found = new Set<string>();
  let nested: ReadonlySet<string> = new Set();
  let isEmpty = true;
  return {
    see: ({ object }) => {
      if (isEmpty) nested = new Set(Object.keys(object).filter((name) => isJsonObject(object[name])));
      isEmpty = false;
      if (missing.size === 0) return;
      for (const name of Object.keys(object)) {
        if (found.has(name)) continue;
        missing.delete(normaliseHeader(name));
        if (found.size < namesMax) found.add(name);
      }
    },
    refuse: () => {
      if (isEmpty) return;
      const [first] = missing.values();
      if (first !== undefined) throw memberMissing(mapping, [...missing.values()], [...found], nested);
      refuseWithoutContent(bound, `mapping "${mapping.name}"`, [...found]);
    },
  };
}

/** In the generic layout: some member of some record has a meaning besides the key. */
export function watchContent(settings: Settings): Lacking {
  const found = new Set<string>();
  let hasContent = false;
  return {
    see: ({ object }) => {
      if (hasContent) return;
      for (const name of Object.keys(object)) if (found.size < namesMax) found.add(name);
      hasContent = isContactShape(object) || hasContentMember(object, settings);
    },
    refuse: () => {
      if (!hasContent && found.size > 0) throw nothingMapped('the generic layout', [...found]);
    },
  };
}

function hasContentMember(object: JsonObject, settings: Settings): boolean {
  return Object.keys(object).some((name) => {
    const target = genericTarget(name, settings);
    return target === null ? /^custom(fields)?$/.test(normaliseHeader(name)) : holdsContent(target);
  });
}

/** @throws PatchbayError `file` `nothingMapped`. `by` is the mapping, in words; `names` what the file has. */
export function refuseWithoutContent(bound: readonly BoundColumn[], by: string, names: readonly string[]): void {
  if (!bound.some(({ target }) => holdsContent(target))) throw nothingMapped(by, names);
}

function nothingMapped(by: string, names: readonly string[]): PatchbayError {
  const named = names.filter((name) => !isIgnoredHeader(name));
  const message = `by ${by} the file holds nothing but keys, and a contact with nothing but a key is nobody; found: ${listNames(named)}`;
  return new PatchbayError('file', 'nothingMapped', message, {
    facts: { columnCount: named.length },
    hint: 'Say in a mapping which columns are names, phones or e-mails (--mapping); config/mappings/generic.yaml shows how.',
  });
}

function memberMissing(
  mapping: Mapping,
  missing: readonly string[],
  found: readonly string[],
  nested: ReadonlySet<string>,
): PatchbayError {
  const [first = ''] = missing;
  const holder = first.split('.')[0] ?? '';
  const what = missing.length === 1 ? 'the member' : 'the members';
  const message = `mapping "${mapping.name}": no record has ${what} ${listNames(missing)}; found: ${listNames(found)}`;
  return new PatchbayError('file', 'columnMissing', message, {
    facts: { mapping: mapping.name, missingCount: missing.length, first },
    hint:
      holder !== first && nested.has(holder)
        ? `What stands inside "${holder}" cannot be named: export records whose values stand side by side.`
        : missingHint(first, closestName(first, found)),
  });
}

/**
 * Which columns that look like contact data a file leaves out: those that nothing maps and that hold something in at least
 * one row. A full name beside a first and a last name is not missed.
 */
export interface LeftOut {
  /** Looks at every row, those too that are known and need no mapping. */
  see(row: Row): void;
  /** Complete after the last row; in the order in which they were first filled. */
  list(): readonly ContactColumn[];
}

/** Of a CSV file: `unmapped` are the positions of its columns that nothing maps. Costs nothing where none is of interest. */
export function leftOutOfCells(columns: readonly string[], unmapped: readonly number[], namesPeople: boolean): LeftOut {
  const filled: ContactColumn[] = [];
  let open = unmapped.flatMap((index) => {
    const column = contactColumnOf(columns[index] ?? '');
    return column === null ? [] : [{ index, column }];
  });
  return {
    see: (row) => {
      if (open.length === 0 || row.kind !== 'cells') return;
      const met = open.filter(({ index }) => isFilled(row.cells[index]));
      if (met.length === 0) return;
      filled.push(...met.map(({ column }) => column));
      open = open.filter((one) => !met.includes(one));
    },
    list: () => missed(filled, namesPeople),
  };
}

/** A file with more names of members than this has names for keys. */
const leftOutNamesMax = 500;

/**
 * Of JSON. `isMapped` says whether a member has a meaning, or is ignored by choice; `namesPeople` is asked after the last
 * row.
 */
export function leftOutOfObjects(isMapped: (name: string) => boolean, namesPeople: () => boolean): LeftOut {
  const filled: ContactColumn[] = [];
  /** Null: of no interest, or known to be filled. */
  const met = new Map<string, ContactColumn | null>();
  const columnOf = (name: string): ContactColumn | null => {
    const known = met.get(name);
    if (known !== undefined || met.size >= leftOutNamesMax) return known ?? null;
    const found = isMapped(name) ? null : contactColumnOf(name);
    met.set(name, found);
    return found;
  };
  return {
    see: (row) => {
      if (row.kind !== 'object') return;
      for (const name of Object.keys(row.object)) {
        const column = columnOf(name);
        if (column === null || !isFilled(row.object[name])) continue;
        filled.push(column);
        met.set(name, null);
      }
    },
    list: () => missed(filled, namesPeople()),
  };
}

function missed(filled: readonly ContactColumn[], namesPeople: boolean): readonly ContactColumn[] {
  return filled.filter(({ kind }) => kind !== 'fullName' || !namesPeople);
}

function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '' && !isPlaceholder(value);
  return typeof value === 'number' || (Array.isArray(value) && value.some(isFilled));
}

/**
 * Warnings that concern a column rather than a row: told once for the file, with their number. One for each of a million
 * rows would bury all others.
 */
const ofTheFile: ReadonlySet<string> = new Set<WarningCode>(['keyUnguarded', 'keyDecimalsDropped']);

interface FileNotes {
  /** The row without the warnings that are told for the file. */
  take(row: MappedRow): MappedRow;
  /** One for each code, with the number of its rows; complete after the last row. */
  list(): readonly Problem[];
}

export function createFileNotes(): FileNotes {
  const met = new Map<string, { readonly first: Problem; count: number }>();
  const isCounted = (warning: Problem): boolean => {
    if (!ofTheFile.has(warning.code)) return false;
    const known = met.get(warning.code);
    if (known === undefined) met.set(warning.code, { first: warning, count: 1 });
    else known.count += 1;
    return true;
  };
  return {
    take: (row) => ({ ...row, warnings: row.warnings.filter((warning) => !isCounted(warning)) }),
    list: () =>
      [...met.values()].map(({ first, count }) => {
        const rows = count === 1 ? `line ${first.line}` : `${count} rows, first in line ${first.line}`;
        return { ...first, message: `${rows}: ${first.message}` };
      }),
  };
}
