/** A JSON object → a contact by a mapping: each configured column is a member of that name. */
import type { ObjectRow } from '#src/sources/row.ts';
import { applyTarget } from './apply-target.ts';
import { bad } from './flaw.ts';
import { isIgnoredHeader, normaliseHeader } from './header.ts';
import type { JsonObject, UnmappedNames } from './json-object.ts';
import { keyMissing } from './key-cell.ts';
import { type MappedRow, RowDraft } from './row-draft.ts';
import type { Settings } from './settings.ts';
import type { BoundColumn } from './target.ts';

/** An absent member keeps what the contact has; an absent key kills the row. */
export function mapConfiguredObject(
  row: ObjectRow,
  bound: readonly BoundColumn[],
  settings: Settings,
  unmapped: UnmappedNames,
): MappedRow {
  const draft = new RowDraft(row.line, settings.sourceLabel);
  const names = namesByHeader(row.object);
  const used = new Set<string>();
  for (const { field, target } of bound) {
    const candidates = Object.hasOwn(row.object, field) ? [field] : (names.get(normaliseHeader(field)) ?? []);
    for (const name of candidates) used.add(name);
    const [name, second] = candidates;
    const raw = name === undefined ? undefined : row.object[name];
    if (name === undefined || raw === undefined) {
      if (target.kind === 'key') draft.problem(field, undefined, keyMissing);
    } else if (second !== undefined) {
      const hint = 'Keep one of them, or give one exactly the name in the mapping.';
      draft.problem(name, raw, bad('memberTwice', `"${name}" and "${second}" may both be meant`, hint).flaw);
    } else {
      applyTarget(draft, target, { field: name, raw, from: 'json' });
    }
  }
  for (const name of Object.keys(row.object)) if (!used.has(name) && !isIgnoredHeader(name)) unmapped.add(name);
  return draft.finish();
}

function namesByHeader(object: JsonObject): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const name of Object.keys(object)) {
    const header = normaliseHeader(name);
    names.set(header, [...(names.get(header) ?? []), name]);
  }
  return names;
}
