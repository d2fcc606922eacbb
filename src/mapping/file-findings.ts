/**
 * Findings about a whole file, complete after its last row. Each row alone may be right:
 *
 * - *lacking*: members that the mapping names and no record has, or a file that holds nothing but keys. Such a file is
 *   refused.
 * - *left out*: columns that by their names hold contact data, that nothing maps and that are filled in some row.
 * - *notes*: warnings that concern a column rather than a row, counted.
 * - *nameless*: columns without a name that are filled, and that the mapping does not pick by their position.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import { isIgnoredHeader, normaliseHeader } from '#src/sources/column-name.ts';
import { listNames, type NamelessColumn, type ObjectRow, type Row, shownValue } from '#src/sources/row.ts';
import { columnsOf } from './bind-mapping.ts';
import type { JsonObject, WarningCode } from './cell.ts';
import { type ContactColumn, contactColumnOf, isDisplayName } from './contact-columns.ts';
import { contactInside } from './contact-in-object.ts';
import { type FlatNames, isContactShape } from './json-rows.ts';
import { type BoundColumn, holdsContent, readsOf } from './layout.ts';
import type { Mapping } from './mapping-schema.ts';
import { isPlaceholder } from './placeholder.ts';
import type { MappedRow } from './row.ts';
import { unwrappedValue } from './wrapped-value.ts';

export interface Lacking {
  /** Looks at a row; also at one that is known already and needs no mapping. */
  see(row: ObjectRow): void;
  /** @throws PatchbayError `file`: `columnMissing`, `nothingMapped`. Never for a file without rows. */
  refuse(): void;
}

/** The number of members' names that are remembered, to suggest them. */
const namesMax = 500;

/** In the generic layout: some record must have a member with a meaning, other than the key. */
export function watchContent(names: FlatNames): Lacking {
  const found = new Set<string>();
  let hasContent = false;
  return {
    see: ({ object }) => {
      if (hasContent) return;
      for (const name of Object.keys(object)) if (found.size < namesMax) found.add(name);
      hasContent = isContactShape(object) || hasContentMember(object, names);
    },
    refuse: () => {
      if (!hasContent && found.size > 0) throw nothingMapped('the generic layout', [...found]);
    },
  };
}

function hasContentMember(object: JsonObject, names: FlatNames): boolean {
  const targets = [...names.targetsOf(object).values()].flat();
  return (
    targets.some(holdsContent) || Object.keys(object).some((name) => /^custom(fields)?$/.test(normaliseHeader(name)))
  );
}

/**
 * @param by names the mapping, in words.
 * @param names the columns or members of the file.
 * @throws PatchbayError `file` `nothingMapped`.
 */
export function refuseWithoutContent(bound: readonly BoundColumn[], by: string, names: readonly string[]): void {
  const hasContent = bound.some((column) => holdsContent(column.target) && readsOf(column).length > 0);
  if (!hasContent) throw nothingMapped(by, names);
}

function nothingMapped(by: string, names: readonly string[]): PatchbayError {
  const named = names.filter((name) => !isIgnoredHeader(name));
  const message = `${by} maps nothing of this file but the key, so that every contact would be empty; found: ${listNames(named)}`;
  return new PatchbayError('file', 'nothingMapped', message, {
    facts: { columnCount: named.length },
    hint: 'Use a mapping (--mapping) that says which columns hold names, phones or e-mails; config/mappings/generic.yaml shows how.',
  });
}

/** Columns with contact data that nothing maps. A full name counts only where first and last name are not mapped. */
export interface LeftOut {
  /** Looks at a row; also at one that is known already and needs no mapping. */
  see(row: Row): void;
  /** Whether a row that was not looked at may be the first to fill one of them. */
  mustSee(): boolean;
  /** In the order in which they were first filled. */
  list(): readonly ContactColumn[];
}

/**
 * @param unmapped the positions of the columns that nothing maps.
 * @param named the scalar fields that a column has.
 * @param rivals those of them that mean one field, by their positions.
 */
export function leftOutOfCells(
  columns: readonly string[],
  unmapped: readonly number[],
  named: ReadonlySet<string>,
  rivals: ReadonlyMap<number, ContactColumn> = new Map(),
): LeftOut {
  const filled: ContactColumn[] = [];
  let open = unmapped.flatMap((index) => {
    const column = rivals.get(index) ?? contactColumnOf(columns[index] ?? '');
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
    mustSee: () => open.length > 0,
    list: () => missed(filled, named),
  };
}

/**
 * @param mappedIn the members of a record that have a meaning, or are ignored by choice.
 * @param rivalOf where a member is one of several that mean one field.
 * @param namedBy the scalar fields that a member has; called after the last row.
 */
export function leftOutOfObjects(
  mappedIn: (object: JsonObject) => (name: string) => boolean,
  rivalOf: (name: string) => ContactColumn | null,
  namedBy: () => ReadonlySet<string>,
): LeftOut {
  const filled: ContactColumn[] = [];
  /** Null: not contact data. */
  const met = new Map<string, ContactColumn | null>();
  const columnOf = (name: string): ContactColumn | null => {
    const known = met.get(name);
    if (known !== undefined || met.size >= namesMax) return known ?? null;
    const found = contactColumnOf(name);
    met.set(name, found);
    return found;
  };
  const listed = new Set<string>();
  return {
    see: (row) => {
      if (row.kind !== 'object') return;
      const isMapped = mappedIn(row.object);
      for (const name of Object.keys(row.object)) {
        const named = listed.has(name) ? null : (rivalOf(name) ?? columnOf(name));
        if (named === null || isMapped(name)) continue;
        const value = unwrappedValue(row.object[name] ?? null);
        const column = isFilled(value) ? named : contactInside(named, name, value);
        if (column === null) continue;
        filled.push(isContactShape(row.object) ? { ...column, generic: inContactShape(column) } : column);
        listed.add(name);
      }
    },
    mustSee: () => true,
    list: () => missed(filled, namedBy()),
  };
}

/** Where the service's own shape has such a value. */
function inContactShape({ kind, generic }: ContactColumn): string {
  if (kind === 'phone') return 'defaultFields.phoneNumbers';
  return kind === 'email' ? 'defaultFields.emails' : `defaultFields.${generic}`;
}

/** A whole name is not missed beside first and last name; one that is only shown, beside either. */
function missed(filled: readonly ContactColumn[], named: ReadonlySet<string>): readonly ContactColumn[] {
  const both = ['firstName', 'lastName'];
  return filled.filter(({ kind, column }) => {
    if (kind !== 'fullName') return true;
    return isDisplayName(column) ? !both.some((name) => named.has(name)) : !both.every((name) => named.has(name));
  });
}

function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '' && !isPlaceholder(value, 'company');
  return typeof value === 'number' || (Array.isArray(value) && value.some(isFilled));
}

/** Warnings that are reported once for the file: one for each of a million rows would bury all others. */
const ofTheFile: ReadonlySet<string> = new Set<WarningCode>([
  'keyUnguarded',
  'keyDecimalsDropped',
  'phoneRemarkDropped',
  'phoneCountryOfRow',
  'emailRemarkDropped',
]);

interface FileNotes {
  /** Counts the row's warnings that are reported for the file. @returns the row without them. */
  take(row: MappedRow): MappedRow;
  /** One for each code: the first, with the number of its rows. */
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
      [...met.values()].map(({ first, count }) =>
        count === 1 ? first : { ...first, message: `${first.message} (first of ${count} rows)` },
      ),
  };
}

/** A note of a warning that is reported once for the file: with the first row that it is about. */
export function noteOf({ line, message }: { readonly line: number; readonly message: string }): string {
  return `line ${line}: ${message}`;
}

/** The columns that are listed one by one; a wide sheet may have hundreds. */
const namelessListedMax = 20;

/** @returns a warning for each column; of many, one at the end that counts the others. */
export function namelessIgnored(nameless: readonly NamelessColumn[], mapping: Mapping | null): readonly Problem[] {
  const picked = new Set(mapping === null ? [] : columnsOf(mapping));
  const ignored = nameless.filter(({ position }) => !picked.has(position));
  const hint = 'Give the column a name if it is needed.';
  const problem = (line: number, value: string | null, message: string): Problem => ({
    ...{ code: 'emptyHeader', line, field: null, value, message, hint },
  });
  const listed = ignored
    .slice(0, namelessListedMax)
    .map(({ position, line, value }) =>
      problem(line, shownValue(value), `column ${position} has no name but holds values; it is ignored`),
    );
  const [next, ...others] = ignored.slice(namelessListedMax);
  if (next === undefined) return listed;
  const more = `${others.length + 1} more ${others.length === 0 ? 'column' : 'columns'} without a name hold values, and are ignored`;
  return [...listed, problem(next.line, null, more)];
}
