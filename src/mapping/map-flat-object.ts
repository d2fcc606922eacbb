/**
 * A flat JSON object → a contact: members named as the columns of the generic layout, with two additions. `emails`,
 * `phones` and their like may be arrays; custom fields may also stand in an object `custom` or a list `customFields`.
 */
import type { JsonValue, ObjectRow } from '#src/sources/row.ts';
import { applyMembers, type BoundMember, bindCustomList, bindCustomObject } from './bound-member.ts';
import { genericTarget } from './generic-layout.ts';
import { isIgnoredHeader, normaliseHeader } from './header.ts';
import type { UnmappedNames } from './json-object.ts';
import { keyMissing } from './key-cell.ts';
import { type MappedRow, RowDraft } from './row-draft.ts';
import type { Settings } from './settings.ts';

export function mapFlatObject(row: ObjectRow, settings: Settings, unmapped: UnmappedNames): MappedRow {
  const draft = new RowDraft(row.line, settings.sourceLabel);
  const members = Object.entries(row.object).flatMap(([field, raw]) => bind(draft, field, raw, settings, unmapped));
  applyMembers(draft, members);
  if (!members.some(({ target }) => target.kind === 'key')) draft.problem('externalId', undefined, keyMissing);
  return draft.finish();
}

function bind(
  draft: RowDraft,
  field: string,
  raw: JsonValue,
  settings: Settings,
  unmapped: UnmappedNames,
): readonly BoundMember[] {
  if (isIgnoredHeader(field)) return [];
  const header = normaliseHeader(field);
  if (header === 'custom') return bindCustomObject(draft, field, raw, settings);
  if (header === 'customfields') return bindCustomList(draft, field, raw, settings);
  const target = genericTarget(field, settings);
  if (target !== null) return [{ field, target, raw }];
  unmapped.add(field);
  return [];
}
