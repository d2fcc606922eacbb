/** What is worth saying about a mapping on every run, in sentences. */

import { listNames } from '#src/sources/row.ts';
import type { Policy } from './entry-schema.ts';
import type { Mapping } from './mapping-schema.ts';
import { referencesIn } from './value-schema.ts';

export function remarksOn(mapping: Mapping): readonly string[] {
  return [...derivedKey(mapping), ...policies(mapping)];
}

function derivedKey({ key }: Mapping): readonly string[] {
  const isDerived = typeof key === 'object' && (key.firstOf ?? key.join ?? key.template) !== undefined;
  if (!isDerived) return [];
  const columns = [...new Set(referencesIn(key).map(({ reference }) => String(reference)))];
  if (key.firstOf === undefined)
    return [`keys are derived from ${listNames(columns)}: a person whose values there change becomes another contact`];
  return [
    `keys are derived from the first filled of ${listNames(columns)}: a person for whom it changes becomes another contact`,
  ];
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
