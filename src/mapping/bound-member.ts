/** JSON members with their targets, and the lists and objects of custom fields that hold several. */
import type { JsonValue } from '#src/sources/row.ts';
import { applyTarget } from './apply-target.ts';
import { customFieldKind } from './custom-cell.ts';
import { bad } from './flaw.ts';
import { isJsonObject, memberOf } from './json-object.ts';
import type { RowDraft } from './row-draft.ts';
import type { Settings } from './settings.ts';
import { type Target, targetIdentity } from './target.ts';

export interface BoundMember {
  /** As the file names it: `phones`, `custom.since`, `customFields[2].value`. */
  readonly field: string;
  readonly target: Target;
  readonly raw: JsonValue;
}

const customFieldsMax = 500;

/** Applies members to the draft; two that mean the same kill the row. */
export function applyMembers(draft: RowDraft, members: readonly BoundMember[]): void {
  const fields = new Map<string, string>();
  for (const { field, target, raw } of members) {
    const identity = targetIdentity(target);
    const earlier = fields.get(identity);
    if (earlier === undefined) {
      fields.set(identity, field);
      applyTarget(draft, target, { field, raw, from: 'json' });
    } else {
      draft.problem(
        field,
        raw,
        bad('memberTwice', `"${earlier}" and "${field}" mean the same`, 'Keep one of them.').flaw,
      );
    }
  }
}

/** `custom: {key: value}` of the flat shape. */
export function bindCustomObject(draft: RowDraft, field: string, raw: JsonValue, settings: Settings): BoundMember[] {
  if (isJsonObject(raw)) {
    return Object.entries(raw).map(([name, value]) => ({
      field: `${field}.${name}`,
      raw: value,
      target: customTarget(name, settings),
    }));
  }
  draft.problem(field, raw, bad('shapeWrong', `"${field}" is no object`, 'Write {"key": value} there.').flaw);
  return [];
}

/**
 * `customFields: [{key, value}]` of the contact shape. Null says nothing about any field: a custom field is cleared by
 * its own null. An item without a value says nothing either.
 */
export function bindCustomList(draft: RowDraft, field: string, raw: JsonValue, settings: Settings): BoundMember[] {
  if (raw === null) return [];
  if (!Array.isArray(raw) || raw.length > customFieldsMax) {
    const message = `"${field}" is no list of at most ${customFieldsMax} custom fields`;
    draft.problem(field, undefined, bad('shapeWrong', message, 'Write [{"key": "…", "value": …}].').flaw);
    return [];
  }
  return raw.flatMap((item: JsonValue, index): BoundMember[] => {
    const key = isJsonObject(item) ? memberOf(item, 'key') : undefined;
    if (!isJsonObject(item) || typeof key !== 'string' || key.trim() === '') {
      const flaw = bad('shapeWrong', 'the custom field has no key', 'Write {"key": "…", "value": …}.').flaw;
      draft.problem(`${field}[${index}]`, item, flaw);
      return [];
    }
    const value = memberOf(item, 'value');
    if (value === undefined) return [];
    return [{ field: `${field}[${index}].value`, raw: value, target: customTarget(key, settings) }];
  });
}

function customTarget(name: string, settings: Settings): Target {
  const key = name.trim();
  return { kind: 'custom', key, type: customFieldKind(key, settings.customFields), onBlank: settings.onBlank };
}
