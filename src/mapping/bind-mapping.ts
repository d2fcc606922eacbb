/** The columns of a mapping, looked up in a file: each with its target. */
import { scalarNames } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import { listNames } from '#src/sources/row.ts';
import { isPattern } from './column-pattern.ts';
import { customFieldKind } from './custom-cell.ts';
import { closestName, isIgnoredHeader, normaliseHeader, tidyHeader } from './header.ts';
import { genericTarget } from './layout.ts';
import type { Mapping } from './mapping-schema.ts';
import { anySettings, type Settings } from './mapping-settings.ts';
import { readCountry } from './phone-cell.ts';
import { isSynonym } from './synonyms.ts';
import type { BoundColumn, ColumnBinding, Target } from './target.ts';
import type { ColumnRef, Value } from './value-schema.ts';

/** The columns of a mapping with their targets, before they are looked up in a file. The key comes first. */
export function configuredTargets(mapping: Mapping, settings: Settings): readonly BoundColumn[] {
  const bound: BoundColumn[] = [];
  const bind = (column: ColumnRef, target: Target, optional = false) =>
    bound.push(
      typeof column === 'number'
        ? { index: column - 1, field: `column ${column}`, target, optional }
        : { index: null, field: column, target, optional },
    );
  bind(plainColumn(mapping.key), { kind: 'key', prefix: settings.keyPrefix });
  for (const name of scalarNames) {
    const field = mapping.fields[name];
    if (field === undefined) continue;
    const { onBlank, optional } = field;
    bind(plainColumn(field), { kind: 'scalar', name, onBlank: onBlank ?? settings.onBlank }, optional);
  }
  const { source } = mapping.fields;
  if (source !== undefined) bind(plainColumn(source), { kind: 'source' }, source.optional);
  for (const { label: choice, onBlank: ownRule, optional, ...value } of mapping.emails) {
    const [column, label] = [plainColumn(value), plainText(choice)];
    const onBlank = ownRule ?? settings.onBlank;
    const items = { kind: 'items', list: 'emails', slot: slotOf(column), label, country: null, onBlank } as const;
    bind(column, items, optional);
  }
  for (const { label: choice, country: own, onBlank: ownRule, optional, ...value } of mapping.phones) {
    const [column, label] = [plainColumn(value), plainText(choice)];
    const country = own === undefined ? settings.country : readCountry(plainText(own));
    const onBlank = ownRule ?? settings.onBlank;
    bind(column, { kind: 'items', list: 'phones', slot: slotOf(column), label, country, onBlank }, optional);
  }
  for (const { key, onBlank, optional, ...value } of mapping.customFields) {
    const column = plainColumn(value);
    const type = customFieldKind(key, settings.customFields);
    bind(column, { kind: 'custom', key, type, onBlank: onBlank ?? settings.onBlank }, optional);
  }
  return bound;
}

/** The slots (`contacts/desired.ts`) of the mapping's columns; any other slot of the feed is no longer in use. */
export function slotNamesOf({ emails, phones }: Mapping): { readonly emails: string[]; readonly phones: string[] } {
  return {
    emails: emails.map((entry) => slotOf(plainColumn(entry))),
    phones: phones.map((entry) => slotOf(plainColumn(entry))),
  };
}

/** The name under which a column's items are remembered. That of a position has a space, a normalised header has none. */
export function slotOf(reference: ColumnRef): string {
  return typeof reference === 'number' ? `column ${reference}` : normaliseHeader(reference);
}

/** @throws PatchbayError `usage` `mappingNotYet` for a value other than a plain column. */
export function plainColumn(value: Value): ColumnRef {
  if (typeof value !== 'object') return value;
  const { column, firstOf, join, template, constant, part, separator, transform } = value;
  const options: readonly unknown[] = [firstOf, join, template, constant, part, separator, transform];
  const isPlain = options.every((option) => option === undefined);
  if (column !== undefined && isPlain && !isPattern(column)) return column;
  throw notYet();
}

function plainText(choice: unknown): string {
  if (typeof choice === 'string') return choice;
  throw notYet();
}

function notYet(): PatchbayError {
  return new PatchbayError('usage', 'mappingNotYet', 'the mapping holds a value that this version cannot read yet');
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
export function unmappedOf(columns: readonly string[], bound: readonly BoundColumn[], ignore: readonly string[] = []) {
  const used = new Set(bound.map(({ index }) => index));
  const ignored = new Set(ignore.map(normaliseHeader));
  const isLeft = (column: string): boolean => !isIgnoredHeader(column) && !ignored.has(normaliseHeader(column));
  return columns.flatMap((column, index) => (!used.has(index) && isLeft(column) ? [index] : []));
}

/** The header at a position; `column 4` where it is empty. @throws PatchbayError `file` `columnMissing`. */
export function nameAt(columns: readonly string[], index: number, mapping: Mapping): string {
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
export function findColumn(columns: readonly string[], wanted: string): number | null {
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

export function columnMissing(mapping: Mapping, missing: readonly string[], columns: readonly string[]): PatchbayError {
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

export function namedColumns({ key, fields, emails, phones, customFields }: Mapping): readonly ColumnRef[] {
  const columns = [...Object.values(fields), ...emails, ...phones, ...customFields];
  return [key, ...columns].flatMap((each) => (each === undefined ? [] : plainColumn(each)));
}
