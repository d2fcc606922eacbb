/** What is worth saying about a mapping on every run, in sentences. */

import { listNames } from '#src/sources/row.ts';
import { contactColumnOf } from './contact-columns.ts';
import type { Policy } from './entry-schema.ts';
import { normaliseHeader } from './header.ts';
import type { Mapping } from './mapping-schema.ts';
import { referencesIn, type Value } from './value-schema.ts';

/** @param columns of a table; null for JSON. */
export function remarksOn(mapping: Mapping, columns: readonly string[] | null): readonly string[] {
  return [...derivedKey(mapping, columns), ...policies(mapping)];
}

/** Says nothing where the key is an id that the file has: there, the other values are for the rows that lack it. */
function derivedKey({ key }: Mapping, columns: readonly string[] | null): readonly string[] {
  if (typeof key !== 'object' || (key.firstOf ?? key.join ?? key.template) === undefined) return [];
  const there = columns === null ? null : new Set(columns.map(normaliseHeader));
  const [first, ...others] = alternativesOf(key).flatMap((value) => {
    const used = referencesIn(value).flatMap(({ reference }) =>
      there === null || typeof reference === 'number' || there.has(normaliseHeader(reference)) ? [reference] : [],
    );
    const words = [...new Set(used)].map((one) => listNames([String(one)])).join(' + ');
    return used.length === 0 ? [] : [{ words, isId: isId(value) }];
  });
  if (first === undefined) return [];
  if (first.isId && columns !== null) return [];
  const rest = others.map(({ words }) => words).join(', else ');
  if (first.isId) return rest === '' ? [] : [`the key is ${first.words}; where it is blank: ${rest}`];
  const all = [first, ...others].map(({ words }) => words).join(', else ');
  return [`keys are derived from ${all}: a person for whom these change becomes another contact`];
}

/** The values that are tried in turn, those of an inner `firstOf` too. */
function alternativesOf(value: Value): readonly Value[] {
  return typeof value === 'object' && value.firstOf !== undefined ? value.firstOf.flatMap(alternativesOf) : [value];
}

/** By its name, a column of ids rather than of addresses, numbers or names. */
function isId(value: Value): boolean {
  const column = typeof value === 'object' ? value.column : value;
  return column !== undefined && contactColumnOf(String(column)) === null;
}

function policies({ fields, emails, phones, customFields }: Mapping): readonly string[] {
  const { source: _, ...written } = fields;
  const entries: readonly (readonly [string, { readonly policy?: Policy | undefined } | undefined])[] = [
    ...Object.entries(written),
    ...emails.map((entry) => ['emails', entry] as const),
    ...phones.map((entry) => ['phones', entry] as const),
    ...customFields.map((entry) => [`custom field ${entry.key}`, entry] as const),
  ];
  const early = entries.flatMap(([name, entry]) => {
    const policy = entry?.policy ?? 'shared';
    return policy === 'shared' ? [] : [`${name} (${policy})`];
  });
  if (early.length === 0) return [];
  return [`policy has no effect yet, shared applies: ${[...new Set(early)].join(', ')}`];
}
