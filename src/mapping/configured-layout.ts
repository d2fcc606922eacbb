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
  const bind = (column: ColumnRef, target: Target) =>
    bound.push(
      typeof column === 'number'
        ? { index: column - 1, field: `column ${column}`, target }
        : { index: null, field: column, target },
    );
  bind(mapping.key, { kind: 'key', prefix: settings.keyPrefix });
  for (const name of scalarNames) {
    const field = mapping.fields[name];
    if (field !== undefined) bind(field.column, { kind: 'scalar', name, onBlank: field.onBlank ?? settings.onBlank });
  }
  if (mapping.fields.source !== undefined) bind(mapping.fields.source.column, { kind: 'source' });
  for (const { column, label, onBlank } of mapping.emails) {
    const slot = slotOf(column);
    bind(column, { kind: 'items', list: 'emails', slot, label, country: null, onBlank: onBlank ?? settings.onBlank });
  }
  for (const { column, label, country, onBlank } of mapping.phones) {
    bind(column, {
      kind: 'items',
      list: 'phones',
      slot: slotOf(column),
      label,
      country: country === undefined ? settings.country : readCountry(country),
      onBlank: onBlank ?? settings.onBlank,
    });
  }
  for (const { column, key, onBlank } of mapping.customFields) {
    const type = customFieldKind(key, settings.customFields);
    bind(column, { kind: 'custom', key, type, onBlank: onBlank ?? settings.onBlank });
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
  const bound = configuredTargets(mapping, settings).flatMap(
    ({ index: picked, field, target }): readonly BoundColumn[] => {
      if (picked !== null) return [{ index: picked, field: nameAt(columns, picked, mapping), target }];
      const index = findColumn(columns, field);
      const isAllowed = target.kind !== 'key' && mayLack.has(normaliseHeader(field));
      if (index === null && !isAllowed) missing.push(field);
      return index === null ? [] : [{ index, field: columns[index] ?? field, target }];
    },
  );
  if (missing.length > 0) throw columnMissing(mapping, [...new Set(missing)], columns);
  const used = new Set(bound.map(({ index }) => index));
  return { bound, unmappedColumns: columns.filter((column, index) => !used.has(index) && !isIgnoredHeader(column)) };
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
      hint:
        close === null
          ? 'Correct the file or the mapping.'
          : `Correct the mapping: did you mean "${tidyHeader(close)}"?`,
    },
  );
}
