/** JSON members with their targets, and the lists and objects of custom fields that hold several. */

import { type ScalarName, scalarNames } from '#src/contacts/desired.ts';
import type { JsonValue, ObjectRow } from '#src/sources/row.ts';
import { bad, isJsonObject, type JsonObject, memberOf } from './cell.ts';
import { applyTarget } from './cells.ts';
import { customFieldKind } from './custom-cell.ts';
import { isIgnoredHeader, normaliseHeader } from './header.ts';
import { genericTarget } from './layout.ts';
import { type MappedRow, RowDraft } from './row.ts';
import { type BoundColumn, type Settings, type Target, targetIdentity } from './target.ts';
import { keyMissing } from './text-cells.ts';

interface BoundMember {
  /** As the file names it: `phones`, `custom.since`, `customFields[2].value`. */
  readonly field: string;
  readonly target: Target;
  readonly raw: JsonValue;
}

const customFieldsMax = 500;

/** Applies members to the draft; two that mean the same kill the row. */
function applyMembers(draft: RowDraft, members: readonly BoundMember[]): void {
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
function bindCustomObject(draft: RowDraft, field: string, raw: JsonValue, settings: Settings): BoundMember[] {
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
function bindCustomList(draft: RowDraft, field: string, raw: JsonValue, settings: Settings): BoundMember[] {
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

// A JSON object → a contact by a mapping: each configured column is a member of that name.

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

// A JSON object in the interface's own contact shape (`interface.md`, section 2) → a contact, so that the export of
// a workspace goes back in.
//
// What only the service writes (id, createdAt, updatedAt, createdByUserId; name, type and id of items) is no news.

/** Written by the service only. */
const serviceMembers: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt', 'createdByUserId']);
const defaultFieldNames: readonly ScalarName[] = scalarNames.filter((name) => name !== 'sourceUrl');

/** True for an object that is written as the service writes its contacts. */
export function isContactShape(object: JsonObject): boolean {
  return Object.hasOwn(object, 'defaultFields');
}

export function mapContactObject(row: ObjectRow, settings: Settings, unmapped: UnmappedNames): MappedRow {
  const draft = new RowDraft(row.line, settings.sourceLabel);
  const { object } = row;
  const defaults = memberOf(object, 'defaultFields') ?? null;
  if (!isJsonObject(defaults)) {
    draft.problem(
      'defaultFields',
      defaults,
      bad('shapeWrong', '"defaultFields" is no object', 'Write {…} there.').flaw,
    );
  }
  if (!Object.hasOwn(object, 'externalId')) draft.problem('externalId', undefined, keyMissing);
  applyMembers(draft, [
    ...bindAll(object, '', contactTargets(settings), unmapped),
    ...(isJsonObject(defaults) ? bindAll(defaults, 'defaultFields.', defaultTargets(settings), unmapped) : []),
    ...bindCustomList(draft, 'customFields', memberOf(object, 'customFields') ?? null, settings),
  ]);
  return draft.finish();
}

/** Members in order of appearance. Null in the table: handled elsewhere, or no news. */
function bindAll(
  object: JsonObject,
  prefix: string,
  targets: ReadonlyMap<string, Target | null>,
  unmapped: UnmappedNames,
): readonly BoundMember[] {
  return Object.entries(object).flatMap(([name, raw]): readonly BoundMember[] => {
    const target = targets.get(name);
    if (target === undefined && !serviceMembers.has(name)) unmapped.add(`${prefix}${name}`);
    return target === undefined || target === null ? [] : [{ field: `${prefix}${name}`, target, raw }];
  });
}

function contactTargets({ keyPrefix, onBlank }: Settings): ReadonlyMap<string, Target | null> {
  return new Map<string, Target | null>([
    ['externalId', { kind: 'key', prefix: keyPrefix }],
    ['source', { kind: 'source' }],
    ['sourceUrl', { kind: 'scalar', name: 'sourceUrl', onBlank }],
    ['defaultFields', null],
    ['customFields', null],
  ]);
}

function defaultTargets({ onBlank, country }: Settings): ReadonlyMap<string, Target> {
  return new Map<string, Target>([
    ...defaultFieldNames.map((name): [string, Target] => [name, { kind: 'scalar', name, onBlank }]),
    ['emails', { kind: 'items', list: 'emails', slot: 'emails', whole: true, label: 'email', country: null, onBlank }],
    ['phoneNumbers', { kind: 'items', list: 'phones', slot: 'phones', whole: true, label: 'phone', country, onBlank }],
  ]);
}

/**
 * A flat JSON object → a contact: members named as the columns of the generic layout, with two additions. `emails`,
 * `phones` and their like may be arrays; custom fields may also stand in an object `custom` or a list `customFields`.
 */
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

/** JSON objects as data: own members only, so that `__proto__` and `toString` are names like any other. */
/** Names of members that nothing maps, in order of appearance: each once, and no more than a reader can use. */
export class UnmappedNames {
  readonly #names = new Set<string>();
  readonly #namesMax = 500;

  add(name: string): void {
    if (this.#names.size < this.#namesMax) this.#names.add(name);
  }

  list(): readonly string[] {
    return [...this.#names];
  }
}
