/**
 * The columns that a mapping names, found in a file.
 *
 * A column is found by its position, by its exact name, else without regard to case, spaces, `_` and dashes. A column that
 * the file lacks stops the file: silence would look like blank cells. Where a guard looks after it, it is left out instead.
 */

import { scalarNames } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import { closestName } from './closest-name.ts';
import { readCountry } from './country.ts';
import { customFieldKind } from './custom-cell.ts';
import type { ColumnBinding } from './generic-layout.ts';
import { isIgnoredHeader, listNames, normaliseHeader, tidyHeader } from './header.ts';
import { type ColumnRef, type Mapping, slotOf } from './mapping-schema.ts';
import type { Settings } from './settings.ts';
import type { BoundColumn, Target } from './target.ts';

/** The columns of a mapping with their targets, not yet looked for in a file: only positions are known. The key comes first. */
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

/** The slots (`contacts/desired.ts`) that the mapping's columns are: what it does not name says nothing any more. */
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

/** @throws PatchbayError `file`: `duplicateHeader` for one name that stands twice, `columnAmbiguous` for two that are alike. */
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
        isSame
          ? `the header "${wanted}" stands in ${places}`
          : `the "${wanted}" of the mapping may be each of the ${places}`,
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

/** `close` is the name in the file that is nearest. Of columns and of JSON members. */
export function missingHint(first: string, close: string | null): string {
  const lacks = `where files may lack it, say so: { column: "${first}", optional: true }.`;
  if (close === null) return `Correct the file or the mapping; ${lacks}`;
  return `Correct the mapping: did you mean "${tidyHeader(close)}"? Else, ${lacks}`;
}
