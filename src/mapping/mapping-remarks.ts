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

function derivedKey({ key }: Mapping, columns: readonly string[] | null): readonly string[] {
  const isDerived = typeof key === 'object' && (key.firstOf ?? key.join ?? key.template) !== undefined;
  if (!isDerived) return [];
  const there = columns === null ? null : new Set(columns.map(normaliseHeader));
  const used = (value: Value): readonly string[] =>
    referencesIn(value)
      .map(({ reference }) => reference)
      .filter((one) => there === null || typeof one === 'number' || there.has(normaliseHeader(one)))
      .map(String);
  const first = key.firstOf?.find((value) => used(value).length > 0);
  if (there !== null && first !== undefined && isId(first)) return [];
  const names = listNames([...new Set(used(key))]);
  if (key.firstOf === undefined)
    return [`keys are derived from ${names}: a person whose values there change becomes another contact`];
  return [`keys are derived from the first filled of ${names}: a person for whom it changes becomes another contact`];
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
