/**
 * The generic layout (`contract.md`, "Input"): columns that say by their own names where they belong.
 *
 * `externalId, firstName, lastName, company, role, source, sourceUrl, email, email <label>, phone, phone <label>,
 * custom.<key>`, without regard to case, spaces, `_` and dashes. The same names serve flat JSON objects.
 */

import type { ScalarName } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import { closestName } from './closest-name.ts';
import { customFieldKind } from './custom-cell.ts';
import { isIgnoredHeader, listNames, normaliseHeader, tidyHeader } from './header.ts';
import type { Settings } from './settings.ts';
import { type BoundColumn, type ItemList, refuseTwice, type Target } from './target.ts';

/** The key's column; the header row of a file in the generic layout has it. */
export const genericKeyColumns: readonly string[] = ['externalId'];

const scalarColumns: ReadonlyMap<string, ScalarName> = new Map([
  ['firstname', 'firstName'],
  ['lastname', 'lastName'],
  ['company', 'company'],
  ['role', 'role'],
  ['sourceurl', 'sourceUrl'],
]);

/** What may follow `email` or `phone` without being a label. */
const plainEndings: ReadonlySet<string> = new Set(['', 's', 'address', 'addresses', 'number', 'numbers']);
/**
 * Labels that are understood even when they are run together with the word before (`phonemobile`). Others need a
 * space, `_`, a dash or a capital, or else `emailed` would be an address with the label `ed`.
 */
const commonLabels: ReadonlySet<string> = new Set([
  'work',
  'home',
  'mobile',
  'cell',
  'other',
  'main',
  'office',
  'private',
  'business',
  'personal',
  'direct',
]);
const labelLengthMax = 75;

/** Where a column of this name goes; null when the layout does not know it. */
export function genericTarget(name: string, settings: Settings): Target | null {
  const tidy = tidyHeader(name);
  const normalised = normaliseHeader(tidy);
  if (normalised === 'externalid') return { kind: 'key', prefix: settings.keyPrefix };
  if (normalised === 'source') return { kind: 'source' };
  const scalar = scalarColumns.get(normalised);
  if (scalar !== undefined) return { kind: 'scalar', name: scalar, onBlank: settings.onBlank };
  const custom = /^custom\s*\.\s*(.+)$/isu.exec(tidy)?.[1];
  if (custom !== undefined) {
    const type = customFieldKind(custom, settings.customFields);
    return { kind: 'custom', key: custom, type, onBlank: settings.onBlank };
  }
  return itemsTarget(tidy, normalised, settings);
}

function itemsTarget(tidy: string, normalised: string, settings: Settings): Target | null {
  const match = /^(e[\s_\p{Pd}]*mail|phone)(.*)$/isu.exec(tidy);
  if (match === null) return null;
  const list: ItemList = normalised.startsWith('e') ? 'emails' : 'phones';
  const label = labelOf(match[2] ?? '', match[1] ?? '', list === 'emails' ? 'email' : 'phone');
  if (label === null) return null;
  const slot = normalised === 'phonenumbers' ? 'phones' : normalised;
  return {
    kind: 'items',
    list,
    slot,
    whole: slot === list,
    label,
    country: list === 'phones' ? settings.country : null,
    onBlank: settings.onBlank,
  };
}

/** The label that a header carries, in lower case, so that a header typed differently is no change of labels. */
function labelOf(ending: string, word: string, plain: string): string | null {
  const normalised = normaliseHeader(ending);
  if (plainEndings.has(normalised)) return plain;
  const capital = /^\p{Lu}/u.test(ending) && word !== word.toUpperCase();
  if (!/^[\s_\p{Pd}\p{Nd}]/u.test(ending) && !capital && !commonLabels.has(normalised)) return null;
  const label = ending
    .split(/[\s_\p{Pd}]+/u)
    .filter((part) => part !== '')
    .join(' ')
    .toLowerCase();
  return [...label].length <= labelLengthMax ? label : null;
}

/** The columns of a file in the generic layout. */
export interface ColumnBinding {
  readonly bound: readonly BoundColumn[];
  /** Columns that nothing maps, by their positions from 0. */
  readonly unmapped: readonly number[];
}

/** @throws PatchbayError `file`: `keyColumnMissing`, `columnTwice`. */
export function genericMapping(columns: readonly string[], settings: Settings): ColumnBinding {
  const bound: BoundColumn[] = [];
  const unmapped: number[] = [];
  columns.forEach((field, index) => {
    if (isIgnoredHeader(field)) return;
    const target = genericTarget(field, settings);
    if (target === null) unmapped.push(index);
    else bound.push({ index, field, target });
  });
  if (!bound.some(({ target }) => target.kind === 'key')) throw keyColumnMissing(columns);
  refuseTwice(bound);
  return { bound, unmapped };
}

/** Headers under which other systems keep their key. */
const likelyKeys = [
  'externalid',
  'extid',
  'id',
  'contactid',
  'recordid',
  'customerid',
  'personid',
  'userid',
  'key',
  'kundennummer',
];

function keyColumnMissing(columns: readonly string[]): PatchbayError {
  const named = columns.filter((column) => !isIgnoredHeader(column));
  const similar = named.find((column) => {
    const normalised = normaliseHeader(column);
    return likelyKeys.includes(normalised) || closestName(normalised, ['externalid']) !== null;
  });
  const mapping = 'or name the column of the key in a mapping (--mapping)';
  return new PatchbayError('file', 'keyColumnMissing', `no column is called externalId; found: ${listNames(named)}`, {
    facts: { columnCount: named.length, similar: similar ?? null },
    hint:
      similar === undefined
        ? `Add a column externalId with an id for each person, ${mapping}.`
        : `"${tidyHeader(similar)}" looks like it: rename it to externalId, ${mapping}.`,
  });
}
