/**
 * What a whole file lacks, known after its last row: members that the mapping names and no record has, and anything to write
 * but keys. Each row alone would be right, so nobody would hear of it.
 */
import { PatchbayError } from '#src/errors.ts';
import type { ObjectRow } from '#src/sources/row.ts';
import { closestName } from './closest-name.ts';
import { missingHint } from './configured-layout.ts';
import { genericTarget } from './generic-layout.ts';
import { isIgnoredHeader, listNames, normaliseHeader } from './header.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { isContactShape } from './map-contact-object.ts';
import type { Mapping } from './mapping-schema.ts';
import type { Settings } from './settings.ts';
import { type BoundColumn, holdsContent } from './target.ts';

/** Looks at every row, those too that are known and need no mapping. */
export interface Lacking {
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
